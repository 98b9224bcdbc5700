"""A team's memory on PostgreSQL: lost connections, killed writers, rows that other hands changed, formats and secrets."""

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from making.clock import COMES_S, STALL_S
from making.engines import POSTGRES
from making.memories import WordEncoder, make_cue, make_entry
from making.team import admin, team_memory, team_schema, url_of
from making.writers import run_writers
from memory.store_contract import changes, entries, sequences
from merit.errors import InputError, MemoryChanged, MemoryUnusable, MeritError
from merit.memory import (
    Deletion,
    FileStore,
    RecallPolicy,
    VolatileStore,
    curate,
    is_url,
    open_at,
    open_store,
    snapshot,
    with_id,
)
from merit.memory.contents import read_contents
from merit.memory.postgres import PostgresStore, tables
from merit.memory.postgres.address import parse_address


@pytest.fixture
def schema() -> Iterator[str]:
    with team_schema() as name:
        yield name


@pytest.fixture
def url(schema: str) -> str:
    return url_of(schema)


def cut(*stores: PostgresStore) -> None:
    """End the connections of stores, as an administrator or a restart would."""
    with admin() as connection:
        for store in stores:
            for link in (store._connection._link, store._listener._link):
                if link is not None:
                    connection.execute("SELECT pg_terminate_backend(%s, 5000)", (link.info.backend_pid,))


# Connections


def test_a_lost_connection_is_made_again_wherever_it_is_used(url: str) -> None:
    with closing(PostgresStore(url)) as store:
        store.append(entries(0, 3))
        cut(store)
        assert changes(store) == entries(0, 3)
        cut(store)
        assert store.read([entries(1, 2)[0].id]) == entries(1, 2)
        cut(store)
        assert store.fingerprint(3) is not None
        cut(store)
        assert store.append(entries(3, 5), expected=3) == 5
        reading = store.since(0)
        assert next(reading)[0] == 1
        cut(store)
        assert [number for number, _ in reading] == [2, 3, 4, 5]


class Severed:
    """A store's connection that is lost around its COMMIT."""

    def __init__(self, link: psycopg.Connection[Any], commit: Callable[[psycopg.Connection[Any]], object]) -> None:
        self._link = link
        self._commit = commit

    def execute(self, statement: Any, *parameters: Any) -> Any:
        if statement != "COMMIT":
            return self._link.execute(statement, *parameters)
        self._commit(self._link)
        self.close = lambda: None  # what becomes of the session is up to the server
        self.closed = True
        raise psycopg.OperationalError("the connection is lost")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._link, name)


def committed(link: psycopg.Connection[Any]) -> None:
    link.execute("COMMIT")
    link.close()


def refused(*_: object, **__: object) -> None:
    raise psycopg.OperationalError("refused")


def rolled_back(link: psycopg.Connection[Any]) -> None:
    link.close()


def committed_later(link: psycopg.Connection[Any]) -> None:
    threading.Timer(0.2, committed, (link,)).start()


@pytest.mark.parametrize("fate", [committed, rolled_back, committed_later])
@pytest.mark.parametrize("expected", [None, 2])
def test_an_append_whose_outcome_is_not_known_is_found_out_and_never_doubled(
    url: str, fate: Callable[[psycopg.Connection[Any]], object], expected: int | None
) -> None:
    with closing(PostgresStore(url)) as store, closing(PostgresStore(url)) as other:
        store.append(entries(0, 2))
        deletion = Deletion(entries(0, 1)[0].id, "has no id of its own")
        store._connection._link = Severed(store._connection.open(), fate)  # type: ignore[assignment]
        assert store.append([*entries(2, 4), deletion], expected=expected) == 5
        assert changes(store) == changes(other) == [*entries(0, 4), deletion]
        assert store.append(entries(4, 5), expected=5) == 6


