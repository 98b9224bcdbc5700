"""Finding the table or column of a schema that a file of another tool names."""

from collections import defaultdict

from merit.context.identifiers import table_parts
from merit.types import Schema


class SchemaNames:
    """A schema's names, looked up without regard to case and with any qualifier that fits."""

    def __init__(self, schema: Schema, default_schema: str = "") -> None:
        self._default = default_schema.casefold()
        self._parts: dict[str, tuple[str, ...]] = {}
        self._by_last: dict[str, list[str]] = defaultdict(list)
        self._columns: dict[str, dict[str, str]] = {}
        for table in schema.tables:
            parts = table_parts(table.name) or (table.name,)
            self._parts[table.name] = parts
            self._by_last[parts[-1].casefold()].append(table.name)
            # Names that are exactly as written come last, and so hold.
            self._columns[table.name] = {column.name.casefold(): column.name for column in table.columns}
            self._columns[table.name] |= {column.name: column.name for column in table.columns}

    def table(self, written: tuple[str, ...]) -> str | None:
        """The schema's table that a qualified name means; None where there is none, or more than one."""
        if not written:
            return None
        fitting = [name for name in self._by_last.get(written[-1].casefold(), ()) if self._fits(written, name)]
        if len(fitting) > 1:  # the longest qualifier that agrees, then the same case
            most = max(min(len(self._parts[name]), len(written)) for name in fitting)
            fitting = [name for name in fitting if min(len(self._parts[name]), len(written)) == most]
        if len(fitting) > 1:
            fitting = [name for name in fitting if self._parts[name][-1] == written[-1]]
        return fitting[0] if len(fitting) == 1 else None

    def is_exact(self, written: tuple[str, ...], name: str) -> bool:
        """Whether a name says all that the schema's own name says, or is in the default schema."""
        parts = self._parts[name]
        if len(written) > len(parts):
            return bool(self._default) and written[-len(parts) - 1].casefold() == self._default
        return len(written) == len(parts)

    def column(self, table: str, written: str) -> str | None:
        """The schema's column that a name means."""
        columns = self._columns[table]
        return columns.get(written) or columns.get(written.casefold())

    def _fits(self, written: tuple[str, ...], name: str) -> bool:
        parts = self._parts[name]
        length = min(len(parts), len(written))
        if [part.casefold() for part in parts[-length:]] != [part.casefold() for part in written[-length:]]:
            return False
        if self._default and len(written) > len(parts):
            return written[-len(parts) - 1].casefold() == self._default
        return True
