"""What tables call things: the paper's names for methods, failure types and benchmarks."""

import re
from dataclasses import replace

from merit.agent import METHODS, RELATED, Method
from merit.runs import ReviewPolicy
from merit.types import FailureType, Regime

_METHODS = {
    "zero_shot": "Zero-shot",
    "grounded": "Grounded",
    "iterative": "Iterative",
    "vanilla": "Vanilla",
    "reflexion": "Reflexion-style",
    "dynamic_rag": "Dyn. RAG",
    "merit": "MERIT",
    "merit_type_reliability": "MERIT (type-rel.)",
    "positive_only": "Positive only",
    "no_type_filter": "No type filter",
    "no_dense": "No dense rerank",
    "no_bm25": "No BM25",
    "random_same_type": "Random same type",
    "cross_database_only": "Cross-database only",
    "transductive_batch": "Transductive batch",
    "resample": "Resample",
    "resample_grounded": "Resample grounded",
    "precedent": "Precedent",
    "precedent_grounded": "Precedent grounded",
    "self_debugging": "Self-Debugging",
    "self_refine": "Self-Refine",
    "critic": "CRITIC",
    "din_sql": "DIN-SQL",
    "chase_sql": "CHASE-SQL",
    "dail_sql": "DAIL-SQL",
    "act_sql": "ACT-SQL",
    "recode": "ReCode",
    "memo_sql": "Memo-SQL",
    "sqlfix_agent": "SQLFixAgent",
    "magic": "MAGIC",
    "expel": "ExpeL",
    "reasoning_bank": "ReasoningBank",
    "ace": "ACE",
    "generative_agents": "Generative Agents",
    "memgpt": "MemGPT",
}
ABLATIONS = ("positive_only", "no_type_filter", "no_dense", "no_bm25", "random_same_type", "cross_database_only")
FAILURES = {
    FailureType.RESULT_MISMATCH: "Result mismatch",
    FailureType.SCHEMA_LINKING: "Schema linking",
    FailureType.AGGREGATION: "Aggregation",
    FailureType.FILTER_VALUE: "Filter/Value",
    FailureType.EXECUTION: "Execution",
    FailureType.SYNTAX: "Syntax",
    FailureType.UNKNOWN: "Unknown",
}
# What an agent hears of an answer, in the words of readers.
FEEDBACK = {
    Regime.DENOTATION_CONFIRMED: "told right or wrong",
    Regime.DBMS_ONLY: "told only what runs",
    Regime.REVIEWED: "told only what runs, some answers reviewed later",
}
_DATASETS = {"spider": "Spider", "bird": "BIRD"}
_REVIEW = "review"
_SHARE = re.compile(rf"\b{_REVIEW} ([0-9.]+)%")
_ORDER = {name: number for number, name in enumerate([*METHODS, *RELATED])}


def method_label(method: Method) -> str:
    """A method's name in a table; a variant says what it changes, and a method that is not online always says so.

    A name that no method has is quoted, so that it cannot be taken for one that tables know.
    """
    base, colon, changes = method.name.partition(":")
    label = f'"{method.name}" (unknown method)'
    if method.origin is not None:
        label = f"{method.name} [{method.origin.package}]"
    elif base in _ORDER:
        label = _METHODS[base] + (f" ({changes.replace(',', ', ')})" if colon else "")
    return label + ("" if method.online else " (not online)")


def made_by(method: Method) -> str | None:
    """What alone can make a method's prompts again, where the paper's templates cannot."""
    if method.origin is not None:
        return method.origin.package
    return f"the method {method.name}" if method.name.partition(":")[0] in RELATED else None


def as_reviewed(method: Method, review: ReviewPolicy | None) -> Method:
    """A run's method under the name that tells its share of reviewed answers from others, where it has one."""
    if review is None:
        return method
    share = f"{100 * review.share:g}%"
    suffix = f"{_REVIEW} {share} {review.kind}" if review.share else f"{_REVIEW} {share}"
    return replace(method, name=f"{method.name}{',' if ':' in method.name else ':'}{suffix}")


def method_order(method: Method) -> tuple[int, str]:
    """The sort key of a method: the paper's order, variants after their base, by increasing share of reviews."""
    name = _SHARE.sub(lambda found: f"{_REVIEW} {float(found[1]):09.4f}", method.name)
    return _ORDER.get(method.name.partition(":")[0], len(_ORDER)), name


def dataset_label(name: str) -> str:
    """A benchmark's name in its own spelling."""
    return _DATASETS.get(name, name)


def file_name(name: str) -> str:
    """A name that is safe as part of a file name: it cannot lead out of its folder."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "unnamed"
