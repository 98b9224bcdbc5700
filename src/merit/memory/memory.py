"""The memory: commit what was learned, recall what may be known. One object, one folder, one writer."""

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from merit.errors import InputError, MemoryUnusable
from merit.memory import snapshot
from merit.memory.entry import Entry, checked, says_the_same, with_id
from merit.memory.index import Index
from merit.memory.policy import Cue, Recall, RecallPolicy
from merit.memory.recall import Catalogue, recall
from merit.memory.segment import Segment
from merit.memory.store import Contents, Line, MemoryStore, Tombstone
from merit.memory.vectors import Matrix
from merit.models import unit_vectors
from merit.types import Encoder, Polarity

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
        self._index_folder = folder / "index" if keep_index else None
        self._closed = False
        self._whole = True  # the index stands for every line that was written
        self._saved = True  # so does the snapshot
        self._recent: dict[tuple[Polarity, int], Entry] = {}
        self._recalled: dict[tuple[Cue, RecallPolicy], Recall] = {}  # since the last change
        try:
            self._index = self._load()
        except BaseException:
            self._store.close()
            raise

    def __enter__(self) -> "Memory":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        with self._in_use():
            return len(self._index)

    def commit(self, entry: Entry) -> Entry:
        """Keep a finalised episode's entry; it is durable when this returns. Gives it back under its id."""
        return self.commit_all([entry])[0]

    def commit_all(self, entries: Iterable[Entry]) -> list[Entry]:
        """Keep many entries at once, all or none. A known one is not kept twice, and a deleted one stays deleted."""
        with self._in_use():
            named = [with_id(entry) for entry in entries]
            fresh: dict[str, Entry] = {}
            for entry in named:
                known = fresh.get(entry.id) or (self.entry(entry.id) if entry.id in self._index else None)
                if known is None:
                    fresh[entry.id] = checked(entry)
                elif not says_the_same(known, entry):
                    raise InputError(f"entry {entry.id}: another entry has this id already; nothing was written")
            if fresh:
                self._commit(list(fresh.values()))
            return [fresh.get(entry.id) or self.entry(entry.id) for entry in named]

    def _commit(self, entries: list[Entry]) -> None:
        vectors = self._encode([entry.dense_text() for entry in entries]) if self._encoder else None
        rows = {entry.id: row for row, entry in enumerate(entries)}
        grouped = {p: [entry for entry in entries if entry.polarity is p] for p in Polarity}
        with self._appended({polarity: group for polarity, group in grouped.items() if group}) as written:
            for polarity, lines in written.items():
                for line in lines:
                    vector = None if vectors is None else vectors[rows[line.content.id]]
                    self._index.follow(polarity, line, vector)

    def delete(self, identity: str, reason: str) -> None:
        """Take an entry out of every later recall; the file keeps it, with the reason."""
        with self._in_use():
            if identity not in self._index:
                raise InputError(f"{self._store.folder}: there is no entry {identity}")
            segment, row = self._index.place(identity)
            if segment.deleted[row]:
                raise InputError(f"{self._store.folder}: {identity} is deleted already")
            with self._appended({segment.polarity: [Tombstone(identity, reason)]}) as written:
                self._index.follow(segment.polarity, written[segment.polarity][0], None)

    @contextmanager
    def _appended(self, contents: Contents) -> Iterator[dict[Polarity, list[Line]]]:
        """Write lines, and only then let the index follow; an interruption leaves this object unusable."""
        self._whole = False
        try:
            written = self._store.append(contents)
        except (InputError, MemoryUnusable):
            self._whole = not self._store.torn  # the files are as they were
            raise
        yield written
        self._recalled.clear()
        self._saved = False
        self._whole = True

    def entry(self, identity: str) -> Entry:
        """A committed entry."""
        with self._in_use():
            return self._read(*self._index.place(identity))

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
            index = self._index
            question = index.questions.get(str(cue.question_id), -1)
            database = index.databases.get(cue.db_id, -1)
            segments = list(index.segments.values())
            catalogue = Catalogue(segments, question, database, self._read, queries.__getitem__)
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

    def _read(self, segment: Segment, row: int) -> Entry:
        """An entry from its file; those recalled lately are at hand, since the same ones come up again and again."""
        place = (segment.polarity, segment.offsets[row])
        entry = self._recent.pop(place, None) or self._store.read(*place)
        if not self._index.agrees(segment, row, entry):
            raise MemoryUnusable(
                f"{self._store.path(segment.polarity)}, byte {segment.offsets[row]}: not the entry that the index "
                f"names; delete {self._store.folder / 'index'} and open this memory again"
            )
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
                if self._index_folder and self._whole and not self._saved and not self._index.unread_vectors:
                    snapshot.save(self._index_folder, self._index)
            except OSError as error:
                _log.warning("%s: the index was not saved (%s); opening will take longer", self._index_folder, error)
            finally:
                self._index = Index(None)
                self._store.close()

    def _load(self) -> Index:
        """The saved index if it is good, and whatever lines it does not cover."""
        identity = self._encoder.identity if self._encoder else None
        found = snapshot.load(self._index_folder, self._store, identity) if self._index_folder else None
        index = found or Index(identity)
        for polarity in Polarity:
            covered = index.covered[polarity]
            batch: list[Line] = []
            for line in self._store.lines(polarity, covered.size, covered.lines + 1):
                batch.append(line)
                if len(batch) == _ENCODED_AT_ONCE:
                    self._follow(index, polarity, batch)
                    batch = []
            self._follow(index, polarity, batch)
        return index

    def _follow(self, index: Index, polarity: Polarity, lines: list[Line]) -> None:
        """Index lines that were in the file already."""
        texts = [line.content.dense_text() for line in lines if isinstance(line.content, Entry)]
        vectors = iter(self._encode(texts)) if self._encoder and texts else None
        for line in lines:
            self._saved = False
            entry = isinstance(line.content, Entry)
            if entry and line.content.id in index:
                path = self._store.path(polarity)
                raise InputError(f"{path}: the id {line.content.id} is there twice; remove one of the lines")
            index.follow(polarity, line, next(vectors) if entry and vectors is not None else None)

    def _encode(self, texts: list[str]) -> Matrix:
        """Vectors of this memory's encoder, whoever wrote it, or a clear refusal."""
        assert self._encoder is not None
        return unit_vectors(self._encoder.encode(texts), texts, self._encoder.identity)
