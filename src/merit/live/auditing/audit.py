"""The audit of live answers: history and memory are gone through again, and must not contradict each other.

For each answer the memory's log is folded up to the number that its recalls knew: what was shown must have been
committed by then, not deleted, not stale, sure enough, for the person who asked, and not the question's own.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from merit.errors import counted
from merit.live.answer import AnswerStatus
from merit.live.auditing.bounds import not_for, out_of_bounds
from merit.live.auditing.log_states import EntryState, FoldedLog, fold
from merit.live.auditing.votes import wrong_count
from merit.live.record.events import Asked, Confirmed, Corrected, Event, Feedback, Rejected, Withdrawn, kind_of
from merit.live.record.history import HISTORY, History, standing_question, valid_feedback
from merit.live.record.purging import MEMORY
from merit.live.record.receipt import Receipt
from merit.live.record.visibility import narrowest
from merit.memory import LIVE_RUN, Entry, Grade, Precedent, Repair, with_id
from merit.memory.contents import PROMOTED
from merit.sql import canonical
from merit.types import Polarity, covers, shown_scope

_TAKEN_OVER = re.compile(rf"(?:confirmed as|{PROMOTED}) ((?:pos|neg|pre)-[0-9a-f]{{16}})")


@dataclass(frozen=True, slots=True)
class LiveFindings:
    """What an audit went through, and every contradiction, in the order of the history."""

    answers: int
    words: int  # of people about answers
    shown: int  # entries in prompts, each once an answer
    entries: int  # that are in the memory now
    contradictions: tuple[str, ...]
    purged: int  # of those that were shown
    without_receipt: int  # answers of earlier versions
    imported: int  # entries from elsewhere
    through: int = 0  # words that people said through another program

    @property
    def holds(self) -> bool:
        """Whether there is no contradiction."""
        return not self.contradictions

    @property
    def on_trust(self) -> list[str]:
        """What was not proven."""
        items = [
            "that people said what the history says, and that no whole line was taken out of history or memory",
            "that the model replied what is on record, and that prompts showed what their receipts say",
            "which candidates had equal rows, and the scores of entries: no rows are kept",
        ]
        if self.purged:
            entries = counted(self.purged, "purged entry", "purged entries")
            items.append(f"what {entries} said that answers were shown, and when they were retracted")
        if self.without_receipt:
            answers = counted(self.without_receipt, "answer")
            items.append(f"what {answers} of an earlier version had in their prompts, beyond the ids of entries")
        if self.through:
            words = counted(self.through, "word")
            items.append(f"that {words} which came through other programs, as `merit why` names them, were a person's")
        if self.imported:
            entries = counted(self.imported, "entry", "entries")
            items.append(f"that {entries} from elsewhere, imported or of other people's histories, can be relied on")
        return items


def audit_live(folder: Path, memory: Path | str | None = None) -> LiveFindings:
    """Compare the history in a folder with its memory; one at a URL is shared, and others' histories are elsewhere."""
    events, log = History(folder).events(), fold(memory or folder / MEMORY)
    asked = [event for event in events if isinstance(event, Asked)]
    audit = _Audit(folder / HISTORY, events, log, shared=isinstance(memory, str))
    found = [*audit.order(), *audit.answers(), *audit.words(), *audit.memory()]
    shown = [identity for event in asked for identity in event.recalled]
    live = log.live().values()
    return LiveFindings(
        answers=len(asked),
        words=sum(isinstance(event, Feedback | Withdrawn) for event in events),
        shown=len(shown),
        entries=len(live),
        contradictions=tuple(found),
        purged=sum(identity in log.entries and log.entries[identity].entry is None for identity in shown),
        without_receipt=sum(event.receipt is None for event in asked),
        imported=sum(audit.is_elsewhere(entry) for entry in live),
        through=sum(isinstance(event, Feedback | Withdrawn) and bool(event.through) for event in events),
    )


