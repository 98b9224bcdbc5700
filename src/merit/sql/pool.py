"""A few sessions with one database, shared by threads."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

from merit.errors import DatabaseUnusable
from merit.sql.bounds import shortened
from merit.sql.explained import explained
from merit.types import Error, Limits, Result, Timeout

MOST_SESSIONS = 4
_LEAST_S = 0.05  # for a query that is sent once more


class SessionLost(Exception):
    """The connection ended while a statement ran, and not because of its time limit."""


class Session(Protocol):
    """One connection to a database, or one process that has it open."""

    @property
    def usable(self) -> bool:
        """Whether it can take another statement."""
        ...

    def query(self, sql: str, limits: Limits) -> Result:
        """Run a query; raises SessionLost where the connection ends."""
        ...

    def parse(self, sql: str, limits: Limits, called: tuple[str, ...] = ()) -> Error | None:
        """What is wrong with a text, of which nothing is run or evaluated.

        `called` is the function that may not be there, after the names that qualify it, where that is its one fault.
        """
        ...

    def close(self) -> None:
        """Give it back."""
        ...


S = TypeVar("S", bound=Session)
T = TypeVar("T")


class ConnectionPool(Generic[S]):
    """Up to `MOST_SESSIONS` sessions, opened when needed and kept for the next statement."""

    def __init__(self, opened: Callable[[], S], name: str) -> None:
        self._opened = opened
        self._name = name
        self._reset()

    def _reset(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._free = threading.Semaphore(MOST_SESSIONS)
        self._idle: list[S] = []
        self._closed = False

    @contextmanager
    def session(self) -> Iterator[S]:
        """A session for one statement; one that is not usable afterwards, or saw an exception, is closed."""
        if self._process != os.getpid():  # connections do not survive a fork
            self._reset()
        with self._free:
            session = self._kept() or self._opened()
            keep = False
            try:
                yield session
                keep = session.usable
            finally:
                with self._lock:
                    keep = keep and not self._closed
                    if keep:
                        self._idle.append(session)
                if not keep:
                    session.close()

    def _kept(self) -> S | None:
        """A session that is open and still usable: what it is about may have gone meanwhile."""
        while True:
            with self._lock:
                session = self._idle.pop() if self._idle else None
            if session is None or session.usable:
                return session
            session.close()

    def run(self, task: Callable[[S], T]) -> T:
        """Do something with a session; it only reads, so it is done once more where the connection was lost."""
        try:
            with self.session() as session:
                return task(session)
        except SessionLost:
            self._drop_idle()  # a server that was restarted has closed them all
        try:
            with self.session() as session:
                return task(session)
        except SessionLost as lost:
            raise DatabaseUnusable(
                f"{self._name}: the connection was lost twice while a statement ran: {lost}; is the server in order?"
            ) from None

    def guarded(self, refused: Error | None, sql: str, limits: Limits) -> Result:
        """Run a query, or say why the guard refused it: in the database's own words, where it cannot read it either."""
        if refused is None:
            result = self._query(sql, limits)
        else:
            result = explained(
                refused, sql, lambda called: self.run(lambda session: session.parse(sql, limits, called))
            )
        return shortened(result) if isinstance(result, Error) else result

    def _query(self, sql: str, limits: Limits) -> Result:
        """Run a query; where it is sent once more, it has the rest of its time."""
        starts: list[float] = []

        def query(session: S) -> Result:
            starts.append(time.monotonic())
            left_s = max(_LEAST_S, limits.timeout_s - (starts[-1] - starts[0]))
            result = session.query(sql, limits if len(starts) == 1 else replace(limits, timeout_s=left_s))
            return Timeout(limits.timeout_s) if isinstance(result, Timeout) else result

        return self.run(query)

    def close(self) -> None:
        """Close every session; one in use is closed after its statement."""
        with self._lock:
            self._closed = True
        self._drop_idle()

    def _drop_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for session in idle:
            session.close()
