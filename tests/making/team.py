"""Memories on a real PostgreSQL, each in a schema of its own that is dropped afterwards."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import psycopg

from making.clock import COMES_S
from making.engines import POSTGRES, absent

_numbers = count()


def admin() -> psycopg.Connection[tuple[Any, ...]]:
    """A connection beside the stores; the test is skipped where no server answers."""
    try:
        return psycopg.connect(POSTGRES, autocommit=True, connect_timeout=COMES_S)
    except psycopg.OperationalError as error:
        absent(f"no PostgreSQL answers at {POSTGRES} (set MERIT_TEST_POSTGRES): {error}")


@contextmanager
def team_schema() -> Iterator[str]:
    """The name of a schema that nothing is in yet."""
    name = f"merit_team_{os.getpid()}_{next(_numbers)}"
    with admin() as connection:
        try:
            yield name
        finally:
            connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE".encode())


def url_of(schema: str, **options: str) -> str:
    """The URL of the memory in a schema."""
    more = "".join(f"&{name}={value}" for name, value in options.items())
    return f"{POSTGRES}{'&' if '?' in POSTGRES else '?'}schema={schema}{more}"


@contextmanager
def team_memory() -> Iterator[str]:
    """The URL of a memory that nobody has written to."""
    with team_schema() as schema:
        yield url_of(schema)
