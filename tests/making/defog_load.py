"""The databases of MERIT_DATA/defog in PostgreSQL, MariaDB, SQLite and DuckDB.

PostgreSQL gets each dump as it is. For the others DuckDB computes the rows (dates are relative to the moment of
loading), and the tables are made with the types nearest to PostgreSQL's.
"""

import datetime
import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import duckdb
import psycopg
import pymysql
import sqlglot
from sqlglot import exp

from making.clock import COMES_S

PREFIX = "merit_defog_"
RowList = list[tuple[Any, ...]]
Answer = RowList | str  # or the driver's message


@dataclass(frozen=True, slots=True)
class DumpColumn:
    """A column of a dump, its type as sqlglot reads it."""

    name: str
    type: exp.DataType
    needed: bool = False  # NOT NULL
    default: exp.Expression | None = None


@dataclass(slots=True)
class DumpTable:
    """A table of a dump."""

    schema: str  # empty for public
    name: str
    columns: list[DumpColumn] = field(default_factory=list)
    primary_key: list[str] = field(default_factory=list)
    foreign_keys: list[tuple[str, str, str, str]] = field(default_factory=list)  # column, schema, table, column


@dataclass(slots=True)
class Dump:
    """What a PostgreSQL dump holds: tables in their order, and the statements that fill them."""

    name: str
    text: str
    tables: list[DumpTable]
    inserts: list[exp.Insert]
    others: list[str]  # kinds of statements that only PostgreSQL gets


def read_dump(path: Path) -> Dump:
    """Read a dump; its text stays as it is for PostgreSQL."""
    dump = Dump(path.stem, path.read_text(), [], [], [])
    for statement in sqlglot.parse(dump.text, read="postgres"):
        if isinstance(statement, exp.Create) and statement.kind == "TABLE":
            dump.tables.append(_table(statement))
        elif isinstance(statement, exp.Insert):
            dump.inserts.append(statement)
        elif statement is not None and not (isinstance(statement, exp.Create) and statement.kind == "SCHEMA"):
            dump.others.append(type(statement).__name__)
    _align_keys(dump.tables)
    return dump


def _align_keys(tables: list[DumpTable]) -> None:
    """Give a foreign key its target's type: PostgreSQL takes an INT that leads to a BIGINT, and others do not."""
    types = {(table.name, column.name): column.type for table in tables for column in table.columns}
    keys = {table.name: (table.primary_key or [""])[0] for table in tables}
    for table in tables:
        table.foreign_keys = [(name, schema, to, column or keys[to]) for name, schema, to, column in table.foreign_keys]
        for name, _, target, target_column in table.foreign_keys:
            wanted = types[target, target_column]
            table.columns = [
                replace(column, type=exp.DataType.build("INT") if wanted.this.value in _SERIALS else wanted)
                if column.name == name
                else column
                for column in table.columns
            ]


def _schema_of(table: exp.Table) -> str:
    return "" if table.db in ("", "public") else table.db


def _table(statement: exp.Create) -> DumpTable:
    definition = statement.this
    table = DumpTable(_schema_of(definition.this), definition.this.name)
    parts = [
        one
        for part in definition.expressions
        for one in (part.expressions if isinstance(part, exp.Constraint) else [part])
    ]
    for part in parts:
        if isinstance(part, exp.ColumnDef):
            _column(part, table)
        elif isinstance(part, exp.PrimaryKey):
            table.primary_key = [column.name for column in part.expressions]
        elif isinstance(part, exp.ForeignKey) and len(part.expressions) == 1:
            table.foreign_keys.append((part.expressions[0].name, *_target(part.args["reference"])))
    return table


def _column(part: exp.ColumnDef, table: DumpTable) -> None:
    kinds = [constraint.kind for constraint in part.constraints]
    default = next((kind.this for kind in kinds if isinstance(kind, exp.DefaultColumnConstraint)), None)
    needed = any(isinstance(kind, exp.NotNullColumnConstraint) and not kind.args.get("allow_null") for kind in kinds)
    table.columns.append(DumpColumn(part.name, part.args["kind"], needed, default))
    if any(isinstance(kind, exp.PrimaryKeyColumnConstraint) for kind in kinds):
        table.primary_key = [part.name]
    table.foreign_keys += [(part.name, *_target(kind)) for kind in kinds if isinstance(kind, exp.Reference)]


