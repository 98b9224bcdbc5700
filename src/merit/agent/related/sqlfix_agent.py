"""SQLFixAgent: a reviewer looks for what the query and the question do not share; similar repairs help to mend it.

Source: Cen, Liu, Li and Wang, "SQLFixAgent: Towards Semantic-Accurate Text-to-SQL Parsing via Consistency-Enhanced
Multi-Agent Collaboration", AAAI 2025, arXiv:2406.13408.

Essence: three agents. A reviewer finds semantic mismatches between query and question by rubber duck debugging; a
crafter makes candidate repairs; a refiner decides with the help of similar repairs from before and of what failed so
far. Here the review is one note before each repair, similar repairs are the nearest confirmed changes of earlier
questions, and what failed is the episode's history: all three stand in the paper's repair prompt.

Left out: the fine-tuned tool that makes several candidates at once, and the choice among them; the reviewer's verdict
that nothing is wrong, since the judge says that to every method.
"""

from merit.agent.behaviour import Moment
from merit.agent.method import Method
from merit.agent.related.notes import Noting, asked
from merit.memory import RecallPolicy, TypeFilter
from merit.prompts import Prompt
from merit.types import Polarity

_TASK = """You review an SQL query. Restate the question in your own words, then say in words what the last query below
answers. Name every semantic mismatch between the two: a missing or a needless condition, column, join or grouping."""
_ENDING = "Write at most ten lines, one mismatch a line. Do not write another query."


class SQLFixAgent(Noting):
    """A review before every repair; similar repairs as the paper's methods show them."""

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002 - its fields change nothing here
        """The review of the last attempt, where another one follows."""
        return None if moment.ended else asked(moment, "sqlfix-agent-review", _TASK, _ENDING, {})


METHOD = Method(
    "sqlfix_agent",
    "SQLFixAgent: a review of the failed query and up to 3 similar confirmed changes before each repair.",
    notes=1,
    recall=RecallPolicy(negatives=0, type_filter=TypeFilter.NONE),
    writes=frozenset({Polarity.POSITIVE}),
    behaviour=SQLFixAgent(),
)
