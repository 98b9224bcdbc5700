"""Reading a database's values through its engine, within limits."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from merit.types import Column, Engine, Error, Limits, Result, Rows, Schema, Table, Timeout, Value
from merit.values.index import ColumnValues, ValueIndex

_log = logging.getLogger(__name__)
_SAMPLE_ROWS = 1_000  # the first rows of a table, which examples are taken from
_EXAMPLES = 8  # kept of each column
_CELL_BYTES = 64 << 20  # of a cell that is measured and left out; a larger one costs the column its values
_BACKTICKS = frozenset({"mysql", "mariadb"})  # quote names with ` and cast to text as CHAR


@dataclass(frozen=True, slots=True)
class ValueCaps:
    """How much of a database is read."""

    texts_per_column: int = 20_000
    texts: int = 200_000
    characters: int = 100  # of one text; longer ones are left out
    statement_s: float = 5.0
    seconds: float = 30.0  # for the whole database


@dataclass(frozen=True, slots=True)
class BuiltValues:
    """An index, and the columns for which it is not kept."""

    index: ValueIndex
    unread: tuple[str, ...] = ()  # could not be read in time
    unsteady: tuple[str, ...] = ()  # depend on the clock or on chance, as far as the engine can say


def build_values(engine: Engine, schema: Schema, caps: ValueCaps | None = None) -> BuiltValues:
    """The values of all tables of a database. Views are left out: a view may be slow, and its texts are its tables'."""
    reader = _Reader(engine, caps or ValueCaps())
    columns = [values for table in schema.tables if not table.view for values in reader.read(table)]
    if reader.unread:
        _log.warning("%s: the values of %d columns could not be read in time", schema.db_id, len(reader.unread))
    return BuiltValues(ValueIndex(columns), tuple(reader.unread), tuple(reader.unsteady))


class _Reader:
    """Asks for one column after the other until time or room ends."""

    def __init__(self, engine: Engine, caps: ValueCaps) -> None:
        self._engine = engine
        self._caps = caps
        self._deadline = time.monotonic() + caps.seconds
        self._room = caps.texts
        self.unread: list[str] = []
        self.unsteady: list[str] = []

    def read(self, table: Table) -> Iterator[ColumnValues]:
        """What is known of each column of a table."""
        for column in table.columns:
            sample, complete = self._ask(table, column, _SAMPLE_ROWS, distinct=False)
            shown = Counter(value for value in sample if _is_example(value)).most_common(_EXAMPLES)
            texts: list[str] = []
            if any(isinstance(value, str) for value in sample):
                most = min(self._caps.texts_per_column, self._room)
                values, complete = self._ask(table, column, most, distinct=True)
                texts = _texts(values)
            self._room -= len(texts)
            yield ColumnValues(table.name, column.name, tuple(value for value, _ in shown), tuple(texts), complete)

    def _ask(self, table: Table, column: Column, most: int, *, distinct: bool) -> tuple[list[Value], bool]:
        """Values of a column, none where they cannot be read, and whether these are all."""
        source = _Source(self._engine.dialect, table.name, column.name, self._caps.characters)
        result = self._execute(source.statement(most + 1, distinct=distinct), most + 1)
        decode: Callable[[Value], Value] = _as_it_is
        if isinstance(result, Error) and self._engine.dialect == "sqlite":  # a text that is not UTF-8 spoils all others
            result = self._execute(source.statement_in_hex(most + 1, distinct=distinct), most + 1)
            decode = _decoded
        if isinstance(result, Rows):
            if (
                not result.steady and self._engine.dialect == "sqlite"
            ):  # others cannot say: no result of theirs is steady
                self.unsteady.append(f"{table.name}.{column.name}")
            values = [decode(value) for (value,) in result.rows[:most]]
            return values, not result.truncated and len(result.rows) <= most
        if isinstance(result, Timeout) or result.cause.environmental:
            self.unread.append(f"{table.name}.{column.name}")
        return [], False

    def _execute(self, sql: str, most: int) -> Result:
        left_s = min(self._caps.statement_s, self._deadline - time.monotonic())
        if left_s <= 0:
            return Timeout(self._caps.seconds)
        return self._engine.execute(sql, Limits(timeout_s=left_s, rows=most, cell_bytes=_CELL_BYTES))


@dataclass(frozen=True, slots=True)
class _Source:
    """One column as a statement names it."""

    dialect: str
    table: str
    column: str
    characters: int

    def statement(self, most: int, *, distinct: bool) -> str:
        """Asks for values that are not long."""
        name, text = self._quoted(self.column), "CHAR" if self.dialect in _BACKTICKS else "TEXT"
        short = f"LENGTH(CAST({name} AS {text})) <= {self.characters}"
        return self._select(name, f"{name} IS NOT NULL AND {short}", most, distinct)

    def statement_in_hex(self, most: int, *, distinct: bool) -> str:
        """Asks SQLite for the bytes of texts, which need not be UTF-8 there."""
        name = self._quoted(self.column)
        return self._select(
            f"hex({name})", f"typeof({name}) = 'text' AND length({name}) <= {self.characters}", most, distinct
        )

    def _select(self, what: str, condition: str, most: int, distinct: bool) -> str:
        once = "DISTINCT " if distinct else ""
        return f"SELECT {once}{what} FROM {self._quoted(self.table)} WHERE {condition} LIMIT {most}"

    def _quoted(self, name: str) -> str:
        mark = "`" if self.dialect in _BACKTICKS else '"'
        return mark + name.replace(mark, mark * 2) + mark


def _as_it_is(value: Value) -> Value:
    return value


def _decoded(digits: Value) -> str | None:
    """The text of bytes in hexadecimal digits; None where they are not UTF-8."""
    try:
        return bytes.fromhex(str(digits)).decode()
    except ValueError:
        return None


def _texts(values: Iterable[Value]) -> list[str]:
    """The texts that a statement could name, sorted."""
    return sorted({value for value in values if isinstance(value, str) and value.strip() and _is_sendable(value)})


def _is_sendable(text: str) -> bool:
    """Whether a text can stand in a statement: NUL ends one, and a lone surrogate cannot be encoded."""
    return "\0" not in text and (text.isascii() or text.encode("utf-8", "ignore").decode() == text)


def _is_example(value: Value) -> bool:
    """Whether a value can be shown in a line of a prompt."""
    if isinstance(value, str):
        return bool(value.strip()) and value.isprintable() and _is_sendable(value)
    return isinstance(value, int | float)
