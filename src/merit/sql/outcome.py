"""The verdict of running a statement, without any reference."""

import hashlib
import math

from merit.errors import DatabaseUnusable
from merit.sql.encoding import digest, encode
from merit.types import Cause, Error, Result, Row, Status, Timeout, Value, Verdict

_LONG_BYTES = 1 << 20  # of an encoded result
_SIGNIFICANT_DIGITS = 10  # sums over a million rows in another order differ in the twelfth digit at most


def executed(result: Result, database: object, *, coded: bool = False) -> Verdict:
    """The verdict of an execution alone; `coded` keeps the engine's code, for dialects that are classified by it."""
    if isinstance(result, Error):
        return failed(result, database, coded=coded)
    if isinstance(result, Timeout):
        return Verdict(Status.TIMEOUT, result.message, Cause.TIMEOUT)
    return Verdict(Status.EXECUTED, result=fingerprint(result.rows))


def failed(error: Error, database: object, *, coded: bool = False) -> Verdict:
    """The verdict of a statement that gave no rows; a fault of the environment is raised."""
    if error.cause.environmental:
        raise DatabaseUnusable(f"{database}: {error.message}")
    return Verdict(Status.EXECUTION_ERROR, error.message, error.cause, code=error.code if coded else None)


def fingerprint(rows: list[Row]) -> str:
    """The same for the same rows in any order of rows and columns; empty for no rows.

    Floats are rounded, so that AVG(x) and SUM(x) / COUNT(x) agree; a float without a fraction is its integer.
    """
    if not rows:
        return ""
    if any(isinstance(value, float) for row in rows for value in row):
        rows = [tuple(map(_rounded, row)) for row in rows]
    if len(encode(rows)) > _LONG_BYTES:  # spelling it out twice would take many times as much
        return _long_fingerprint(rows)
    columns = sorted(zip(*rows, strict=True), key=lambda column: sorted(map(repr, column)))
    return hashlib.sha256(repr(sorted(map(repr, zip(*columns, strict=True)))).encode()).hexdigest()[:16]


def _rounded(value: Value) -> Value:
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    rounded = float(f"{value:.{_SIGNIFICANT_DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded


def _long_fingerprint(rows: list[Row]) -> str:
    """The same for a large result, from a short digest of each row whatever the order of its columns."""
    digests = sorted(digest(encode([tuple(sorted(row, key=repr))])) for row in rows)
    return hashlib.sha256(b"".join(digests)).hexdigest()[:16]
