"""Purging: erasing what was asked and learned from every file that holds it.

What is to go is written down first, so that a purge which was cut short is finished by the next one, or when the folder
is opened next. The history goes last, since it tells what else there is. No answer can be judged meanwhile.
"""

import json
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from merit.cache import cache_folder
from merit.errors import InputError
from merit.files import atomic_write, unfinished_path
from merit.live.record.events import Asked, Event, Feedback, Spent, Withdrawn
from merit.live.record.history import HISTORY, History
from merit.live.schema.schemas import LINEAGE, SCHEMAS
from merit.memory import LIVE_RUN, Entry, FileStore, entries_in
from merit.memory.files import refuse_link
from merit.memory.store import has_memory
from merit.models import AnswerStore
from merit.models.answers import FILE as ANSWERS
from merit.reading import parse_json, read_text

INTENTION = "purge.json"
MEMORY = "memory"  # the folder of the memory in that of a project


@dataclass(frozen=True, slots=True)
class Purge:
    """What to erase: entries by id; answers, authors and databases with everything about them."""

    entries: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    databases: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.entries or self.answers or self.authors or self.databases)


@dataclass(frozen=True, slots=True)
class Purged:
    """How much went."""

    entries: int = 0
    events: int = 0
    replies: int = 0


def purge_all(folder: Path, wanted: Purge) -> Purged:
    """Erase from memory, history and the cache of answers; a purge that was cut short before is finished first."""
    finish_purge(folder)
    _refuse_links(folder)
    with atomic_write(folder / INTENTION) as file:
        file.write(json.dumps(asdict(wanted)).encode())
    return finish_purge(folder)


def finish_purge(folder: Path) -> Purged:
    """Do what the intention says, where there is one; doing it twice is the same as once."""
    path = folder / INTENTION
    if not path.exists():
        return Purged()
    _refuse_links(folder)
    wanted = _read(path)
    history = History(folder)
    if not history.path.exists():
        purged = Purged(erase_from_memory(folder / MEMORY, wanted, []))
    else:
        with history.rewriting() as rewrite:
            purged = _purge(folder, wanted, history.events(), rewrite)
    for left in (folder / LINEAGE, unfinished_path(folder / HISTORY), unfinished_path(path)):
        left.unlink(missing_ok=True)  # lineages are computed again
    path.unlink()
    return purged


def _refuse_links(folder: Path) -> None:
    """Nothing is erased where a link leads: in a folder from elsewhere, that may be anything of the user's."""
    for name in (MEMORY, SCHEMAS):
        refuse_link(folder / name)


def _purge(
    folder: Path, wanted: Purge, events: list[Event], rewrite: Callable[[Callable[[Event], bool]], int]
) -> Purged:
    asked = [event for event in events if isinstance(event, Asked)]
    answers = _answers(wanted, asked)
    erased = {entry.id for entry in _chosen(folder / MEMORY, wanted, asked)}
    for event in asked:
        if event.database in wanted.databases and event.schema_fingerprint.isalnum():  # a name, and no path
            (folder / SCHEMAS / f"{event.schema_fingerprint}.json").unlink(missing_ok=True)
    questions = {(event.database, event.question) for event in asked if event.id in answers}
    spent = [event for event in events if isinstance(event, Spent)]
    gone = [
        event for event in spent if event.database in wanted.databases or (event.database, event.question) in questions
    ]
    replies = _erase_replies(_replies(asked, answers, erased) | {digest for event in gone for digest in event.replies})
    words = _words(events, wanted.authors)

    def keep(event: Event) -> bool:
        if isinstance(event, Asked):
            return event.id not in answers
        if isinstance(event, Spent):
            return event not in gone
        return event.answer not in answers and event not in words

    return Purged(erase_from_memory(folder / MEMORY, wanted, asked), rewrite(keep), replies)


def erase_from_memory(folder: Path, wanted: Purge, asked: Iterable[Asked]) -> int:
    """Erase the entries that go from the memory in a folder; how many there were."""
    if not has_memory(folder):
        return 0
    chosen = _chosen(folder, wanted, asked)
    if not chosen:
        return 0  # the file stays as it is, and processes that have it open can go on with it
    with closing(FileStore(folder)) as store:
        return store.erase(entry.id for entry in chosen)


def _answers(wanted: Purge, asked: Iterable[Asked]) -> set[str]:
    """The answers that go; a follow-up goes with the answers that its prompt showed, since it is made of them."""
    answers = set(wanted.answers)
    for event in asked:  # a follow-up comes after what it follows
        if event.database in wanted.databases or event.author in wanted.authors or answers & {*event.earlier}:
            answers.add(event.id)
    return answers


def _words(events: Iterable[Event], authors: Iterable[str]) -> list[Feedback | Withdrawn]:
    """What some people said about answers; a word that was taken back goes together with its withdrawal."""
    gone, last = list[Feedback | Withdrawn](), dict[str, Feedback]()
    for event in events:
        if isinstance(event, Withdrawn):
            pair = [word for word in (last.pop(event.answer, None), event) if word is not None]
            gone += pair if any(word.author in authors for word in pair) else []
        elif isinstance(event, Feedback):
            last[event.answer] = event
    return gone + [word for word in last.values() if word.author in authors]


def _chosen(folder: Path, wanted: Purge, asked: Iterable[Asked]) -> list[Entry]:
    """The entries that go."""
    answers = _answers(wanted, asked)
    if not has_memory(folder):
        return []

    def goes(entry: Entry) -> bool:
        source = entry.provenance
        return (
            entry.id in wanted.entries
            or (source.run == LIVE_RUN and source.question_id in answers)
            or (source.author is not None and source.author in wanted.authors)
            or source.scope in [f"personal:{author}" for author in wanted.authors]
            or source.db_id in wanted.databases
        )

    return [listed.entry for listed in entries_in(folder) if goes(listed.entry)]


def _replies(asked: list[Asked], answers: set[str], entries: set[str]) -> set[str]:
    """The replies to prompts about an answer, or that showed it: they may repeat it."""
    questions = {(event.database, event.question) for event in asked if event.id in answers}
    return {
        digest
        for event in asked
        if event.id in answers
        or entries & {*event.recalled, *event.kept}
        or (event.database, event.question) in questions
        for digest in event.replies
    }


def _erase_replies(hashes: set[str]) -> int:
    path = cache_folder() / ANSWERS
    if not hashes or not path.is_file():
        return 0
    with closing(AnswerStore(path)) as store:
        return store.erase(hashes)


def _read(path: Path) -> Purge:
    record = parse_json(read_text(path), path)
    names = set(Purge.__dataclass_fields__)
    if not isinstance(record, dict) or set(record) != names or not all(map(_texts, record.values())):
        raise InputError(f"{path}: not what a purge leaves; remove it, and purge again")
    return Purge(**{name: tuple(values) for name, values in record.items()})


def _texts(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)
