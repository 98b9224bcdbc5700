"""What waits for a person's word: answers that were never judged, and entries below *confirmed*."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from merit.live.answer import AnswerStatus
from merit.live.judging.ladder import right_sql, wrong_sql
from merit.live.judging.promoting import waiting_for_promotion
from merit.live.record.events import Asked, Feedback
from merit.live.record.history import History, standing_question
from merit.live.record.lines import plain_question
from merit.memory import Entry, Grade, Listed, entries_in
from merit.memory.store import has_memory
from merit.sql import canonical
from merit.types import Polarity, ScopeKind, scope_kind


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """Something to judge, and how much that would help."""

    id: str  # of an answer, or of an entry
    is_entry: bool  # an entry that no answer of this history left
    question: str
    sql: str
    database: str
    state: str  # an answer's status, an entry's grade
    time: str
    agreement: float
    asked: int  # how often this very question was asked
    recalled: int  # how often the model was shown it
    scope: str | None = None  # of a confirmed entry that waits to be promoted: whom it is for now

    @property
    def promotes(self) -> bool:
        """Whether it is right already, and waits to be for more people."""
        return self.scope is not None and self.state == Grade.CONFIRMED

    @property
    def usefulness(self) -> tuple[int, float]:
        """A sort key, the most useful first: used often, and little agreement."""
        return -(self.asked + self.recalled), self.agreement


def waiting(folder: Path, database: str = "", memory: Path | str = "") -> list[ReviewItem]:
    """What waits, the most useful first: used often, then little agreement, then new.

    `memory` is where entries are, if not in the folder.
    """
    place = memory or folder / "memory"
    there = not isinstance(place, Path) or has_memory(place)
    return waiting_in(History(folder), entries_in(place) if there else [], database)


def waiting_in(
    history: History,
    entries: Iterable[Listed],
    database: str = "",
    seen: Callable[[Asked], bool] = lambda _: True,
) -> list[ReviewItem]:
    """The same, of a history and entries that are at hand; of answers only such as are `seen`."""
    answers = history.answers()
    recalled = Counter(identity for asked in answers.values() for identity in asked.recalled)
    items = [*_entries(entries, answers, recalled), *_answers(history, answers, recalled)]
    newest_first = [
        item
        for item in reversed(items)
        if database in ("", item.database) and (item.is_entry or seen(answers[item.id]))
    ]
    return sorted(newest_first, key=lambda item: item.usefulness)


def _answers(history: History, answers: dict[str, Asked], recalled: Counter[str]) -> list[ReviewItem]:
    """The newest answer of each question and SQL that people have said nothing about."""
    feedback, newest = history.feedback(), dict[tuple[str, str, str], ReviewItem]()
    questions, groups = dict[str, str](), defaultdict[tuple[str, str], list[Asked]](list)
    for asked in answers.values():
        before = [answers[identity].question for identity in asked.earlier if identity in answers]
        questions[asked.id] = standing_question(before, asked.question)
        groups[asked.database, plain_question(questions[asked.id])].append(asked)
    for asked in answers.values():
        database, question = asked.database, plain_question(questions[asked.id])
        same = groups[database, question]
        if _is_judged(asked, same, feedback) or _nothing_came(asked):
            continue
        key = (database, question, canonical(asked.sql, asked.dialect))
        newest.pop(key, None)  # so that the newest stands last
        newest[key] = ReviewItem(
            id=asked.id,
            is_entry=False,
            question=questions[asked.id],
            sql=asked.sql,
            database=database,
            state=asked.status,
            time=asked.time,
            agreement=asked.agreement,
            asked=len(same),
            recalled=sum(recalled[identity] for identity in asked.kept),
        )
    return list(newest.values())


def _nothing_came(asked: Asked) -> bool:
    """Whether there is nothing to judge: the question was stopped, or the model gave no answer."""
    return asked.status is AnswerStatus.FAILED and not asked.tried


def _is_judged(asked: Asked, same: list[Asked], feedback: dict[str, Feedback]) -> bool:
    """Whether people have said what they think of this SQL for this question, whichever answer they said it about.

    Feedback that is for one person alone counts for their own answer only.
    """
    if asked.id in feedback:
        return True
    form = canonical(asked.sql, asked.dialect)
    words = [(other, feedback[other.id]) for other in same if other.id in feedback]
    judged = [(other, word) for other, word in words if scope_kind(word.scope or None) is not ScopeKind.PERSONAL]
    said = [sql for other, word in judged for sql in (right_sql(other, word), wrong_sql(other, word, other.dialect))]
    return any(sql and canonical(sql, asked.dialect) == form for sql in said)


def _entries(listed: Iterable[Listed], answers: dict[str, Asked], recalled: Counter[str]) -> list[ReviewItem]:
    """Entries in quarantine that came from elsewhere, such as an import."""
    items = list(listed)
    entries = [item.entry for item in items if item.deleted is None and _waits(item.entry, answers)]
    entries += [entry for entry in waiting_for_promotion(items) if entry.grade is Grade.CONFIRMED]
    return [_of_entry(entry, recalled[entry.id]) for entry in entries]


def _waits(entry: Entry, answers: dict[str, Asked]) -> bool:
    known = str(entry.provenance.question_id) in answers
    return entry.grade is not Grade.CONFIRMED and entry.polarity is not Polarity.NEGATIVE and not known


def _of_entry(entry: Entry, times: int) -> ReviewItem:
    source = entry.provenance
    return ReviewItem(
        id=entry.id,
        is_entry=True,
        question=entry.question,
        sql=entry.delta,
        database=source.db_id,
        state=entry.grade,
        time=source.time or "",
        agreement=0.0,
        asked=0,
        recalled=times,
        scope=source.scope,
    )
