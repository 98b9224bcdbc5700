"""What was rejected for a question before its answers: read once, also where many answers to it are looked at."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from merit.live.judging.ladder import right_sql, wrong_sql
from merit.live.record.events import Asked, Feedback, Withdrawn
from merit.live.record.history import History, standing_question
from merit.live.record.lines import plain_question
from merit.sql.canonical import canonical
from merit.types import Viewer


@dataclass(frozen=True, slots=True)
class _Word:
    """What somebody said about one statement: kept without the answer, so that many take little memory."""

    answer: str
    time: str
    scope: str | None
    rejects: bool
    ended: str | None  # when it was first taken back

    def stood(self, since: str, until: str) -> bool:
        """Whether it was said by then, and not taken back before."""
        return self.time <= until and (self.ended is None or self.ended >= since)


_Statements = dict[str, list[_Word]]  # by canonical text, in the order in which it was said


class Rejections:
    """What was rejected, for as long as one page is made: what is said meanwhile is not seen."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._read = dict[tuple[str, str], dict[tuple[str, str], _Statements]]()

    def scopes(self, asked: Asked, since: str, viewer: Viewer) -> Iterator[str | None]:
        """The scopes of what stood rejected for a person when they asked, one for each statement.

        The last word about a statement decides, as in the prompt; here it is looked for from the end.
        """
        statements = self._about(asked.question, asked.dialect)
        if not statements:
            return
        key = _key(asked.database, self._history.before(asked), asked.question)
        for words in statements.get(key, {}).values():
            for word in reversed(words):
                if word.answer != asked.id and word.stood(since, asked.time) and viewer.sees(word.scope):
                    if word.rejects:
                        yield word.scope
                    break

    def _about(self, question: str, dialect: str) -> dict[tuple[str, str], _Statements]:
        """The words about a question, by the database and by the whole question: one of a conversation has several."""
        place = (plain_question(question), dialect)
        if place not in self._read:
            self._read[place] = self._words(question, dialect)
        return self._read[place]

    def _words(self, question: str, dialect: str) -> dict[tuple[str, str], _Statements]:
        history = self._history
        found = defaultdict[tuple[str, str], _Statements](lambda: defaultdict(list))
        answers = history.scoped(question)
        keys = {asked.id: _key(asked.database, history.before(asked), asked.question) for asked in answers}
        for asked, feedback, ended in _with_ends(history.said(answers)):
            for sql, rejects in ((right_sql(asked, feedback), False), (wrong_sql(asked, feedback, dialect), True)):
                if sql:
                    word = _Word(asked.id, feedback.time, feedback.scope or None, rejects, ended)
                    found[keys[asked.id]][canonical(sql, dialect)].append(word)
        return {key: _rejected_once(statements) for key, statements in found.items()}


def _rejected_once(statements: _Statements) -> _Statements:
    """Those that anybody ever rejected: of the others nothing needs to be looked for, answer by answer."""
    return {sql: words for sql, words in statements.items() if any(word.rejects for word in words)}


def _with_ends(said: Sequence[tuple[Asked, Feedback | Withdrawn]]) -> list[tuple[Asked, Feedback, str | None]]:
    """Every word, in order, with the earliest time at which it was taken back: clocks may have gone back since."""
    ends, found = dict[str, str](), list[tuple[Asked, Feedback, str | None]]()
    for asked, event in reversed(said):
        if isinstance(event, Withdrawn):
            ends[asked.id] = min(event.time, ends.get(asked.id, event.time))
        else:
            found.append((asked, event, ends.get(asked.id)))
    return found[::-1]


def _key(database: str, before: Sequence[str], question: str) -> tuple[str, str]:
    return database, plain_question(standing_question(before, question))
