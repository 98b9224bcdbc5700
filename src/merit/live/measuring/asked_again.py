"""Confirmed questions asked again, apart from the history: what comes of it is compared with what was confirmed."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from merit.live.answer import Answer
from merit.live.asking.asker import Asker
from merit.live.asking.preparing import AskedBefore
from merit.live.parts import LiveParts
from merit.live.record.history import History
from merit.live.record.lines import plain_question
from merit.live.record.visibility import visible
from merit.memory import Entry, Grade, Precedent
from merit.models import Prices, Usage
from merit.sql import executed
from merit.types import EVERYONE, Rows, Viewer

Tell = Callable[[int, int], object]  # how many questions of how many were asked again


def say_nothing(_done: int, _of_all: int) -> None:
    """The default `Tell`: progress is not shown."""


@dataclass(frozen=True, slots=True)
class ConfirmedQuestion:
    """A question whose right answer a person has confirmed."""

    answer: str  # the id of the answer
    question: str
    sql: str
    position: int  # what was committed by then was known when it was asked
    stale: str | None = None  # why its answer does not hold on the present schema, where it does not


def confirmed_questions(parts: LiveParts, viewer: Viewer = EVERYONE, *, stale: bool = False) -> list[ConfirmedQuestion]:
    """Every question with a confirmed answer that still holds and that a person may see, in the order of asking.

    Where a question was confirmed several times, the last word counts. With `stale`, questions that only have an
    answer from before a change of the schema are there, too.
    """
    found: dict[str, ConfirmedQuestion] = {}
    for item in visible(parts.memory.listed(), viewer):
        entry, source = item.entry, item.entry.provenance
        right = isinstance(entry, Precedent) and entry.grade is Grade.CONFIRMED and item.deleted is None
        if right and isinstance(entry, Precedent) and source.db_id == parts.schema.db_id:
            asked = ConfirmedQuestion(str(source.question_id), entry.question, entry.sql, source.position, item.stale)
            if item.stale is None or (stale and plain_question(entry.question) not in found):
                found[plain_question(entry.question)] = asked
    return sorted(found.values(), key=lambda asked: asked.position)


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """An answer that was given again: whether its rows are those of the confirmed one, and what it took."""

    right: bool
    confidence: float  # the share of votes, from 0 to 1
    calls: int
    tokens: int
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class AnswerAgain:
    """What came of a question the second time."""

    answer: Answer
    outcome: AskedAgain


@dataclass(frozen=True, slots=True)
class Repeater:
    """Asks again with an agent's own settings; nothing is learned from it, and the history does not know."""

    asker: Asker
    author: str = ""  # who asks again

    def expected(self, asked: ConfirmedQuestion) -> str | None:
        """A hash of the rows that are right; None where the confirmed statement gives none that can be compared."""
        result = self.asker.parts.engine.execute(asked.sql, self.asker.limits)
        return _rows_hash(result) if isinstance(result, Rows) else None

    def forgetful(self) -> "Repeater":
        """The same without any memory."""
        parts, method = self.asker.parts, replace(self.asker.method, recall=None)
        return Repeater(replace(self.asker, method=method, parts=parts.without_learned()), self.author)

    def learning(self) -> "Repeater":
        """The same, with a selection from the schema that knows of no confirmed question yet."""
        return Repeater(replace(self.asker, parts=self.asker.parts.without_learned()), self.author)

    def learn(self, entries: list[Entry]) -> None:
        """Let the selection from the schema know of confirmed questions."""
        if self.asker.parts.selection is not None:
            self.asker.parts.selection.learn(entries)

    async def ask(self, asked: ConfirmedQuestion, expected: str, position: int) -> AnswerAgain:
        """Ask with what was committed up to a position; its own answer is never recalled."""
        again = replace(self.asker, under_way=[])
        before = AskedBefore(asked.answer, position)
        answer = await again.ask(asked.question, again=before, author=self.author)
        right = answer.rows is not None and _rows_hash(answer.rows) == expected
        prompt = sum(attempt.prompt_tokens for attempt in answer.attempts)
        output = sum(attempt.output_tokens for attempt in answer.attempts)
        prices = self.asker.budget.prices
        cost = Prices(*prices).cost(Usage(prompt_tokens=prompt, output_tokens=output)) if prices else None
        return AnswerAgain(answer, AskedAgain(right, answer.agreement, len(answer.attempts), prompt + output, cost))


@contextmanager
def repeating(asker: Asker, author: str = "") -> Iterator[Repeater]:
    """What asks again, with a history that is thrown away."""
    with tempfile.TemporaryDirectory(prefix="merit-") as folder:
        parts = replace(asker.parts, history=History(Path(folder)), keep=Grade.CONFIRMED)  # nothing is kept unasked
        yield Repeater(replace(asker, parts=parts), author)


def _rows_hash(rows: Rows) -> str | None:
    return None if rows.truncated else executed(rows, "").result
