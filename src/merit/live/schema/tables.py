"""What is known about each table of a database: its columns, and which answers and entries use it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from merit.errors import NotFound
from merit.live.parts import LiveParts
from merit.live.record.events import Asked, Feedback
from merit.live.schema.lineage import lineage
from merit.memory import Grade, Listed, Precedent
from merit.types import Table

_MOST_EXAMPLES = 10
_MOST_ANSWERS = 2000  # the newest, that are looked at for one table


@dataclass(frozen=True, slots=True)
class TableUse:
    """The live entries that use a table."""

    entries: tuple[Listed, ...] = ()

    @property
    def confirmed(self) -> int:
        """How many of them are confirmed answers."""
        return sum(isinstance(item.entry, Precedent) and item.entry.grade is Grade.CONFIRMED for item in self.entries)


def table_uses(parts: LiveParts, listed: Iterable[Listed]) -> Mapping[str, TableUse]:
    """Of some entries the live ones about this database, by the tables that they use, in lower case."""
    found = defaultdict[str, list[Listed]](list)
    if parts.schemas is None:
        return {}
    for item in listed:
        if item.recallable and item.entry.provenance.db_id == parts.schema.db_id:
            for table in parts.schemas.lineage_of(item.entry).uses:
                found[table.lower()].append(item)
    return {table: TableUse(tuple(items)) for table, items in found.items()}


def schema_record(parts: LiveParts, listed: Iterable[Listed]) -> list[dict[str, Any]]:
    """Every table with how many of some entries use it."""
    uses = table_uses(parts, listed)
    return [_record(table, uses.get(table.name.lower(), TableUse())) for table in parts.schema.tables]


def find_table(parts: LiveParts, name: str) -> Table:
    """A table by its name, in its own spelling or another."""
    for table in parts.schema.tables:
        if table.name == name or table.name.lower() == name.lower():
            return table
    raise NotFound(f"there is no table {name!r} in this database")


def table_record(parts: LiveParts, table: Table, use: TableUse) -> dict[str, Any]:
    """One table with example values, where they may be read."""
    record = _record(table, use)
    for column in record["columns"]:
        values = parts.values
        column["examples"] = list(values.examples(table.name, column["name"], _MOST_EXAMPLES)) if values else []
    return record


def answers_using(
    parts: LiveParts, table: Table, most: int, seen: Callable[[Asked, Feedback | None], bool]
) -> list[Asked]:
    """The newest answers whose statement uses a table, of those that are `seen`."""
    found: list[Asked] = []
    if parts.schemas is None:
        return found
    for number, (asked, feedback) in enumerate(parts.history.newest_first()):
        if len(found) == most or number == _MOST_ANSWERS:
            break
        if asked.sql and asked.database == parts.schema.db_id and table.name.lower() in asked.sql.lower():
            used = lineage(asked.sql, parts.schemas.now, asked.dialect, as_learned=True).uses
            if table.name.lower() in used and seen(asked, feedback):
                found.append(asked)
    return found


def _record(table: Table, use: TableUse) -> dict[str, Any]:
    return {
        "name": table.name,
        "view": table.view,
        "comment": table.comment,
        "rows": table.rows,
        "confirmed": use.confirmed,
        "entries": len(use.entries),
        "columns": [
            {
                "name": column.name,
                "type": column.type,
                "primary_key": column.primary_key,
                "foreign_keys": list(column.foreign_keys),
                "comment": column.comment,
            }
            for column in table.columns
        ],
    }
