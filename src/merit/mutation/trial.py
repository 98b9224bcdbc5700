"""Whether databases tell mutants from their reference, by the benchmark's own rule."""

import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from merit.oracle.rule import SPIDER_KEPT
from merit.types import Row

_STEPS = 100_000  # instructions of SQLite's virtual machine between two calls of the counter
_MOST_CALLS = 30  # of the counter, before a query is stopped


class Overrun(Exception):
    """A query takes far longer than any reference."""


class MutantBench:
    """Databases of one schema, and what a reference returns on each of them."""

    def __init__(self, databases: Sequence[sqlite3.Connection], reference: str) -> None:
        self._databases = databases
        self._reference = SPIDER_KEPT.rewrite(reference)
        self._expected: dict[int, list[Row]] = {}

    def expected(self, number: int) -> list[Row]:
        """The reference's rows on one database."""
        if number not in self._expected:
            self._expected[number] = run(self._databases[number], self._reference, None)
        return self._expected[number]

    def distinguishes(self, number: int, mutant: str) -> bool:
        """Whether one database tells a mutant from the reference; raises sqlite3.Error or Overrun if it fails."""
        expected = self.expected(number)
        rows = run(self._databases[number], SPIDER_KEPT.rewrite(mutant), len(expected) + 1)
        return rows != expected and not SPIDER_KEPT.same(self._reference, expected, rows, math.inf)

    def first(self, mutant: str, numbers: Sequence[int]) -> int | None:
        """The first of these databases that tells a mutant from the reference."""
        for number in numbers:
            try:
                if self.distinguishes(number, mutant):
                    return number
            except (sqlite3.Error, Overrun):  # no evidence either way
                continue
        return None


def run(db: sqlite3.Connection, sql: str, most: int | None) -> list[Row]:
    """A query's rows, at most so many."""
    counter = _StepCounter()
    db.set_progress_handler(counter, _STEPS)
    try:
        cursor = db.execute(sql)
        try:
            return cursor.fetchall() if most is None else cursor.fetchmany(most)
        finally:
            cursor.close()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            raise Overrun from None
        raise
    finally:
        db.set_progress_handler(None, 0)


@dataclass(slots=True)
class _StepCounter:
    """Counts how long a query takes in steps, not in time, so that every machine finds the same."""

    left: int = _MOST_CALLS

    def __call__(self) -> int:
        self.left -= 1
        return self.left < 0
