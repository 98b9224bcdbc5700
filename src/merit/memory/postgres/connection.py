"""A connection to PostgreSQL that is made again when it is lost: the server restarted, or the network was cut."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg

from merit.errors import MemoryUnusable
from merit.memory.postgres.address import MemoryAddress

Link = psycopg.Connection[tuple[Any, ...]]
T = TypeVar("T")

_PATIENCE_S = 30.0  # for a server that restarts
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 1.0
# A peer that went away without a word is noticed within about 20 s, on both sides, while something is expected of it.
_DEFAULTS: dict[str, Any] = {
    "connect_timeout": 10,
    "application_name": "merit",
    "client_encoding": "utf8",
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
_SESSION = (
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 3; SET tcp_keepalives_count = 3;"
    "SET tcp_user_timeout = 20000"
)
_GONE = ("57P01", "57P02", "57P03", "57P05")  # the server shuts down, crashed, starts up, or ended an idle session


class ServerUnreachable(MemoryUnusable):
    """A server did not come back in time."""


class StoreConnection:
    """One connection for one thread at a time. `greeting` is sent whenever it is opened."""

    def __init__(self, address: MemoryAddress, greeting: str = "") -> None:
        self._address = address
        self._greeting = f"{_SESSION};{greeting}"
        self._link: Link | None = None

    def open(self) -> Link:
        """The connection, opened where there is none."""
        if self._link is None or self._link.closed:
            given = self._address.conninfo.partition("?")[2]
            defaults = {name: value for name, value in _DEFAULTS.items() if f"{name}=" not in given}
            self._link = psycopg.connect(self._address.conninfo, autocommit=True, prepare_threshold=None, **defaults)
            self._link.add_notice_handler(lambda _: None)
            self._link.execute(self._greeting.encode())
        return self._link

    def run(self, task: Callable[[Link], T], *, patient: bool = True) -> T:
        """Do something that may be done twice; where the connection is lost, do it again on a new one.

        Whatever ends the task early ends its transaction, too.
        """
        until: float | None = None if patient else 0.0  # counted from the first loss
        pause = _FIRST_PAUSE_S
        while True:
            try:
                return task(self.open())
            except psycopg.Error as error:
                lost = self._is_lost(error)
                self._end_transaction(lost)
                until = time.monotonic() + _PATIENCE_S if until is None else until
                if not lost or time.monotonic() >= until:
                    raise self._fault(error, lost) from None
            except BaseException:
                self._end_transaction(lost=False)
                raise
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def close(self) -> None:
        """Give it back."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def _is_lost(self, error: psycopg.Error) -> bool:
        code = error.sqlstate or ""
        return self._link is None or self._link.closed or code in _GONE or code.startswith("08")

    def _end_transaction(self, lost: bool) -> None:
        try:
            if lost or self._link is None:
                self.close()
            elif self._link.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                self._link.execute(b"ROLLBACK")
        except psycopg.Error:
            self.close()

    def _fault(self, error: psycopg.Error, lost: bool) -> MemoryUnusable:
        words, where = self._address.scrubbed(error), self._address.shown
        if lost:
            return ServerUnreachable(
                f"{where}: the memory cannot be reached: {words}; check that the server runs, and the address, user "
                "and password"
            )
        if error.sqlstate == "55P03":  # lock_not_available
            return MemoryUnusable(f"{where}: another process is writing this memory; wait for it or stop it")
        if error.sqlstate == "42501":  # insufficient_privilege
            return MemoryUnusable(f"{where}: {words}; have its owner grant this role the rights that it needs")
        return MemoryUnusable(f"{where}: {words}")
