"""The memory: commit what was learned, recall what may be known. One object, one folder, one writer."""

import logging
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from merit.errors import InputError, MemoryUnusable
from merit.memory import snapshot
from merit.memory.entry import Entry, checked, says_the_same, with_id
from merit.memory.policy import Cue, Recall, RecallPolicy
from merit.memory.recall import Catalogue, recall
from merit.memory.segment import Bucket, Segment
from merit.memory.store import MemoryStore, Tombstone
from merit.memory.vectors import Matrix, Vectors, rows_in
from merit.models import Encoder, unit_vectors
from merit.types import Polarity

_log = logging.getLogger(__name__)
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
        self._segments: dict[Bucket, Segment] = {}
        self._places: dict[str, tuple[Segment, int]] = {}
        self._questions: dict[str, int] = {}  # by its id as text: 7 and "7" are one question
        self._databases: dict[str, int] = {}
        self._lines = Counter[Polarity]()  # that the index stands for
        self._bytes = Counter[Polarity]()
        self._closed = False
        self._whole = True
        self._better_saved = False
        self._recent: dict[tuple[Polarity, int], Entry] = {}
        self._recalled: dict[tuple[Cue, RecallPolicy], Recall] = {}  # since the last change
        self._saved = True
        try:
            self._load()
        except BaseException:
            self._store.close()
            raise

    def __enter__(self) -> "Memory":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        with self._in_use():
            return sum(segment.live for segment in self._segments.values())

    def commit(self, entry: Entry) -> Entry:
        """Keep a finalised episode's entry; it is durable when this returns. Gives it back under its id."""
        return self.commit_all([entry])[0]

    def commit_all(self, entries: Iterable[Entry]) -> list[Entry]:
        """Keep many entries at once, all or none. A known one is not kept twice, and a deleted one stays deleted."""
        with self._in_use():
            named = [with_id(entry) for entry in entries]
            fresh: dict[str, Entry] = {}
            for entry in named:
                known = fresh.get(entry.id) or (self.entry(entry.id) if entry.id in self._places else None)
                if known is None:
                    fresh[entry.id] = checked(entry)
                elif not says_the_same(known, entry):
                    raise InputError(f"entry {entry.id}: another entry has this id already; nothing was written")
            if fresh:
                self._commit(list(fresh.values()))
            return [fresh.get(entry.id) or self.entry(entry.id) for entry in named]

    def _commit(self, entries: list[Entry]) -> None:
        # Whatever can fail comes before the first byte is written.
        vectors = self._encode([entry.dense_text() for entry in entries]) if self._encoder else None
        segments = [self._segment(entry) for entry in entries]
        try:
            for segment, rows in Counter(segments).items():
                if segment.vectors is not None:
                    segment.vectors.reserve(rows)
        except OSError as error:
            raise MemoryUnusable(f"{self._index}: nothing was added ({error.strerror}); nothing is lost") from error
        grouped = {p: [entry for entry in entries if entry.polarity is p] for p in Polarity}
        order = {entry.id: i for i, entry in enumerate(entries)}
        offsets = self._append({p: group for p, group in grouped.items() if group})
        for polarity, places in offsets.items():
            for entry, offset in zip(grouped[polarity], places, strict=True):
                self._add(entry, offset, None if vectors is None else vectors[order[entry.id]])
        self._follow(grouped)

    def _append(self, contents: Mapping[Polarity, Sequence[Entry | Tombstone]]) -> dict[Polarity, list[int]]:
        """Write lines; until the index follows (`_follow`), an interruption leaves this object unusable."""
        self._whole = False
        try:
            return self._store.append(contents)
        except MemoryUnusable:
            self._whole = True  # the files are as they were
            raise

    def delete(self, identity: str, reason: str) -> None:
        """Take an entry out of every later recall; the file keeps it, with the reason."""
        with self._in_use():
            if identity not in self._places:
                raise InputError(f"{self._store.folder}: there is no entry {identity}")
            segment, row = self._places[identity]
            if segment.deleted[row]:
                raise InputError(f"{self._store.folder}: {identity} is deleted already")
            tombstone = Tombstone(identity, reason)
            self._append({segment.polarity: [tombstone]})
            segment.delete(row)
            self._follow({segment.polarity: [tombstone]})

    def entry(self, identity: str) -> Entry:
        """A committed entry."""
        with self._in_use():
            segment, row = self._places[identity]
            return self._read(segment.polarity, segment.offsets[row])

    def recall(self, cue: Cue, policy: RecallPolicy) -> Recall:
        """What a later question may know, best first, and why."""
        ranks = policy.dense and policy.random_seed is None
        if ranks and self._encoder is None:
            raise MemoryUnusable("this policy ranks by dense similarity, but the memory was opened without an encoder")
        # Only random draws depend on the step: who says the same again in one episode recalls the same again.
        asked = (replace(cue, step=0) if policy.random_seed is None else cue, policy)
        with self._in_use():
            if (known := self._recalled.get(asked)) is not None:
                return known
        texts = {cue.dense_text(pool) for pool in policy.pools} if ranks else ()
        queries = {text: self._encode([text])[0] for text in texts}
        with self._in_use():
            question = self._questions.get(str(cue.question_id), -1)
            database = self._databases.get(cue.db_id, -1)
            catalogue = Catalogue(list(self._segments.values()), question, database, self._read, queries.__getitem__)
            found = recall(catalogue, cue, policy)
            if len(self._recalled) >= _RECENT:
                self._recalled.clear()
            self._recalled[asked] = found
            return found

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        with self._lock:
            if self._closed:
                raise MemoryUnusable(f"{self._store.folder}: this memory is closed")
            if not self._whole:
                raise MemoryUnusable(f"{self._store.folder}: a commit was interrupted; open this memory again")
            yield

    def _follow(self, contents: Mapping[Polarity, Sequence[Entry | Tombstone]]) -> None:
        """Note that the index now stands for these lines too."""
        for polarity, lines in contents.items():
            self._lines[polarity] += len(lines)
            self._bytes[polarity] = self._store.size(polarity)
        self._recalled.clear()
        self._saved = False
        self._whole = True

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
            if self._closed:
                return
            self._closed = True
            try:
                if self._index is not None and self._whole and not self._saved and not self._better_saved:
                    self._save(self._index)
            except OSError as error:
                _log.warning("%s: the index was not saved (%s); opening will take longer", self._index, error)
            finally:
                self._segments = {}
                self._store.close()

    def _load(self) -> None:
        found = snapshot.load(self._index, self._store) if self._index is not None else None
        if found is not None:
            self._better_saved = self._encoder is None and found.encoder is not None  # it has vectors; keep it
            self._restore(found)
        elif self._index is not None:
            snapshot.forget(self._index)
        for polarity in Polarity:
            covered = (found.covered if found else {}).get(polarity, snapshot.Covered(0, 0, ""))
            self._lines[polarity] = covered.lines
            self._bytes[polarity] = covered.bytes
            self._read_from(polarity, covered)

    def _restore(self, found: snapshot.Snapshot) -> None:
        self._questions = {identity: code for code, identity in enumerate(found.questions)}
        self._databases = {db_id: code for code, db_id in enumerate(found.databases)}
        for name, arrays in found.segments.items():
            rows = len(arrays["offsets"])
            kept = rows if self._has_vectors(found, name, rows) else 0
            segment = self._new_segment(snapshot.bucket_named(name), kept)
            segment.restore(arrays)
            self._places.update((identity, (segment, row)) for row, identity in enumerate(segment.ids))
            if segment.vectors is not None and segment.vectors.count < rows:
                self._encode_again(segment)
                self._saved = False

    def _has_vectors(self, found: snapshot.Snapshot, name: str, rows: int) -> bool:
        """Whether the snapshot's vectors are this encoder's, and all there."""
        if self._encoder is None or self._index is None or found.encoder != self._encoder.identity:
            return False
        return rows_in(snapshot.vector_path(self._index, found.encoder, name), found.encoder.dimension) >= rows

    def _read_from(self, polarity: Polarity, covered: snapshot.Covered) -> None:
        """Index the lines that the snapshot does not cover."""
        batch: list[tuple[Entry, int]] = []
        for line in self._store.lines(polarity, covered.bytes, covered.lines + 1):
            self._lines[polarity] += 1
            self._bytes[polarity] = line.offset + line.length
            self._saved = False
            if isinstance(line.content, Entry):
                batch.append((line.content, line.offset))
            if len(batch) == _ENCODED_AT_ONCE or isinstance(line.content, Tombstone):
                self._add_all(batch)
                batch = []
            if isinstance(line.content, Tombstone) and line.content.id in self._places:
                segment, row = self._places[line.content.id]
                segment.delete(row)
        self._add_all(batch)

    def _add_all(self, batch: list[tuple[Entry, int]]) -> None:
        vectors = self._encode([entry.dense_text() for entry, _ in batch]) if self._encoder and batch else None
        for i, (entry, offset) in enumerate(batch):
            if entry.id in self._places:
                path = self._store.path(entry.polarity)
                raise InputError(f"{path}: the id {entry.id} is there twice; remove one of the lines")
            self._add(entry, offset, None if vectors is None else vectors[i])

    def _add(self, entry: Entry, offset: int, vector: Matrix | None) -> None:
        segment, source = self._segment(entry), entry.provenance
        question = self._questions.setdefault(str(source.question_id), len(self._questions))
        database = self._databases.setdefault(source.db_id, len(self._databases))
        self._places[entry.id] = (segment, segment.count)
        segment.add(entry.id, offset, source.position, question, database, entry.lexical_text(), vector)

    def _segment(self, entry: Entry) -> Segment:
        bucket = (entry.polarity, entry.type, entry.grade)
        return self._segments.get(bucket) or self._new_segment(bucket, 0)

    def _new_segment(self, bucket: Bucket, vectors_kept: int) -> Segment:
        vectors = None
        if self._encoder is not None:
            identity = self._encoder.identity
            path = None
            if self._index is not None:
                path = snapshot.vector_path(self._index, identity, snapshot.segment_name(bucket))
                path.parent.mkdir(parents=True, exist_ok=True)
            vectors = Vectors(path, identity.dimension, vectors_kept)
        segment = self._segments[bucket] = Segment(bucket, vectors)
        return segment

    def _encode(self, texts: list[str]) -> Matrix:
        """Vectors of this memory's encoder, whoever wrote it, or a clear refusal."""
        assert self._encoder is not None
        return unit_vectors(self._encoder.encode(texts), texts, self._encoder.identity)

    def _encode_again(self, segment: Segment) -> None:
        """Fill in vectors of another encoder than the snapshot's."""
        assert segment.vectors is not None
        for start in range(0, segment.count, _ENCODED_AT_ONCE):
            offsets = segment.offsets[start : start + _ENCODED_AT_ONCE]
            texts = [self._store.read(segment.polarity, offset).dense_text() for offset in offsets]
            for vector in self._encode(texts):
                segment.vectors.append(vector)

    def _save(self, index: Path) -> None:
        index.mkdir(parents=True, exist_ok=True)
        for segment in self._segments.values():
            if segment.vectors is not None:
                segment.vectors.flush()
        encoder = self._encoder.identity if self._encoder else None
        covered = {p: snapshot.cover(self._store, p, self._bytes[p], self._lines[p]) for p in Polarity}
        dumped = {snapshot.segment_name(bucket): segment.dump() for bucket, segment in self._segments.items()}
        state = snapshot.Snapshot(encoder, covered, list(self._questions), list(self._databases), dumped)
        snapshot.save(index, state)
        self._saved = True