def _target(reference: exp.Reference) -> tuple[str, str, str]:
    """Schema, table and column that a key leads to; without a column, its primary key is meant."""
    if isinstance(reference.this, exp.Table):
        return _schema_of(reference.this), reference.this.name, ""
    return _schema_of(reference.this.this), reference.this.this.name, reference.this.expressions[0].name


_SERIALS = ("SERIAL", "BIGSERIAL", "SMALLSERIAL")
_TYPES = {
    "mysql": {
        "TIMESTAMP": "DATETIME",
        "TIMESTAMPTZ": "DATETIME",
        "DECIMAL": "DOUBLE",
        "FLOAT": "DOUBLE",
        "UUID": "CHAR(36)",
    },
    "sqlite": {"TIMESTAMPTZ": "TIMESTAMP"},
    "duckdb": {},
}


def _type(column: DumpColumn, dialect: str) -> str:
    kind = column.type.this.value
    if kind in _SERIALS:
        return "BIGINT" if kind == "BIGSERIAL" and dialect != "sqlite" else "INTEGER"
    if not column.type.expressions and kind in _TYPES[dialect]:
        return _TYPES[dialect][kind]
    if dialect == "sqlite":
        return column.type.sql("postgres")  # SQLite takes any name; its affinity is what PostgreSQL's type needs
    return column.type.sql(dialect)


def create_statement(table: DumpTable, dialect: str) -> str:
    """The statement that makes a table on MariaDB (`mysql`), SQLite or DuckDB."""

    def quoted(*names: str) -> str:
        return ".".join(exp.to_identifier(name, quoted=True).sql(dialect) for name in names if name)

    keep_schema = dialect == "duckdb"  # MariaDB's and SQLite's questions name its tables without a schema
    lines = []
    for column in table.columns:
        line = f"{quoted(column.name)} {_type(column, dialect)}{' NOT NULL' if column.needed else ''}"
        if column.type.this.value in _SERIALS and dialect == "duckdb":
            line += f" DEFAULT nextval('{_sequence(table, column)}')"
        elif isinstance(default := _literal(column.default), exp.Literal | exp.Boolean):
            line += f" DEFAULT {default.sql(dialect)}"
        elif column.default is not None and dialect == "duckdb":
            line += f" DEFAULT ({_pinned(column.default).sql('duckdb')})"
        lines.append(line)
    if table.primary_key:
        lines.append(f"PRIMARY KEY ({', '.join(map(quoted, table.primary_key))})")
    for column_name, schema, target, target_column in table.foreign_keys:
        if dialect == "duckdb" and schema != table.schema:
            continue  # DuckDB has no keys from one schema to another
        place = quoted(schema if keep_schema else "", target)
        lines.append(f"FOREIGN KEY ({quoted(column_name)}) REFERENCES {place} ({quoted(target_column)})")
    return f"CREATE TABLE {quoted(table.schema if keep_schema else '', table.name)} ({', '.join(lines)})"


def _sequence(table: DumpTable, column: DumpColumn) -> str:
    return f"{table.schema or 'main'}_{table.name}_{column.name}".lower()


def _literal(default: exp.Expression | None) -> exp.Expression | None:
    return default.this if isinstance(default, exp.Cast) else default


_UNITS = {"MIN": "MINUTE", "MINS": "MINUTES", "SEC": "SECOND", "SECS": "SECONDS", "HRS": "HOURS", "MON": "MONTH"}
FIXED = os.environ.get("MERIT_DEFOG_MOMENT", "")  # the moment of loading in UTC, so that rows are the same each time
MOMENT = (
    datetime.datetime.fromisoformat(FIXED)
    if FIXED
    else datetime.datetime.now(datetime.UTC).replace(tzinfo=None, microsecond=0)
)  # every engine gets the same
_CLOCK = re.compile(r"\bNOW\(\)|\bCURRENT_TIMESTAMP\b|\bCURRENT_DATE\b", re.IGNORECASE)


