"""The memory: commit what was learned, recall what may be known. One object, one folder, one writer."""

import threading
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from merit.errors import InputError, MemoryUnusable
from merit.memory import snapshot
from merit.memory.entry import Entry, with_id
from merit.memory.policy import Cue, Recall, RecallPolicy
from merit.memory.recall import Catalogue, recall
from merit.memory.segment import Segment
from merit.memory.store import MemoryStore, Tombstone
from merit.memory.vectors import Matrix, Vectors
from merit.models import Encoder
from merit.types import FailureType, Polarity, QuestionId

_ENCODED_AT_ONCE = 256
_RECENT = 1000


class Memory:
    """Finalised experience under the causal rule. Usable from many threads; writing is one at a time."""

    def __init__(self, folder: Path, encoder: Encoder | None, *, keep_index: bool = True) -> None:
        """Open or create the memory in `folder`; without an encoder only the lexical channel can recall.

        `keep_index` keeps vectors and postings beside the entries, so that a large memory opens quickly.
        """
        self._lock = threading.RLock()
        self._encoder = encoder
        self._store = MemoryStore(folder)
        self._index = folder / "index" if keep_index else None
        self._segments: dict[tuple[Polarity, FailureType], Segment] = {}
        self._places: dict[str, tuple[Segment, int]] = {}
        self._questions: dict[QuestionId, int] = {}
        self._databases: dict[str, int] = {}
        self._lines = Counter[Polarity]()
        self._recent: dict[tuple[Polarity, int], Entry] = {}
        self._saved = True
        try:
            self._load()
        except BaseException:
            self._store.close()
            raise

    def __enter__(self) -> "Memory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return sum(segment.live for segment in self._segments.values())

    def commit(self, entry: Entry) -> Entry:
        """Keep a finalised episode's entry; it is durable when this returns. Gives it back under its id."""
        return self.commit_all([entry])[0]

    def commit_all(self, entries: Iterable[Entry]) -> list[Entry]:
        """Keep many entries at once: all of a polarity, or after a failure none."""
        with self._lock:
            named = [with_id(entry) for entry in entries]
            fresh: dict[str, Entry] = {}
            for entry in named:
                known = fresh.get(entry.id) or (self.entry(entry.id) if entry.id in self._places else None)
                if known is not None and known != entry:
                    raise InputError(f"entry {entry.id}: another entry has this id already; nothing was written")
                if known is None:  # else: committed before a crash, and now again
                    fresh[entry.id] = entry
            for polarity in Polarity:
                self._commit(polarity, [entry for entry in fresh.values() if entry.polarity is polarity])
            return named

    def _commit(self, polarity: Polarity, entries: list[Entry]) -> None:
        if not entries:
            return
        vectors = self._encode(entries) if self._encoder else None  # before anything is written
        offsets = self._store.append(polarity, *entries)
        for i, (entry, offset) in enumerate(zip(entries, offsets, strict=True)):
            self._add(entry, offset, None if vectors is None else vectors[i])
        self._lines[polarity] += len(entries)
        self._saved = False

    def delete(self, identity: str, reason: str) -> None:
        """Take an entry out of every later recall; the file keeps it, with the reason."""
        with self._lock:
            if identity not in self._places:
                raise InputError(f"{self._store.folder}: there is no entry {identity}")
            segment, row = self._places[identity]
            self._store.append(segment.polarity, Tombstone(identity, reason))
            segment.delete(row)
            self._lines[segment.polarity] += 1
            self._saved = False

    def entry(self, identity: str) -> Entry:
        """A committed entry."""
        segment, row = self._places[identity]
        return self._read(segment.polarity, segment.offsets[row])

    def recall(self, cue: Cue, policy: RecallPolicy) -> Recall:
        """What a later question may know, best first, and why."""
        if policy.dense and self._encoder is None and policy.random_seed is None:
            raise MemoryUnusable("this policy ranks by dense similarity, but the memory was opened without an encoder")
        ranks = policy.dense and policy.random_seed is None
        query = self._encoder.encode([cue.text()])[0] if self._encoder is not None and ranks else None
        with self._lock:
            catalogue = Catalogue(
                list(self._segments.values()),
                self._questions.get(cue.question_id, -1),
                self._databases.get(cue.db_id, -1),
                self._read,
            )
            return recall(catalogue, cue, query, policy)

    def _read(self, polarity: Polarity, offset: int) -> Entry:
        """An entry from its file; those recalled lately are at hand, since the same ones come up again and again."""
        place = (polarity, offset)
        entry = self._recent.pop(place, None) or self._store.read(polarity, offset)
        self._recent[place] = entry
        if len(self._recent) > _RECENT:
            del self._recent[next(iter(self._recent))]
        return entry

    def close(self) -> None:
        """Save the index and give back the folder."""
        with self._lock:
            if not self._saved and self._index is not None:
                self._save(self._index)
            self._segments = {}
            self._store.close()

    def _load(self) -> None:
        found = snapshot.load(self._index, self._store) if self._index is not None else None
        if found is not None:
            self._restore(found)
        for polarity in Polarity:
            covered = found.covered[polarity] if found else snapshot.Covered(0, 0, "")
            self._lines[polarity] = covered.lines
            self._read_from(polarity, covered)

    def _restore(self, found: snapshot.Snapshot) -> None:
        self._questions = {identity: code for code, identity in enumerate(found.questions)}
        self._databases = {db_id: code for code, db_id in enumerate(found.databases)}
        identity = self._encoder.identity if self._encoder else None
        for name, arrays in found.segments.items():
            polarity, _, kind = name.partition("-")
            rows = len(arrays["offsets"])
            kept = rows if found.encoder == identity else 0
            segment = self._new_segment(Polarity(polarity), FailureType(kind), kept)
            segment.restore(arrays)
            self._places.update((identity, (segment, row)) for row, identity in enumerate(segment.ids))
            if self._encoder is not None and kept < rows:
                self._encode_again(segment)
                self._saved = False

    def _read_from(self, polarity: Polarity, covered: snapshot.Covered) -> None:
        """Index the lines that the snapshot does not cover."""
        batch: list[tuple[Entry, int]] = []
        for line in self._store.lines(polarity, covered.bytes, covered.lines + 1):
            self._lines[polarity] += 1
            self._saved = False
            if isinstance(line.content, Entry):
                batch.append((line.content, line.offset))
                if len(batch) == _ENCODED_AT_ONCE:
                    self._add_all(batch)
                    batch = []
            else:
                self._add_all(batch)
                batch = []
                if line.content.id in self._places:
                    segment, row = self._places[line.content.id]
                    segment.delete(row)
        self._add_all(batch)

    def _add_all(self, batch: list[tuple[Entry, int]]) -> None:
        vectors = self._encode([entry for entry, _ in batch]) if self._encoder and batch else None
        for i, (entry, offset) in enumerate(batch):
            if entry.id in self._places:
                path = self._store.path(entry.polarity)
                raise InputError(f"{path}: the id {entry.id} is there twice; remove one of the lines")
            self._add(entry, offset, None if vectors is None else vectors[i])

    def _add(self, entry: Entry, offset: int, vector: Matrix | None) -> None:
        key = (entry.polarity, entry.type)
        segment = self._segments.get(key) or self._new_segment(*key, 0)
        source = entry.provenance
        question = self._questions.setdefault(source.question_id, len(self._questions))
        database = self._databases.setdefault(source.db_id, len(self._databases))
        self._places[entry.id] = (segment, segment.count)
        segment.add(entry.id, offset, source.position, question, database, entry.lexical_text(), vector)

    def _new_segment(self, polarity: Polarity, kind: FailureType, vectors_kept: int) -> Segment:
        vectors = None
        if self._encoder is not None:
            identity = self._encoder.identity
            path = None
            if self._index is not None:
                path = snapshot.vector_path(self._index, identity, f"{polarity}-{kind}")
                path.parent.mkdir(parents=True, exist_ok=True)
            vectors = Vectors(path, identity.dimension, vectors_kept)
        segment = self._segments[polarity, kind] = Segment(polarity, kind, vectors)
        return segment

    def _encode(self, entries: list[Entry]) -> Matrix:
        assert self._encoder is not None
        return self._encoder.encode([entry.dense_text() for entry in entries])

    def _encode_again(self, segment: Segment) -> None:
        """Fill in vectors of another encoder than the snapshot's."""
        assert segment.vectors is not None
        for start in range(0, segment.count, _ENCODED_AT_ONCE):
            offsets = segment.offsets[start : start + _ENCODED_AT_ONCE]
            for vector in self._encode([self._store.read(segment.polarity, offset) for offset in offsets]):
                segment.vectors.append(vector)

    def _save(self, index: Path) -> None:
        index.mkdir(parents=True, exist_ok=True)
        for segment in self._segments.values():
            if segment.vectors is not None:
                segment.vectors.flush()
        state = snapshot.Snapshot(
            self._encoder.identity if self._encoder else None,
            snapshot.cover(self._store, self._lines),
            list(self._questions),
            list(self._databases),
            {snapshot.segment_name(segment): segment.dump() for segment in self._segments.values()},
        )
        snapshot.save(index, state)
        self._saved = True
