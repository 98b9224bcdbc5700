"""What an entry has had a part in: the later answers that were shown it, what was learned from those, and so on."""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from merit.live.record.events import Asked, Confirmed, Corrected, Event, Rejected
from merit.live.record.history import standing_question


@dataclass(frozen=True, slots=True)
class Use:
    """A later answer that an entry had a part in."""

    asked: Asked
    question: str  # as it stands by itself
    depth: int  # 1: it was shown the entry itself
    through: tuple[str, ...]  # the entries that it was shown, and the answers that it follows, of those in question
    learned: tuple[str, ...]  # the entries that were learned from it

    def record(self) -> dict[str, object]:
        """As plain values."""
        return {
            "answer": self.asked.id,
            "time": self.asked.time,
            "question": self.question,
            "sql": self.asked.sql,
            "status": self.asked.status,
            "depth": self.depth,
            "through": list(self.through),
            "learned": list(self.learned),
        }


def uses_of(entries: Iterable[str], events: Sequence[Event]) -> list[Use]:
    """Every later answer that entries had a part in, to any depth, each once; the nearest first, then the oldest."""
    answers = {event.id: event for event in events if isinstance(event, Asked)}
    learned = _learned(events)
    shown, follow_ups = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for asked in answers.values():
        for identity in asked.recalled:
            shown[identity].append(asked.id)
        for identity in asked.earlier:
            follow_ups[identity].append(asked.id)
    depths: dict[str, int] = {}
    sources = set(entries)
    waiting = deque((identity, 1) for identity in sources)
    while waiting:
        identity, depth = waiting.popleft()
        for answer in shown[identity] + follow_ups[identity]:
            if answer not in depths:  # so that it ends, whatever a history says
                depths[answer] = depth
                waiting.append((answer, depth + 1))
                waiting.extend((entry, depth + 1) for entry in learned[answer])
                sources |= {answer, *learned[answer]}
    found = [
        Use(
            asked,
            _standing(asked, answers),
            depths[asked.id],
            tuple(identity for identity in (*asked.recalled, *asked.earlier) if identity in sources),
            tuple(learned[asked.id]),
        )
        for asked in answers.values()
        if asked.id in depths
    ]
    return sorted(found, key=lambda use: use.depth)


def _learned(events: Iterable[Event]) -> defaultdict[str, list[str]]:
    """The entries that each answer left, without a person's word and by it; those that were taken back, too."""
    learned = defaultdict[str, list[str]](list)
    for event in events:
        if isinstance(event, Asked):
            learned[event.id] += event.kept
        elif isinstance(event, Confirmed | Rejected | Corrected):
            learned[event.answer] += [identity for identity in event.entries if identity not in learned[event.answer]]
    return learned


def _standing(asked: Asked, answers: dict[str, Asked]) -> str:
    before = [answers[identity].question for identity in asked.earlier if identity in answers]
    return standing_question(before, asked.question)
