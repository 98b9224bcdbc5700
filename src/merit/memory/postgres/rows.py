"""Rows of `merit_changes`: how they are asked for, and how each is held against its fingerprint before it is used."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from merit.errors import InputError
from merit.memory.format4 import LINE_BYTES, log_lines, parse_head, parse_line
from merit.types import Change

_DAMAGED = "restore the table from a backup"
PAGE_ROWS, PAGE_BYTES = 1000, 16 << 20  # a page has no more rows, and ends once it has so many bytes

# A line that is too long to be an entry stays in the database.
_COLUMNS = f"sequence, kind, id, fingerprint, CASE WHEN octet_length(line) <= {LINE_BYTES} THEN line END AS line"
PAGE = f"""
    SELECT {_COLUMNS} FROM (
        SELECT *, sum(octet_length(line)) OVER (ORDER BY sequence) - octet_length(line) AS bytes_before FROM (
            SELECT * FROM {{changes}} WHERE sequence > %s AND sequence <= %s ORDER BY sequence LIMIT {PAGE_ROWS}
        ) AS page
    ) AS sized WHERE bytes_before < {PAGE_BYTES} ORDER BY sequence
"""
BY_ID = f"""
    SELECT entry.*, (SELECT fingerprint FROM {{changes}} AS before WHERE before.sequence = entry.sequence - 1)
    FROM (SELECT {_COLUMNS} FROM {{changes}} WHERE id = ANY(%s) AND kind IN ('repair', 'precedent')) AS entry
"""


class StoredChange(NamedTuple):
    """A row, as it was found."""

    sequence: int
    kind: str
    id: str
    fingerprint: bytes
    line: str | None  # None: longer than an entry can be


def next_fingerprint(before: bytes, line: bytes) -> bytes:
    """The fingerprint of a log that a line was added to."""
    return hashlib.sha256(before + line).digest()


def new_rows(changes: Sequence[Change], sequence: int, fingerprint: bytes) -> Iterator[StoredChange]:
    """The rows of an append that follows a sequence number and its fingerprint."""
    for number, (change, line) in enumerate(zip(changes, log_lines(changes, sequence), strict=True), sequence + 1):
        fingerprint = next_fingerprint(fingerprint, line)
        head = parse_head(line, change.id)
        yield StoredChange(number, head.kind, head.id, fingerprint, line.decode())


def parse_stored(row: StoredChange, before: bytes | None, table: str) -> Change:
    """The change of a row, if it is as it was written: what another hand has put there is refused."""
    where = f"{table}, row {row.sequence}"
    if row.line is None:
        raise InputError(f"{where}: longer than {LINE_BYTES >> 20} MiB, so not an entry; {_DAMAGED}")
    if before is None:
        raise missing_row(row.sequence - 1, table)
    line = row.line.encode()
    if next_fingerprint(before, line) != row.fingerprint:
        raise InputError(f"{where}: does not fit its fingerprint, so something other than merit changed it; {_DAMAGED}")
    change, head = parse_line(line, where), parse_head(line, where)
    if (head.sequence, head.kind, head.id) != row[:3]:
        raise InputError(f"{where}: its columns say something else than its line; {_DAMAGED}")
    return change


def missing_row(sequence: int, table: str) -> InputError:
    """What to say of a gap."""
    return InputError(f"{table}, row {sequence}: is missing, so something other than merit removed it; {_DAMAGED}")
