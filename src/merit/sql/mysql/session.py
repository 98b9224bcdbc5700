"""One connection to MySQL or MariaDB."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pymysql
from pymysql.constants import FIELD_TYPE
from pymysql.cursors import SSCursor

from merit.errors import DatabaseUnusable, InputError
from merit.sql.address import DatabaseAddress
from merit.sql.bounds import CellTooLarge, collect
from merit.sql.conversion import moment, number, same_json, to_value
from merit.sql.deadline import Deadline
from merit.sql.mysql.syntax_errors import of_the_text_alone, position_of
from merit.sql.pool import SessionLost
from merit.sql.unevaluated import NEVER_VALID, only_call, without_end
from merit.types import Cause, Error, Limits, Result, Row, Rows, Timeout

_CONNECT_S = 10
_CATALOGUE_S = 60.0
_LOCK_S = 5  # a reader waits only for changes of a table's definition
_TEXT_OPTIONS = {"ssl_ca", "ssl_cert", "ssl_key", "ssl_key_password", "unix_socket", "bind_address", "program_name"}
_FLAG_OPTIONS = {"ssl_verify_cert", "ssl_verify_identity", "ssl_disabled"}
_NUMBER_OPTIONS = {"connect_timeout"}

# What a number means where it is not the statement's own fault (Cause.DBMS).
_CAUSES = {
    1792: Cause.READ_ONLY,
    1290: Cause.READ_ONLY,  # the server's own option read_only, or secure_file_priv
    **dict.fromkeys((1044, 1142, 1143, 1227, 1370, 1410), Cause.FORBIDDEN),  # missing rights
    **dict.fromkeys((1021, 1037, 1038, 1041, 1114, 1153, 1301), Cause.TOO_LARGE),  # memory, disk, packet
    **dict.fromkeys((1205, 1213), Cause.DATABASE_BUSY),  # locks
    **dict.fromkeys((1030, 1034, 1194, 1195), Cause.DATABASE_UNREADABLE),  # a damaged table
}
_LATE = (1317, 1969, 3024)  # interrupted; its time is up, on MariaDB and on MySQL
_LOST = (1053, 1077, 1079, 1927, 2006, 2013, 2014, 2055)  # shut down, killed, gone
_SYNTAX = "1064"


def _bit(value: bytes) -> int:
    return int.from_bytes(value, "big")


# Dates and times stay the text that the server sends, which may be no date at all (0000-00-00).
_CONVERSIONS: dict[Any, Any] = {
    **pymysql.converters.encoders,
    **dict.fromkeys(
        (FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.LONG, FIELD_TYPE.LONGLONG, FIELD_TYPE.INT24, FIELD_TYPE.YEAR),
        int,
    ),
    **dict.fromkeys((FIELD_TYPE.FLOAT, FIELD_TYPE.DOUBLE), float),
    **dict.fromkeys((FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL), lambda text: number(Decimal(text))),
    **dict.fromkeys((FIELD_TYPE.TIMESTAMP, FIELD_TYPE.DATETIME, FIELD_TYPE.TIME, FIELD_TYPE.DATE), moment),
    FIELD_TYPE.JSON: same_json,
    FIELD_TYPE.BIT: _bit,
}


class MySQLSession:
    """A connection on which any text can be run: in a read-only transaction, as one statement, within its limits."""

    def __init__(self, address: DatabaseAddress) -> None:
        self._address = address
        self.usable = True
        self._timeout_s = 0.0  # that the session was told last
        self._arguments = _arguments(address)
        self._connection = self._connected(autocommit=True)
        version = str(self._connection.server_version)
        self.dialect = "mariadb" if "mariadb" in version.lower() else "mysql"
        self.version = version.removeprefix("5.5.5-")  # what MariaDB says first, for old clients
        try:
            self._prepare()
        except pymysql.Error as error:
            self.close()
            raise DatabaseUnusable(f"{address.shown}: {address.scrubbed(_words(error))}") from None
        self._connection._read_timeout = None  # from here on a statement's own limit holds

    def query(self, sql: str, limits: Limits) -> Result:
        """Run one query in a transaction of its own, which is rolled back."""
        return self._in_transaction(lambda: self._fetch(sql, limits), sql, limits)

    def parse(self, sql: str, limits: Limits, called: tuple[str, ...] = ()) -> Error | None:
        """What the server says of a text's syntax, or that a function is not there; nothing is evaluated."""
        sent = only_call(called, "`") if called else without_end(sql) + NEVER_VALID
        result = self._in_transaction(lambda: self._read_only(sent), sql, limits)
        if not isinstance(result, Error) or called:
            return result if isinstance(result, Error) else None
        message = of_the_text_alone(result.message, without_end(sql)) if result.code == _SYNTAX else None
        return None if message is None else replace(result, message=message, position=position_of(message, sql))

    def _in_transaction(self, task: Callable[[], Result], sql: str, limits: Limits) -> Result:
        started = time.monotonic()
        with Deadline(limits.timeout_s, self._kill, self._cut) as deadline:
            try:
                self._limit(limits.timeout_s)
                self._tell("START TRANSACTION READ ONLY")
                result = task()
                if self.usable:
                    self._tell("ROLLBACK")
            except (pymysql.Error, UnicodeDecodeError, OSError) as error:
                late = deadline.passed or time.monotonic() - started >= limits.timeout_s
                result = self._failed(error, sql, limits, late)
        if deadline.passed:  # its kill may still be on the way
            self.usable = False
        return result

    def rows(self, sql: str, parameters: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query of our own, over the catalogue."""
        try:
            with (
                Deadline(_CATALOGUE_S, self._kill, self._cut),
                closing(self._connection.cursor(pymysql.cursors.Cursor)) as cursor,
            ):
                self._limit(_CATALOGUE_S)
                cursor.execute(sql, parameters or None)
                return list(cursor.fetchall())
        except (pymysql.Error, OSError) as error:
            self.usable = False
            if isinstance(error, OSError) or _code(error) in (*_LOST, 0):
                raise SessionLost(self._address.scrubbed(_words(error))) from None
            raise DatabaseUnusable(
                f"{self._address.shown}: its catalogue cannot be read: {self._address.scrubbed(_words(error))}"
            ) from None

    def close(self) -> None:
        """Close the connection."""
        with suppress(pymysql.Error, OSError):
            self._connection.close()

    def _connected(self, **more: Any) -> Any:
        arguments = {**self._arguments, **more}
        try:
            # A server that takes the connection and says nothing is given up, too.
            connection = pymysql.connect(**{"read_timeout": arguments["connect_timeout"], **arguments})
        except (pymysql.Error, OSError) as error:
            raise DatabaseUnusable(
                f"{self._address.shown}: cannot connect: {self._address.scrubbed(_words(error))}; check that the "
                "server runs, and the address, user, password and database in the URL"
            ) from None
        return connection

    def _prepare(self) -> None:
        zone = "+00:00" if self._address.timezone == "UTC" else self._address.timezone
        with closing(self._connection.cursor()) as cursor:
            cursor.execute("SET SESSION time_zone = %s", (zone,))
            cursor.execute("SET SESSION TRANSACTION READ ONLY")
            cursor.execute("SET SESSION lock_wait_timeout = %s, innodb_lock_wait_timeout = %s", (_LOCK_S, _LOCK_S))

    def _limit(self, timeout_s: float) -> None:
        if timeout_s != self._timeout_s:
            milliseconds = max(1, round(timeout_s * 1000))
            self._tell(
                f"SET SESSION max_statement_time = {milliseconds / 1000}"
                if self.dialect == "mariadb"
                else f"SET SESSION max_execution_time = {milliseconds}"
            )
            self._timeout_s = timeout_s

    def _tell(self, sql: str) -> None:
        self._connection.query(sql)

    def _read_only(self, sql: str) -> Result:
        self._tell(f"PREPARE merit FROM {self._connection.escape(sql)}")
        self._tell("DEALLOCATE PREPARE merit")
        return Rows((), [])

    def _fetch(self, sql: str, limits: Limits) -> Result:
        cursor = self._connection.cursor(SSCursor)
        try:
            cursor.execute(sql)
            if cursor.description is None:
                return Error(Cause.STATEMENTS, "not a query: there is no statement, or one without a result")
            columns = tuple(str(column[0]) for column in cursor.description)
            rows, truncated = collect(_streamed(cursor), limits)
            if truncated:
                self._stop(cursor)
            return Rows(columns, rows, truncated, steady=False)
        except CellTooLarge as large:
            self._stop(cursor)
            return Error(Cause.TOO_LARGE, str(large))
        except BaseException:
            _forget(cursor)  # the rest of its rows would be read when it is freed
            raise

    def _failed(self, error: Exception, sql: str, limits: Limits, late: bool) -> Result:
        """What an error says: of the statement a result, of the environment an exception."""
        if isinstance(error, UnicodeDecodeError):
            self._kill()
            self.usable = False
            return Error(Cause.DBMS, "the database answered with text that is not UTF-8")
        number, message = _code(error), _words(error)
        if isinstance(error, OSError | pymysql.InterfaceError) or number in _LOST:
            self.usable = False
            if late:
                return Timeout(limits.timeout_s)
            raise SessionLost(self._address.scrubbed(message))
        if number in _LATE and late:
            self.usable = False
            return Timeout(limits.timeout_s)
        with suppress(pymysql.Error, OSError):
            self._tell("ROLLBACK")
        cause = _CAUSES.get(number, Cause.DBMS)
        if cause.environmental:
            raise DatabaseUnusable(f"{self._address.shown}: {self._address.scrubbed(message)}; try again later")
        return Error(cause, message, str(number) if number else "", position=position_of(message, sql))

    def _stop(self, cursor: Any) -> None:
        """End a statement whose rows are not wanted any more, on the server too."""
        self.usable = False
        _forget(cursor)
        self._kill()

    def _kill(self) -> None:
        """Stop the statement from a second connection: this one is busy."""
        with (
            suppress(DatabaseUnusable, pymysql.Error, OSError),
            closing(self._connected(connect_timeout=2, read_timeout=2)) as other,
        ):
            other.query(f"KILL QUERY {int(self._connection.thread_id())}")

    def _cut(self) -> None:
        """End the connection while another thread reads from it; closing the socket would not wake that one."""
        if (served := self._connection._sock) is not None:
            with suppress(OSError), socket.socket(fileno=os.dup(served.fileno())) as copy:
                copy.shutdown(socket.SHUT_RDWR)


def _streamed(cursor: Any) -> Iterator[Row]:
    while (row := cursor.fetchone()) is not None:
        yield tuple([to_value(value) for value in row])


def _forget(cursor: Any) -> None:
    """Have the driver not read the rest of a result."""
    if (result := cursor._result) is not None:
        result.unbuffered_active = False
        result.connection = None
        cursor._result = None
    cursor.connection = None


def _arguments(address: DatabaseAddress) -> dict[str, Any]:
    """What the driver is told; its options have the driver's own names."""
    arguments: dict[str, Any] = {
        "host": address.host or "127.0.0.1",
        "port": address.port or 3306,
        "user": address.user,
        "password": address.password,
        "charset": "utf8mb4",
        "connect_timeout": _CONNECT_S,
        "conv": _CONVERSIONS,
        "local_infile": False,
        "program_name": "merit",
    }
    if address.database:
        arguments["database"] = address.database
    for name, value in address.options.items():
        if name in _TEXT_OPTIONS:
            arguments[name] = value
        elif name in _FLAG_OPTIONS and value.lower() in ("true", "false", "1", "0"):
            arguments[name] = value.lower() in ("true", "1")
        elif name in _NUMBER_OPTIONS and value.isdecimal():
            arguments[name] = int(value)
        elif name != "password":
            known = ", ".join(sorted(_TEXT_OPTIONS | _FLAG_OPTIONS | _NUMBER_OPTIONS | {"timezone"}))
            raise InputError(f"{address.shown}: cannot use the option {name}; known are {known}")
    return arguments


def _code(error: Exception) -> int:
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0


def _words(error: Exception) -> str:
    return str(error.args[-1] if error.args else error) or type(error).__name__
