"""ACT-SQL: examples come with generated reasoning, and the model reasons in the same way before it answers.

Source: Zhang et al., "ACT-SQL: In-Context Learning for Text-to-SQL with Automatically-Generated Chain-of-Thought",
Findings of EMNLP 2023, arXiv:2310.17342.

Essence: pairs of question and SQL do not show how one leads to the other. ACT-SQL writes that reasoning for its
examples automatically, in the manner of schema linking: which words of the question mean which tables, columns and
values. The prompt shows examples with their reasoning, and one call gives reasoning and SQL. Here the examples are
confirmed answers to earlier questions, and their reasoning is one note at the end of the episode that confirmed them.

Left out: linking words by the likeness of embeddings, in whose place the model writes the reasoning; the mixture of
fixed and chosen examples from the training split; several turns.
"""

from merit.agent.behaviour import Moment
from merit.agent.method import Method
from merit.agent.related.notes import Noting, asked
from merit.memory import Grade, Precedent, RecallPolicy, TypeFilter
from merit.prompts import ANSWER, Prompt
from merit.types import Polarity

_TASK = """The last query below was confirmed to answer the question.
Write down the reasoning that leads from the question to it: which words of the question mean which tables, columns and
values, and which clause follows from which words."""
_ENDING = "Write three to six lines that begin with `Let's think step by step.` Do not repeat the query."
_ASK = """You are an expert SQLite developer. Produce one SQL query for the question.
Think step by step first, as the examples do, and use only exact table and column names from the schema."""


class ActSQL(Noting):
    """Keeps confirmed answers with their reasoning, and shows the nearest."""

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002 - its fields change nothing here
        """The reasoning behind an answer that was confirmed."""
        confirmed = moment.ended and moment.attempts[-1].verdict.correct
        return asked(moment, "act-sql-reasoning", _TASK, _ENDING, {}) if confirmed else None

    def ask(self, method: Method, moment: Moment) -> Prompt:  # noqa: ARG002 - its fields change nothing here
        """A first prompt with examples that reason, the nearest last."""
        nearest_last = list(reversed(moment.recalled.precedents))
        examples = "\n".join(_example(number, entry) for number, entry in enumerate(nearest_last, 1))
        return asked(moment, "act-sql", _ASK, ANSWER, {"EXAMPLES": examples}, outcomes=False)


def _example(number: int, entry: Precedent) -> str:
    reasoning = [entry.lesson] if entry.lesson is not None else []
    return "\n".join([f"[Example {number}]", f"Question: {entry.question}", *reasoning, f"SQL: {entry.sql}"])


METHOD = Method(
    "act_sql",
    "ACT-SQL: draws like resample, and shows up to 4 confirmed answers with the reasoning that the model wrote.",
    notes=1,
    history=False,
    temperature=0.8,
    draws=3,
    votes=True,
    recall=RecallPolicy(
        positives=0,
        negatives=0,
        type_filter=TypeFilter.NONE,
        precedents=4,
        database_bonus=2.0,
        least_grade=Grade.AGREED,
    ),
    writes=frozenset({Polarity.PRECEDENT}),
    behaviour=ActSQL(),
)
