"""The tables of a memory on PostgreSQL: made on the first write, and brought forward from older formats.

`merit_memory` has one row: the format, the last sequence number and the fingerprint up to it. `merit_changes` has a row
for every change, with its line as a log file has it, and a fingerprint: the hash of the one before it and the line.
"""

import hashlib
from dataclasses import dataclass

from merit.errors import InputError, MemoryUnusable
from merit.memory.postgres.connection import Link

BEGINNING = hashlib.sha256().digest()  # the fingerprint of an empty log
_ENCODING = "UTF8"

# How each format comes from the one before it. A memory is never taken back to an older one.
STEPS: tuple[str, ...] = (
    """
    CREATE TABLE {schema}.merit_memory (
        single boolean PRIMARY KEY DEFAULT true CHECK (single),
        format integer NOT NULL,
        sequence bigint NOT NULL,
        fingerprint bytea NOT NULL
    );
    CREATE TABLE {schema}.merit_changes (
        sequence bigint PRIMARY KEY,
        kind text NOT NULL,
        id text NOT NULL,
        append uuid NOT NULL,
        line text NOT NULL,
        fingerprint bytea NOT NULL
    );
    CREATE UNIQUE INDEX merit_changes_entry ON {schema}.merit_changes (id) WHERE kind IN ('repair', 'precedent');
    INSERT INTO {schema}.merit_memory (format, sequence, fingerprint) VALUES (0, 0, sha256(''));
    """,
)


@dataclass(frozen=True, slots=True)
class LogEnd:
    """The row of `merit_memory`: where the log ends."""

    format: int
    sequence: int
    fingerprint: bytes


def has_tables(link: Link, schema: str) -> bool:
    """Whether a memory was made in a schema."""
    found = link.execute("SELECT to_regclass(%s)", (f"{schema}.merit_memory",)).fetchone()
    return found is not None and found[0] is not None


def bring_forward(link: Link, schema: str, shown: str) -> None:
    """Make the tables where they are missing, and bring older ones to this format, in one transaction.

    Writers wait for one another here: of those that come first, one makes the tables.
    """
    link.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
    link.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"merit {schema}",))
    there, encoding = link.execute(
        "SELECT to_regnamespace(%s) IS NOT NULL, current_setting('server_encoding')", (schema,)
    ).fetchone() or (False, "")
    if encoding != _ENCODING:
        raise MemoryUnusable(
            f"{shown}: the database stores text as {encoding}; a memory needs one that was made with ENCODING 'UTF8'"
        )
    if not there:
        link.execute(f"CREATE SCHEMA {schema}".encode())
    version = 0
    if has_tables(link, schema):
        version = checked_end(
            link.execute(f"SELECT format, sequence, fingerprint FROM {schema}.merit_memory FOR UPDATE").fetchall(),
            shown,
            schema,
        ).format
    for step in STEPS[version:]:
        link.execute(step.format(schema=schema).encode())
    link.execute(f"UPDATE {schema}.merit_memory SET format = %s WHERE format < %s", (len(STEPS), len(STEPS)))
    link.execute("COMMIT")


def checked_end(rows: list[tuple[int, int, bytes]], shown: str, schema: str) -> LogEnd:
    """The only row of `merit_memory`; a newer format is refused."""
    if len(rows) != 1:
        raise InputError(
            f"{shown}: the table {schema}.merit_memory has {len(rows)} rows instead of one; restore it from a backup"
        )
    end = LogEnd(*rows[0])
    if end.format > len(STEPS):
        raise InputError(
            f"{shown}: memory format {end.format} of PostgreSQL, this merit reads {len(STEPS)}; it was written by a "
            "newer merit: update this one"
        )
    return end
