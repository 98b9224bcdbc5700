"""Memo-SQL: pairs of an error and its fix, with a suggestion, chosen by question and the skeleton of the wrong query.

Source: Yang et al., "Memo-SQL: Structured Decomposition and Experience-Driven Self-Correction for Training-Free
NL2SQL", 2026, arXiv:2601.10011.

Essence: examples of right queries do not say how one gets from wrong to right. So the memory holds error-fix pairs: the
question, the wrong query, the right one, error types of a fixed taxonomy, and a suggestion for the correction that the
model wrote. A pair is found by its question together with the skeleton of its wrong query. Here types and suggestion
are one note at the end of an episode that ended well after a failure, and the pairs are the stream's own.

Left out: the three strategies of decomposing a question and the vote among their candidates; the memory built
beforehand from the training split; the filter after retrieval; its encoder, in whose place words are counted.
"""

from merit.agent.behaviour import Moment
from merit.agent.method import Method
from merit.agent.related.notes import Noting, asked, mended, without_changes
from merit.agent.related.similarity import overlap, skeleton
from merit.memory import RecallPolicy, Repair, TypeFilter
from merit.prompts import Prompt, led_by
from merit.types import Polarity

_SHOWN = 3
_TASK = """Below are the attempts at one question: all but the last failed, and the last one was confirmed to be right.
Say what kind of error the attempt before the last made, and how to correct such an error.
Kinds: join logic, filter condition, aggregation or grouping, selected columns, subquery, ordering or limit, duplicates,
names of tables or columns, syntax."""
_ENDING = "Answer with two lines: `Error: ` and the kinds, then `Suggestion: ` and one sentence."


class MemoSQL(Noting):
    """Writes a suggestion after a correction, and shows the nearest pairs."""

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002 - its fields change nothing here
        """Error types and a suggestion, once a failed query was corrected."""
        return asked(moment, "memo-sql-suggestion", _TASK, _ENDING, {}) if mended(moment) else None

    def ask(self, method: Method, moment: Moment) -> Prompt:
        """The paper's repair prompt after the nearest pairs."""
        pairs = "\n".join(_pair(number, entry) for number, entry in enumerate(_nearest(moment), 1))
        return led_by(super().ask(method, without_changes(moment)), "memo-sql", "ERRORS OF EARLIER QUESTIONS", pairs)


def _nearest(moment: Moment) -> list[Repair]:
    question, shape = moment.question.text.lower().split(), skeleton(moment.attempts[-1].sql)

    def key(entry: Repair) -> tuple[float, str]:
        alike = overlap(question, entry.question.lower().split()) + overlap(shape, skeleton(entry.before))
        return -alike, entry.id

    return sorted(moment.recalled.positives, key=key)[:_SHOWN]


def _pair(number: int, entry: Repair) -> str:
    lines = [f"[Error and fix {number}]", f"Question: {entry.question}", f"Wrong SQL: {entry.before}"]
    return "\n".join([*lines, f"Right SQL: {entry.after}", entry.lesson or ""])


METHOD = Method(
    "memo_sql",
    "Memo-SQL: shows up to 3 pairs of an error and its fix, with the model's own suggestion, by question and skeleton.",
    notes=1,
    recall=RecallPolicy(positives=24, negatives=0, type_filter=TypeFilter.NONE),
    writes=frozenset({Polarity.POSITIVE}),
    behaviour=MemoSQL(),
)
