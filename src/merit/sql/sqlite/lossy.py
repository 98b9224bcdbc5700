"""Text that is not UTF-8, read as the official evaluators read it: the bytes that do not fit are dropped.

A query with such text in its rows is run again inside another one, which gives the bytes of its texts and says which
values those are.
"""

import re
import struct
from dataclasses import dataclass
from itertools import count

from merit.types import Row, Value

_MOST_COLUMNS = 2000  # of a result, in SQLite
_NUMBERED = re.compile(r"q[0-9]+")


@dataclass(frozen=True)
class BytesOfText:
    """The other query, around one of `width` columns, and the reading of its rows."""

    width: int
    encoding: str  # of the database, as SQLite names it

    @property
    def _paired(self) -> bool:
        """Whether there is room for a column with each value's type; else other blobs are sent as hexadecimal text."""
        return 2 * self.width <= _MOST_COLUMNS

    def query(self, statement: str) -> str:
        """The other query; materialised, so that rows and their order are those of the statement by itself."""
        names = [f"c{number}" for number in range(self.width)]
        form = (
            "iif(typeof({0}) = 'text', CAST({0} AS BLOB), {0}), typeof({0})"
            if self._paired
            else "CASE typeof({0}) WHEN 'text' THEN CAST({0} AS BLOB) WHEN 'blob' THEN hex({0}) ELSE {0} END"
        )
        values, table = [form.format(name) for name in names], _unused_name(statement)
        return f"WITH {table}({', '.join(names)}) AS MATERIALIZED ({statement}) SELECT {', '.join(values)} FROM {table}"

    def read(self, row: Row) -> Row:
        """A row of the statement, from one of the other query."""
        if self._paired:
            return tuple(map(self._typed, row[::2], row[1::2]))
        return tuple([bytes.fromhex(value) if isinstance(value, str) else self._typed(value) for value in row])

    def _typed(self, value: Value, kind: Value = "text") -> Value:
        return decoded(value, self.encoding) if kind == "text" and isinstance(value, bytes) else value


def decoded(data: bytes, encoding: str) -> str:
    """The text that SQLite hands out for these bytes, less what is not UTF-8 in it."""
    if encoding == "UTF-8":
        return data.decode(errors="ignore")
    data = data[: len(data) // 2 * 2]
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return "".join(_characters(struct.unpack(f"{'<' if encoding == 'UTF-16le' else '>'}{len(data) // 2}H", data)))


def _characters(units: tuple[int, ...]) -> list[str]:
    """SQLite makes one character of half a pair and of whatever follows; half a pair at the end is not UTF-8."""
    characters, remaining = [], iter(units)
    for unit in remaining:
        if not 0xD800 <= unit < 0xE000:
            characters.append(chr(unit))
        elif (following := next(remaining, None)) is not None:
            characters.append(chr(0x10000 + ((unit & 0x3FF) << 10) + (following & 0x3FF)))
    return characters


def _unused_name(statement: str) -> str:
    """A name that does not occur in a statement, so that it cannot be one of its tables."""
    taken = set(_NUMBERED.findall(statement.lower()))
    return next(name for number in count() if (name := f"q{number}") not in taken)
