"""Other rows for the same tables, from a seed: valid by every constraint, and chosen to tell near misses apart."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass

from merit.bundled.draw import Draw
from merit.bundled.source import DatabaseSource
from merit.bundled.tables import Link, TableShape, parents_first, read_shapes
from merit.bundled.values import Value, beside, constants, is_moment, is_numeric, near, trimmed

SPARSE = range(1_000, 2_000)  # seeds of databases so small and blank that groups tie or have no value at all
_TRIES = 12
_MOST_ROWS = 90

Record = dict[str, Value]


@dataclass(frozen=True, slots=True)
class _Recipe:
    """How one database of a suite is made; every seed has its own."""

    keep: float  # share of the original rows that stay
    extra: float  # new rows for each original row
    change: float  # share of cells that get another value
    rewire: float  # share of rows whose foreign keys are changed
    asked: float  # share of new values that questions ask about
    blank: float  # share of new values that are NULL, where allowed
    few: int  # number of different values in a column; 0: no limit
    beside: float  # share of new values near another value in the same row
    lonely: float  # share of rows that no foreign key points to
    empty: float  # share of tables that are empty

    @classmethod
    def drawn(cls, draw: Draw) -> "_Recipe":
        return cls(
            keep=draw.of((0.0, 0.4, 0.7, 0.9, 1.0)),
            extra=draw.of((0.2, 0.5, 1.0, 1.0)),
            change=draw.of((0.1, 0.25, 0.4, 0.6)),
            rewire=draw.of((0.1, 0.3, 0.6, 1.0)),
            asked=draw.of((0.3, 0.6, 0.8)),
            blank=draw.of((0.05, 0.15, 0.3)),
            few=draw.of((0, 0, 2, 4, 8)),
            beside=draw.of((0.0, 0.1, 0.3)),
            lonely=draw.of((0.1, 0.3, 0.5)),
            empty=draw.of((0.0, 0.0, 0.0, 0.0, 0.15)),
        )

    @classmethod
    def sparse(cls, draw: Draw) -> "_Recipe":
        return cls(
            keep=0.0,
            extra=draw.of((0.05, 0.1, 0.2)),
            change=draw.of((0.6, 0.9)),
            rewire=1.0,
            asked=draw.of((0.3, 0.6, 0.9)),
            blank=draw.of((0.3, 0.6, 0.9)),
            few=draw.of((1, 2, 3)),
            beside=draw.of((0.0, 0.1)),
            lonely=draw.of((0.1, 0.3)),
            empty=0.0,
        )


class Fuzzer:
    """Makes databases of one schema."""

    def __init__(self, source: DatabaseSource) -> None:
        self._source = source
        with closing(source.original()) as db:
            self._shapes = parents_first(read_shapes(db))
            self._rows = {shape.name: _rows(db, shape) for shape in self._shapes}
        names = {column.lower() for shape in self._shapes for column in shape.types}
        asked = constants((written.sql for written in source.questions), names)
        spaces_ignored = trimmed(written.sql for written in source.questions)
        self._own: dict[tuple[str, str], list[Value]] = {}
        self._near: dict[tuple[str, str], list[Value]] = {}
        for shape in self._shapes:
            for column, declared in shape.types.items():
                own = list(dict.fromkeys(row[column] for row in self._rows[shape.name] if row[column] is not None))
                self._own[shape.name, column] = own
                self._near[shape.name, column] = near(
                    asked.get(column.lower(), []), own, declared, trim=column.lower() in spaces_ignored
                )
        numbers = {value for values in asked.values() for value in values if type(value) is int and 1 < value < 400}
        self.steps = sorted({-1, 0, 1} | {number + step for number in numbers for step in (-1, 0, 1)})

    def database(self, seed: int) -> sqlite3.Connection:
        """The database of a seed, in memory."""
        db = self._source.empty()
        db.execute("PRAGMA foreign_keys=ON")
        draw = Draw(self._source.db_id, seed)
        recipe = _Recipe.sparse(draw) if seed in SPARSE else _Recipe.drawn(draw)
        made: dict[str, list[Record]] = {}
        db.execute("BEGIN")
        for shape in self._shapes:
            made[shape.name] = []
            if not draw.chance(recipe.empty):
                _Filling(self, shape, draw, recipe, made).fill(db)
        db.execute("COMMIT")
        return db

    def rows(self, table: str) -> list[Record]:
        """A table's original rows."""
        return self._rows[table]

    def siblings(self, shape: TableShape, column: str) -> list[str]:
        """The columns of the same table whose values can be compared with this one's."""
        moment, number = is_moment(self._own[shape.name, column]), is_numeric(shape.types[column])
        linked = {name for link in shape.links for name in link.columns} | {*shape.primary}
        return [
            other
            for other, declared in shape.types.items()
            if other not in linked | {column}
            and ((number and is_numeric(declared)) or (moment and is_moment(self._own[shape.name, other])))
        ]

    def palette(self, table: str, column: str, few: int, draw: Draw) -> tuple[list[Value], list[Value]]:
        """The original values, and the asked ones, that a column may have in one database."""
        own, asked = self._own[table, column], self._near[table, column]
        return (draw.some(own, few), draw.some(asked, few + 2)) if few else (own, asked)


