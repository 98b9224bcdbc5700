"""The prompt family merit-prompts-v3 (paper, appendix "Prompt Templates"), and which family a prompt is of.

One user message, no system prompt.
"""

import hashlib
from collections.abc import Sequence

from merit.errors import InputError
from merit.memory import Precedent, Repair
from merit.prompts.blocks import NONE, VERSION, Family, Prompt, numbered, precedents_block, shown_data, with_fence_rule
from merit.prompts.live import live_prompt
from merit.prompts.live_schema import LiveContext
from merit.prompts.template import LIVE, fill, names, read
from merit.types import Demonstration, Failure, Grade, Question, Verdict

ShownAttempt = tuple[str, Verdict]  # an attempt's SQL and what the judge said


def initial(
    family: Family,
    question: Question,
    schema: str,
    precedents: Sequence[Precedent] = (),
    live: LiveContext | None = None,
    draw: int = 0,
) -> Prompt:
    """Ask for a first answer (Listing "Shared initial SQL-generation prompt"), or for one as if it were the first.

    The family for live use words later draws differently: answers that agree across prompts are more often right.
    """
    if family.live and live is not None:
        return live_prompt(family, question, live, precedents, draw)
    shown = precedents_block(precedents, question, family)
    return _prompt("initial", family, question, schema, {"PRECEDENTS_IF_ANY": shown})


def repair(
    family: Family,
    question: Question,
    schema: str,
    tried: Sequence[ShownAttempt],
    failure: Failure,
    *,
    positives: Sequence[Repair] = (),
    negatives: Sequence[Repair] = (),
    precedents: Sequence[Precedent] = (),
    reflections: Sequence[str] = (),
    demonstrations: Sequence[Demonstration] = (),
) -> Prompt:
    """Ask for a revision (Listing "MERIT repair prompt"); the static examples are the baseline `vanilla`'s alone."""
    verdict = tried[-1][1]
    return _prompt(
        "repair",
        family,
        question,
        schema,
        {
            "STATIC_EXAMPLES_IF_ANY": _static_examples(demonstrations),
            "PRECEDENTS_IF_ANY": precedents_block(precedents, question, family),
            "RETRIEVED_POSITIVE_MEMORIES_OR_(none)": shown_data(
                family, "\n".join(_positive(i, entry) for i, entry in numbered(positives))
            ),
            "RETRIEVED_NEGATIVE_MEMORIES_OR_(none)": shown_data(
                family, "\n".join(_negative(i, entry) for i, entry in numbered(negatives))
            ),
            "LOCAL_REFLECTIONS_OR_(none)": shown_data(
                family, "\n".join(f"[Local reflection {i}] {text}" for i, text in numbered(reflections))
            ),
            "STATUS": verdict.status,
            "ERROR_TYPE": failure.type.in_words,
            "DATABASE_ERROR_OR_(none)": shown_data(family, verdict.error or ""),
            "ALL_PREVIOUS_SQL_ATTEMPTS": shown_data(
                family, "\n\n".join(_attempt(i, attempt) for i, attempt in numbered(tried))
            ),
        },
    )


def reflection(
    family: Family, question: Question, schema: str, tried: Sequence[ShownAttempt], failure: Failure
) -> Prompt:
    """Ask what went wrong (Listing "Reflection-generation prompt"); only the Reflexion-style baseline does."""
    values = {"ERROR_TYPE": failure.type.in_words, "ATTEMPTS_AND_OUTCOMES": outcomes(family, tried)}
    return _prompt("reflection", family, question, schema, values)


def outcomes(family: Family, tried: Sequence[ShownAttempt]) -> str:
    """Every attempt and what became of it."""
    shown = []
    for number, (sql, verdict) in numbered(tried):
        about = {"INDEX": str(number), "STATUS": verdict.status, "DATABASE_ERROR_OR_(none)": verdict.error or NONE}
        shown.append(fill("outcome", {**about, "SQL": sql}))
    return shown_data(family, "\n\n".join(shown))


def templates_hash(version: str = VERSION) -> str:
    """One hash over all template files of a family; the one for live use shares most with the paper's."""
    used = names() if version == VERSION else [*names(), *names(LIVE)]
    text = "".join(f"{name}\0{read(name)}\0" for name in used)
    return hashlib.sha256(text.encode()).hexdigest()


def _prompt(purpose: str, family: Family, question: Question, schema: str, values: dict[str, str]) -> Prompt:
    return framed(purpose, f"{family.name}-{purpose}-v3", family, question, schema, values)


def framed(
    template: str, version: str, family: Family, question: Question, schema: str, values: dict[str, str]
) -> Prompt:
    """A template filled in with what every prompt says: its version, the schema, the evidence, the question."""
    common = {
        "PROMPT_VERSION": version,
        "DATABASE_SCHEMA": shown_data(family, schema) if schema else "",
        "BIRD_CONTEXT_IF_APPLICABLE": _evidence(question, family.dialect) if family.evidence else "",
        "QUESTION": question.text,
    }
    return Prompt(version, with_fence_rule(family, fill(template, {**common, **values}, family.dialect)))


def _evidence(question: Question, dialect: str) -> str:
    if question.evidence is None:
        raise InputError(
            f"question {question.id}: the field 'evidence' is missing, and BIRD's prompts need it; "
            "add it to the questions file (an empty text where there is none)"
        )
    formula = fill("evidence_formula", {}, dialect) if question.evidence else ""
    heading = fill("evidence_heading", {"BIRD_EVIDENCE": question.evidence}, dialect) if question.evidence else ""
    return fill("evidence", {"EVIDENCE_IF_ANY": heading, "FORMULA_RULE_IF_ANY": formula}, dialect)


def _attempt(number: int, attempt: ShownAttempt) -> str:
    """An earlier attempt; one that ran, where no reference decides, was not seen to fail."""
    sql, verdict = attempt
    observed = "executed" if verdict.satisfied else "observed unsuccessful"
    return fill("history", {"INDEX": str(number), "OBSERVED": observed, "SQL": sql})


def _positive(number: int, entry: Repair) -> str:
    if entry.grade is not Grade.CONFIRMED:
        raise ValueError(f"entry {entry.id} is {entry.grade}, and would be shown as confirmed")
    return fill(
        "positive",
        {
            "INDEX": str(number),
            "ENTRY_ID": entry.id,
            "ERROR_TYPE": entry.type.in_words,
            "PREVIOUS_FAILURE_CONTEXT": entry.failure_context,
            "FAILED_SQL_TO_CORRECT_SQL_TRANSITION": entry.successful_direction,
            "SQL_CHANGE": entry.delta,
        },
    )


def _negative(number: int, entry: Repair) -> str:
    return fill(
        "negative",
        {
            "INDEX": str(number),
            "ENTRY_ID": entry.id,
            "ERROR_TYPE": entry.type.in_words,
            "FAILURE_CONTEXT": entry.failure_context,
            "SQL_CHANGE": entry.delta,
            "OUTCOME": entry.outcome,
            "DATABASE_ERROR": entry.observed_error,
        },
    )


def _static_examples(demonstrations: Sequence[Demonstration]) -> str:
    if not demonstrations:
        return ""
    examples = [
        fill(
            "demonstration",
            {
                "INDEX": str(i),
                "QUESTION": demonstration.question,
                "EVIDENCE_IF_ANY": f"Evidence: {demonstration.evidence}" if demonstration.evidence else "",
                "SQL": demonstration.sql,
            },
        )
        for i, demonstration in numbered(demonstrations)
    ]
    return fill("demonstrations", {"EXAMPLES": "\n".join(examples)})
