"""Feedback: what a person says about an answer, at once or days later, from any process.

Entries are committed first, the person's word last: until that is on the disk it is not acknowledged, and saying it
again keeps the same entries. Meanwhile no other process can judge an answer.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from merit.agent.feedback import confirmed_answer, corrected_change, rejected_change
from merit.errors import Conflict, InputError, NotVisible
from merit.live.ladder import RejectedSQL, rejected_in, right_sql
from merit.live.learning import kept_answer, provenance
from merit.live.lines import plain_question
from merit.live.parts import LiveParts
from merit.live.receipt import now
from merit.live.records import Asked, Confirmed, Corrected, Feedback, Rejected, Withdrawn
from merit.live.seeing import narrowest, scopes_in, sees_answer
from merit.memory import LIVE_RUN, Deletion, Entry, Grade, Precedent, Provenance, Restoration, with_id
from merit.memory.contents import promoted
from merit.sql import canonical
from merit.types import Error, Limits, ScopeKind, Timeout, covers, scope_kind


@dataclass(frozen=True, slots=True)
class Learner:
    """Turns what people say about the answers on one database into entries of its memory."""

    parts: LiveParts
    limits: Limits

    def confirm(self, answer: str, author: str) -> Confirmed:
        """A person says that an answer is right: it is remembered as such."""
        with self._judging(answer, author) as (asked, write):
            if not asked.status.ran:
                raise Conflict(f"{asked.id}: nothing ran, so there is nothing to confirm; correct it instead")
            source = self._source(asked, author)
            right = confirmed_answer(self._question(asked), asked.sql, self._schema, source)
            entries = self._commit([right], self._superseded(asked, asked.sql, source.scope))
            said = Confirmed(asked.id, str(source.time), author, entries, source.scope or "")
            write(said)
        return said

    def reject(self, answer: str, reason: str, author: str) -> Rejected:
        """A person says that an answer is wrong: no entry shows it as an answer to this question any more."""
        with self._judging(answer, author) as (asked, write):
            source = self._source(asked, author)
            change = rejected_change(asked, self._question(asked), self._schema, source)
            wrong = self._retracted(asked, asked.sql, "rejected", source.scope)
            entries = self._commit([change] if change else [], wrong)
            said = Rejected(asked.id, str(source.time), author, entries, reason, source.scope or "")
            write(said)
        return said

    def correct(self, answer: str, sql: str, author: str) -> Corrected:
        """A person says how an answer should have been; what does not run is refused."""
        self._own(self.parts.history.find(answer)[0])
        result = self.parts.engine.execute(sql, self.limits)
        if isinstance(result, Error | Timeout):
            raise InputError(f"the correction does not run ({result.message}); nothing was kept")
        with self._judging(answer, author) as (asked, write):
            source, question = self._source(asked, author), self._question(asked)
            learned, wrong = [confirmed_answer(question, sql, self._schema, source)], list[Deletion]()
            if asked.sql and canonical(sql, asked.dialect) != canonical(asked.sql, asked.dialect):
                learned.append(corrected_change(asked, question, sql, self._schema, source))
                wrong = self._retracted(asked, asked.sql, "corrected", source.scope)
            entries = self._commit(learned, [*wrong, *self._superseded(asked, sql, source.scope)])
            said = Corrected(asked.id, str(source.time), author, entries, sql, source.scope or "")
            write(said)
        return said

    def withdraw(self, answer: str, reason: str, author: str) -> Withdrawn:
        """A person takes back what was said about an answer: what it left is forgotten, what it took out comes back.

        What was promoted since is forgotten as well: it rests on the same word.
        """
        with self.parts.history.withdrawing(answer) as (asked, said, write):
            self._own(asked)
            self._check_own_word(said, author)
            left = self._forget(asked, said)
            withdrawn = Withdrawn(asked.id, now(), author, left, reason)
            write(withdrawn)
        return withdrawn

    def keep(self, asked: Asked, grade: Grade | None, others: Iterable[str | None] = ()) -> tuple[str, ...]:
        """Keep an answer that no person has judged, where its grade is enough for that.

        It is for no more people than what its prompts showed; `others` are scopes of what they showed besides entries.
        """
        if grade is None or not grade.at_least(self.parts.keep):
            return ()
        if self.parts.scope is ScopeKind.PERSONAL and not asked.author:
            return ()  # it would be for nobody
        scope = narrowest([self.parts.scope_of(asked.author), *others, *scopes_in(self.parts, asked)])
        source = provenance(asked, "", asked.time, scope)
        entry = kept_answer(asked, self._question(asked), self._schema, grade, source)
        return self._learn([entry], [], [])  # what a person took out stays out

    @contextmanager
    def _judging(self, answer: str, author: str) -> Iterator[tuple[Asked, Callable[[Feedback], None]]]:
        with self.parts.history.judging(answer) as (asked, write):
            self._own(asked)
            if not sees_answer(self.parts, asked, None, self.parts.viewer(author)):
                raise NotVisible(f"{asked.id}: rests on what is for other people alone; ask the question yourself")
            yield asked, write

    def _own(self, asked: Asked) -> None:
        name = self.parts.schema.db_id
        if asked.database != name:
            raise InputError(f"{asked.id}: is about the database {asked.database!r}, and this one is {name!r}")

    def _source(self, asked: Asked, author: str) -> Provenance:
        """Where an entry comes from that a person's word leaves; what is personal is about an answer of one's own."""
        scope = self.parts.scope_of(author)
        if self.parts.scope is ScopeKind.PERSONAL and asked.author not in ("", author):
            raise InputError(
                f"{asked.id}: was asked by {asked.author}, and what you say about it would be yours alone; ask the "
                "question yourself, or say it with the scope team or database"
            )
        return provenance(asked, author, now(), scope)

    @staticmethod
    def _check_own_word(said: Feedback, author: str) -> None:
        if scope_kind(said.scope or None) is ScopeKind.PERSONAL and said.scope != f"personal:{author}":
            raise InputError(f"{said.answer}: what was said about it is another person's; only they can take it back")

    @property
    def _schema(self) -> str:
        return self.parts.schema_text

    def _question(self, asked: Asked) -> str:
        return self.parts.history.standing(asked)

    def _retracted(self, asked: Asked, sql: str, why: str, scope: str | None) -> list[Deletion]:
        """The entries that show this statement as an answer to this question, however sure they were."""
        examples = self._within(self._examples(asked, sql, sure=True), scope)
        return [Deletion(identity, f"{why}: {asked.id}") for identity in examples]

    def _superseded(self, asked: Asked, sql: str, scope: str | None) -> list[Deletion]:
        """The entries below a person's word that say what a person now says."""
        examples = self._within(self._examples(asked, sql, sure=False), scope)
        return [Deletion(identity, f"confirmed: {asked.id}") for identity in examples]

    def _within(self, ids: Iterable[str], scope: str | None) -> list[str]:
        """Entries for no more people than a word is for: what one says for oneself takes nothing from others."""
        return [identity for identity in ids if covers(scope, self.parts.memory.scope_of(identity))]

    def _promoted(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Entries, and those that took their places for more people."""
        if not any(map(self.parts.memory.scope_of, ids)):  # what is for everyone cannot be promoted
            return tuple(ids)
        return tuple(promoted(ids, self.parts.memory.listed()))

    def _examples(self, asked: Asked, sql: str, *, sure: bool) -> list[str]:
        history, wanted = self.parts.history, canonical(sql, asked.dialect)
        same = history.same_question(asked.database, history.before(asked), asked.question)
        found = [identity for other in same if canonical(other.sql, other.dialect) == wanted for identity in other.kept]
        for other, said in history.judged(same) if sure else ():
            if canonical(right_sql(other, said), other.dialect) == wanted:
                find, entries = self.parts.memory.find, self._promoted(said.entries)
                found += [identity for identity in entries if isinstance(find(identity), Precedent)]
        return found + (self._shown(asked, wanted) if sure else [])

    def _shown(self, asked: Asked, wanted: str) -> list[str]:
        """Of the entries that the answer's prompt showed, those that say the same: they may come from elsewhere."""
        question = plain_question(self._question(asked))
        entries = [entry for entry in map(self.parts.memory.find, asked.recalled) if isinstance(entry, Precedent)]
        return [
            entry.id
            for entry in entries
            if plain_question(entry.question) == question and canonical(entry.sql, asked.dialect) == wanted
        ]

    def _forget(self, asked: Asked, said: Feedback) -> tuple[str, ...]:
        """Take out what a word left, and bring back what it took out; says what is not remembered any more."""
        back, left = self._returning(asked, said), said.entries
        while True:
            gone = [Deletion(identity, f"withdrawn: {asked.id}") for identity in left]
            self.parts.memory.commit_all([], gone, back)
            found = self._promoted(left)  # also what was promoted just now
            if found == left:
                return left
            left = found

    def _returning(self, asked: Asked, said: Feedback) -> list[Restoration]:
        """The entries that feedback took out and that nothing else speaks against."""
        history = self.parts.history
        same = history.same_question(asked.database, history.before(asked), asked.question)
        others = [(other, word) for other, word in history.judged(same) if other.id != asked.id]
        found: dict[str, str] = {}  # entries, with the statement that each says
        for form in {canonical(sql, asked.dialect) for sql in (asked.sql, right_sql(asked, said)) if sql}:
            right = [word for other, word in others if canonical(right_sql(other, word), asked.dialect) == form]
            kept = [other.kept for other in same if canonical(other.sql, asked.dialect) == form]
            ids = [identity for ids in ([word.entries for word in right] or kept) for identity in ids]
            ids += [identity for identity in self._shown(asked, form) if self._is_imported(identity)]
            found |= dict.fromkeys(self._promoted(ids), form)
        own = {f"{why}: {asked.id}" for why in ("confirmed", "rejected", "corrected")}
        listed = self.parts.memory.listed() if found else []
        taken_out = [item.entry for item in listed if item.entry.id in found and item.deleted in own]
        return [
            Restoration(entry.id, f"withdrawn: {asked.id}")
            for entry in taken_out
            if found[entry.id] not in self._rejected(others, asked, entry.provenance.scope)
        ]

    @staticmethod
    def _rejected(words: list[tuple[Asked, Feedback]], asked: Asked, scope: str | None) -> dict[str, RejectedSQL]:
        """What people reject, of words that hold for an entry of this scope."""
        return rejected_in([pair for pair in words if covers(pair[1].scope or None, scope)], asked.dialect)

    def _is_imported(self, identity: str) -> bool:
        entry = self.parts.memory.find(identity)
        return entry is not None and entry.provenance.run != LIVE_RUN

    def _commit(self, entries: list[Entry], retracted: list[Deletion]) -> tuple[str, ...]:
        again = [Restoration(with_id(entry).id, "judged again") for entry in entries]
        return self._learn(entries, retracted, again)

    def _learn(self, entries: list[Entry], retracted: list[Deletion], restored: list[Restoration]) -> tuple[str, ...]:
        committed = self.parts.memory.commit_all(entries, retracted, restored)
        if self.parts.schemas is not None:
            for entry in committed:
                self.parts.schemas.lineage_of(entry)  # computed now, so that a change of the schema is quick to follow
        return tuple(entry.id for entry in committed)
