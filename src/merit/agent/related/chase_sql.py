"""CHASE-SQL: several ways of reasoning make the candidates.

Source: Pourreza et al., "CHASE-SQL: Multi-Path Reasoning and Preference Optimized Candidate Selection in Text-to-SQL",
ICLR 2025, arXiv:2410.01943.

Essence: candidates from one prompt fail alike, so three generators reason differently: divide and conquer
(sub-questions, partial queries, one query assembled from them), the query plan (which steps the database would
execute), and synthetic examples (the model first writes examples that fit this schema and question). A selector then
picks one of the candidates. Here the three take turns, drawn at temperature 0.8; where there is an oracle it selects,
as for every method, and without one the most frequent result stands.

Left out: the pairwise selector, a fine-tuned model (the vote stands in its place); the retrieval of stored values; the
query fixer.
"""

from merit.agent.behaviour import Moment, PaperBehaviour
from merit.agent.method import Method
from merit.agent.related.notes import asked
from merit.prompts import ANSWER, Prompt

_DIVIDE = """You are an expert SQLite developer who divides and conquers.
Split the question into sub-questions, write a partial query for each, then assemble and simplify one query."""
_PLAN = """You are an expert SQLite developer who thinks in query plans.
Write the plan first: which tables to open, how to join them, which rows to keep, how to group, what to return. Then
write the query that executes it."""
_EXAMPLES = """You are an expert SQLite developer who learns from examples.
First make up three questions on this schema that resemble the one below, each with its query. Then answer the question
in the same way."""
GENERATORS = {"divide": _DIVIDE, "plan": _PLAN, "examples": _EXAMPLES}


class ChaseSQL(PaperBehaviour):
    """Three generators in turn."""

    def ask(self, method: Method, moment: Moment) -> Prompt:  # noqa: ARG002 - its fields change nothing here
        """The prompt of the generator whose turn it is."""
        name, task = list(GENERATORS.items())[(moment.step - 1) % len(GENERATORS)]
        return asked(moment, f"chase-sql-{name}", task, ANSWER, {}, outcomes=False)


METHOD = Method(
    "chase_sql",
    "CHASE-SQL: draws like resample, from three prompts in turn: divide and conquer, query plan, synthetic examples.",
    history=False,
    temperature=0.8,
    draws=3,
    votes=True,
    behaviour=ChaseSQL(),
)
