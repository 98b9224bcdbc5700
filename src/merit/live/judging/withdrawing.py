"""Withdrawing: what a person said about an answer is taken back, in history and memory; no database is needed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from merit.errors import InputError
from merit.live.judging.ladder import RejectedSQL, rejected_in, right_sql
from merit.live.record.events import Asked, Feedback, Withdrawn, now
from merit.live.record.history import History
from merit.live.record.lines import plain_question
from merit.memory import LIVE_RUN, Deletion, Entry, Memory, Precedent, Restoration
from merit.memory.contents import promoted
from merit.sql import canonical
from merit.types import ScopeKind, covers, scope_kind


@dataclass(frozen=True, slots=True)
class Withdrawer:
    """Takes back what people said about answers on one database, or on any where none is named."""

    history: History
    memory: Memory
    database: str | None

    def withdraw(
        self,
        answer: str,
        reason: str,
        author: str,
        through: str = "",
        *,
        brought_back: Callable[[list[Entry]], object] = lambda _: None,
    ) -> Withdrawn:
        """Retract the entries that the word left, and bring back those that it retracted.

        `brought_back` is called with the latter.
        What was promoted since is forgotten as well: it rests on the same word.
        """
        with self.history.withdrawing(answer) as (asked, feedback, write):
            if self.database is not None:
                check_database(asked, self.database)
            _check_own_word(feedback, author)
            back, left = self._returning(asked, feedback), feedback.entries
            while True:
                gone = [Deletion(identity, f"withdrawn: {asked.id}") for identity in left]
                self.memory.commit_all([], gone, back)
                found = all_promoted(self.memory, left)  # also what was promoted just now
                if found == left:
                    break
                left = found
            brought_back([self.memory.entry(change.id) for change in back])
            withdrawn = Withdrawn(asked.id, now(), author, left, reason, through)
            write(withdrawn)
        return withdrawn

    def _returning(self, asked: Asked, feedback: Feedback) -> list[Restoration]:
        """The entries that feedback took out and that nothing else speaks against."""
        history = self.history
        same = history.same_question(asked.database, history.before(asked), asked.question)
        others = [(other, word) for other, word in history.judged(same) if other.id != asked.id]
        found: dict[str, str] = {}  # entries, with the statement that each says
        for form in {canonical(sql, asked.dialect) for sql in (asked.sql, right_sql(asked, feedback)) if sql}:
            right = [word for other, word in others if canonical(right_sql(other, word), asked.dialect) == form]
            kept = [other.kept for other in same if canonical(other.sql, asked.dialect) == form]
            ids = [identity for ids in ([word.entries for word in right] or kept) for identity in ids]
            ids += [
                identity for identity in shown_saying(history, self.memory, asked, form) if self._imported(identity)
            ]
            found |= dict.fromkeys(all_promoted(self.memory, ids), form)
        own = {f"{why}: {asked.id}" for why in ("confirmed", "rejected", "corrected")}
        listed = self.memory.listed() if found else []
        taken_out = [item.entry for item in listed if item.entry.id in found and item.deleted in own]
        return [
            Restoration(entry.id, f"withdrawn: {asked.id}")
            for entry in taken_out
            if found[entry.id] not in _rejected(others, asked, entry.provenance.scope)
        ]

    def _imported(self, identity: str) -> bool:
        entry = self.memory.find(identity)
        return entry is not None and entry.provenance.run != LIVE_RUN


def check_database(asked: Asked, name: str) -> None:
    """Refuse an answer about another database."""
    if asked.database != name:
        raise InputError(f"{asked.id}: is about the database {asked.database!r}, and this one is {name!r}")


def all_promoted(memory: Memory, ids: Sequence[str]) -> tuple[str, ...]:
    """Entries, and those that took their places for more people."""
    if not any(map(memory.scope_of, ids)):  # what is for everyone cannot be promoted
        return tuple(ids)
    return tuple(promoted(ids, memory.listed()))


def shown_saying(history: History, memory: Memory, asked: Asked, wanted: str) -> list[str]:
    """Of the entries that the answer's prompt showed, those with this statement: they may come from elsewhere."""
    question = plain_question(history.whole_question(asked))
    entries: Iterable[Entry | None] = map(memory.find, asked.recalled)
    return [
        entry.id
        for entry in entries
        if isinstance(entry, Precedent)
        and plain_question(entry.question) == question
        and canonical(entry.sql, asked.dialect) == wanted
    ]


def _check_own_word(feedback: Feedback, author: str) -> None:
    if scope_kind(feedback.scope or None) is ScopeKind.PERSONAL and feedback.scope != f"personal:{author}":
        raise InputError(f"{feedback.answer}: what was said about it is another person's; only they can take it back")


def _rejected(words: list[tuple[Asked, Feedback]], asked: Asked, scope: str | None) -> dict[str, RejectedSQL]:
    """What people reject, of words that hold for an entry of this scope."""
    return rejected_in([pair for pair in words if covers(pair[1].scope or None, scope)], asked.dialect)