def test_an_append_that_was_lost_gives_way_to_another_that_came_first(url: str) -> None:
    with closing(PostgresStore(url)) as store, closing(PostgresStore(url)) as other:
        store.append(entries(0, 2))

        def overtaken(link: psycopg.Connection[Any]) -> None:
            link.close()
            other.append(entries(8, 10))

        store._connection._link = Severed(store._connection.open(), overtaken)  # type: ignore[assignment]
        with pytest.raises(MemoryChanged):
            store.append(entries(2, 4), expected=2)
        assert changes(store) == [*entries(0, 2), *entries(8, 10)]


def test_a_server_that_stays_away_is_an_error_in_time(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merit.memory.postgres.connection._PATIENCE_S", 0.1)
    with closing(PostgresStore(url)) as store:
        store.append(entries(0, 1))
        cut(store)
        monkeypatch.setattr("psycopg.connect", refused)
        says = "the memory cannot be reached: refused; check that the server runs, and the address, user and password"
        with pytest.raises(MemoryUnusable, match=says):
            store.since(0)
        with pytest.raises(MemoryUnusable, match=f"{says}$"):
            store.append(entries(1, 2))
        monkeypatch.undo()
        assert changes(store) == entries(0, 1)  # and goes on when it is back


def test_an_outcome_that_cannot_be_found_out_is_said_to_be_unknown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merit.memory.postgres.connection._PATIENCE_S", 0.1)
    with closing(PostgresStore(url)) as store:
        store.append(entries(0, 1))

        def then_away(link: psycopg.Connection[Any]) -> None:
            committed(link)
            monkeypatch.setattr("psycopg.connect", refused)

        store._connection._link = Severed(store._connection.open(), then_away)  # type: ignore[assignment]
        with pytest.raises(MemoryUnusable, match="whether the change was kept is not known, so look before you repeat"):
            store.append(entries(1, 2))
        monkeypatch.undo()
        assert changes(store) == entries(0, 2)


def test_a_commit_waits_for_the_disk_though_the_database_would_not(schema: str) -> None:
    lazy = url_of(schema, options="-c%20synchronous_commit%3Doff%20-c%20default_transaction_isolation%3Dserializable")
    told: list[Any] = []

    def tell(link: psycopg.Connection[Any]) -> None:
        told.extend(
            link.execute("SHOW synchronous_commit").fetchall() + link.execute("SHOW transaction_isolation").fetchall()
        )
        committed(link)

    with closing(PostgresStore(lazy)) as store:
        store.append([])
        assert store._connection.open().execute("SHOW synchronous_commit").fetchall() == [("off",)]
        store._connection._link = Severed(store._connection.open(), tell)  # type: ignore[assignment]
        store.append(entries(0, 1))
    assert told == [("on",), ("read committed",)]


# Following


def test_a_follower_is_woken_by_a_commit_and_after_its_connection_was_cut(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("merit.memory.postgres.store._LOOK_AGAIN_S", COMES_S)  # it does not look by itself
    with closing(PostgresStore(url)) as writer, closing(PostgresStore(url)) as follower:
        assert not follower.wait(0, 0.05)  # there is no table yet
        last = 0
        for number in range(4):
            if number == 2:
                cut(follower)
            waited: list[bool] = []

            def wait(last: int = last, waited: list[bool] = waited) -> None:
                waited.append(follower.wait(last, COMES_S))

            thread = threading.Thread(target=wait)
            thread.start()
            appended = writer.append(entries(number, number + 1))
            committed_at = time.monotonic()
            thread.join()
            assert waited == [True]
            assert time.monotonic() - committed_at < STALL_S
            assert sequences(follower, last) == [appended]
            last = appended
        assert follower.wait(0, 0)
        assert not follower.wait(last, 0)


def test_where_nothing_is_new_one_query_is_asked(url: str) -> None:
    with closing(PostgresStore(url)) as store:
        last = store.append(entries(0, 5))
        asked: list[Any] = []
        link = store._connection.open()

        class Counted:
            def execute(self, *given: Any) -> Any:
                asked.append(given)
                return link.execute(*given)

            def __getattr__(self, name: str) -> Any:
                return getattr(link, name)

        store._connection._link = Counted()  # type: ignore[assignment]
        assert sequences(store, last) == []
        assert len(asked) == 1


def test_every_process_keeps_an_index_of_its_own_in_the_cache_folder(url: str, tmp_path: Path) -> None:
    encoder = WordEncoder()
    with open_at(url, encoder, tmp_path) as memory:
        made = memory.commit_all(make_entry(number) for number in range(20))
    assert len(encoder.encoded) == 20
    with open_at(url, encoder, tmp_path) as memory, open_at(url, WordEncoder(), tmp_path / "other") as other:
        assert len(encoder.encoded) == 20  # from the snapshot
        memory.delete(made[0].id, "wrong")
        recalled = [one.recall(make_cue(), RecallPolicy(positives=50)) for one in (memory, other)]
        assert recalled[0].positives == recalled[1].positives
        assert {entry.id for entry in recalled[0].positives} == {entry.id for entry in made[1:]}


def test_an_index_that_another_process_replaces_while_it_is_read_is_read_again(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_at(url, WordEncoder(), tmp_path) as memory:
        memory.commit_all(make_entry(number) for number in range(20))
    read, replaced = snapshot._read, list[bool]()

    def overtaken(*given: Any) -> Any:
        if not replaced:
            replaced.append(True)
            with open_at(url, WordEncoder(), tmp_path) as other:
                other.commit(make_entry(20))
            raise FileNotFoundError("removed with the index that it was of")
        return read(*given)

    monkeypatch.setattr(snapshot, "_read", overtaken)
    encoder = WordEncoder()
    with open_at(url, encoder, tmp_path) as memory:
        assert len(memory) == 21
    assert encoder.encoded == []


# Several writers


def _sever_one(url: str, chance: random.Random) -> int:
    """End a connection of a writer or of the follower, as its server would; returns how many were ended."""
    label = url.partition("application_name=")[2]
    sql = "SELECT pid FROM pg_stat_activity WHERE application_name = %s"
    with suppress(psycopg.OperationalError), psycopg.connect(POSTGRES, autocommit=True) as beside:
        pids = [pid for (pid,) in beside.execute(sql, (label,))]
        if pids:
            beside.execute("SELECT pg_terminate_backend(%s)", (chance.choice(pids),))
            return 1
    return 0


def test_no_acknowledged_entry_is_lost_though_writers_are_killed_and_connections_are_cut(schema: str) -> None:
    url, severed = url_of(schema, application_name=schema), list[int]()
    counts = run_writers(
        lambda: PostgresStore(url),
        2.0,
        lambda chance: severed.append(_sever_one(url, chance)),
        least=lambda: sum(severed) > 0,
    )
    assert counts["acknowledged"] > 0


def test_two_memories_in_one_database_have_nothing_to_do_with_each_other(schema: str) -> None:
    with (
        team_memory() as elsewhere,
        closing(PostgresStore(url_of(schema))) as one,
        closing(PostgresStore(elsewhere)) as other,
    ):
        one.append(entries(0, 2))
        assert changes(other) == []
        assert other.append(entries(2, 3)) == 1
        assert not one.wait(2, 0)


# What other hands did


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ("UPDATE {t} SET line = replace(line, 'b2', 'b9') WHERE sequence = 3", "row 3: does not fit its fingerprint"),
        ("UPDATE {t} SET line = 'no JSON' WHERE sequence = 3", "row 3: does not fit its fingerprint"),
        ("UPDATE {t} SET line = repeat('x', (16 << 20) + 1) WHERE sequence = 3", "row 3: longer than 16 MiB"),
        ("DELETE FROM {t} WHERE sequence = 3", "row 3: is missing"),
        ("DELETE FROM {t} WHERE sequence = 1", "row 1: is missing"),
        ("DELETE FROM {t} WHERE sequence = 5", "row 5: is missing"),
        ("UPDATE {t} SET sequence = sequence + 10 WHERE sequence >= 4", "row 4: is missing"),
        ("UPDATE {t} SET kind = 'precedent' WHERE sequence = 1", "row 1: its columns say something else than its line"),
        ("UPDATE {t} SET line = 'no JSON', fingerprint = sha256((SELECT fingerprint FROM {t} WHERE sequence = 4) || 'no JSON') WHERE sequence = 5", "row 5: damaged"),
        ("UPDATE {t} SET fingerprint = 'x' WHERE sequence = 5", "row 5: does not fit its fingerprint"),
    ],
)  # fmt: skip
def test_rows_that_something_else_changed_are_refused_with_table_and_row(schema: str, edit: str, says: str) -> None:
    table = f"{schema}.merit_changes"
    with closing(PostgresStore(url_of(schema))) as store:
        store.append(entries(0, 5))
        last = store.fingerprint(5)
    with admin() as connection:
        connection.execute(edit.format(t=table).encode())
    with closing(PostgresStore(url_of(schema))) as store:
        with pytest.raises(InputError, match=f"table {table}, {says}.*; restore the (table|file) from a"):
            list(store.since(0))
        if "row 5" in says:
            assert store.fingerprint(5) != last or "line" not in edit  # an index of the real log does not fit it


def test_an_entry_that_was_changed_is_refused_when_it_is_read(schema: str) -> None:
    made = entries(0, 3)
    with closing(PostgresStore(url_of(schema))) as store:
        store.append(made)
        with admin() as connection:
            connection.execute(f"UPDATE {schema}.merit_changes SET line = replace(line, 'b1', 'b9')".encode())
        assert store.read([made[0].id]) == made[:1]
        with pytest.raises(InputError, match="row 2: does not fit its fingerprint"):
            store.read([made[1].id])


def test_doubled_ids_are_refused(schema: str) -> None:
    made = entries(0, 2)
    with closing(PostgresStore(url_of(schema))) as store:
        store.append(made)
        with pytest.raises(InputError, match="an entry has this id already; nothing was written"):
            store.append([*entries(2, 3), made[0]])
        assert changes(store) == made
        with admin() as connection:
            connection.execute(f"DROP INDEX {schema}.merit_changes_entry".encode())
        store.append(made[:1])
        with pytest.raises(InputError, match=f"the id {made[0].id} is there twice"):
            store.read([made[0].id])
        with pytest.raises(InputError, match=f"the id {made[0].id} is there twice"):
            read_contents(store)


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ("DELETE FROM {s}.merit_changes WHERE sequence = 3", "row 3: is missing"),
        ("INSERT INTO {s}.merit_changes SELECT 4, kind, 'x', append, line, fingerprint FROM {s}.merit_changes WHERE sequence = 3", "row 4: follows the last one .* remove that row"),
        ("DELETE FROM {s}.merit_memory", "merit_memory has 0 rows instead of one"),
    ],
)  # fmt: skip
def test_nothing_is_appended_to_a_log_whose_end_was_changed(schema: str, edit: str, says: str) -> None:
    with closing(PostgresStore(url_of(schema))) as store:
        store.append(entries(0, 3))
        with admin() as connection:
            connection.execute(edit.format(s=schema).encode())
        with pytest.raises(InputError, match=says):
            store.append(entries(3, 4))


