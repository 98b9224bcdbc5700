"""Changing a memory by hand: entries taken out, brought back, confirmed or rewritten, each under its author.

A rewritten entry is executed first, and enters as confirmed by its author; the old one is taken out with it.
"""

from dataclasses import dataclass

from merit.agent.feedback import confirmed_answer
from merit.errors import Conflict, InputError, NotFound
from merit.live.calls import check_text
from merit.live.judging.promoting import promote
from merit.live.parts import LiveParts
from merit.live.record.events import now
from merit.live.record.uses import Use, uses_of
from merit.live.record.visibility import visible
from merit.memory import Deletion, Entry, Grade, Listed, Precedent, Provenance, Restoration, with_id
from merit.memory.contents import promoted
from merit.types import Limits, Polarity, Rows, Viewer

EDITED_RUN = "edited"  # the run that such entries name


@dataclass(frozen=True, slots=True)
class Curator:
    """Changes the memory of an agent."""

    parts: LiveParts
    limits: Limits
    viewer: Viewer | None = None  # who looks; None sees everything, as a person who curates does

    def find(self, identity: str) -> Listed:
        """An entry with its state, by its whole id."""
        listed = self.parts.memory.listed()
        for item in listed if self.viewer is None else visible(listed, self.viewer):
            if item.entry.id == identity:
                return item
        raise NotFound(f"there is no entry {identity!r} in this memory")

    def uses(self, identity: str) -> list[Use]:
        """The later answers that rest on an entry, or on one that took its place for more people, to any depth."""
        return uses_of(promoted([identity], self.parts.memory.listed()), self.parts.history.events())

    def promote(self, identity: str, author: str) -> list[Entry]:
        """Let what is for one person be for their team, or where no team is named for everyone."""
        return promote(self.parts.memory, identity, self.parts.team, author)

    def retract(self, identity: str, author: str, reason: str = "") -> None:
        """Take an entry out of every later recall."""
        check_text(reason + author, "the reason or the author")
        self.parts.memory.delete(identity, _with_author("retracted", author, reason))

    def restore(self, identity: str, author: str) -> None:
        """Take a retraction back, or that an entry is stale."""
        if self.find(identity).recallable:
            raise Conflict(f"{identity}: is neither retracted nor stale")
        self.parts.memory.commit_all([], [], [Restoration(identity, _with_author("restored", author))])

    def confirm(self, identity: str, author: str) -> Entry:
        """Say that an entry below *confirmed* is right: a confirmed one takes its place."""
        old = self._live(identity)
        if old.grade is Grade.CONFIRMED or not isinstance(old, Precedent):
            raise Conflict(f"{identity}: only an answer that is not confirmed yet can be confirmed")
        return self._replace(old, self._answer(old, old.question, old.sql, author), "confirmed", author)

    def edit(self, identity: str, question: str, sql: str, author: str) -> Entry:
        """Let another question and statement take the place of an answer; what does not run is refused."""
        check_text(question + sql + author, "the question, the statement or the author")
        if not question.strip() or not sql.strip():
            raise InputError("a question and a statement are needed; write both")
        old = self._live(identity)
        if not isinstance(old, Precedent):
            raise Conflict(f"{identity}: is a change between two statements, which cannot be edited; retract it")
        new = self._answer(old, question, sql, author)
        if (question, sql) == (old.question, old.sql) or new.id == old.id:
            raise Conflict(f"{identity}: says so already; nothing was changed")
        return self._replace(old, new, "edited", author)

    def _live(self, identity: str) -> Entry:
        item = self.find(identity)
        if item.deleted is not None:
            raise Conflict(f"{identity}: is retracted ({item.deleted}); restore it first")
        if item.entry.polarity is Polarity.NEGATIVE:
            raise Conflict(f"{identity}: is a direction that was seen to fail; it can only be retracted")
        own = self.parts.schema.db_id
        if item.entry.provenance.db_id != own:
            about = item.entry.provenance.db_id
            raise Conflict(f"{identity}: is about the database {about!r}, and this one is {own!r}")
        return item.entry

    def _answer(self, old: Precedent, question: str, sql: str, author: str) -> Entry:
        """A confirmed answer in place of another, once it was executed."""
        result = self.parts.engine.execute(sql, self.limits)
        if not isinstance(result, Rows):
            raise InputError(f"the statement does not run ({result.message}); nothing was changed")
        source = Provenance(
            run=EDITED_RUN,
            question_id=old.provenance.question_id,
            db_id=self.parts.schema.db_id,
            position=self.parts.memory.sequence,
            step=0,
            episode=f"edit:{author}:{old.id}",
            author=author,
            time=now(),
            schema_fingerprint=self.parts.fingerprint,
            dialect=self.parts.engine.dialect,
            scope=old.provenance.scope,
        )
        return with_id(confirmed_answer(question, sql, self.parts.schema_text, source))

    def _replace(self, old: Entry, new: Entry, what: str, author: str) -> Entry:
        gone = Deletion(old.id, _with_author(what, author, f"as {new.id}"))
        (kept,) = self.parts.memory.commit_all([new], [gone], [Restoration(new.id, _with_author(what, author))])
        return kept


def _with_author(what: str, author: str, reason: str = "") -> str:
    by = f"{what} by {author}" if author else what
    return f"{by}: {reason}" if reason.strip() else by