def at_moment(text: str, moment: datetime.datetime) -> str:
    """A dump whose clock stands still."""

    def literal(match: re.Match[str]) -> str:
        return f"DATE '{moment.date()}'" if match[0].upper() == "CURRENT_DATE" else f"TIMESTAMP '{moment}'"

    return _CLOCK.sub(literal, text)


def _pinned(expression: exp.Expr) -> exp.Expr:
    """An expression that DuckDB computes: the clock stands still, `public` is gone."""

    def change(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.CurrentTimestamp):
            return exp.cast(exp.Literal.string(str(MOMENT)), "TIMESTAMP")
        if isinstance(node, exp.CurrentDate):
            return exp.cast(exp.Literal.string(str(MOMENT.date())), "DATE")
        if isinstance(node, exp.TimeToStr):
            # The dumps write MySQL's codes, which PostgreSQL takes as plain letters. What was meant is meant here.
            pattern = node.args["format"].name
            if "%" in pattern:
                pattern = pattern.replace("%i", "%M").replace("%s", "%S").replace("%%u", "%d")
                return exp.func("strftime", _pinned(node.this), exp.Literal.string(pattern))
        if isinstance(node, exp.Interval) and node.unit:
            return exp.Interval(this=node.this, unit=exp.var(_UNITS.get(node.unit.name.upper(), node.unit.name)))
        if isinstance(node, exp.Table) and node.db == "public":
            return exp.table_(node.name)
        return node

    return expression.copy().transform(change)