class _Audit:
    """The checks over one history and one log; each gives the contradictions that it finds."""

    def __init__(self, path: Path, events: list[Event], log: FoldedLog, *, shared: bool) -> None:
        self._path, self._events, self._log, self._shared = path, events, log, shared
        self._asked: dict[str, Asked] = {}
        for event in events:
            if isinstance(event, Asked):
                self._asked.setdefault(event.id, event)

    def is_elsewhere(self, entry: Entry) -> bool:
        """Whether nothing here accounts for an entry: it was imported, or another person's history does."""
        return entry.provenance.run != LIVE_RUN or (
            self._shared and str(entry.provenance.question_id) not in self._asked
        )

    def order(self) -> Iterator[str]:
        """Each answer once, and every word about an answer after it."""
        known: set[str] = set()
        judged: dict[str, Feedback] = {}
        for event in self._events:
            if isinstance(event, Asked):
                if event.id in known:
                    yield self._said(event.id, "is there twice")
                known.add(event.id)
                for identity in event.earlier:
                    if identity not in known:
                        yield self._said(event.id, f"follows {identity}, which was not asked before it")
                continue
            if not isinstance(event, Feedback | Withdrawn):
                continue
            kind = kind_of(event)
            if event.answer not in known:
                when = "before it was asked" if event.answer in self._asked else "and there is no such answer"
                yield self._said(event.answer, f"was {kind}, {when}")
            if isinstance(event, Withdrawn):
                if judged.pop(event.answer, None) is None:
                    yield self._said(event.answer, "was withdrawn, and nothing had been said about it")
            elif event.answer in judged:
                yield self._said(event.answer, f"was {kind}, and had been judged already")
            else:
                judged[event.answer] = event

    def answers(self) -> Iterator[str]:
        """What each answer was shown, and what its candidates voted for."""
        for asked in self._asked.values():
            problems = self._receipt(asked, asked.receipt) if asked.receipt else self._recalled(asked)
            for problem in [*problems, *self._kept(asked)]:
                yield self._said(asked.id, problem)

    def words(self) -> Iterator[str]:
        """What was learned from people's words says what they said."""
        for event in self._events:
            if isinstance(event, Feedback) and event.answer in self._asked:
                asked = self._asked[event.answer]
                for identity, entry in self._learned(event.entries):
                    if entry is None:
                        yield self._said(asked.id, f"left {identity}, which the memory does not have")
                    elif problem := self._mismatch(asked, event, entry):
                        yield self._said(asked.id, f"left {identity}, which {problem}")

    def memory(self) -> Iterator[str]:
        """Every entry that is there has its own id and, if it was learned here, an answer that accounts for it."""
        accounted = {identity for asked in self._asked.values() for identity in asked.kept}
        accounted |= {identity for word in valid_feedback(self._events).values() for identity in word.entries}
        accounted |= self._confirmed_later(accounted)
        for identity, entry in self._log.live().items():
            if with_id(entry).id != identity:
                yield f"{identity}: the memory's entry does not say what its id stands for; it was edited"
            if not self.is_elsewhere(entry) and identity not in accounted:
                yield (
                    f"{identity}: the memory has it, and no standing word or kept answer in the history accounts for "
                    "it; it was added by other means, or a command was cut short: delete it, or judge the answer again"
                )

    def _said(self, answer: str, problem: str) -> str:
        return f"{self._path}: the answer {answer} {problem}"

    def _recalled(self, asked: Asked) -> Iterator[str]:
        """The checks that an answer without a receipt allows."""
        for identity in asked.recalled:
            logged = self._log.entries.get(identity)
            if logged is None:
                yield f"was shown {identity}, which the memory never had"
            elif logged.entry is not None and str(logged.entry.provenance.question_id) == asked.id:
                yield f"was shown {identity}, which was learned from itself"
            elif logged.entry is not None and (problem := not_for(asked, logged.entry)):
                yield f"was shown {identity}, {problem}"

    def _receipt(self, asked: Asked, receipt: Receipt) -> Iterator[str]:
        numbers = [asked.position, *receipt.positions]
        if numbers != sorted(numbers):
            yield "has positions that go back"
        if max(numbers) > self._log.last:
            yield f"knew the memory up to number {max(numbers)}, and its log ends at {self._log.last}"
        if {shown.id for shown in receipt.shown} != {*asked.recalled}:
            yield "lists other entries as recalled than its receipt shows"
        if receipt.prompts[:1] != ((asked.first_prompt_sha256,) if asked.first_prompt_sha256 else ()):
            yield "has a first prompt that is not the first of its receipt"
        if any(vote.prompt is not None and vote.prompt >= len(receipt.prompts) for vote in receipt.candidates):
            yield "has a candidate whose prompt is not on record"
        if any(vote.prompt is None for vote in receipt.candidates[1:]):
            yield "has a given statement that is not its first candidate"
        forms = {canonical(tried.sql, asked.dialect) for tried in asked.tried}
        if asked.sql and receipt.settings.get("execute", True) and canonical(asked.sql, asked.dialect) not in forms:
            yield "has SQL that is not among its candidates"
        elif problem := wrong_count(asked, receipt):
            yield problem
        for shown in receipt.shown:
            for number in shown.candidates:
                if not 1 <= number <= len(receipt.positions):
                    yield f"was shown {shown.id} for candidate {number}, of which nothing is on record"
                elif problem := self._illegal(asked, receipt, shown.id, receipt.positions[number - 1]):
                    yield f"was shown {shown.id} for candidate {number}, {problem}"
                    break

    def _illegal(self, asked: Asked, receipt: Receipt, identity: str, position: int) -> str | None:
        """Why an entry could not be shown at a number of the log."""
        logged = self._log.entries.get(identity)
        if logged is None:
            return "which the memory never had"
        if logged.committed > asked.position:
            return f"which was committed as number {logged.committed}, after {asked.position}"
        state, since, why = logged.state(position)
        if state is not EntryState.PRESENT:
            return f"which was {state} since number {since} ({why}), and that was {position}"
        return None if logged.entry is None else out_of_bounds(asked, receipt, logged.entry)

    def _kept(self, asked: Asked) -> Iterator[str]:
        """What an answer left without a person's word."""
        for identity, entry in self._learned(asked.kept):
            if entry is None:
                yield f"kept {identity}, which the memory does not have"
            elif not isinstance(entry, Precedent) or entry.sql != asked.sql or entry.provenance.question_id != asked.id:
                yield f"kept {identity}, which says something else"
            elif entry.grade is Grade.CONFIRMED:
                yield f"kept {identity} as confirmed, without a person's word"
            elif entry.grade is Grade.TESTED and (asked.failed or not asked.passed):
                yield f"kept {identity} as tested, and did not pass the checks"
            elif entry.grade is Grade.AGREED and asked.status is not AnswerStatus.ANSWERED:
                yield f"kept {identity} as agreed, and its candidates did not agree"
            elif not covers(narrowest(self._shown_scopes(asked)), entry.provenance.scope):
                yield f"kept {identity} for more people than an entry that it was shown"

    def _shown_scopes(self, asked: Asked) -> list[str | None]:
        """The scopes of the entries that an answer and those it follows were shown."""
        turns = [asked, *(self._asked[turn] for turn in asked.earlier if turn in self._asked)]
        shown = [entry for turn in turns for _, entry in self._learned(turn.recalled)]
        return [entry.provenance.scope for entry in shown if entry is not None]

    def _learned(self, ids: Iterable[str]) -> Iterator[tuple[str, Entry | None]]:
        """Entries of the log by their ids, without those that were purged."""
        for identity in ids:
            logged = self._log.entries.get(identity)
            if logged is None or logged.entry is not None:
                yield identity, logged.entry if logged else None

    def _mismatch(self, asked: Asked, feedback: Feedback, entry: Entry) -> str | None:
        """What an entry says that the word it was learned from does not."""
        before = [self._asked[identity].question for identity in asked.earlier if identity in self._asked]
        if entry.question != standing_question(before, asked.question):
            return "is about another question"
        if entry.provenance.question_id != asked.id or entry.provenance.db_id != asked.database:
            return "is about another answer"
        if entry.provenance.scope != (feedback.scope or None):
            return (
                f"is for {shown_scope(entry.provenance.scope)}, and was said for {shown_scope(feedback.scope or None)}"
            )
        right = (
            asked.sql if isinstance(feedback, Confirmed) else feedback.sql if isinstance(feedback, Corrected) else ""
        )
        match entry:
            case Precedent():
                return None if entry.sql == right else "says another SQL than was said to be right"
            case Repair(polarity=Polarity.POSITIVE):
                fits = isinstance(feedback, Corrected) and (entry.before, entry.after) == (asked.sql, right)
            case Repair():
                fits = isinstance(feedback, Rejected) and entry.after == asked.sql
        return None if fits else "says another change than was said"

    def _confirmed_later(self, accounted: set[str]) -> set[str]:
        """Entries that took the place of one that is accounted for, by `merit memory confirm` or `promote`."""
        taken_over: set[str] = set()
        waiting = list(accounted & self._log.entries.keys())
        while waiting:
            logged = self._log.entries[waiting.pop()]
            place = _TAKEN_OVER.match(logged.state(self._log.last)[2])
            new = self._log.entries.get(place[1]) if place else None
            if new is not None and new.entry is not None and logged.entry is not None:
                same = (new.entry.question, new.entry.delta) == (logged.entry.question, logged.entry.delta)
                if same and new.entry.id not in taken_over:
                    taken_over.add(new.entry.id)
                    waiting.append(new.entry.id)
        return taken_over
