"""A schema as grounding looks things up in it: names without regard to case, and paths along foreign keys."""

from collections import deque
from dataclasses import dataclass
from functools import cached_property, lru_cache

from merit.types import Schema


@dataclass(frozen=True, slots=True)
class Link:
    """A foreign key between two tables, in either direction."""

    table: str
    column: str
    to_table: str
    to_column: str

    def turned(self) -> "Link":
        """The same key, read from the other side."""
        return Link(self.to_table, self.to_column, self.table, self.column)


class SchemaGraph:
    """The tables of a schema by their lower-case names, and the keys between them."""

    def __init__(self, schema: Schema) -> None:
        self.tables = {table.name.lower(): table.name for table in schema.tables}
        self.columns = {
            table.name.lower(): {column.name.lower(): column.name for column in table.columns}
            for table in schema.tables
        }
        self._links: dict[str, list[Link]] = {name: [] for name in self.tables}
        for table in schema.tables:
            for column in table.columns:
                for target in column.foreign_keys:
                    to_table, _, to_column = target.rpartition(".")
                    if to_column.lower() in self.columns.get(to_table.lower(), {}):
                        self._add(Link(table.name.lower(), column.name, to_table.lower(), to_column))

    def _add(self, link: Link) -> None:
        if link not in self._links[link.table]:
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

    def key_to(self, table: str, column: str) -> str | None:
        """The one column of a table that is a foreign key to a column of this lower-case name."""
        own = self.columns[table]
        keys = {
            link.column
            for link in self._links[table]
            if link.to_column.lower() == column and link.column.lower() in own
        }
        return keys.pop() if len(keys) == 1 else None

    def paths(self, start: str, goal: str, longest: int = 3) -> list[list[Link]]:
        """All shortest paths of keys between two tables, at most `longest` keys long."""
        if start == goal:
            return [[]]
        distance, queue = {start: 0}, deque([start])
        while queue and goal not in distance:
            here = queue.popleft()
            if distance[here] == longest:
                continue
            for link in self._links[here]:
                if link.to_table not in distance:
                    distance[link.to_table] = distance[here] + 1
                    queue.append(link.to_table)
        if goal not in distance:
            return []
        return self._back(start, goal, distance)

    def _back(self, start: str, goal: str, distance: dict[str, int]) -> list[list[Link]]:
        if goal == start:
            return [[]]
        found = []
        for link in self._links[goal]:
            if distance.get(link.to_table, -1) == distance[goal] - 1:
                found += [[*path, link.turned()] for path in self._back(start, link.to_table, distance)]
        return found


@lru_cache(maxsize=64)
def graph_of(schema: Schema) -> SchemaGraph:
    """The graph of a schema; schemas are values, so it is made once."""
    return SchemaGraph(schema)
