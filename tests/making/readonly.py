"""The published corpora (corpus/) and a database on each engine that they ask and attack."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import apsw
import duckdb
import psycopg
import pymysql

from making.engines import MARIADB, POSTGRES, mariadb_server, postgres_server
from merit.sql.guard import listed
from merit.sql.guard.functions import unknown

CORPUS = Path(__file__).parents[2] / "corpus"
NAME = f"merit_guard_{os.getpid()}"  # tests may run side by side
SECONDS = 0.5  # for each statement
DIALECTS = ("sqlite", "postgresql", "mysql", "mariadb", "duckdb")
FAILURES = (psycopg.Error, pymysql.Error, duckdb.Error, apsw.Error, UnicodeError)


def statements(kind: str, dialect: str) -> list[str]:
    """The statements of one corpus that one dialect is tried with: MariaDB with those of MySQL too, and the reverse."""
    files = ("mysql", "mariadb") if dialect in ("mysql", "mariadb") else (dialect,)
    lines = [line for file in files for line in _lines(CORPUS / kind / f"{file}.jsonl")]
    entries = [json.loads(line) for line in lines]
    return [str(entry["statement"]) for entry in entries if entry.get("only", dialect) == dialect]


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


def schema(dialect: str) -> list[str]:
    """The statements that make the database, one a line."""
    lines = _lines(CORPUS / "schema" / f"{dialect}.sql")
    return [line.removesuffix(";") for line in lines if not line.startswith("--")]


# An aggregate counts as immutable in pg_proc, whatever its steps do.
_VOLATILE = """
    SELECT p.proname, bool_or(p.provolatile = 'v' AND NOT (p.proname = ANY(%s::text[])
        AND p.pronamespace = 'pg_catalog'::regnamespace) OR EXISTS (
        SELECT 1 FROM pg_aggregate a JOIN pg_proc step ON step.oid IN
            (a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn)
        WHERE a.aggfnoid = p.oid AND step.provolatile = 'v'))
    FROM pg_proc p GROUP BY 1