class _Filling:
    """Filling one table of one database."""

    def __init__(
        self, fuzzer: Fuzzer, shape: TableShape, draw: Draw, recipe: _Recipe, made: dict[str, list[Record]]
    ) -> None:
        self._shape, self._draw, self._recipe, self._made = shape, draw, recipe, made
        self._originals = fuzzer.rows(shape.name)
        self._palettes = {column: fuzzer.palette(shape.name, column, recipe.few, draw) for column in shape.types}
        self._siblings = {column: fuzzer.siblings(shape, column) for column in shape.types}
        self._steps = fuzzer.steps
        linked = {column for link in shape.links for column in link.columns}
        # A new row needs a new key; keys made of foreign keys are drawn again until they are new.
        self._keys = [unique[0] for unique in shape.unique if len(unique) == 1 and unique[0] not in linked]
        self._free = [column for column in shape.types if column not in linked and column not in self._keys]
        self._popular = {link: self._partners(link) for link in shape.links if link.parent != shape.name}
        self._next = 1 + max(
            (value for c in self._keys for value in self._values(c) if isinstance(value, int)), default=0
        )

    def fill(self, db: sqlite3.Connection) -> None:
        """Keep some rows, make some more; a row that breaks a constraint is drawn again."""
        draw, recipe = self._draw, self._recipe
        originals = [row for row in self._originals if draw.chance(recipe.keep)]
        more = int(len(self._originals) * recipe.extra) + draw.below(4)
        originals = draw.some(originals, _MOST_ROWS) if len(originals) > _MOST_ROWS else originals
        plan = [(row, False) for row in originals]
        plan += [(draw.of(self._originals), True) for _ in range(min(more, _MOST_ROWS)) if self._originals]
        names = ", ".join(f'"{column}"' for column in self._shape.types)
        insert = f'INSERT INTO "{self._shape.name}" ({names}) VALUES ({", ".join("?" * len(self._shape.types))})'
        for base, fresh in plan:
            for attempt in range(_TRIES):
                row = self._row(base, fresh, attempt)
                try:
                    db.execute(insert, tuple(row.values()))
                except sqlite3.IntegrityError:
                    continue
                self._made[self._shape.name].append(row)
                break

    def _row(self, base: Record, fresh: bool, attempt: int) -> Record:
        draw, recipe = self._draw, self._recipe
        row = dict(base)
        for column in self._free:
            if draw.chance(recipe.change if attempt < _TRIES // 2 else recipe.change / 4):
                row[column] = self._value(column, row)
        if fresh:
            for column in self._keys:
                row[column] = self._key(column, base[column])
        for link in self._shape.links:
            self._connect(row, link, rewire=fresh or attempt > 0 or draw.chance(recipe.rewire))
        return row

    def _value(self, column: str, row: Record) -> Value:
        draw, recipe = self._draw, self._recipe
        if column not in self._shape.required and draw.chance(recipe.blank):
            return None
        if self._siblings[column] and draw.chance(recipe.beside):
            near_by = beside(
                row[draw.of(self._siblings[column])], draw.of(self._steps if draw.chance(0.5) else (-1, 0, 1))
            )
            if near_by is not None:
                return near_by
        own, asked = self._palettes[column]
        choices = asked if asked and (not own or draw.chance(recipe.asked)) else own
        return draw.of(choices) if choices else None

    def _key(self, column: str, like: Value) -> Value:
        """A key that no row has: the next number, in the shape of the others."""
        self._next += 1 + (self._draw.below(3) if self._draw.chance(0.2) else 0)
        if is_numeric(self._shape.types[column]) or like is None:
            return self._next
        text = str(like)
        stem = text.rstrip("0123456789")
        return f"{stem}{self._next:0{max(1, len(text) - len(stem))}d}"

    def _connect(self, row: Record, link: Link, *, rewire: bool) -> None:
        """Set a row's foreign key: to its present target if that exists, or to another row, or to NULL."""
        draw = self._draw
        parents = self._made[link.parent]
        optional = not any(column in self._shape.required for column in link.columns)
        if not rewire:
            wanted = tuple(row[column] for column in link.columns)
            if None in wanted or any(tuple(p[t] for t in link.targets) == wanted for p in parents):
                return
        if optional and (not parents or draw.chance(self._recipe.blank)):
            row.update(dict.fromkeys(link.columns))
        elif parents:
            partner = draw.of(self._popular.get(link) or parents)
            row.update(zip(link.columns, (partner[target] for target in link.targets), strict=True))

    def _partners(self, link: Link) -> list[Record]:
        """The parent rows to choose from: some are left out, some are listed several times."""
        draw, parents = self._draw, self._made[link.parent]
        chosen = [row for row in parents if not draw.chance(self._recipe.lonely)]
        return [row for row in chosen for _ in range(draw.of((1, 1, 2, 4)))]

    def _values(self, column: str) -> list[Value]:
        return [row[column] for row in self._originals]


def _rows(db: sqlite3.Connection, shape: TableShape) -> list[Record]:
    names = ", ".join(f'"{column}"' for column in shape.types)
    rows = db.execute(
        f'SELECT {names} FROM "{shape.name}" ORDER BY {names}'
    )  # an order that does not depend on SQLite's planner
    return [dict(zip(shape.types, row, strict=True)) for row in rows]
