"""Feedback: what a person says about an answer, at once or days later, in any process.

Entries are committed first, the person's word last: until that is on the disk it is not acknowledged, and saying it
again keeps the same entries. Meanwhile no other process can judge an answer.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from merit.agent.feedback import confirmed_answer, corrected_change, rejected_change
from merit.errors import Conflict, InputError
from merit.live.judging.ladder import right_sql
from merit.live.judging.withdrawing import Withdrawer, all_promoted, check_database, shown_saying
from merit.live.parts import LiveParts
from merit.live.record.events import Asked, Confirmed, Corrected, Feedback, Rejected, Withdrawn, now
from merit.live.record.visibility import check_seen, narrowest, scopes_in
from merit.live.schema.staleness import follow_learned
from merit.memory import LIVE_RUN, Deletion, Entry, Grade, Precedent, Provenance, Restoration, with_id
from merit.sql import canonical
from merit.types import Error, Limits, ScopeKind, Status, Timeout, covers


@dataclass(frozen=True, slots=True)
class Learner:
    """Turns what people say about the answers on one database into entries of its memory."""

    parts: LiveParts
    limits: Limits

    def confirm(self, answer: str, author: str, through: str = "") -> Confirmed:
        """A person says that an answer is right: it is remembered as such."""
        with self._judging(answer, author) as (asked, write):
            if not asked.status.ran:
                raise Conflict(f"{asked.id}: nothing ran, so there is nothing to confirm; correct it instead")
            source = self._source(asked, author)
            right = confirmed_answer(self._question(asked), asked.sql, self._schema, source)
            entries = self._commit([right], self._superseded(asked, asked.sql, source.scope))
            feedback = Confirmed(asked.id, str(source.time), author, entries, source.scope or "", through)
            write(feedback)
        return feedback

    def reject(self, answer: str, reason: str, author: str, through: str = "") -> Rejected:
        """A person says that an answer is wrong: no entry shows it as an answer to this question any more."""
        with self._judging(answer, author) as (asked, write):
            source = self._source(asked, author)
            change = rejected_change(asked, self._question(asked), self._schema, source)
            wrong = self._retracted(asked, asked.sql, "rejected", source.scope)
            entries = self._commit([change] if change else [], wrong)
            feedback = Rejected(
                answer=asked.id,
                time=str(source.time),
                author=author,
                entries=entries,
                reason=reason,
                scope=source.scope or "",
                through=through,
            )
            write(feedback)
        return feedback

    def correct(self, answer: str, sql: str, author: str, through: str = "") -> Corrected:
        """A person says how an answer should have been; what does not run is refused."""
        check_database(self.parts.history.find(answer)[0], self.parts.schema.db_id)
        result = self.parts.engine.execute(sql, self.limits)
        if isinstance(result, Error | Timeout):
            raise InputError(f"the correction does not run ({result.message}); nothing was kept")
        with self._judging(answer, author) as (asked, write):
            # It ran on the schema of now; the answer may be from before a change.
            source = replace(self._source(asked, author), schema_fingerprint=self.parts.fingerprint)
            question = self._question(asked)
            learned, wrong = [confirmed_answer(question, sql, self._schema, source)], list[Deletion]()
            if asked.sql and canonical(sql, asked.dialect) != canonical(asked.sql, asked.dialect):
                learned.append(corrected_change(asked, question, sql, self._schema, source))
                wrong = self._retracted(asked, asked.sql, "corrected", source.scope)
            entries = self._commit(learned, [*wrong, *self._superseded(asked, sql, source.scope)])
            feedback = Corrected(
                answer=asked.id,
                time=str(source.time),
                author=author,
                entries=entries,
                sql=sql,
                scope=source.scope or "",
                through=through,
            )
            write(feedback)
        return feedback

    def withdraw(self, answer: str, reason: str, author: str, through: str = "") -> Withdrawn:
        """A person takes back what was said about an answer: what it left is forgotten, what it took out comes back."""

        def follow(entries: list[Entry]) -> None:
            follow_learned(self.parts, self.limits, entries)

        withdrawer = Withdrawer(self.parts.history, self.parts.memory, self.parts.schema.db_id)
        return withdrawer.withdraw(answer, reason, author, through, brought_back=follow)

    def keep(self, asked: Asked, grade: Grade | None, others: Iterable[str | None] = ()) -> tuple[str, ...]:
        """Keep an answer that no person has judged, where its grade is enough for that.

        It is for no more people than what its prompts showed; `others` are scopes of what they showed besides entries.
        """
        if grade is None or not grade.at_least(self.parts.keep):
            return ()
        if self.parts.scope is ScopeKind.PERSONAL and not asked.author:
            return ()  # nobody could see a personal entry without an author
        if grade is Grade.CONFIRMED:
            raise ValueError("only a person's word confirms an answer")
        scope = narrowest([self.parts.scope_of(asked.author), *others, *scopes_in(self.parts, asked)])
        source = _provenance(asked, "", asked.time, scope)
        ran = Status.EXECUTED
        kept = Precedent(
            id="",
            question=self._question(asked),
            schema=self._schema,
            sql=asked.sql,
            observed=ran,
            outcome=ran,
            grade=grade,
            provenance=source,
        )
        return self._learn([with_id(kept)], [], [])  # what a person took out stays out

    @contextmanager
    def _judging(self, answer: str, author: str) -> Iterator[tuple[Asked, Callable[[Feedback], None]]]:
        with self.parts.history.judging(answer) as (asked, write):
            check_database(asked, self.parts.schema.db_id)
            check_seen(self.parts, asked, None, author)
            yield asked, write

    def _source(self, asked: Asked, author: str) -> Provenance:
        """Where an entry comes from that a person's word leaves; what is personal is about an answer of one's own."""
        scope = self.parts.scope_of(author)
        if self.parts.scope is ScopeKind.PERSONAL and asked.author not in ("", author):
            raise InputError(
                f"{asked.id}: was asked by {asked.author}, and what you say about it would be yours alone; ask the "
                "question yourself, or say it with the scope team or database"
            )
        return _provenance(asked, author, now(), scope)

    @property
    def _schema(self) -> str:
        return self.parts.schema_text

    def _question(self, asked: Asked) -> str:
        return self.parts.history.whole_question(asked)

    def _retracted(self, asked: Asked, sql: str, why: str, scope: str | None) -> list[Deletion]:
        """The entries that show this statement as an answer to this question, however sure they were."""
        examples = self._within(self._examples(asked, sql, with_confirmed=True), scope)
        return [Deletion(identity, f"{why}: {asked.id}") for identity in examples]

    def _superseded(self, asked: Asked, sql: str, scope: str | None) -> list[Deletion]:
        """The entries below a person's word that say what a person now says."""
        examples = self._within(self._examples(asked, sql, with_confirmed=False), scope)
        return [Deletion(identity, f"confirmed: {asked.id}") for identity in examples]

    def _within(self, ids: Iterable[str], scope: str | None) -> list[str]:
        """Of some entries, those that are for no others than the feedback: it takes no entry from anyone else."""
        return [identity for identity in ids if covers(scope, self.parts.memory.scope_of(identity))]

    def _examples(self, asked: Asked, sql: str, *, with_confirmed: bool) -> list[str]:
        history, wanted = self.parts.history, canonical(sql, asked.dialect)
        same = history.same_question(asked.database, history.before(asked), asked.question)
        found = [identity for other in same if canonical(other.sql, other.dialect) == wanted for identity in other.kept]
        for other, feedback in history.judged(same) if with_confirmed else ():
            if canonical(right_sql(other, feedback), other.dialect) == wanted:
                find, entries = self.parts.memory.find, all_promoted(self.parts.memory, feedback.entries)
                found += [identity for identity in entries if isinstance(find(identity), Precedent)]
        return found + (shown_saying(history, self.parts.memory, asked, wanted) if with_confirmed else [])

    def _commit(self, entries: list[Entry], retracted: list[Deletion]) -> tuple[str, ...]:
        again = [Restoration(with_id(entry).id, "judged again") for entry in entries]
        return self._learn(entries, retracted, again)

    def _learn(self, entries: list[Entry], retracted: list[Deletion], restored: list[Restoration]) -> tuple[str, ...]:
        committed = self.parts.memory.commit_all(entries, retracted, restored)
        follow_learned(self.parts, self.limits, committed)
        return tuple(entry.id for entry in committed)


def _provenance(asked: Asked, author: str, time: str, scope: str | None) -> Provenance:
    """Where an entry comes from: the question's answer, and the person that judged it."""
    return Provenance(
        run=LIVE_RUN,
        question_id=asked.id,
        db_id=asked.database,
        position=asked.position,
        step=max(0, len(asked.tried) - 1),
        episode=f"live:{asked.id}",
        author=author,
        time=time,
        schema_fingerprint=asked.schema_fingerprint,
        dialect=asked.dialect,
        scope=scope,
    )
