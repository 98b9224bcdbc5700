"""What recall looks at: a row for each committed entry. It follows a store's log and is never ahead of it."""

import uuid

import numpy as np

from merit.memory.causal import CueCodes
from merit.memory.policy import Cue
from merit.memory.segment import Segment, SegmentKey
from merit.memory.vectors import Matrix, Vectors
from merit.types import Change, Deletion, EncoderIdentity, Entry, Restoration, Staleness


class Index:
    """Segments, where each entry is in them, and up to which sequence number of the log they go."""

    def __init__(self, encoder: EncoderIdentity | None) -> None:
        self.encoder = encoder  # of the vectors; without one there are none
        self.vector_folder = f"vectors-{uuid.uuid4().hex[:12]}"  # where a snapshot keeps them
        self.unread_vectors = False  # a snapshot has some that were not needed
        self.segments: dict[SegmentKey, Segment] = {}
        self.questions: dict[str, int] = {}  # by its id as text: 7 and "7" are one question
        self.databases: dict[str, int] = {}
        self.scopes: dict[str, int] = {"": 0}  # "" for everyone
        self.sequence = 0
        self._rows: dict[str, tuple[Segment, int]] = {}

    def __len__(self) -> int:
        return sum(segment.present for segment in self.segments.values())

    def __contains__(self, identity: str) -> bool:
        return identity in self._rows

    def row_of(self, identity: str) -> tuple[Segment, int]:
        """The segment and row of an entry."""
        return self._rows[identity]

    def scope_of(self, identity: str, unknown: str | None = None) -> str | None:
        """Whom an entry is for, None where that is everyone; `unknown` where there is no such entry."""
        if identity not in self._rows:
            return unknown
        segment, row = self._rows[identity]
        return list(self.scopes)[segment.scopes[row]] or None

    def codes_of(self, cue: Cue) -> CueCodes:
        """What a cue's own question, database and scopes are called here; -1 where there is no row of it."""
        scopes = tuple(self.scopes[scope] for scope in cue.viewer.scopes if scope in self.scopes)
        return CueCodes(self.questions.get(str(cue.question_id), -1), self.databases.get(cue.db_id, -1), scopes)

    def follow(self, sequence: int, change: Change, vector: Matrix | None) -> None:
        """Take in a committed change."""
        if not isinstance(change, Deletion | Restoration | Staleness):
            self._add(sequence, change, vector)
        elif change.id in self._rows:
            segment, row = self._rows[change.id]
            if isinstance(change, Deletion):
                segment.delete(row)
            elif isinstance(change, Restoration):
                segment.restore(row)
            else:
                segment.mark(row, stale=change.stale)
        self.sequence = sequence

    def restore(self, segment: Segment) -> None:
        """Take in a segment of a snapshot; a ValueError if it contradicts the codes or another segment."""
        key = (segment.polarity, segment.type, segment.grade)
        for column, limit in (
            (segment.sequences, self.sequence + 1),
            (segment.questions, len(self.questions)),
            (segment.databases, len(self.databases)),
            (segment.scopes, len(self.scopes)),
        ):
            if not 0 <= np.min(column) <= np.max(column) < limit:
                raise ValueError("a column points to something that is not there")
        known = len(self._rows)
        self._rows.update((identity, (segment, row)) for row, identity in enumerate(segment.ids))
        if len(self._rows) != known + segment.count:
            raise ValueError("an id is there twice")
        self.segments[key] = segment

    def agrees(self, segment: Segment, row: int, entry: Entry) -> bool:
        """Whether a row is that of an entry; if not, recall could break the causal rule or show what is not for all."""
        source = entry.provenance
        return (
            segment.ids[row] == entry.id
            and (segment.polarity, segment.type, segment.grade) == (entry.polarity, entry.type, entry.grade)
            and segment.positions[row] == source.position
            and segment.questions[row] == self.questions.get(str(source.question_id))
            and segment.databases[row] == self.databases.get(source.db_id)
            and segment.scopes[row] == self.scopes.get(source.scope or "")
        )

    def _add(self, sequence: int, entry: Entry, vector: Matrix | None) -> None:
        key, source = (entry.polarity, entry.type, entry.grade), entry.provenance
        segment = self.segments.get(key)
        if segment is None:
            vectors = Vectors(self.encoder.dimension) if self.encoder else None
            segment = self.segments[key] = Segment(key, vectors)
        question = self.questions.setdefault(str(source.question_id), len(self.questions))
        database = self.databases.setdefault(source.db_id, len(self.databases))
        scope = self.scopes.setdefault(source.scope or "", len(self.scopes))
        self._rows[entry.id] = (segment, segment.count)
        codes = (source.position, question, database, scope)
        segment.add(entry.id, sequence, codes, entry.lexical_text(), vector)
