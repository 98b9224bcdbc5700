"""Caps on statements and results that engines share."""

from collections.abc import Iterable
from dataclasses import replace

from merit.types import Cause, Error, Limits, Row

_ROW_BYTES = 64  # what Python needs for a row beside its values
_VALUE_BYTES = 40
_LONGEST_MESSAGE = 10_000  # characters of an engine's message
_MESSAGE_END = 100  # of these; `near "...": syntax error` says only there what is wrong


class CellTooLarge(Exception):
    """A value is larger than the limits allow."""

    def __init__(self, size: int, limits: Limits) -> None:
        super().__init__(f"a value of {size} bytes was returned; at most {limits.cell_bytes} are allowed")


def unfit(sql: str, limits: Limits) -> Error | None:
    """Why a text cannot be sent to any database, if it cannot."""
    try:
        size = len(sql.encode())
    except UnicodeEncodeError:
        return Error(Cause.DBMS, "unrecognized token: the statement is not valid Unicode text")
    if size > limits.sql_bytes:
        return Error(Cause.TOO_LARGE, f"statement too long: {size} bytes, at most {limits.sql_bytes} are run")
    if "\0" in sql:
        return Error(Cause.DBMS, "unrecognized token: the statement contains a NUL character")
    return None


def shortened(error: Error) -> Error:
    """An error whose message is cut to what people and models read: it may quote a large value."""
    if len(error.message) <= _LONGEST_MESSAGE:
        return error
    head, end = error.message[: _LONGEST_MESSAGE - _MESSAGE_END], error.message[-_MESSAGE_END:]
    cut = f"{head}... ({len(error.message) - _LONGEST_MESSAGE} more characters) ...{end}"
    return replace(error, message=cut, hint=error.hint[:_LONGEST_MESSAGE])


def collect(rows: Iterable[Row], limits: Limits) -> tuple[list[Row], bool]:
    """Rows until they end or reach a cap, and whether a cap cut them off; CellTooLarge for a value beyond its cap."""
    collected: list[Row] = []
    room = limits.result_bytes
    for row in rows:
        room -= _ROW_BYTES + _VALUE_BYTES * len(row) + sum([_size(value, limits) for value in row])
        if room < 0 or len(collected) >= limits.rows:
            return collected, True
        collected.append(row)
    return collected, False


def _size(value: object, limits: Limits) -> int:
    if not isinstance(value, str | bytes):
        return value.bit_length() >> 3 if isinstance(value, int) else 0
    size = len(value) if isinstance(value, bytes) or value.isascii() else len(value.encode("utf-8", "surrogatepass"))
    if size > limits.cell_bytes:
        raise CellTooLarge(size, limits)
    return size
