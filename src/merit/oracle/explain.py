"""Why an answer is wrong, for a user who asked to see reference answers: never for an agent, a run or a log."""

import time
from dataclasses import dataclass
from pathlib import Path

from merit.data import Dataset
from merit.errors import DatabaseUnusable, ReferenceFailed
from merit.oracle.compare import ComparisonTimeout
from merit.oracle.open import read_references
from merit.oracle.rule import rule_of
from merit.sql import SQLiteSandbox
from merit.types import Cause, Distinct, Error, Limits, Question, Result, Row, Rows, Value
from merit.types.engine import MIB

FIRST_ROWS = 8  # of a result, which is enough to see what differs
_CELL = 120  # characters of a value
# Smaller than the judge's: no verdict depends on them, and the comparison says when a limit was reached.
_LIMITS = Limits(timeout_s=10.0, rows=100_000, result_bytes=16 * MIB)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning of a result as texts, or why there is none."""

    rows: tuple[tuple[str, ...], ...] = ()
    columns: int = 0
    count: str = ""  # of all rows
    failure: str = ""


@dataclass(frozen=True, slots=True)
class ReferenceComparison:
    """An answer beside the reference, on the first database on which they differ."""

    reference_sql: str
    reference: Excerpt
    own: Excerpt
    database: str  # a file's name
    suite: bool  # whether that is another database than the question's own
    differs: bool | None  # False: on none of them; None: too much to compare within these limits


class Explainer:
    """Runs answers and references of one benchmark side by side."""

    def __init__(self, dataset: Dataset, protocol: str, distinct: Distinct | None = None) -> None:
        self._rule = rule_of(dataset.layout, distinct)
        self._queries = read_references(dataset)
        self._files = dataset.files(protocol)
        self._sandbox = SQLiteSandbox(frozen=True)
        self._latest: tuple[tuple[str, str], dict[Path, Result]] | None = None  # the last reference and its results

    def explain(self, question: Question, sql: str) -> ReferenceComparison:
        """An answer beside the reference of its question."""
        if question.db_id not in self._files:
            raise DatabaseUnusable(f"question {question.id}: there is no database {question.db_id!r}")
        if question.id not in self._queries:
            raise ReferenceFailed(f"question {question.id}: the dataset has no reference for it")
        files = self._files[question.db_id]
        query = self._queries[question.id]
        first = None
        for file in files:
            expected, own = self._expected(question, file, query), self._run(file, sql)
            differs = self._differ(query, expected, own)
            comparison = ReferenceComparison(
                query, _excerpt(expected), _excerpt(own), file.name, file != files[0], differs
            )
            if differs is not False:
                return comparison
            first = first or comparison
        assert first is not None, "a question has a database"
        return first

    def close(self) -> None:
        """Close the sandbox."""
        self._sandbox.close()

    def _expected(self, question: Question, file: Path, query: str) -> Result:
        key = (question.db_id, query)
        if self._latest is None or self._latest[0] != key:  # answers to one question come one after another
            self._latest = (key, {})
        known = self._latest[1]
        if file not in known:
            known[file] = self._run(file, query)
        if isinstance(known[file], Error):  # the database's message would reveal parts of the reference
            raise ReferenceFailed(f"question {question.id}: its reference SQL fails on {file}")
        return known[file]

    def _run(self, file: Path, sql: str) -> Result:
        if len(sql) > _LIMITS.sql_bytes:  # too long even to rewrite
            return Error(Cause.TOO_LARGE, f"statement too long: {len(sql)} characters")
        rule = self._rule
        return self._sandbox.execute(file, rule.rewrite(sql), _LIMITS, distinct=rule.unique_rows, lossy=rule.lossy)

    def _differ(self, query: str, expected: Result, own: Result) -> bool | None:
        if isinstance(own, Error):
            return True
        if not isinstance(expected, Rows) or not isinstance(own, Rows) or expected.truncated or own.truncated:
            return None
        try:
            deadline = time.monotonic() + _LIMITS.timeout_s
            return not self._rule.same(self._rule.rewrite(query), expected.rows, own.rows, deadline)
        except ComparisonTimeout:
            return None


def _excerpt(result: Result) -> Excerpt:
    if not isinstance(result, Rows):
        return Excerpt(failure=_printable(result.message))
    count = f"more than {len(result.rows):,}" if result.truncated else f"{len(result.rows):,}"
    rows = tuple(_texts(row) for row in result.rows[:FIRST_ROWS])
    return Excerpt(rows, len(result.columns), count)


def _texts(row: Row) -> tuple[str, ...]:
    return tuple(_text(value) for value in row)


def _text(value: Value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"x'{value[: _CELL // 2].hex()}'" + ("…" if len(value) > _CELL // 2 else "")
    text = _printable(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= _CELL else f"{text[:_CELL]}…"


def _printable(text: str) -> str:
    """Text from a database without control characters, which could move a terminal's cursor."""
    return "".join(sign if sign.isprintable() else " " if sign.isspace() else "\ufffd" for sign in text[: 4 * _CELL])
