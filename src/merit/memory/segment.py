"""One part of a memory, a polarity, a failure type and a grade: rows in columns, their postings, their vectors."""

from array import array
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from merit.memory.lexical import Mask, Postings
from merit.memory.vectors import Matrix, Vectors
from merit.types import FailureType, Grade, Polarity

Longs = npt.NDArray[np.int64]
SegmentKey = tuple[Polarity, FailureType, Grade]
Arrays = Mapping[str, npt.NDArray[np.generic]]
COLUMNS: Mapping[str, type[np.generic]] = {  # of a dump, each a flat array
    "ids": np.uint8,
    "sequences": np.int64,
    "positions": np.int64,
    "questions": np.int64,
    "databases": np.int64,
    "scopes": np.int64,
    "states": np.uint8,
    "vocabulary": np.uint8,
    "starts": np.int64,
    "rows": np.uint32,
    "times": np.uint32,
    "lengths": np.uint32,
}


_THERE, _DELETED, _STALE = 0, 1, 2  # states of a row


class Segment:
    """The committed entries of one polarity, type and grade."""

    def __init__(self, key: SegmentKey, vectors: Vectors | None) -> None:
        self.polarity, self.type, self.grade = key
        self.ids: list[str] = []
        self.sequences = array("q")  # of each entry in the log
        self.postings = Postings()
        self.vectors = vectors
        self._positions = array("q")
        self._questions = array("q")
        self._databases = array("q")
        self._scopes = array("q")
        self._scoped = 0  # rows that are not for everyone
        self._states = bytearray()
        self._latest = -1
        self._asked: set[int] = set()

    @property
    def count(self) -> int:
        """How many rows there are, deleted and stale ones included."""
        return len(self.ids)

    @property
    def present(self) -> int:
        """How many rows are not deleted."""
        return len(self.ids) - self._states.count(_DELETED)

    @property
    def positions(self) -> Longs:
        """The stream position of each row's episode."""
        return _view(self._positions)

    @property
    def questions(self) -> Longs:
        """The code of each row's question."""
        return _view(self._questions)

    @property
    def databases(self) -> Longs:
        """The code of each row's database."""
        return _view(self._databases)

    @property
    def scopes(self) -> Longs:
        """The code of each row's scope, 0 where it is for everyone."""
        return _view(self._scopes)

    @property
    def has_scoped(self) -> bool:
        """Whether a row is not for everyone."""
        return self._scoped > 0

    @property
    def committed(self) -> Longs:
        """The sequence number of each row's entry."""
        return _view(self.sequences)

    @property
    def withheld(self) -> Mask:
        """Which rows are deleted or stale."""
        states: npt.NDArray[np.uint8] = np.frombuffer(self._states, np.uint8)
        return np.not_equal(states, _THERE)

    def is_deleted(self, row: int) -> bool:
        """Whether a row was deleted."""
        return self._states[row] == _DELETED

    def is_stale(self, row: int) -> bool:
        """Whether a row is stale."""
        return self._states[row] == _STALE

    def is_all_earlier(self, position: int) -> bool:
        """Whether every row comes from before `position`."""
        return self._latest < position

    def has_question(self, question: int) -> bool:
        """Whether a row comes from this question."""
        return question in self._asked

    @property
    def has_withheld(self) -> bool:
        """Whether a row is deleted or stale."""
        return self._states.count(_THERE) < len(self._states)

    def add(
        self,
        identity: str,
        sequence: int,
        codes: tuple[int, int, int, int],
        text: str,
        vector: Matrix | None,
    ) -> None:
        """Append a row; `codes` are its position, question, database and scope."""
        position, question, database, scope = codes
        self.ids.append(identity)
        self.sequences.append(sequence)
        self._positions.append(position)
        self._latest = max(self._latest, position)
        self._asked.add(question)
        self._questions.append(question)
        self._databases.append(database)
        self._scopes.append(scope)
        self._scoped += scope != 0
        self._states.append(_THERE)
        self.postings.add(text)
        if self.vectors is not None and vector is not None:
            self.vectors.append(vector)

    def delete(self, row: int) -> None:
        """Take a row out of every later recall."""
        self._states[row] = _DELETED

    def restore(self, row: int) -> None:
        """Let a row be recalled again."""
        self._states[row] = _THERE

    def mark(self, row: int, *, stale: bool) -> None:
        """Take a stale row out of recall, or bring it back; a deleted one stays deleted."""
        if self._states[row] != _DELETED:
            self._states[row] = _STALE if stale else _THERE

    def dump(self) -> Arrays:
        """Everything but the vectors, as the arrays that COLUMNS names."""
        columns = {
            "ids": np.frombuffer("\n".join(self.ids).encode(), np.uint8),
            "sequences": np.array(self.sequences),
            "positions": np.array(self._positions),
            "questions": np.array(self._questions),
            "databases": np.array(self._databases),
            "scopes": np.array(self._scopes),
            "states": np.frombuffer(bytes(self._states), np.uint8),
        }
        return {**columns, **self.postings.dump()}

    @classmethod
    def load(cls, key: SegmentKey, arrays: Arrays) -> "Segment":
        """The segment of a dump, without its vectors; a ValueError if the arrays cannot belong together."""
        segment = cls(key, None)
        segment.ids = arrays["ids"].tobytes().decode().split("\n")
        for name, column in (
            ("sequences", segment.sequences),
            ("positions", segment._positions),
            ("questions", segment._questions),
            ("databases", segment._databases),
            ("scopes", segment._scopes),
        ):
            column.frombytes(arrays[name].tobytes())
        segment._states = bytearray(arrays["states"].tobytes())
        segment._latest = max(segment._positions, default=-1)
        segment._asked = set(segment._questions)
        segment._scoped = int(np.count_nonzero(segment.scopes))
        segment.postings = Postings.load(arrays)
        codes = (segment._positions, segment._questions, segment._databases, segment._scopes)
        columns = (segment.sequences, *codes, segment._states)
        if any(len(column) != segment.count for column in columns) or segment.postings.count != segment.count:
            raise ValueError("the columns differ in length")
        if not set(segment._states) <= {_THERE, _DELETED, _STALE}:
            raise ValueError("a row is in no state that there is")
        return segment


def _view(column: "array[int]") -> Longs:
    """A column as numpy sees it, without copying; gone before the next row is added."""
    return np.frombuffer(column, np.int64) if column else np.zeros(0, np.int64)