def test_a_log_that_was_exchanged_under_a_follower_is_noticed(schema: str) -> None:
    with closing(PostgresStore(url_of(schema))) as follower, closing(PostgresStore(url_of(schema))) as other:
        other.append(entries(0, 3))
        assert len(changes(follower)) == 3
        with admin() as connection:
            connection.execute(f"DROP SCHEMA {schema} CASCADE".encode())
        with closing(PostgresStore(url_of(schema))) as again:
            again.append(entries(5, 9))
        with pytest.raises(MemoryUnusable, match="changed by something other than merit; open this memory again"):
            follower.since(3)


# Formats and rights


def test_a_newer_format_is_refused_with_the_reason(schema: str) -> None:
    with closing(PostgresStore(url_of(schema))) as store:
        store.append(entries(0, 1))
        with admin() as connection:
            connection.execute(f"UPDATE {schema}.merit_memory SET format = 2".encode())
        says = "memory format 2 of PostgreSQL, this merit reads 1; it was written by a newer merit: update this one"
        for use in (lambda: store.since(0), lambda: store.append(entries(1, 2)), lambda: PostgresStore(url_of(schema))):
            with pytest.raises(InputError, match=says):
                use()


def test_an_older_format_is_brought_forward_by_the_first_that_may_write(
    schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(PostgresStore(url_of(schema))) as older:
        older.append(entries(0, 2))
        steps = (*tables.STEPS, "ALTER TABLE {schema}.merit_changes ADD COLUMN team text")
        monkeypatch.setattr(tables, "STEPS", steps)
        monkeypatch.setattr("merit.memory.postgres.store.STEPS", steps)
        with pytest.raises(MemoryUnusable, match="is of the older format 1; the first command .* brings it forward"):
            PostgresStore(url_of(schema), writable=False)
        with closing(PostgresStore(url_of(schema))) as newer:
            assert changes(newer) == entries(0, 2)
            assert newer.append(entries(2, 3)) == 3
        with admin() as connection:
            assert connection.execute(f"SELECT format FROM {schema}.merit_memory".encode()).fetchall() == [(2,)]
        monkeypatch.undo()
        with pytest.raises(InputError, match="it was written by a newer merit"):
            older.append(entries(3, 4))


def test_reading_makes_no_table(schema: str) -> None:
    with pytest.raises(MemoryUnusable, match=f"there is no memory here \\(no table {schema}.merit_memory\\)"):
        PostgresStore(url_of(schema), writable=False)
    with closing(PostgresStore(url_of(schema))) as store:
        assert (changes(store), store.fingerprint(1), store.size_bytes()) == ([], None, 0)
    with admin() as connection:
        assert connection.execute("SELECT to_regnamespace(%s)", (schema,)).fetchone() == (None,)


def test_a_colleague_needs_no_right_to_change_what_is_written(schema: str) -> None:
    role = f"{schema}_role"
    with closing(PostgresStore(url_of(schema))) as owner, admin() as connection:
        owner.append(entries(0, 2))
        connection.execute(
            f"CREATE ROLE {role}; GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT, INSERT ON "
            f"{schema}.merit_changes TO {role}; GRANT SELECT, UPDATE ON {schema}.merit_memory TO {role}".encode()
        )
        try:
            mine = url_of(schema, options=f"-c%20role%3D{role}")
            with closing(PostgresStore(mine)) as colleague:
                assert colleague.append(entries(2, 3), expected=2) == 3
                assert changes(owner) == changes(colleague) == entries(0, 3)
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    colleague._connection.open().execute(f"DELETE FROM {schema}.merit_changes".encode())
            connection.execute(f"REVOKE INSERT ON {schema}.merit_changes FROM {role}".encode())
            with closing(PostgresStore(mine)) as reader:
                assert changes(reader) == entries(0, 3)
                with pytest.raises(MemoryUnusable, match="permission denied .* have its owner grant this role"):
                    reader.append(entries(3, 4))
        finally:
            connection.execute(f"DROP OWNED BY {role}; DROP ROLE {role}".encode())


def test_a_store_for_reading_refuses_to_write(url: str) -> None:
    with closing(PostgresStore(url)) as store:
        store.append(entries(0, 1))
    with closing(PostgresStore(url, writable=False)) as store:
        assert changes(store) == entries(0, 1)
        with pytest.raises(MemoryUnusable, match="opened for reading only"):
            store.append(entries(1, 2))


# Copies


def test_a_memory_is_copied_to_a_team_and_back(url: str, tmp_path: Path) -> None:
    made = entries(0, 6)
    log = [*made[:4], Deletion(made[1].id, "wrong join"), *made[4:], Deletion(made[5].id, "twice")]
    with closing(FileStore(tmp_path / "mine")) as mine, closing(PostgresStore(url)) as team:
        mine.append(log[:5])
        assert curate.copy(mine, team) == 5
        mine.append(log[5:])
        assert curate.copy(mine, team) == 3  # only what is new
        assert curate.copy(mine, team) == 0
        assert list(team.since(0)) == list(mine.since(0)) == list(enumerate(log, 1))
        with closing(FileStore(tmp_path / "back")) as back:
            assert curate.copy(team, back) == 8
            assert list(back.since(0)) == list(mine.since(0))
        with closing(VolatileStore()) as other:
            other.append([made[0], made[5]])
            with pytest.raises(InputError, match="holds something other than a beginning of .*, in change 2"):
                curate.copy(mine, other)
            assert len(changes(other)) == 2
        with closing(VolatileStore()) as shorter:
            shorter.append(made[:1])
            with pytest.raises(InputError, match="in change 2; copy to a new memory"):
                curate.copy(shorter, team)


# Addresses and secrets


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3cret@127.0.0.1:1/db",
        "postgresql://ann@127.0.0.1:1/db?password=s3cret",
        "postgresql://ann:s3cret@127.0.0.1:1/db?schema=NO-NAME",
        "postgresql://ann:s3cret@127.0.0.1:1/db?schema=pg_catalog",
        "postgresql://ann:s3cret@127.0.0.1:1/db?sslmode=s3cret",
        "postgresql://ann:x@s3cret@127.0.0.1:1/db",
        "postgresql://ann:1/s3cret@127.0.0.1:1/db",
        "postgresql://ann:1?s3cret@127.0.0.1:1/db",
        "postgresql://ann:s3cret/db",
        "postgresql:/ann:s3cret@127.0.0.1/db",
        "postgres:ann:s3cret@127.0.0.1/db",
        "mysql://ann:s3cret@127.0.0.1/db",
        "postgresql+psycopg://ann:s3cret@127.0.0.1/db",
        "postgresql//ann:s3cret@127.0.0.1/db",
        "//ann:s3cret@127.0.0.1/db",
        "ann:s3cret@127.0.0.1/db",
        "jdbc:postgresql://ann:s3cret@127.0.0.1/db",
        "host=127.0.0.1 password=s3cret",
        "postgresql://ann:s3cret@127.0.0.1:1/d\udcffb",
    ],
)
def test_no_password_is_ever_shown(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_url(url)
    with pytest.raises(MeritError) as raised:
        open_store(url)
    assert "s3cret" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert list(tmp_path.iterdir()) == []


def test_what_is_shown_of_an_address_names_the_place_and_no_secret() -> None:
    address = parse_address("postgres://ann:p%40ss@db.example:5433/team?password=p%40ss&schema=shop&sslmode=require")
    assert address.shown == "postgresql://ann@db.example:5433/team?schema=shop"
    assert "p@ss" not in repr(address)
    assert "p%40ss" not in repr(address)
    assert address.scrubbed('no entry for "ann" with p@ss or p%40ss') == 'no entry for "ann" with *** or ***'
    assert parse_address("postgresql:///team").schema == "merit"


def test_a_folder_is_a_folder() -> None:
    places: list[str | Path] = [
        "memory",
        "./postgres",
        "postgres-team",
        "/a/b",
        "a:b",
        "/home/ann@work/m",
        Path("postgresql://h"),
    ]
    assert not any(is_url(place) for place in places)


def test_the_driver_is_imported_only_where_a_url_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sys, merit.memory, merit.live, merit.cli.memory; sys.exit('psycopg' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MemoryUnusable, match=r"the driver psycopg is missing .* pip install '\.\[postgres\]'"):
        open_store(POSTGRES)


def test_a_database_that_is_not_utf8_is_refused() -> None:
    name = f"merit_latin_{os.getpid()}"
    with admin() as connection:
        connection.execute(f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0".encode())
        try:
            base, _, _ = POSTGRES.rpartition("/")
            with (
                closing(PostgresStore(f"{base}/{name}")) as store,
                pytest.raises(MemoryUnusable, match="stores text as SQL_ASCII; a memory needs one that was made with"),
            ):
                store.append([with_id(make_entry(1))])
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
