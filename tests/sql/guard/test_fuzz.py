"""Mutated statements: the guard always answers, in time, and nothing that it lets through writes."""

import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus import hostile
from making.clock import STALL_S
from making.fuzzing import tries
from making.mutating import mutated
from making.readonly import statements, target
from merit.sql.guard import refusal
from merit.sql.guard.functions import unknown
from merit.types import Cause, Error

SERVERS = ("sqlite", "postgresql", "mariadb", "duckdb")
# What an engine says to a role that reaches for files or the server itself.
REACHED_OUT = re.compile(
    r"Permission Error|file system operations|must be superuser|denied for (?:function|schema)|FILE priv"
)
STATEMENTS = max(2_000, 2 * tries())  # for each engine; 50,000 were tried once by hand (MERIT_FUZZ=25000)
CAUSES = {Cause.READ_ONLY, Cause.FORBIDDEN, Cause.STATEMENTS, Cause.DBMS, Cause.TOO_LARGE}


def texts(dialect: str) -> list[str]:
    """Harmless statements twice, so that what comes of mutating them has a chance to pass."""
    slow = {*hostile.BOMBS, *hostile.GROWTH}  # SQLite's statements that only take time
    attacks = [text for text in statements("readonly", dialect) if len(text) < 1000 and text not in slow]
    return [*attacks, *statements("harmless", dialect) * 2]


def answered(statement: str, dialect: str, volatile: Callable[[str], bool | None] = unknown) -> Error | None:
    """What the guard says, in time and in words that can be shown."""
    start = time.monotonic()
    error = refusal(statement, dialect, volatile)
    assert time.monotonic() - start < STALL_S, statement
    assert error is None or (error.cause in CAUSES and error.message.isprintable()), statement
    return error


def test_the_guard_always_answers_for_mysql() -> None:
    """No MySQL server can be had; the others are tried below."""
    seed = random.randrange(1 << 32)
    draw, sources = random.Random(seed), texts("mysql")
    for _ in range(STATEMENTS):
        answered(mutated(draw, sources), "mysql")


@pytest.mark.parametrize("dialect", SERVERS)
def test_the_guard_always_answers_and_nothing_that_passes_writes(dialect: str, tmp_path: Path) -> None:
    """The role may write and the transaction too, so nothing but the guard keeps the statements from it."""
    seed = random.randrange(1 << 32)
    draw, sources = random.Random(seed), texts(dialect)
    with target(dialect, tmp_path) as database:
        before = database.state()
        passed: list[str] = []
        for _ in range(STATEMENTS):
            statement = mutated(draw, sources)
            if answered(statement, dialect, database.volatile) is None:
                answer = database.run(statement, False)
                assert not REACHED_OUT.search(answer), (seed, statement, answer)
                passed.append(statement)
                assert len(passed) % 20 or database.state() == before, (seed, passed[-20:])
        assert database.state() == before, (seed, passed[-20:])
        assert passed
    assert not Path("/tmp/merit-corpus-out").exists()


@pytest.mark.parametrize("dialect", SERVERS)
def test_the_target_tells_a_write_that_passed(dialect: str, tmp_path: Path) -> None:
    """So that the test above would fail where the guard fails."""
    with target(dialect, tmp_path) as database:
        before = database.state()
        database.run("DELETE FROM items", False)
        assert database.state() != before
