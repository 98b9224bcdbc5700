"""ReCode: repairs are looked for among queries of the same kind, and text and code are compared apart.

Source: Zhao, Chen, Zhang and Li, "ReCode: Improving LLM-based Code Repair with Fine-Grained Retrieval-Augmented
Generation", 2025, arXiv:2509.02330.

Essence: one embedding of text and code together blurs both. ReCode first narrows the search to repairs of the same
kinds of algorithm, then compares descriptions with descriptions and code with code, and adds the two. Here a query's
kinds are the clauses that it uses (join, grouping, order, subquery, set operation), descriptions are questions, code is
the skeleton of the failed query, and the three nearest confirmed changes stand in the paper's repair prompt.

Left out: the model's prediction of the kinds, since clauses tell them; two encoders, in whose place words are counted;
the benchmark of programs.
"""

from dataclasses import replace

from merit.agent.behaviour import Moment, PaperBehaviour, Recalled
from merit.agent.method import Method
from merit.agent.related.similarity import overlap, skeleton
from merit.memory import RecallPolicy, Repair, TypeFilter
from merit.prompts import Prompt
from merit.types import Polarity

_SHOWN = 3
_KINDS = frozenset({"join", "group", "order", "union", "intersect", "except", "distinct"})


class ReCode(PaperBehaviour):
    """Chooses from what was recalled by kind, then by text and code."""

    def ask(self, method: Method, moment: Moment) -> Prompt:
        """The paper's repair prompt with the chosen changes."""
        return super().ask(method, replace(moment, recalled=Recalled(_chosen(moment))))


def kinds(sql: str) -> frozenset[str]:
    """The clauses that a query uses; a subquery is one of them."""
    tokens = skeleton(sql)
    return (_KINDS & set(tokens)) | ({"subquery"} if tokens.count("select") > 1 else set())


def _chosen(moment: Moment) -> list[Repair]:
    question, sql = moment.question.text.lower().split(), moment.attempts[-1].sql
    own, shape = kinds(sql), skeleton(sql)

    def key(entry: Repair) -> tuple[bool, float, str]:
        alike = overlap(question, entry.question.lower().split()) + overlap(shape, skeleton(entry.before))
        theirs = kinds(entry.before)
        return not (own & theirs or own == theirs), -alike, entry.id

    return sorted(moment.recalled.positives, key=key)[:_SHOWN]


METHOD = Method(
    "recode",
    "ReCode: recalls up to 3 confirmed changes of queries with the same clauses, comparing questions and SQL apart.",
    recall=RecallPolicy(positives=24, negatives=0, type_filter=TypeFilter.NONE),
    writes=frozenset({Polarity.POSITIVE}),
    behaviour=ReCode(),
)
