"""A schema as grounding looks things up in it: names without regard to case, and paths along foreign keys."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from merit.grounding.names import plain, singular
from merit.types import Schema

# Columns that tables have in common without belonging together.
_COMMON = (
    "id name code key number type status date year title description comment note created updated created_at "
    "updated_at deleted_at start_date end_date rating area"
)
_SAY_NOTHING = frozenset(_COMMON.split())
_MOST_KEYS = 3  # on a path of declared keys
_MOST_NAMED_KEYS = 2  # on a path along columns of one name, which is less sure


@dataclass(frozen=True, slots=True)
class KeyLink:
    """A foreign key between two tables, in either direction."""

    table: str
    column: str
    to_table: str
    to_column: str

    def turned(self) -> "KeyLink":
        """The same key, read from the other side."""
        return KeyLink(self.to_table, self.to_column, self.table, self.column)


class SchemaGraph:
    """The tables of a schema by their lower-case names, and the keys between them."""

    def __init__(self, schema: Schema) -> None:
        self.db_id = schema.db_id
        self.tables = {table.name.lower(): table.name for table in schema.tables}
        self.has_schemas = any("." in table.name for table in schema.tables)  # as servers have them
        self.columns = {
            table.name.lower(): {column.name.lower(): column.name for column in table.columns}
            for table in schema.tables
        }
        self.types = {
            (table.name.lower(), column.name.lower()): column.type.lower()
            for table in schema.tables
            for column in table.columns
        }
        self._links: dict[str, list[KeyLink]] = {name: [] for name in self.tables}
        self._known: set[KeyLink] = set()
        for table in schema.tables:
            for column in table.columns:
                for target in column.foreign_keys:
                    to_table, _, to_column = target.rpartition(".")
                    if to_column.lower() in self.columns.get(to_table.lower(), {}):
                        self._add(KeyLink(table.name.lower(), column.name, to_table.lower(), to_column))

    def _add(self, link: KeyLink) -> None:
        if link not in self._known:
            self._known |= {link, link.turned()}
            self._links[link.table].append(link)
            self._links[link.to_table].append(link.turned())

    @cached_property
    def with_column(self) -> dict[str, list[str]]:
        """The tables that have a column of a lower-case name."""
        found: dict[str, list[str]] = {}
        for table, columns in self.columns.items():
            for column in columns:
                found.setdefault(column, []).append(table)
        return found

    def with_own_name(self, table: str, name: str) -> str | None:
        """The one column of a table that a name means, one of them with the table's own name before it: pet_id, id."""
        found = self._own_names.get(plain(name), {}).get(table, [])
        return found[0] if len(found) == 1 else None

    def tables_with_own_name(self, name: str) -> list[str]:
        """The tables in which a name means one column like that, in the schema's order."""
        return [table for table, columns in self._own_names.get(plain(name), {}).items() if len(columns) == 1]

    @cached_property
    def _own_names(self) -> dict[str, dict[str, list[str]]]:
        """By a name's plain form, for each table the columns that it means with or without the table's own name."""
        found: dict[str, dict[str, list[str]]] = {}
        for table, columns in self.columns.items():
            if not (own := singular(plain(table))):
                continue
            for column in columns.values():
                form = plain(column)
                for wanted in (own + form, *([form.removeprefix(own)] if form.startswith(own) else [])):
                    found.setdefault(wanted, {}).setdefault(table, []).append(column)
        return found

    def target(self, table: str, column: str) -> KeyLink | None:
        """The one key that leads from a column, by its lower-case name, to another table."""
        keys = [link for link in self._links[table] if link.column.lower() == column]
        return keys[0] if len(keys) == 1 else None

    def key_to(self, table: str, column: str) -> str | None:
        """The one column of a table that is a foreign key to a column of this lower-case name."""
        own = self.columns[table]
        keys = {
            link.column
            for link in self._links[table]
            if link.to_column.lower() == column and link.column.lower() in own
        }
        return keys.pop() if len(keys) == 1 else None

    def shared(self, table: str, other: str) -> KeyLink | None:
        """A link by the one column that two tables share, by name and type; names that say nothing do not count."""
        names = [
            name
            for name in self.columns[table]
            if name not in _SAY_NOTHING and self.types.get((other, name)) == self.types[table, name]
        ]
        if len(names) != 1 or table == other:
            return None
        return KeyLink(table, self.columns[table][names[0]], other, self.columns[other][names[0]])

    def paths(self, start: str, goal: str) -> list[list[KeyLink]]:
        """The shortest paths of declared keys between two tables, of at most three keys; of several paths, two."""
        return _paths(self._links, start, goal, _MOST_KEYS)

    def named_paths(self, start: str, goal: str) -> list[list[KeyLink]]:
        """The same along columns of one name, which no key declares."""
        return _paths(self._named_links, start, goal, _MOST_NAMED_KEYS)

    @cached_property
    def _named_links(self) -> dict[str, list[KeyLink]]:
        links: dict[str, list[KeyLink]] = {name: [] for name in self.tables}
        for table, column, other, other_column in self._named_pairs():
            link = KeyLink(table, self.columns[table][column], other, self.columns[other][other_column])
            if link not in links[table]:
                links[table].append(link)
                links[other].append(link.turned())
        return links

    def _named_pairs(self) -> Iterator[tuple[str, str, str, str]]:
        """Columns that must mean each other: customer_id of two tables, or customer_id and the id of customer."""
        named = {singular(plain(table)): table for table in self.tables}
        for column, tables in self.with_column.items():
            form = plain(column)
            if not form.endswith(("id", "code", "key", "number")):
                continue
            owner = named.get(singular(form.removesuffix("id"))) if form != "id" else None
            if owner is not None and column not in self.columns[owner] and "id" in self.columns[owner]:
                yield from ((table, column, owner, "id") for table in tables if table != owner)
            elif form not in ("id", "code", "key", "number"):
                firsts = [table for table in tables if next(iter(self.columns[table])) == column]
                home = owner if owner in tables else firsts[0] if len(firsts) == 1 else None
                if home is not None:
                    yield from ((table, column, home, column) for table in tables if table != home)
                elif len(tables) == 2:
                    yield tables[0], column, tables[1], column


