"""What PostgreSQL's own catalogue says: tables that the role may read, in all schemas but the system's."""

from typing import Any

from merit.sql.postgres.session import PostgresSession
from merit.sql.reflect import CatalogueRows, CatalogueTable, Key

# Partitions are left out: the table they belong to is there.
_SHOWN = """
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_toast%'
AND n.nspname NOT LIKE 'pg\\_temp\\_%' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
"""
_TABLES = f"""
SELECT c.oid, n.nspname, c.relname, c.relkind IN ('v', 'm'),
  coalesce(pg_catalog.obj_description(c.oid, 'pg_class'), ''),
  CASE WHEN c.reltuples >= 0 AND c.relkind <> 'v' THEN c.reltuples::bigint END, pg_catalog.pg_table_is_visible(c.oid)
{_SHOWN} ORDER BY NOT pg_catalog.pg_table_is_visible(c.oid), n.nspname, c.oid
"""
_COLUMNS = f"""
SELECT a.attrelid, a.attnum, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
  coalesce(pg_catalog.col_description(a.attrelid, a.attnum), '')
FROM pg_catalog.pg_attribute a WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid IN (SELECT c.oid {_SHOWN})
ORDER BY a.attrelid, a.attnum
"""
_KEYS = """
SELECT conrelid, contype, conkey, confrelid, confkey FROM pg_catalog.pg_constraint
WHERE contype IN ('p', 'f') AND conrelid <> 0 ORDER BY conrelid, oid
"""
# The numbers of the transactions that wrote the catalogue's rows: they change with every definition, right and comment,
# and not when rows are counted anew.
_FINGERPRINT = """
SELECT pg_catalog.current_database(), session_user, current_user, pg_catalog.current_setting('search_path'),
  (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()),
  pg_catalog.inet_server_addr()::text, pg_catalog.inet_server_port(), pg_catalog.pg_postmaster_start_time() IS NULL,
""" + ", ".join(
    f"(SELECT pg_catalog.concat(count(*), ' ', sum(pg_catalog.hashtextextended({key} || ' ' || xmin::text, 0))) "
    f"FROM pg_catalog.{table})"
    for table, key in (
        ("pg_class", "oid::text"),
        ("pg_attribute", "attrelid::text || ' ' || attnum::text"),
        ("pg_constraint", "oid::text"),
        ("pg_description", "objoid::text || ' ' || objsubid::text"),
        ("pg_namespace", "oid::text"),
        ("pg_type", "oid::text"),
        ("pg_auth_members", "roleid::text || ' ' || member::text"),
    )
)


def read_catalogue(session: PostgresSession) -> CatalogueRows:
    """All of it, by three queries."""
    tables: dict[int, CatalogueTable] = {
        oid: CatalogueTable(schema, name, bool(view), comment, rows, bool(visible))
        for oid, schema, name, view, comment, rows, visible in session.rows(_TABLES)
    }
    names: dict[tuple[int, int], Key] = {}
    columns: dict[int, list[tuple[str, str, str, str, str]]] = {}
    for oid, number, column, kind, comment in session.rows(_COLUMNS):
        if (table := tables.get(oid)) is not None:
            names[oid, number] = (table.schema, table.name, column)
            columns.setdefault(oid, []).append((table.schema, table.name, column, kind, comment))
    primary, foreign = _keys(session.rows(_KEYS), names)
    ordered = [column for oid in tables for column in columns.get(oid, ())]
    return CatalogueRows(list(tables.values()), ordered, primary, foreign)


def _keys(
    rows: list[tuple[Any, ...]], names: dict[tuple[int, int], Key]
) -> tuple[frozenset[Key], list[tuple[Key, Key]]]:
    primary: set[Key] = set()
    foreign: list[tuple[Key, Key]] = []
    for table, kind, numbers, target, target_numbers in rows:
        own = [names.get((table, number)) for number in numbers]
        if kind == "p":
            primary.update(name for name in own if name)
            continue
        referenced = [names.get((target, number)) for number in target_numbers]
        foreign += [(start, end) for start, end in zip(own, referenced, strict=True) if start and end]
    return frozenset(primary), foreign


def fingerprint(session: PostgresSession) -> str:
    """The same as long as nothing that `read_catalogue` reads changes, but for estimates of rows."""
    return repr(session.rows(_FINGERPRINT))
