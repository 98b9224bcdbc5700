"""What DuckDB's own catalogue says."""

import json

from merit.sql.duckdb.session import DuckDBSession
from merit.sql.guard import refusal
from merit.sql.reflect import CatalogueRows, CatalogueTable, Key

_HERE = "database_name = current_database() AND NOT internal"
_TABLES = f"""
SELECT schema_name, table_name, false, coalesce(comment, ''), estimated_size, table_oid FROM duckdb_tables()
WHERE {_HERE}
UNION ALL SELECT schema_name, view_name, true, coalesce(comment, ''), NULL, view_oid FROM duckdb_views() WHERE {_HERE}
ORDER BY 1, 3, 6
"""
_COLUMNS = f"""
SELECT schema_name, table_name, column_name, data_type, coalesce(comment, '') FROM duckdb_columns() WHERE {_HERE}
ORDER BY schema_name, table_name, column_index
"""
_KEYS = """
SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table,
  referenced_column_names FROM duckdb_constraints() WHERE database_name = current_database()
AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY') ORDER BY schema_name, table_name, constraint_index
"""


_MACROS = "SELECT lower(function_name), function_type, macro_definition FROM duckdb_functions() WHERE NOT internal"


def refused_macros(session: DuckDBSession, names: list[str]) -> dict[str, bool]:
    """For each of the names that is a macro of the database, whether it does what a statement may not."""
    macros: dict[str, list[str]] = {}
    for macro, kind, text in session.rows(_MACROS):
        macros.setdefault(macro, []).append(str(text) if kind == "table_macro" else f"SELECT {text}")
    found = {name: _refused(macros, name.lower(), ()) for name in names}
    return {name: refused for name, refused in found.items() if refused is not None}


def _refused(macros: dict[str, list[str]], name: str, inside: tuple[str, ...]) -> bool | None:
    """Whether the guard refuses a macro's definition, with the macros that it uses."""
    if name not in macros:
        return None
    return name in inside or any(
        refusal(text, "duckdb", lambda used: _refused(macros, used, (*inside, name))) for text in macros[name]
    )


def read_catalogue(session: DuckDBSession) -> CatalogueRows:
    """All of it, by three queries."""
    tables = [
        CatalogueTable(schema, name, bool(view), comment, rows, schema == "main")
        for schema, name, view, comment, rows, _ in session.rows(_TABLES)
    ]
    primary: set[Key] = set()
    foreign: list[tuple[Key, Key]] = []
    for schema, table, kind, columns, target, target_columns in session.rows(_KEYS):
        own = [(schema, table, column) for column in json.loads(columns)]
        if kind == "PRIMARY KEY":
            primary.update(own)
        else:  # a key stays inside its schema
            foreign += zip(own, [(schema, target, column) for column in json.loads(target_columns)], strict=True)
    return CatalogueRows(tables, [row[:5] for row in session.rows(_COLUMNS)], frozenset(primary), foreign)
