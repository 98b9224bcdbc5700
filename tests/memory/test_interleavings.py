"""Sequence numbers of a team's memory under every order of the steps of its writers and of a reader.

All orders of two writers and one reader take seconds; with MERIT_TEST_WRITERS=3 the orders of three take minutes.
"""

import os
from collections.abc import Sequence
from contextlib import ExitStack, closing
from typing import Any

import psycopg

from making.engines import POSTGRES
from making.interleavings import Actor, Step, explore
from making.team import admin, team_memory, team_schema
from memory.store_contract import entries
from merit.memory.postgres import PostgresStore

WRITERS = int(os.environ.get("MERIT_TEST_WRITERS", "2"))
LOOKS = 2
PER_APPEND = 2


class _Stepped:
    """A store's connection that asks before the statements that matter."""

    def __init__(self, link: psycopg.Connection[Any]) -> None:
        self._link = link
        self.step: Step = lambda _: None

    def execute(self, statement: bytes | str, *parameters: Any) -> Any:
        text = statement.decode() if isinstance(statement, bytes) else statement
        names = {"FOR UPDATE": "lock", "COMMIT": "commit", "bytes_before": "page", "(SELECT fingerprint": "look"}
        for sign, name in names.items():
            if sign in text and "max(sequence)" not in text:
                self.step(name)
                break
        return self._link.execute(statement, *parameters)

    def cursor(self) -> Any:
        self.step("write")
        return self._link.cursor()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._link, name)


def _stepped(store: PostgresStore) -> _Stepped:
    link = _Stepped(store._connection.open())
    store._connection._link = link  # type: ignore[assignment]
    return link


class _Trial:
    """Writers and a reader on one log, and what each order of their steps must lead to."""

    def __init__(self, stores: Sequence[PostgresStore], reader: PostgresStore, beside: psycopg.Connection[Any]) -> None:
        self._stores, self._reader, self._beside = stores, reader, beside
        self._links = [_stepped(store) for store in (*stores, reader)]
        self._made = iter(range(10**9))
        self._committed = 0
        self._end = 0
        self.seen: list[tuple[int, str]] = []

    def actors(self) -> list[Actor]:
        self._end, self.seen, self._committed = self._end + PER_APPEND * self._committed, [], 0
        writers = [
            Actor(self._writing(store, link), lambda link=link: self._waits(link))  # type: ignore[misc]
            for store, link in zip(self._stores, self._links, strict=False)
        ]
        return [*writers, Actor(self._reading)]

    def _writing(self, store: PostgresStore, link: _Stepped) -> Any:
        first = next(self._made) * PER_APPEND

        def write(step: Step) -> None:
            link.step = step
            last = store.append(entries(first, first + PER_APPEND))
            self._committed += 1
            assert last == self._end + PER_APPEND * self._committed  # numbers in commit order, without a gap

        return write

    def _reading(self, step: Step) -> None:
        committed = 0

        def look(name: str) -> None:
            nonlocal committed
            step(name)
            if name == "look":
                committed = self._committed  # nothing else happens until the look is over

        self._links[-1].step = look
        for _ in range(LOOKS):
            last = self.seen[-1][0] if self.seen else self._end
            self.seen += [(number, change.id) for number, change in self._reader.since(last)]
            # All that was acknowledged, nothing that was not, and every number once and in order.
            assert [number - self._end for number, _ in self.seen] == list(range(1, PER_APPEND * committed + 1))

    def _waits(self, link: _Stepped) -> bool:
        sql = "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s"
        row = self._beside.execute(sql, (link.info.backend_pid,)).fetchone()
        return bool(row and row[0])

    def check(self, _: Sequence[Actor], order: list[str]) -> None:
        self._links[-1].step = lambda _: None
        everything = [(number, change.id) for number, change in self._reader.since(self._end)]
        assert len(everything) == PER_APPEND * len(self._stores), order
        assert self.seen == everything[: len(self.seen)], order


def test_in_every_order_of_steps_a_reader_sees_what_was_committed_and_nothing_else() -> None:
    with team_memory() as url, ExitStack() as stack:
        with closing(PostgresStore(url)) as first:
            first.append([])  # makes the tables
        *stores, reader = (stack.enter_context(closing(PostgresStore(url))) for _ in range(WRITERS + 1))
        trial = _Trial(stores, reader, stack.enter_context(admin()))
        orders = explore(trial.actors, trial.check)
    assert orders == 288 if WRITERS == 2 else orders > 288


def test_the_same_search_finds_that_numbers_of_a_serial_column_are_overtaken() -> None:
    """What the lock is for, and that this search would notice its absence."""
    with team_schema() as schema, ExitStack() as stack:
        beside = stack.enter_context(admin())
        beside.execute(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.log (n bigserial)".encode())
        links = [stack.enter_context(psycopg.connect(POSTGRES, autocommit=True)) for _ in range(3)]
        overtaken: list[list[str]] = []
        seen: list[int] = []

        def writing(link: psycopg.Connection[Any]) -> Any:
            def write(step: Step) -> None:
                step("write")
                link.execute(f"BEGIN; INSERT INTO {schema}.log DEFAULT VALUES".encode())
                step("commit")
                link.execute("COMMIT")

            return write

        def reading(step: Step) -> None:
            for _ in range(LOOKS):
                step("look")
                sql = f"SELECT n FROM {schema}.log WHERE n > %s ORDER BY n"
                seen.extend(n for (n,) in links[2].execute(sql.encode(), (seen[-1] if seen else start[0],)))

        start = [0]

        def actors() -> list[Actor]:
            row = beside.execute(f"SELECT coalesce(max(n), 0) FROM {schema}.log".encode()).fetchone()
            assert row is not None
            start[0] = row[0]
            seen.clear()
            return [Actor(writing(links[0])), Actor(writing(links[1])), Actor(reading)]

        def check(_: Sequence[Actor], order: list[str]) -> None:
            rows = beside.execute(f"SELECT n FROM {schema}.log WHERE n > %s ORDER BY n".encode(), (start[0],))
            if seen != [n for (n,) in rows][: len(seen)]:
                overtaken.append(order)

        assert explore(actors, check) == 90  # 6! / (2! 2! 2!)
        assert ["0:write", "1:write", "1:commit", "2:look", "0:commit", "2:look"] in overtaken