def _paths(links: dict[str, list[KeyLink]], start: str, goal: str, longest: int) -> list[list[KeyLink]]:
    if start == goal:
        return [[]]
    distance, queue = {start: 0}, deque([start])
    while queue and goal not in distance:
        here = queue.popleft()
        if distance[here] == longest:
            continue
        for link in links[here]:
            if link.to_table not in distance:
                distance[link.to_table] = distance[here] + 1
                queue.append(link.to_table)
    # Two say that there is not one; tables with many keys between them have more paths than can be listed.
    return list(islice(_retraced(links, start, goal, distance), 2)) if goal in distance else []


def _retraced(
    links: dict[str, list[KeyLink]], start: str, goal: str, distance: dict[str, int]
) -> Iterator[list[KeyLink]]:
    if goal == start:
        yield []
        return
    for link in links[goal]:
        if distance.get(link.to_table, -1) == distance[goal] - 1:
            for path in _retraced(links, start, link.to_table, distance):
                yield [*path, link.turned()]


_MOST_GRAPHS = 64
_graphs: dict[int, tuple[Schema, SchemaGraph]] = {}  # by the schema's identity: hashing hundreds of tables takes longer


def graph_of(schema: Schema) -> SchemaGraph:
    """The graph of a schema, made once for each object."""
    kept = _graphs.get(id(schema))
    if kept is not None and kept[0] is schema:
        return kept[1]
    graph = SchemaGraph(schema)
    while len(_graphs) >= _MOST_GRAPHS:
        _graphs.pop(next(iter(list(_graphs)), 0), None)
    _graphs[id(schema)] = (schema, graph)
    return graph
