"""DIN-SQL: schema linking, classification and decomposition, generation, self-correction, one stage after the other.

Source: Pourreza and Rafiei, "DIN-SQL: Decomposed In-Context Learning of Text-to-SQL with Self-Correction", NeurIPS
2023, arXiv:2304.11015.

Essence: writing SQL in one step asks for too much at once. DIN-SQL first links the question to columns and values, then
classifies it (easy, non-nested, nested) and splits it where it is nested, then generates with what is known by then,
and last corrects the result. Here the first two stages are two notes after the shared first answer has failed; the
first repair generates from them without a look at what failed, and later ones correct with it.

Left out: the few-shot examples of every stage; NatSQL as a step in between; one prompt for each class.
"""

from merit.agent.behaviour import Moment
from merit.agent.method import Method
from merit.agent.related.notes import Noting, asked
from merit.agent.trajectory import notes_at
from merit.prompts import ANSWER, Prompt

_LINK = """Find the schema links for generating an SQL query for the question.
List the tables, the columns and the foreign keys that the question needs, and the values that its conditions name."""
_CLASSIFY = """Classify the question, given the schema links:
EASY if one table is enough, NON-NESTED if tables must be joined but no subquery is needed, NESTED if a subquery or a
set operation is needed. If it is NESTED, write the sub-questions that must be answered first."""
_GENERATE = """You are an expert SQLite developer. Generate one SQL query for the question from its schema links and its
class. If it is nested, answer its sub-questions first and combine them."""
_CORRECT = """You are an expert SQLite developer. The queries below were not right. Fix the last one: check its columns,
joins and foreign keys against the schema links, its conditions, grouping, order and duplicates. Repeat no query."""


class DinSQL(Noting):
    """Two stages once, then generation, then corrections."""

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002 - its fields change nothing here
        """Schema links, then the class, both before the first repair."""
        if moment.ended or moment.step > 1:
            return None
        linked = _stages(moment)
        if not linked:
            return asked(moment, "din-sql-links", _LINK, "Answer with the links, one line a kind.", {}, outcomes=False)
        return asked(moment, "din-sql-class", _CLASSIFY, "Write the class on the first line.", linked, outcomes=False)

    def ask(self, method: Method, moment: Moment) -> Prompt:  # noqa: ARG002 - its fields change nothing here
        """The generation first, corrections from then on."""
        first = moment.step == 1
        task, purpose = (_GENERATE, "din-sql-generation") if first else (_CORRECT, "din-sql-correction")
        return asked(moment, purpose, task, ANSWER, _stages(moment), outcomes=not first)


def _stages(moment: Moment) -> dict[str, str]:
    """What the first stages came to."""
    texts = [note.text for note in notes_at(moment.reflections, 1)]
    return dict(zip(("SCHEMA LINKS", "CLASS AND SUB-QUESTIONS"), texts, strict=False))


METHOD = Method(
    "din_sql",
    "DIN-SQL: schema linking and classification before the first repair, which generates from them; then corrections.",
    notes=2,
    behaviour=DinSQL(),
)
