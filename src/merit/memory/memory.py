"""The memory: commit what was learned, recall what may be known. An index over a store's log, kept up with it."""

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

from merit.errors import Conflict, InputError, MemoryChanged, MemoryUnusable, NotFound
from merit.memory import snapshot
from merit.memory.contents import Listed, read_contents
from merit.memory.format4 import readable
from merit.memory.identity import says_the_same, with_id
from merit.memory.index import Index
from merit.memory.policy import Cue, Recall, RecallPolicy
from merit.memory.recall import Catalogue, recall
from merit.memory.segment import Segment
from merit.memory.store import INDEX, FileStore
from merit.memory.vectors import Matrix
from merit.types import Change, Deletion, Encoder, Entry, Precedent, Repair, Restoration, Staleness, Store
from merit.vectors import unit_vectors

_logger = logging.getLogger(__name__)
_ENCODED_AT_ONCE = 256


class Memory:
    """Finalised experience under the causal rule. Usable from many threads; other processes may write to its store."""

    at_hand = 1000  # entries, and recalls since the last change, that are kept

    def __init__(
        self, store: Store | Path, encoder: Encoder | None, *, keep_index: bool = True, index_folder: Path | None = None
    ) -> None:
        """Open the memory in a store, or that in a folder; without an encoder only the lexical channel can recall.

        `keep_index` keeps vectors and postings on disk, so that a large memory opens quickly: beside the entries of a
        folder, or else in `index_folder`. The store is closed with the memory.
        """
        if isinstance(store, Path):
            index_folder = index_folder or store / INDEX
            store = FileStore(store)
        self._lock = threading.RLock()
        self._encoder = encoder
        self._store = store
        self._purges = store.purges  # that the index knows of
        self._index_folder = index_folder if keep_index else None
        self._closed = False
        self._whole = self._saved = True  # the index is what its sequence number says; the snapshot stands for it
        self._recent: dict[str, Entry] = {}
        self._recalled: dict[tuple[Cue, RecallPolicy], Recall] = {}  # since the last change
        identity = encoder.identity if encoder else None
        try:
            loaded = snapshot.load(self._index_folder, store, identity) if self._index_folder else None
            self._index = loaded or Index(identity)
            self.refresh()
        except BaseException:
            store.close()
            raise

    def __enter__(self) -> "Memory":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        with self._in_use():
            return len(self._index)

    @property
    def name(self) -> str:
        """What its store is called in messages."""
        return self._store.name

    @property
    def sequence(self) -> int:
        """The number of the last change that it has taken in."""
        with self._in_use():
            return self._index.sequence

    def refresh(self) -> None:
        """Take in what other processes have committed or purged; recalls and commits do so by themselves."""
        with self._in_use():
            changes = self._store.since(self._index.sequence)
            if self._store.purges != self._purges:  # what the index holds may be gone
                self._purges, self._index, self._recent = self._store.purges, Index(self._index.encoder), {}
                changes = self._store.since(0)
            while batch := list(islice(changes, _ENCODED_AT_ONCE)):
                self._follow(batch)

    def commit(self, entry: Entry) -> Entry:
        """Keep a finalised episode's entry; it is durable when this returns. Gives it back under its id."""
        return self.commit_all([entry])[0]

    def commit_all(
        self, entries: Iterable[Entry], retracted: Iterable[Deletion] = (), restored: Iterable[Restoration] = ()
    ) -> list[Entry]:
        """Keep many entries at once, take out those they stand against, and bring others back: all of it or nothing.

        A known entry is not kept twice, and a deleted one stays deleted unless it is among those to bring back.
        """
        named, gone, back = [with_id(entry) for entry in entries], list(retracted), list(restored)
        with self._in_use():
            while True:
                self.refresh()
                fresh = self._fresh(named)
                deletions = [deletion for deletion in gone if self._is_live(deletion.id)]
                returned = [change for change in back if change.id in self._index and not self._is_live(change.id)]
                try:
                    self._append([*fresh.values(), *deletions, *returned])
                except MemoryChanged:
                    continue  # another process may have committed one of these
                return [fresh.get(entry.id) or self.entry(entry.id) for entry in named]

    def _is_live(self, identity: str) -> bool:
        if identity not in self._index:
            return False
        segment, row = self._index.row_of(identity)
        return not segment.is_deleted(row)

    def delete(self, identity: str, reason: str) -> None:
        """Take an entry out of every later recall; the log keeps it, with the reason."""
        with self._in_use():
            while True:
                self.refresh()
                if identity not in self._index:
                    raise NotFound(f"{self._store.name}: there is no entry {identity}")
                if not self._is_live(identity):
                    raise Conflict(f"{self._store.name}: {identity} is deleted already")
                try:
                    return self._append([Deletion(identity, reason)])
                except MemoryChanged:
                    continue

    def mark_stale(self, reasons: Mapping[str, str], *, stale: bool = True) -> tuple[str, ...]:
        """Take entries out of recall for as long as they are stale, or bring them back, each for its reason.

        Returns the ids of those that were not so before; deleted entries stay as they are.
        """
        with self._in_use():
            while True:
                self.refresh()
                marked = {identity: why for identity, why in reasons.items() if self._can_be(identity, stale)}
                changes = [Staleness(identity, stale, why) for identity, why in marked.items()]
                try:
                    self._append(changes)
                except MemoryChanged:
                    continue
                return tuple(marked)

    def _can_be(self, identity: str, stale: bool) -> bool:
        if identity not in self._index:
            raise NotFound(f"{self._store.name}: there is no entry {identity}")
        segment, row = self._index.row_of(identity)
        return not segment.is_deleted(row) and segment.is_stale(row) != stale

    def listed(self, since: int = 0) -> list[Listed]:
        """Every entry with its state, in order: the whole log is read; or what came or came back after a number."""
        with self._in_use():
            store = self._store
        return list(read_contents(store, since).entries.values())  # without the lock, since a large log takes a while

    def entry(self, identity: str) -> Entry:
        """A committed entry."""
        with self._in_use():
            return self._read(*self._index.row_of(identity))

    def find(self, identity: str) -> Entry | None:
        """A committed entry, or None where there is none: it may have been purged."""
        with self._in_use():
            self.refresh()
            return self.entry(identity) if identity in self._index else None

    def scope_of(self, identity: str, unknown: str | None = None) -> str | None:
        """Whom an entry is for, None where that is everyone; `unknown` where there is no such entry."""
        with self._in_use():
            if identity not in self._index:
                self.refresh()
            return self._index.scope_of(identity, unknown)

    def recall(self, cue: Cue, policy: RecallPolicy) -> Recall:
        """What a later question may know, best first, and why."""
        ranks = policy.dense and policy.random_seed is None
        if ranks and self._encoder is None:
            raise MemoryUnusable("this policy ranks by dense similarity, but the memory was opened without an encoder")
        # Only random draws depend on the step: a cue that comes again in one episode recalls the same again.
        asked = (replace(cue, step=0) if policy.random_seed is None else cue, policy)
        with self._in_use():
            self.refresh()
            if (known := self._recalled.get(asked)) is not None:
                return known
        texts = {cue.dense_text(pool) for pool in policy.pools} if ranks else ()
        queries = {text: self._encode([text])[0] for text in texts}
        with self._in_use():
            index = self._index
            segments = list(index.segments.values())
            catalogue = Catalogue(segments, index.codes_of(cue), self._read, queries.__getitem__)
            recalled = replace(recall(catalogue, cue, policy), sequence=index.sequence)
            if len(self._recalled) >= self.at_hand:
                self._recalled.clear()
            self._recalled[asked] = recalled
            return recalled

    def close(self) -> None:
        """Save the index and close the store."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            try:
                if self._index_folder and self._whole and not self._saved and not self._index.unread_vectors:
                    self._store.since(self._index.sequence)  # looks whether the log was purged meanwhile
                    if self._store.purges == self._purges:
                        snapshot.save(self._index_folder, self._index, self._store)
            except (OSError, InputError, MemoryUnusable) as error:
                _logger.warning("%s: the index was not saved (%s); opening will take longer", self._index_folder, error)
            finally:
                self._index = Index(None)
                self._store.close()

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        with self._lock:
            if self._closed:
                raise MemoryUnusable(f"{self._store.name}: this memory is closed")
            if not self._whole:
                raise MemoryUnusable(f"{self._store.name}: a commit was interrupted; open this memory again")
            yield

    def _fresh(self, named: Sequence[Entry]) -> dict[str, Entry]:
        """Those entries that are not known yet."""
        fresh: dict[str, Entry] = {}
        for entry in named:
            known = fresh.get(entry.id) or (self.entry(entry.id) if entry.id in self._index else None)
            if known is None:
                fresh[entry.id] = readable(entry)
            elif not says_the_same(known, entry):
                raise InputError(f"entry {entry.id}: another entry has this id already; nothing was written")
        return fresh

    def _append(self, changes: Sequence[Change]) -> None:
        """Commit changes, and only then let the index follow; an interruption in between makes this object unusable."""
        if not changes:
            return
        vectors = self._vectors(changes)  # first, since it can fail
        self._whole = False
        try:
            last = self._store.append(changes, expected=self._index.sequence)
        except (InputError, MemoryUnusable):
            self._whole = True  # the store is as it was, or says by itself that it is not
            raise
        self._take_in(list(enumerate(changes, last - len(changes) + 1)), vectors)

    def _follow(self, changes: Sequence[tuple[int, Change]]) -> None:
        """Take in changes that were committed before, or by another process."""
        ids: set[str] = set()
        for _, change in changes:
            if isinstance(change, Repair | Precedent):
                if change.id in self._index or change.id in ids:
                    raise InputError(f"{self._store.name}: the id {change.id} is there twice; remove one of the lines")
                ids.add(change.id)
        self._take_in(changes, self._vectors([change for _, change in changes]))

    def _take_in(self, changes: Sequence[tuple[int, Change]], vectors: dict[str, Matrix]) -> None:
        self._whole = False
        for sequence, change in changes:
            self._index.follow(sequence, change, vectors.get(change.id))
        self._recalled.clear()
        self._saved = False
        self._whole = True

    def _read(self, segment: Segment, row: int) -> Entry:
        """An entry of the log; those recalled lately are at hand, since the same ones come up again and again."""
        identity = segment.ids[row]
        entry = self._recent.pop(identity, None) or self._store.read([identity])[0]
        if not self._index.agrees(segment, row, entry):
            raise MemoryUnusable(
                f"{self._store.name}: {identity} is not the entry that the index names; delete {self._index_folder} "
                "and open this memory again"
            )
        self._recent[identity] = entry
        if len(self._recent) > self.at_hand:
            del self._recent[next(iter(self._recent))]
        return entry

    def _vectors(self, changes: Iterable[Change]) -> dict[str, Matrix]:
        """The vector of each entry, by its id."""
        entries = [change for change in changes if isinstance(change, Repair | Precedent)]
        if self._encoder is None or not entries:
            return {}
        vectors = zip(entries, self._encode([entry.dense_text() for entry in entries]), strict=True)
        return {entry.id: vector for entry, vector in vectors}

    def _encode(self, texts: list[str]) -> Matrix:
        """Vectors of this memory's encoder, or a clear refusal."""
        assert self._encoder is not None
        return unit_vectors(self._encoder.encode(texts), texts, self._encoder.identity)
