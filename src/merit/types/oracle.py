"""The oracle as an agent knows it: a verdict on a statement, and nothing of what the verdict rests on."""

from collections.abc import Callable
from typing import Protocol

from merit.types.nouns import Question, Verdict

Judging = Callable[[Question, str], Verdict]  # the same without waiting: the judge's own method, or a test's


class Oracle(Protocol):
    """Says whether a statement answers a question."""

    async def judge(self, question: Question, sql: str) -> Verdict:
        """Whether `sql` answers `question`, and if not, how it failed."""
        ...