def fill_duckdb(dump: Dump, connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables of a dump in DuckDB, and compute their rows."""
    for schema in sorted({table.schema for table in dump.tables} - {""}):
        connection.execute(f'CREATE SCHEMA "{schema}"')
    for table in dump.tables:
        for column in table.columns:
            if column.type.this.value in _SERIALS:
                connection.execute(f"CREATE SEQUENCE {_sequence(table, column)}")
        connection.execute(create_statement(table, "duckdb"))
    for insert in dump.inserts:
        connection.execute(_pinned(insert).sql("duckdb"))


def computed(dump: Dump) -> Iterator[tuple[DumpTable, RowList]]:
    """Every table with its rows."""
    connection = duckdb.connect()
    fill_duckdb(dump, connection)
    for table in dump.tables:
        place = f'"{table.schema or "main"}"."{table.name}"'
        yield table, connection.execute(f"SELECT * FROM {place}").fetchall()
    connection.close()


def _for_sqlite(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat(" ") if isinstance(value, datetime.datetime) else value.isoformat()
    return int(value) if isinstance(value, bool) else value


class PostgresPlace:
    """Databases PREFIXname of a PostgreSQL server."""

    dialect = "postgresql"
    questions = "postgres"

    def __init__(self, server: str, prefix: str = PREFIX) -> None:
        self._server = server
        self._prefix = prefix

    def url(self, name: str) -> str:
        """Where a database is."""
        return urlsplit(self._server)._replace(path=f"/{self._prefix}{name}").geturl()

    def load(self, dump: Dump) -> None:
        """Make a database anew."""
        self.drop(dump.name)
        with psycopg.connect(self._server, autocommit=True, connect_timeout=COMES_S) as connection:
            connection.execute(f'CREATE DATABASE "{self._prefix}{dump.name}"'.encode())
        with psycopg.connect(self.url(dump.name), autocommit=True) as connection:
            connection.execute((at_moment(dump.text, MOMENT) if FIXED else dump.text).encode())
            connection.execute(b"ANALYZE")

    def drop(self, name: str) -> None:
        """Remove a database."""
        with psycopg.connect(self._server, autocommit=True, connect_timeout=COMES_S) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{self._prefix}{name}" WITH (FORCE)'.encode())

    def run(self, name: str, statements: Sequence[str]) -> list[Answer]:
        """Rows of every statement by the plain driver, or its message."""
        answers: list[Answer] = []
        with psycopg.connect(self.url(name), autocommit=True, options="-c timezone=UTC") as connection:
            for statement in statements:
                try:
                    answers.append(connection.execute(statement.encode()).fetchall())
                except psycopg.Error as error:
                    answers.append(str(error).splitlines()[0])
        return answers


class MariaDBPlace:
    """Databases PREFIXname of a MariaDB server."""

    dialect = "mariadb"
    questions = "mysql"

    def __init__(self, server: str, prefix: str = PREFIX) -> None:
        self._server = server
        self._prefix = prefix

    def url(self, name: str) -> str:
        """Where a database is."""
        return urlsplit(self._server)._replace(scheme="mariadb", path=f"/{self._prefix}{name}").geturl()

    def _connect(self, database: str | None = None) -> Any:
        parts = urlsplit(self._server)
        return pymysql.connect(
            host=parts.hostname or "127.0.0.1",
            port=parts.port or 3306,
            user=unquote(parts.username or "root"),
            password=unquote(parts.password or ""),
            database=database,
            autocommit=True,
            charset="utf8mb4",
        )

    def load(self, dump: Dump) -> None:
        """Make a database anew."""
        self.drop(dump.name)
        with self._connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE `{self._prefix}{dump.name}` CHARACTER SET utf8mb4")
            cursor.execute(f"USE `{self._prefix}{dump.name}`")
            for table, rows in computed(dump):
                cursor.execute(create_statement(table, "mysql"))
                marks = ", ".join(["%s"] * len(table.columns))
                if rows:
                    cursor.executemany(f"INSERT INTO `{table.name}` VALUES ({marks})", rows)
                cursor.execute(f"ANALYZE TABLE `{table.name}`")  # or plans, and so ties, change while it counts rows

    def drop(self, name: str) -> None:
        """Remove a database."""
        with self._connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS `{self._prefix}{name}`")

    def run(self, name: str, statements: Sequence[str]) -> list[Answer]:
        """Rows of every statement by the plain driver, or its message."""
        answers: list[Answer] = []
        with self._connect(self._prefix + name) as connection, connection.cursor() as cursor:
            cursor.execute("SET time_zone = '+00:00'")
            for statement in statements:
                try:
                    cursor.execute(statement)
                    answers.append(list(cursor.fetchall()))
                except pymysql.Error as error:
                    answers.append(str(error.args[-1]))
        return answers


class FilePlace:
    """Databases as files of a folder."""

    def __init__(self, dialect: str, folder: Path, prefix: str = PREFIX) -> None:
        self.dialect = dialect
        self.questions = "sqlite" if dialect == "sqlite" else "postgres"  # DuckDB has none of its own
        self._folder = folder
        self._prefix = prefix

    def _path(self, name: str) -> Path:
        return self._folder.absolute() / f"{self._prefix}{name}.{self.dialect}"

    def url(self, name: str) -> str:
        """Where a database is."""
        return f"{self.dialect}:///{self._path(name)}"

    def load(self, dump: Dump) -> None:
        """Make a database anew."""
        self.drop(dump.name)
        self._folder.mkdir(parents=True, exist_ok=True)
        if self.dialect == "duckdb":
            with duckdb.connect(str(self._path(dump.name))) as connection:
                fill_duckdb(dump, connection)
            return
        database = sqlite3.connect(self._path(dump.name))
        for table, rows in computed(dump):
            database.execute(create_statement(table, "sqlite"))
            marks = ", ".join(["?"] * len(table.columns))
            plain = [tuple(_for_sqlite(value) for value in row) for row in rows]
            database.executemany(f'INSERT INTO "{table.name}" VALUES ({marks})', plain)
        database.commit()
        database.close()

    def drop(self, name: str) -> None:
        """Remove a database."""
        self._path(name).unlink(missing_ok=True)

    def run(self, name: str, statements: Sequence[str]) -> list[Answer]:
        """Rows of every statement by the plain driver, or its message."""
        answers: list[Answer] = []
        path = self._path(name)
        connection: Any = (
            sqlite3.connect(path) if self.dialect == "sqlite" else duckdb.connect(str(path), read_only=True)
        )
        for statement in statements:
            try:
                answers.append(connection.execute(statement).fetchall())
            except (sqlite3.Error, duckdb.Error) as error:
                answers.append(str(error).splitlines()[0])
        connection.close()
        return answers


Place = PostgresPlace | MariaDBPlace | FilePlace
