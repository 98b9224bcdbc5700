"""A memory in a schema of a PostgreSQL database: a log that the processes of a team append to and follow.

How sequence numbers come in commit order: a writer locks the one row of `merit_memory` (SELECT ... FOR UPDATE), takes
the numbers that follow the one in it, writes its rows and the row's new end, and commits. The lock is held until the
commit is durable and visible, so the next writer reads the end that it left. No number is given before all smaller ones
can be seen, and a snapshot that has a number has all smaller ones.

An append whose connection was lost may or may not have been committed. It is found out under the same lock, which the
lost transaction holds until it has ended: every append has a name of its own (a UUID in its rows), and is there or not.
"""

import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import psycopg

from merit.errors import InputError, MemoryChanged, MemoryUnusable
from merit.memory.postgres.address import parse_address
from merit.memory.postgres.connection import Link, ServerUnreachable, StoreConnection
from merit.memory.postgres.rows import BY_ID, PAGE, StoredChange, missing_row, new_rows, parse_stored
from merit.memory.postgres.tables import BEGINNING, STEPS, LogEnd, bring_forward, checked_end, has_tables
from merit.memory.records import ENTRY_ID
from merit.types import Change, Entry, Precedent, Repair

_LOOK_AGAIN_S = 0.5  # a follower looks so often by itself, in case no notification comes through
# A writer that hangs, or whose network was cut, loses its lock. A server may commit without waiting for its disk; here
# it must not.
_BEGIN = """
    BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
    SET LOCAL lock_timeout = '30s';
    SET LOCAL statement_timeout = '10min';
    SET LOCAL idle_in_transaction_session_timeout = '15s';
    SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off';
    SELECT format, sequence, fingerprint FROM {memory} FOR UPDATE
"""
_END = """
    SELECT format, sequence, fingerprint, (SELECT fingerprint FROM {changes} WHERE sequence = %s),
        (SELECT fingerprint FROM {changes} WHERE sequence = %s) FROM {memory}
"""
_CHECK = """
    SELECT (SELECT max(sequence) FROM {changes}), (SELECT fingerprint FROM {changes} WHERE sequence = %s),
        (SELECT append FROM {changes} WHERE sequence = %s)
"""
_COPY = "COPY {changes} (sequence, kind, id, append, line, fingerprint) FROM STDIN"


