"""Self-Debugging: the model explains its own query, then repairs it.

Source: Chen, Lin, Schärli and Zhou, "Teaching Large Language Models to Self-Debug", ICLR 2024, arXiv:2304.05128.

Essence: "rubber duck debugging". After every unsuccessful query the model explains in words what the query does and
compares that with what the question asks. The explanation, with what execution said, is the feedback for the next
query. Here the explanation is one note after each failed attempt, and the paper's repair prompt shows all of them.

Left out: the few-shot demonstrations of explaining and debugging; the model's own verdict on whether it is done, since
the judge says that to every method; execution results as rows, which no method is shown.
"""

from merit.agent.behaviour import Moment
from merit.agent.method import Method
from merit.agent.related.notes import Noting, asked
from merit.prompts import Prompt

_TASK = """Explain an unsuccessful SQL query in your own words, as if to a person who cannot read SQL.
First say what the question asks for: which columns, which rows, in which order.
Then go through the last attempt clause by clause and say what it returns.
End with one sentence on where the two differ."""
_ENDING = "Write at most ten lines. Do not write another query."


class SelfDebugging(Noting):
    """Explains the last query before every repair."""

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002 - its fields change nothing here
        """An explanation of the last attempt, where another one follows."""
        return None if moment.ended else asked(moment, "self-debugging", _TASK, _ENDING, {})


METHOD = Method(
    "self_debugging",
    "Self-Debugging: the model explains each failed query in words before it repairs it.",
    notes=1,
    behaviour=SelfDebugging(),
)
