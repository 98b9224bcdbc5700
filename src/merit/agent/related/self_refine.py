"""Self-Refine: the model gives feedback on its own query, and refines it by nothing else.

Source: Madaan et al., "Self-Refine: Iterative Refinement with Self-Feedback", NeurIPS 2023, arXiv:2303.17651.

Essence: one model alternates between two steps, FEEDBACK (specific, actionable criticism of its last output) and REFINE
(a new output that acts on it), and keeps the whole history of outputs and feedback in view. No tool, test or other
model has a word in it. So neither prompt here shows a status, a failure type or a message of the database.

Left out: the few-shot examples of feedback; the model's own decision to stop. As for every method, the judge ends an
episode, so that there is another attempt tells the model that the last one was not right.
"""

from itertools import zip_longest

from merit.agent.behaviour import Moment
from merit.agent.method import Method
from merit.agent.related.notes import Noting, asked
from merit.prompts import ANSWER, Prompt

_FEEDBACK = """Give feedback on the last SQL query below: does it answer the question?
Be specific and actionable: name the clause, say what is wrong with it, and say what should be there instead.
Look at the columns that are returned, the tables and joins, the conditions, grouping, order and duplicates."""
_REFINE = """You are an expert SQLite developer who improves an SQL query by the feedback on it.
Write a new query that acts on all of the feedback and does not repeat an earlier query."""


class SelfRefine(Noting):
    """Feedback and refinement, each without a word from outside."""

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002 - its fields change nothing here
        """Feedback on the last query, where another one follows."""
        ending = "Write at most ten lines. Do not write another query."
        shown = {"QUERIES AND FEEDBACK": _history(moment)}
        return None if moment.ended else asked(moment, "self-refine-feedback", _FEEDBACK, ending, shown, outcomes=False)

    def ask(self, method: Method, moment: Moment) -> Prompt:  # noqa: ARG002 - its fields change nothing here
        """The next query, from the feedback alone."""
        shown = {"QUERIES AND FEEDBACK": _history(moment)}
        return asked(moment, "self-refine", _REFINE, ANSWER, shown, outcomes=False)


def _history(moment: Moment) -> str:
    """Every query with the feedback on it; the last one has none yet, or more than one where it was drawn again."""
    queries = [f"[Query {number}]\n{attempt.sql}" for number, attempt in enumerate(moment.attempts, 1)]
    feedback = [f"[Feedback {number}]\n{note.text}" for number, note in enumerate(moment.reflections, 1)]
    return "\n".join(text for pair in zip_longest(queries, feedback) for text in pair if text is not None)


METHOD = Method(
    "self_refine",
    "Self-Refine: the model's own feedback is all that a repair goes by; no status and no message is shown.",
    notes=1,
    behaviour=SelfRefine(),
)