"""


@dataclass(frozen=True)
class Target:
    """A database that a role may write to, so that what does not write is known by its text alone."""

    run: Callable[[str, bool], str]  # a statement; whether in a read-only transaction; its error or nothing
    state: Callable[[], object]  # rows of every table, positions of sequences, settings
    volatile: Callable[[str], bool | None]
    url: str = ""  # of the same database, as a superuser


@contextmanager
def postgresql() -> Iterator[Target]:
    """A schema and a role of its own, both dropped at the end."""
    owner = postgres_server()
    for statement in (f"CREATE SCHEMA {NAME}", f"SET search_path = {NAME}", *schema("postgresql")):
        owner.execute(statement.encode())
    for what in ("TABLES", "SEQUENCES", "FUNCTIONS"):
        owner.execute(f"GRANT ALL ON ALL {what} IN SCHEMA {NAME} TO {_role(owner)}".encode())
    owner.execute(f"GRANT ALL ON SCHEMA {NAME} TO {NAME}".encode())
    harmless = sorted(listed("harmless"))  # of the server's own, as the engine asks
    volatile = {str(name): bool(kind) for name, kind in owner.execute(_VOLATILE, [harmless]).fetchall()}

    def run(sql: str, read_only: bool) -> str:
        mode = "READ ONLY" if read_only else "READ WRITE"
        owner.execute(
            f"BEGIN {mode}; SET LOCAL ROLE {NAME}; SET LOCAL statement_timeout = {int(SECONDS * 1000)}".encode()
        )
        try:
            owner.execute(sql.encode(), prepare=True)
        except (psycopg.Error, UnicodeError) as error:
            return str(error) or "refused"
        else:
            return ""
        finally:
            owner.execute("COMMIT")

    def state() -> object:
        parts = ("customers", "orders", "items", "visits", "totals")
        texts = [f"(SELECT md5(string_agg({part}::text, ',' ORDER BY {part}::text)) FROM {part})" for part in parts]
        texts += ["(SELECT last_value FROM order_ids)", "(SELECT is_called FROM order_ids)"]
        names = owner.execute("SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace ORDER BY 1", (NAME,))
        settings = owner.execute("SELECT md5(string_agg(name || setting, ',' ORDER BY name)) FROM pg_settings")
        return owner.execute(f"SELECT {', '.join(texts)}".encode()).fetchall(), names.fetchall(), settings.fetchall()

    try:
        options = quote(f"-c search_path={NAME}")
        yield Target(run, state, volatile.get, f"{POSTGRES}?options={options}")
    finally:
        owner.execute(f"DROP SCHEMA {NAME} CASCADE; DROP OWNED BY {NAME}; DROP ROLE {NAME}".encode())
        owner.close()


def _role(owner: psycopg.Connection[tuple[object, ...]]) -> str:
    owner.execute(f"DO $$ BEGIN CREATE ROLE {NAME}; EXCEPTION WHEN duplicate_object THEN NULL; END $$".encode())
    return NAME


@contextmanager
def mariadb() -> Iterator[Target]:
    """A database and a user of its own, both dropped at the end."""
    owner = mariadb_server()
    ask = owner.cursor()
    for statement in (f"CREATE DATABASE {NAME}", f"USE {NAME}", *schema("mariadb")):
        ask.execute(statement)
    ask.execute(f"CREATE USER {NAME} IDENTIFIED BY 'x'")
    ask.execute(f"GRANT ALL ON {NAME}.* TO {NAME}")
    connection = mariadb_server(user=NAME, password="x", database=NAME)

    def run(sql: str, read_only: bool) -> str:
        with connection.cursor() as cursor:
            cursor.execute(f"SET max_statement_time = {SECONDS}")
            cursor.execute(f"START TRANSACTION READ {'ONLY' if read_only else 'WRITE'}")
            try:
                cursor.execute(sql)
            except (pymysql.Error, UnicodeError) as error:
                return str(error) or "refused"
            else:
                return ""
            finally:
                cursor.execute("COMMIT")

    def state() -> object:
        answers = []
        for statement in (
            "CHECKSUM TABLE customers, orders, items, visits",
            "SELECT next_not_cached_value FROM order_ids",
            "SHOW TABLES",
            "SHOW GLOBAL VARIABLES WHERE Variable_name NOT LIKE '%timestamp%' AND Variable_name NOT LIKE '%gtid%'",
        ):
            ask.execute(statement)
            answers.append(ask.fetchall())
        return answers

    functions = {"visit": True, "with_tax": False}
    try:
        yield Target(
            run, state, functions.get, urlunsplit(urlsplit(MARIADB)._replace(scheme="mariadb", path=f"/{NAME}"))
        )
    finally:
        connection.close()
        ask.execute(f"DROP USER {NAME}")
        ask.execute(f"DROP DATABASE {NAME}")
        owner.close()


@contextmanager
def duck(folder: Path) -> Iterator[Target]:
    """A file, opened for writing, since `read_only` would hide what a statement tries."""
    connection = duckdb.connect(str(folder / "guard.duckdb"), config={"threads": 1})
    for statement in schema("duckdb"):
        connection.execute(statement)
    connection.execute("SET enable_external_access = false; SET memory_limit = '500MB'")
    settings = "SELECT name, value FROM duckdb_settings() ORDER BY 1"

    def run(sql: str, read_only: bool) -> str:
        alarm = threading.Timer(SECONDS, connection.interrupt)
        alarm.start()
        try:
            connection.execute(sql)
        except (duckdb.Error, UnicodeError, RuntimeError) as error:
            return str(error) or "refused"
        else:
            return ""
        finally:
            alarm.cancel()

    def state() -> object:
        tables = [
            connection.execute(f"FROM {name} ORDER BY ALL").fetchall() for name in ("customers", "orders", "items")
        ]
        rest = (
            settings,
            "SELECT table_name FROM duckdb_tables() ORDER BY 1",
            "SELECT last_value FROM duckdb_sequences()",
        )
        return tables, [connection.execute(statement).fetchall() for statement in rest]

    yield Target(run, state, {"with_tax": False}.get)
    connection.close()


@contextmanager
def sqlite(folder: Path) -> Iterator[Target]:
    """A file, opened for writing."""
    connection = apsw.Connection(str(folder / "guard.sqlite"))
    for statement in schema("sqlite"):
        connection.execute(statement)
    steps = [0]

    def late() -> bool:
        steps[0] += 1
        return steps[0] > 60

    connection.set_progress_handler(late, 10_000)

    def run(sql: str, read_only: bool) -> str:
        steps[0] = 0
        try:
            for _ in zip(range(10), connection.execute(sql), strict=False):
                pass
        except (apsw.Error, UnicodeError, MemoryError) as error:
            return str(error) or "refused"
        return ""

    def state() -> object:
        tables = [list(connection.execute(f"SELECT * FROM {name}")) for name in ("customers", "orders", "items", "t")]
        return (
            tables,
            list(connection.execute("SELECT name FROM sqlite_schema")),
            list(connection.execute("PRAGMA user_version")),
        )

    yield Target(run, state, unknown)
    connection.close()


@contextmanager
def target(dialect: str, folder: Path) -> Iterator[Target]:
    """The database of one dialect. No MySQL server can be had: its statements are tried on MariaDB."""
    made = {"postgresql": postgresql, "mysql": mariadb, "mariadb": mariadb}.get(dialect)
    with made() if made else (duck if dialect == "duckdb" else sqlite)(folder) as opened:
        yield opened


@contextmanager
def closed_file(dialect: str, folder: Path) -> Iterator[Target]:
    """A file that nobody has open, for an engine to open; its state is every byte in its folder."""
    folder.mkdir()
    with target(dialect, folder):
        pass

    def state() -> object:
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    (path,) = folder.iterdir()
    yield Target(lambda *_: "", state, unknown, f"{dialect}:///{path}")