class PostgresStore:
    """The log in a schema, `merit` unless the URL says `?schema=NAME`. Usable from many threads.

    The tables are made on the first write. A connection that is lost is made again, for half a minute.
    """

    purges = 0  # nothing is ever erased from it

    def __init__(self, url: str, *, writable: bool = True) -> None:
        self._address = parse_address(url)
        self._writable = writable
        self._names = {name: f"{self._address.schema}.merit_{name}" for name in ("memory", "changes")}
        self._channel = f"merit_{self._address.schema}"
        self._mutex = threading.RLock()
        self._waiting = threading.Lock()
        self._closed = False
        self._has_tables = False
        self._last_seen = (0, BEGINNING)  # a number and its fingerprint, up to which all was read here
        self._connection = StoreConnection(self._address)
        self._listener = StoreConnection(self._address, f"LISTEN {self._channel}")
        try:
            self._connection.run(self._open, patient=False)
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """Where it is, for messages: its URL without any password."""
        return self._address.shown

    def append(self, changes: Sequence[Change], *, expected: int | None = None) -> int:
        """Commit changes, all of them or none; see `Store.append`."""
        if not self._writable and not self._closed:
            raise MemoryUnusable(f"{self.name}: opened for reading only")
        append = uuid.uuid4()
        numbers: list[int] = []  # the last number of each attempt whose outcome is not known

        def commit(link: Link) -> int:
            if not self._has_tables:
                self._make_tables(link)
            end = self._lock(link)
            row = link.execute(self._sql(_CHECK), (end.sequence, numbers[-1] if numbers else 0)).fetchone()
            last, fingerprint, there = row or (None, None, None)
            if there == append:
                link.execute("ROLLBACK")
                return numbers[-1]
            self._check_end(end, last, fingerprint)
            if expected is not None and expected != end.sequence:
                raise MemoryChanged(f"{self.name}: another process changed this memory first; try again")
            if changes:
                numbers.append(end.sequence + len(changes))
                self._write(link, changes, end, append)
            link.execute("COMMIT")
            return end.sequence + len(changes)

        with self._mutex:
            self._check_usable()
            try:
                return self._connection.run(commit)
            except ServerUnreachable as error:
                doubt = "; whether the change was kept is not known, so look before you repeat it" if numbers else ""
                raise MemoryUnusable(f"{error}{doubt}") from None

    def since(self, sequence: int) -> Iterator[tuple[int, Change]]:
        """The changes committed after a sequence number; where there is none, this is one short query."""
        with self._mutex:
            self._check_usable()
            end, fingerprint = self._connection.run(lambda link: self._look(link, max(sequence, 0)))
        return self._changes(max(sequence, 0), fingerprint, end)

    def read(self, ids: Iterable[str]) -> list[Entry]:
        """Entries by their ids."""
        wanted = list(ids)
        known = list({identity for identity in wanted if ENTRY_ID.fullmatch(identity)})
        with self._mutex:
            self._check_usable()
            rows = self._connection.run(lambda link: self._fetch(link, BY_ID, (known,))) if known else []
        entries: dict[str, Entry] = {}
        for *row, before in rows:
            stored = StoredChange(*row)
            entry = parse_stored(stored, BEGINNING if stored.sequence == 1 else before, self._where)
            assert isinstance(entry, Repair | Precedent)  # its kind says so
            if entry.id in entries:
                raise InputError(f"{self._where}: the id {entry.id} is there twice; restore the table from a backup")
            entries[entry.id] = entry
        for identity in wanted:
            if identity not in entries:
                raise InputError(f"{self.name}: there is no entry {identity}")
        return [entries[identity] for identity in wanted]

    def fingerprint(self, sequence: int) -> str | None:
        """The hash of the log up to a sequence number, as it is stored with that row."""
        with self._mutex:
            self._check_usable()
            if sequence == 0:
                return BEGINNING.hex()
            sql = "SELECT fingerprint FROM {changes} WHERE sequence = %s"
            rows = self._connection.run(lambda link: self._fetch(link, sql, (sequence,)))
        return bytes(rows[0][0]).hex() if rows else None

    def wait(self, sequence: int, timeout_s: float) -> bool:
        """Wait until something is committed after a sequence number, or the time is up; says whether there is.

        The database notifies; a follower that no notification reaches looks by itself twice a second.
        """
        until = time.monotonic() + timeout_s

        def look(link: Link) -> bool:  # the connection listens already, so nothing falls between looking and waiting
            while self._look(link, 0)[0].sequence <= sequence:
                left = min(until - time.monotonic(), _LOOK_AGAIN_S)
                if left <= 0 or self._closed:
                    return False
                for _ in link.notifies(timeout=left, stop_after=1):
                    pass
            return True

        with self._waiting:
            self._check_usable()
            return self._listener.run(look)

    def size_bytes(self) -> int:
        """How much room the log takes in the database, with its indexes."""
        with self._mutex:
            self._check_usable()
            sql = "SELECT coalesce(pg_total_relation_size(to_regclass(%s)), 0)"
            return int(self._connection.run(lambda link: link.execute(sql, (self._names["changes"],)).fetchall())[0][0])

    def close(self) -> None:
        """Give back the connections."""
        self._closed = True
        with self._mutex:
            self._connection.close()
        with self._waiting:
            self._listener.close()

    @property
    def _where(self) -> str:
        """The table of changes, for messages."""
        return f"{self.name}, table {self._names['changes']}"

    def _open(self, link: Link) -> None:
        self._has_tables = has_tables(link, self._address.schema)
        if not self._has_tables:
            if not self._writable:
                raise MemoryUnusable(f"{self.name}: there is no memory here (no table {self._names['memory']})")
            return
        end, _ = self._look(link, 0)
        if end.format < len(STEPS):
            if not self._writable:
                raise MemoryUnusable(
                    f"{self.name}: is of the older format {end.format}; the first command of this merit that writes "
                    "to it brings it forward"
                )
            bring_forward(link, self._address.schema, self.name)

    def _make_tables(self, link: Link) -> None:
        bring_forward(link, self._address.schema, self.name)
        self._has_tables = True

    def _look(self, link: Link, sequence: int) -> tuple[LogEnd, bytes]:
        """Where the log ends now, and its fingerprint up to a number; a log that was exchanged is refused."""
        self._has_tables = self._has_tables or has_tables(link, self._address.schema)
        if not self._has_tables:
            return LogEnd(len(STEPS), 0, BEGINNING), BEGINNING
        seen, seen_fingerprint = self._last_seen
        rows = link.execute(self._sql(_END), (seen, sequence)).fetchall()
        end = checked_end([row[:3] for row in rows], self.name, self._address.schema)
        if end.sequence < seen or (seen and rows[0][3] != seen_fingerprint):
            raise MemoryUnusable(f"{self.name}: changed by something other than merit; open this memory again")
        if 0 < sequence < end.sequence and rows[0][4] is None:
            raise missing_row(sequence, self._where)
        return end, rows[0][4] if sequence else BEGINNING

    def _changes(self, sequence: int, fingerprint: bytes, end: LogEnd) -> Iterator[tuple[int, Change]]:
        while sequence < end.sequence:
            rows = self._page(sequence, end.sequence)
            for row in rows:
                if row.sequence != sequence + 1:
                    break
                change = parse_stored(row, fingerprint, self._where)
                sequence, fingerprint = row.sequence, row.fingerprint
                yield sequence, change
            else:
                if rows:
                    continue
            raise missing_row(sequence + 1, self._where)
        if sequence == end.sequence:
            if fingerprint != end.fingerprint:
                raise InputError(
                    f"{self._where}, row {sequence}: is not the end that {self._names['memory']} names, so something "
                    "other than merit changed it; restore the tables from a backup"
                )
            self._last_seen = sequence, fingerprint

    def _page(self, sequence: int, last: int) -> list[StoredChange]:
        """The next rows after a sequence number, as many as are read at once."""
        with self._mutex:
            self._check_usable()
            rows = self._connection.run(lambda link: self._fetch(link, PAGE, (sequence, last)))
        return [StoredChange(*row) for row in rows]

    def _lock(self, link: Link) -> LogEnd:
        """Begin a transaction that no other writer shares, and read where the log ends."""
        results = link.execute(self._sql(_BEGIN))
        rows: list[tuple[int, int, bytes]] = []
        while True:
            if results.description:
                rows = results.fetchall()
            if not results.nextset():
                break
        end = checked_end(rows, self.name, self._address.schema)
        if end.format != len(STEPS):
            raise MemoryUnusable(f"{self.name}: its format changed meanwhile; open this memory again")
        return end

    def _check_end(self, end: LogEnd, last: int | None, fingerprint: bytes | None) -> None:
        """Complain if the last row is not the one that the counter names: another hand has added or removed rows."""
        if (last or 0) > end.sequence:
            raise InputError(
                f"{self._where}, row {last}: follows the last one that {self._names['memory']} names, so something "
                "other than merit added it; remove that row"
            )
        if end.sequence and fingerprint != end.fingerprint:
            raise missing_row(end.sequence, self._where)

    def _write(self, link: Link, changes: Sequence[Change], end: LogEnd, append: uuid.UUID) -> None:
        row: StoredChange | None = None
        try:
            with link.cursor() as cursor, cursor.copy(self._sql(_COPY)) as copy:
                for row in new_rows(changes, end.sequence, end.fingerprint):
                    copy.write_row((row.sequence, row.kind, row.id, append, row.line, row.fingerprint))
        except psycopg.errors.UniqueViolation as error:
            detail = self._address.scrubbed(error.diag.message_detail or "")
            raise InputError(f"{self.name}: an entry has this id already; nothing was written ({detail})") from None
        assert row is not None
        sql = "UPDATE {memory} SET sequence = %s, fingerprint = %s"
        link.execute(self._sql(sql), (row.sequence, row.fingerprint))
        link.execute("SELECT pg_notify(%s, %s)", (self._channel, str(row.sequence)))

    def _fetch(self, link: Link, sql: str, parameters: tuple[object, ...]) -> list[tuple[Any, ...]]:
        if not self._has_tables and not has_tables(link, self._address.schema):
            return []
        return link.execute(self._sql(sql), parameters).fetchall()

    def _sql(self, text: str) -> bytes:
        return text.format(**self._names).encode()

    def _check_usable(self) -> None:
        if self._closed:
            raise MemoryUnusable(f"{self.name}: this memory is closed")
