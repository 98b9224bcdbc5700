"""One small database on every engine, and a way to change it behind merit's back."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import duckdb
import psycopg

from making.engines import MARIADB, POSTGRES, mariadb_server, postgres_server

DIALECTS = ("sqlite", "duckdb", "postgresql", "mariadb")
SERVERS = ("postgresql", "mariadb")
_NUMBERS = count()

SHOP = [
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(20), city VARCHAR(20))",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, buyer INTEGER, total DECIMAL(10,2),"
    " FOREIGN KEY (buyer) REFERENCES customer (id))",
    "CREATE VIEW large AS SELECT id, total FROM orders WHERE total > 10",
    "CREATE TABLE n (i INTEGER)",
    "CREATE TABLE note (body VARCHAR(3000))",
    f"INSERT INTO note VALUES ('{'é' * 1000}')",
    "INSERT INTO customer VALUES (1, 'Ann', 'Bonn'), (2, 'Bob', NULL), (3, 'Zoë', 'Köln')",
    "INSERT INTO orders VALUES (1, 1, 9.50), (2, 1, 20), (3, 3, 100.25)",
    "INSERT INTO n VALUES " + ", ".join(f"({number})" for number in range(1000)),
]


@dataclass(frozen=True)
class Place:
    """A database, its URL, and `run` for statements that merit would refuse."""

    dialect: str
    url: str
    run: Callable[[str], list[tuple[object, ...]]]


def with_database(url: str, name: str, **more: str) -> str:
    """A URL of the same server with another database, and perhaps another user (as `netloc`)."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}", **more))


@contextmanager
def empty(dialect: str, folder: Path) -> Iterator[Place]:
    """A database without tables; on a server it has a name of its own, and is dropped at the end."""
    opened = {"sqlite": _sqlite, "duckdb": _duckdb, "postgresql": _postgresql, "mariadb": _mariadb}[dialect]
    with opened(folder) as place:
        yield place


@contextmanager
def shop(dialect: str, folder: Path) -> Iterator[Place]:
    """A small shop."""
    with empty(dialect, folder) as place:
        for statement in SHOP:
            place.run(statement)
        yield place


@contextmanager
def _sqlite(folder: Path) -> Iterator[Place]:
    path = folder / "shop.sqlite"

    def run(sql: str) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
            return connection.execute(sql).fetchall()

    yield Place("sqlite", f"sqlite:///{path}", run)


@contextmanager
def _duckdb(folder: Path) -> Iterator[Place]:
    path = folder / "shop.duckdb"

    def run(sql: str) -> list[tuple[object, ...]]:
        with duckdb.connect(path) as connection:
            return connection.execute(sql).fetchall()

    yield Place("duckdb", f"duckdb:///{path}", run)


@contextmanager
def _postgresql(folder: Path) -> Iterator[Place]:
    name = f"merit_engines_{os.getpid()}_{next(_NUMBERS)}"
    with postgres_server() as server:
        server.execute(f"CREATE DATABASE {name}".encode())
        url = with_database(POSTGRES, name)
        try:
            with psycopg.connect(url, autocommit=True) as connection:

                def run(sql: str) -> list[tuple[object, ...]]:
                    cursor = connection.execute(sql.encode())
                    return cursor.fetchall() if cursor.description else []

                yield Place("postgresql", url, run)
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def _mariadb(folder: Path) -> Iterator[Place]:
    name = f"merit_engines_{os.getpid()}_{next(_NUMBERS)}"
    connection = mariadb_server()

    def run(sql: str) -> list[tuple[object, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    run(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
    run(f"USE {name}")
    try:
        yield Place("mariadb", with_database(MARIADB, name), run)
    finally:
        run(f"DROP DATABASE {name}")
        connection.close()
