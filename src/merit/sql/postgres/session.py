"""One connection to PostgreSQL."""

import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import psycopg
from psycopg import pq
from psycopg.abc import Buffer
from psycopg.adapt import Loader, Transformer
from psycopg.errors import error_from_result
from psycopg.generators import fetch, send
from psycopg.types.string import TextLoader

from merit.errors import DatabaseUnusable
from merit.sql.address import DatabaseAddress
from merit.sql.bounds import CellTooLarge, collect
from merit.sql.conversion import interval, moment, number, same_json, to_value
from merit.sql.deadline import Deadline
from merit.sql.pool import SessionLost
from merit.types import Cause, Error, Limits, Result, Row, Rows, Timeout

_CONNECT_S = 10
_LOCK_S = 5.0  # a reader waits only for changes of a table's definition
_CATALOGUE_S = 60.0
_IDLE_S = 60.0  # longer than merit is ever idle inside a transaction
_ROW_RESULTS = (pq.ExecStatus.SINGLE_TUPLE, pq.ExecStatus.TUPLES_OK)

_TEXT_TYPES = ("date", "uuid", "inet", "cidr", "xml", "bit", "varbit", "record")
_RANGES = ("int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange")
_MULTIRANGES = ("int4multirange", "int8multirange", "nummultirange", "datemultirange", "tsmultirange", "tstzmultirange")

# What a code means where it is not the statement's own fault (Cause.DBMS).
_CAUSES = {
    "25006": Cause.READ_ONLY,  # read_only_sql_transaction
    "42501": Cause.FORBIDDEN,  # insufficient_privilege
    "53100": Cause.TOO_LARGE,  # disk_full
    "53200": Cause.TOO_LARGE,  # out_of_memory
    "53400": Cause.TOO_LARGE,  # configuration_limit_exceeded (temp_file_limit)
    "54000": Cause.TOO_LARGE,  # program_limit_exceeded
    "54001": Cause.TOO_LARGE,  # statement_too_complex
    "55P03": Cause.DATABASE_BUSY,  # lock_not_available
    "58030": Cause.DATABASE_UNREADABLE,  # io_error
    "XX001": Cause.DATABASE_UNREADABLE,  # data_corrupted
    "XX002": Cause.DATABASE_UNREADABLE,  # index_corrupted
}
_CANCELED = "57014"
_SHUTDOWN = ("57P01", "57P02", "57P03", "57P05")


def _text(data: Buffer) -> str:
    return bytes(data).decode()


class _NumberLoader(Loader):
    def load(self, data: Buffer) -> int | float | str:
        return number(Decimal(_text(data)))


class _MomentLoader(Loader):
    def load(self, data: Buffer) -> str:
        return moment(_text(data))


class _IntervalLoader(Loader):
    def load(self, data: Buffer) -> str:
        return interval(_text(data))


class _JsonLoader(Loader):
    def load(self, data: Buffer) -> str:
        return same_json(_text(data))


