"""What a PostgreSQL role could do if nothing of merit stood between, and the role that it should be."""

from typing import Any

from merit.sql.postgres.session import PostgresSession
from merit.types import Health, Remark

_SYSTEM = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_toast%'"
_ROLE = """
SELECT current_user, current_setting('server_version'), rolsuper, rolcreaterole, rolcreatedb, rolreplication,
  rolbypassrls,
  has_database_privilege(current_database(), 'CREATE'), has_database_privilege(current_database(), 'TEMPORARY')
FROM pg_catalog.pg_roles WHERE rolname = current_user
"""
_POWERS = """
SELECT rolname FROM pg_catalog.pg_roles WHERE rolname IN ('pg_write_all_data', 'pg_read_server_files',
  'pg_write_server_files', 'pg_execute_server_program', 'pg_signal_backend') AND pg_has_role(oid, 'MEMBER') ORDER BY 1
"""
_WRITABLE = f"""
SELECT n.nspname || '.' || c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'f') AND {_SYSTEM} AND has_schema_privilege(n.oid, 'USAGE')
AND (has_table_privilege(c.oid, 'INSERT') OR has_table_privilege(c.oid, 'UPDATE')
  OR has_table_privilege(c.oid, 'DELETE') OR has_table_privilege(c.oid, 'TRUNCATE')) ORDER BY 1
"""
_READABLE = f"""
SELECT count(*), count(*) FILTER (WHERE has_any_column_privilege(c.oid, 'SELECT')) FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND {_SYSTEM}
"""
_SCHEMAS = f"""
SELECT n.nspname, has_schema_privilege(n.oid, 'CREATE') FROM pg_catalog.pg_namespace n
WHERE {_SYSTEM} AND n.nspname NOT LIKE 'pg\\_temp\\_%' ORDER BY 1
"""
# Functions that run with their owner's rights, and those that reach files, programs and other servers.
_FUNCTIONS = """
SELECT p.oid::regprocedure::text FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE has_function_privilege(p.oid, 'EXECUTE') AND has_schema_privilege(n.oid, 'USAGE')
AND ((p.prosecdef AND n.nspname NOT IN ('pg_catalog', 'information_schema'))
  OR p.proname IN ('pg_read_file', 'pg_read_binary_file', 'pg_ls_dir', 'pg_stat_file', 'lo_import', 'lo_export',
    'pg_file_write', 'pg_reload_conf', 'pg_rotate_logfile', 'dblink', 'dblink_exec', 'dblink_connect')) ORDER BY 1
"""
_MOST_NAMED = 3


def check_role(session: PostgresSession) -> Health:
    """Look at the role by the catalogue alone; nothing is tried out."""
    ((name, version, *powers, creates, temporary),) = session.rows(_ROLE)
    attributes = ("SUPERUSER", "CREATEROLE", "CREATEDB", "REPLICATION", "BYPASSRLS")
    held = [attribute for attribute, given in zip(attributes, powers, strict=True) if given]
    schemas = session.rows(_SCHEMAS)
    creatable = [str(schema) for schema, may_create in schemas if may_create]
    ((tables, readable),) = session.rows(_READABLE)
    findings = (
        _finding(held, "it has no special attribute", "it has"),
        _finding(_names(session.rows(_POWERS)), "it is in no powerful role", "it is a member of"),
        _finding(_names(session.rows(_WRITABLE)), "it can write no table", "it can write"),
        _finding(creatable, "it can create nothing in a schema", "it can create objects in the schemas"),
        Remark(not creates, "it can create schemas" if creates else "it cannot create schemas"),
        Remark(not temporary, "it can create temporary tables" if temporary else "it cannot create temporary tables"),
        _finding(
            _names(session.rows(_FUNCTIONS)),
            "it can call no function that reaches files or runs with its owner's rights",
            "it can call functions that reach files, other servers or run with their owner's rights:",
        ),
        Remark(readable > 0 or tables == 0, f"it can read {readable} of {tables} tables and views"),
    )
    health = Health("PostgreSQL", str(version), str(name), findings)
    return health if health.good else Health(*_fields(health), _remedy(session.database, [str(s) for s, _ in schemas]))


def _fields(health: Health) -> tuple[str, str, str, tuple[Remark, ...]]:
    return health.engine, health.version, health.role, health.findings


def _names(rows: list[tuple[Any, ...]]) -> list[str]:
    return [str(name) for (name,) in rows]


def _finding(names: list[str], good: str, bad: str) -> Remark:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return Remark(not names, f"{bad} {', '.join(names[:_MOST_NAMED])}{more}" if names else good)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _remedy(database: str, schemas: list[str]) -> tuple[str, ...]:
    listed = ", ".join(map(_quoted, schemas))
    return (
        "CREATE ROLE merit_reader LOGIN PASSWORD 'choose one' NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION "
        "NOBYPASSRLS CONNECTION LIMIT 8;",
        "ALTER ROLE merit_reader SET default_transaction_read_only = on;",
        "ALTER ROLE merit_reader SET statement_timeout = '60s';",
        f"REVOKE CREATE, TEMPORARY ON DATABASE {_quoted(database)} FROM PUBLIC;",
        f"GRANT CONNECT ON DATABASE {_quoted(database)} TO merit_reader;",
        f"REVOKE CREATE ON SCHEMA {listed} FROM PUBLIC;",
        f"GRANT USAGE ON SCHEMA {listed} TO merit_reader;",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {listed} TO merit_reader;",
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA {listed} GRANT SELECT ON TABLES TO merit_reader;",
    )
