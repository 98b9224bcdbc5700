"""What recall looks at: a row for each committed entry. It follows the entry files and is never ahead of them."""

import hashlib
import uuid
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from merit.memory.entry import Entry
from merit.memory.segment import Bucket, Segment
from merit.memory.store import Line
from merit.memory.vectors import Matrix, Vectors
from merit.types import EncoderIdentity, Polarity


@dataclass(slots=True)
class Covered:
    """The beginning of an entry file that an index stands for."""

    size: int = 0  # bytes
    lines: int = 0
    digest: Any = field(default_factory=hashlib.sha256)

    def extend(self, data: bytes) -> None:
        """Take in a line."""
        self.size += len(data)
        self.lines += 1
        self.digest.update(data)


class Index:
    """Segments, where each entry is in them, and exactly which lines they were made from."""

    def __init__(self, encoder: EncoderIdentity | None) -> None:
        self.encoder = encoder  # of the vectors; without one there are none
        self.vector_folder = f"vectors-{uuid.uuid4().hex[:12]}"  # where a snapshot keeps them
        self.unread_vectors = False  # a snapshot has some that were not needed
        self.segments: dict[Bucket, Segment] = {}
        self.questions: dict[str, int] = {}  # by its id as text: 7 and "7" are one question
        self.databases: dict[str, int] = {}
        self.covered = {polarity: Covered() for polarity in Polarity}
        self._places: dict[str, tuple[Segment, int]] = {}

    def __len__(self) -> int:
        return sum(segment.live for segment in self.segments.values())

    def __contains__(self, identity: str) -> bool:
        return identity in self._places

    def place(self, identity: str) -> tuple[Segment, int]:
        """The segment and row of an entry."""
        return self._places[identity]

    def follow(self, polarity: Polarity, line: Line, vector: Matrix | None) -> None:
        """Take in a committed line."""
        if isinstance(line.content, Entry):
            self._add(line.content, line.offset, vector)
        elif line.content.id in self._places:
            segment, row = self._places[line.content.id]
            if segment.polarity is polarity:  # a file has no say over another one's entries
                segment.delete(row)
        self.covered[polarity].extend(line.data)

    def restore(self, segment: Segment) -> None:
        """Take in a segment of a snapshot; a ValueError if it contradicts the codes or another segment."""
        bucket = (segment.polarity, segment.type, segment.grade)
        end = self.covered[segment.polarity].size
        for column, limit in (
            (segment.offsets, end),
            (segment.questions, len(self.questions)),
            (segment.databases, len(self.databases)),
        ):
            if not 0 <= np.min(column) <= np.max(column) < limit:
                raise ValueError("a column points to something that is not there")
        known = len(self._places)
        self._places.update((identity, (segment, row)) for row, identity in enumerate(segment.ids))
        if len(self._places) != known + segment.count:
            raise ValueError("an id is there twice")
        self.segments[bucket] = segment

    def agrees(self, segment: Segment, row: int, entry: Entry) -> bool:
        """Whether a row is that of an entry. If not, the index could break the causal rule."""
        source = entry.provenance
        return (
            segment.ids[row] == entry.id
            and (segment.polarity, segment.type, segment.grade) == (entry.polarity, entry.type, entry.grade)
            and segment.positions[row] == source.position
            and segment.questions[row] == self.questions.get(str(source.question_id))
            and segment.databases[row] == self.databases.get(source.db_id)
        )

    def _add(self, entry: Entry, offset: int, vector: Matrix | None) -> None:
        bucket, source = (entry.polarity, entry.type, entry.grade), entry.provenance
        segment = self.segments.get(bucket)
        if segment is None:
            vectors = Vectors(self.encoder.dimension) if self.encoder else None
            segment = self.segments[bucket] = Segment(bucket, vectors)
        question = self.questions.setdefault(str(source.question_id), len(self.questions))
        database = self.databases.setdefault(source.db_id, len(self.databases))
        self._places[entry.id] = (segment, segment.count)
        segment.add(entry.id, offset, source.position, question, database, entry.lexical_text(), vector)