class PostgresSession:
    """A connection on which any text can be run: in a read-only transaction, as one statement, within its limits."""

    def __init__(self, address: DatabaseAddress) -> None:
        self._address = address
        self.usable = True
        url = address.without_timezone()
        defaults: dict[str, Any] = {
            "connect_timeout": _CONNECT_S,
            "application_name": "merit",
            "client_encoding": "utf8",
        }
        given = {name: value for name, value in defaults.items() if name not in address.options}
        try:
            self._connection = psycopg.connect(url, autocommit=True, prepare_threshold=None, **given)
        except UnicodeDecodeError:  # its words would show a part of the password
            raise DatabaseUnusable(
                f"{address.shown}: holds a %XX that is not UTF-8, which its driver cannot read"
            ) from None
        except psycopg.Error as error:
            raise DatabaseUnusable(
                f"{address.shown}: cannot connect: {address.scrubbed(str(error))}; check that the server runs, and the "
                "address, user, password and database in the URL"
            ) from None
        self._connection.add_notice_handler(lambda _: None)
        self._adapt()

    def query(self, sql: str, limits: Limits) -> Result:
        """Run one query in a transaction of its own, which is rolled back."""
        return self._in_transaction(lambda: self._fetch(sql, limits), limits)

    def parse(self, sql: str, limits: Limits, called: tuple[str, ...] = ()) -> Error | None:  # noqa: ARG002
        """What the server says of a text; no function is called before it plans, which it never comes to."""
        result = self._in_transaction(lambda: self._read_only(sql), limits)
        return result if isinstance(result, Error) else None

    def _in_transaction(self, task: Callable[[], Result], limits: Limits) -> Result:
        started = time.monotonic()
        with Deadline(limits.timeout_s, self._cancel, self._cut) as deadline:
            try:
                self._connection.execute(self._beginning(limits.timeout_s).encode())
                result = task()
                if self.usable:
                    self._connection.execute(b"ROLLBACK")
            except UnicodeDecodeError:  # of a database without an encoding (SQL_ASCII)
                self._stop()
                result = Error(Cause.DBMS, "the database answered with text that is not UTF-8")
            except psycopg.Error as error:
                late = deadline.passed or time.monotonic() - started >= limits.timeout_s
                result = self._failed(error, limits, late)
        if deadline.passed:  # its cancellation may still be on the way
            self.usable = False
        return result

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query of our own, over the catalogue."""
        try:
            with Deadline(_CATALOGUE_S, self._cancel, self._cut):
                self._connection.execute(self._beginning(_CATALOGUE_S).encode())
                found = self._connection.execute(sql.encode(), parameters or None).fetchall()
                self._connection.execute(b"ROLLBACK")
        except psycopg.Error as error:
            self.usable = False
            if self._connection.closed:
                raise SessionLost(self._address.scrubbed(str(error))) from None
            raise DatabaseUnusable(
                f"{self._address.shown}: its catalogue cannot be read: {self._address.scrubbed(str(error))}"
            ) from None
        return found

    @property
    def database(self) -> str:
        """The name of the database, also where the URL names none."""
        return self._connection.info.dbname

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _beginning(self, timeout_s: float) -> str:
        """What is sent before every query; local, so that nothing of it depends on what a session was told before."""
        milliseconds = max(1, round(timeout_s * 1000))
        return (
            "BEGIN READ ONLY;"
            f"SET LOCAL statement_timeout = {milliseconds};"
            f"SET LOCAL lock_timeout = {min(milliseconds, round(_LOCK_S * 1000))};"
            f"SET LOCAL idle_in_transaction_session_timeout = {milliseconds + round(_IDLE_S * 1000)};"
            f"SET LOCAL TimeZone = '{self._address.timezone}';"
            "SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL bytea_output = 'hex';"
            "SET LOCAL standard_conforming_strings = on; SET LOCAL extra_float_digits = 1"
        )

    def _fetch(self, sql: str, limits: Limits) -> Result:
        columns: list[str] = []
        try:
            rows, truncated = collect(self._stream(sql, columns), limits)
        except CellTooLarge as large:
            self._stop()
            return Error(Cause.TOO_LARGE, str(large))
        if truncated:
            self._stop()
        if not columns and not truncated:
            return Error(Cause.STATEMENTS, "not a query: there is no statement, or one without a result")
        return Rows(tuple(columns), rows, truncated, steady=False)

    def _read_only(self, sql: str) -> Result:
        raw = self._connection.pgconn
        raw.send_prepare(b"", sql.encode())
        self._connection.wait(send(raw))
        while result := self._connection.wait(fetch(raw)):
            if result.status == pq.ExecStatus.FATAL_ERROR:
                while self._connection.wait(fetch(raw)):
                    pass
                raise error_from_result(result, encoding="utf-8")
        return Rows((), [])

    def _stream(self, sql: str, columns: list[str]) -> Iterator[Row]:
        """Rows as the server sends them, one at a time, and into `columns` their names.

        send_query_params is the extended protocol, in which the server takes one statement and no more.
        """
        raw = self._connection.pgconn
        raw.send_query_params(sql.encode(), None)
        raw.set_single_row_mode()
        self._connection.wait(send(raw))
        transformer = Transformer(self._connection)
        while result := self._connection.wait(fetch(raw)):
            if result.status not in (*_ROW_RESULTS, pq.ExecStatus.COMMAND_OK, pq.ExecStatus.EMPTY_QUERY):
                while self._connection.wait(fetch(raw)):
                    pass
                raise error_from_result(result, encoding="utf-8")
            if result.status in _ROW_RESULTS and not columns:
                columns += [(result.fname(number) or b"").decode() for number in range(result.nfields)] or [""]
                transformer.set_pgresult(result)
            else:
                transformer.set_pgresult(result, set_loaders=False)
            for row in transformer.load_rows(0, result.ntuples, tuple):
                yield tuple([to_value(value) for value in row])

    def _failed(self, error: psycopg.Error, limits: Limits, late: bool) -> Result:
        """What an error says: of the statement a result, of the environment an exception."""
        code, diagnosis = error.sqlstate or "", error.diag
        if self._connection.closed or code in _SHUTDOWN:
            self.usable = False
            if late:
                return Timeout(limits.timeout_s)
            raise SessionLost(self._address.scrubbed(str(error)))
        if not code:  # the driver's own: there may be more rows on the way
            self._stop()
            return Error(Cause.DBMS, self._address.scrubbed(str(error)))
        with suppress(psycopg.Error):
            self._connection.execute(b"ROLLBACK")
        if code == _CANCELED and late:
            return Timeout(limits.timeout_s)
        cause = _CAUSES.get(code, Cause.DBMS)
        if cause.environmental:
            words = self._address.scrubbed(diagnosis.message_primary or str(error))
            raise DatabaseUnusable(f"{self._address.shown}: {words}; try again later")
        position = diagnosis.statement_position
        return Error(
            cause,
            str(error).strip(),
            code,
            hint=diagnosis.message_hint or "",
            position=int(position) if position else None,
        )

    def _stop(self) -> None:
        """End a statement whose rows are not wanted any more, on the server too."""
        self.usable = False
        self._cancel()

    def _cancel(self) -> None:
        with suppress(psycopg.Error):
            self._connection.cancel_safe(timeout=5.0)

    def _cut(self) -> None:
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(self._connection.fileno())) as copy:
            copy.shutdown(socket.SHUT_RDWR)

    def _adapt(self) -> None:
        adapters = self._connection.adapters
        for name in (*_TEXT_TYPES, *_RANGES, *_MULTIRANGES):
            if adapters.types.get(name) is not None:
                adapters.register_loader(name, TextLoader)
        adapters.register_loader("numeric", _NumberLoader)
        for name in ("time", "timetz", "timestamp", "timestamptz"):
            adapters.register_loader(name, _MomentLoader)
        adapters.register_loader("interval", _IntervalLoader)
        for name in ("json", "jsonb"):
            adapters.register_loader(name, _JsonLoader)
