"""Databases come from strangers, too: none may hang, bloat or take down the program that reads it.

MERIT_FLIPS=N reads N damaged files instead of the default.
"""

import os
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from making.clock import STALL_S
from making.hostile import put_super_journal
from merit.sql import SQLiteSandbox
from merit.types import Cause, Error, Limits, Rows, Timeout

FLIPS = int(os.environ.get("MERIT_FLIPS", "200"))
LIMITS = Limits(timeout_s=60.0)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteSandbox]:
    made = SQLiteSandbox(frozen=True)
    made.execute(tmp_path_factory.mktemp("none") / "none.sqlite", "SELECT 1", LIMITS)
    yield made
    made.close()


def make(path: Path, script: str) -> Path:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)
    return path


def doubling_views(levels: int) -> str:
    views = [f"CREATE VIEW v{n} AS SELECT x.a FROM v{n - 1} x, v{n - 1} y;" for n in range(1, levels + 1)]
    return "CREATE TABLE v0 (a); INSERT INTO v0 VALUES (1);" + "".join(views)


def nested_columns(levels: int) -> str:
    columns = [f"g{n} AS (g{n - 1} + g{n - 1} + g{n - 1})" for n in range(1, levels + 1)]
    return f"CREATE TABLE t (g0, {', '.join(columns)});"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to measure memory")
@pytest.mark.parametrize(
    ("script", "sql"),
    [
        (doubling_views(15), "SELECT count(*) FROM v15"),
        (doubling_views(40), "SELECT count(*) FROM v40"),
        (nested_columns(20), "SELECT g20 FROM t"),
        (nested_columns(60), "SELECT g60 FROM t"),
    ],
)
def test_a_schema_that_explodes(sandbox: SQLiteSandbox, tmp_path: Path, script: str, sql: str) -> None:
    """SQLite is busy for seconds, and takes gigabytes, before the statement begins; no interrupt is heard then."""
    path = make(tmp_path / "hostile.sqlite", script)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of what ran before
    started = time.monotonic()
    result = sandbox.execute(path, sql, Limits(timeout_s=1.0))
    assert time.monotonic() - started < 1.0 + STALL_S
    assert isinstance(result, Timeout) or (isinstance(result, Error) and result.cause in (Cause.DBMS, Cause.TOO_LARGE))
    own = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    assert int(own.split()[1]) < 1024 * 1024  # this process never held it
    assert isinstance(sandbox.execute(path, "SELECT 1", LIMITS), Rows)


def test_names_that_are_not_utf8(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    path = make(tmp_path / "names.sqlite", "CREATE TABLE first (second, third); INSERT INTO first VALUES (1, 2);")
    path.write_bytes(path.read_bytes().replace(b"second", b"se\xffond"))
    for sql in (
        "SELECT * FROM first",
        "SELECT third FROM first",
        "SELECT nope FROM first",
        "SELECT * FROM sqlite_master",
    ):
        for lossy in (True, False):
            result = sandbox.execute(path, sql, LIMITS, lossy=lossy)
            assert isinstance(result, Rows | Error), result
    assert isinstance(sandbox.execute(path, "SELECT third FROM first", LIMITS), Rows)


def test_text_that_is_not_utf8_is_read_as_the_official_evaluator_reads_it(
    sandbox: SQLiteSandbox, tmp_path: Path
) -> None:
    path = make(
        tmp_path / "text.sqlite",
        "CREATE TABLE t (a TEXT, b);"
        "INSERT INTO t VALUES (CAST(x'66ff6f' AS TEXT), x'66ff6f'), ('b', 2), (CAST(x'eda080' AS TEXT), 1.5), (NULL, 'é');",
    )
    queries = [
        "SELECT a, b FROM t",
        "SELECT a, a, b FROM t ORDER BY rowid DESC; -- the end",
        "SELECT upper(a) || 'x', count(*) FROM t GROUP BY 1 ORDER BY 2, 1 LIMIT 3",
        "WITH w AS (SELECT a AS \"é\" FROM t) SELECT * FROM w UNION ALL VALUES ('z')",
        "VALUES (CAST(x'ff' AS TEXT), 1e999, -0.0)",
    ]
    with closing(sqlite3.connect(path)) as official:
        official.text_factory = lambda data: data.decode(errors="ignore")
        for sql in queries:
            result = sandbox.execute(path, sql, LIMITS, lossy=True)
            assert isinstance(result, Rows), (sql, result)
            cursor = official.execute(sql)
            assert (list(result.columns), result.rows) == ([c[0] for c in cursor.description], cursor.fetchall())


def test_a_pipe_in_place_of_a_database_is_not_waited_for(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    path = tmp_path / "pipe.sqlite"
    os.mkfifo(path)
    assert sandbox.execute(path, "SELECT 1", LIMITS) == Error(Cause.DATABASE_UNREADABLE, "not a regular file")


@pytest.mark.parametrize("suffix", ["-wal", "-journal", "-shm"])
def test_a_pipe_beside_a_database_is_not_waited_for(sandbox: SQLiteSandbox, tmp_path: Path, suffix: str) -> None:
    path = make(tmp_path / "d.sqlite", "CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    os.mkfifo(f"{path}{suffix}")
    refused = Error(Cause.DATABASE_UNREADABLE, f"its {suffix} file is not a regular file")
    assert sandbox.execute(path, "SELECT a FROM t", LIMITS) == refused


@pytest.mark.parametrize("suffix", ["-wal", "-journal", "-shm"])
def test_a_pipe_beside_what_a_link_leads_to_is_not_waited_for(tmp_path: Path, suffix: str) -> None:
    """SQLite opens the journals of the file itself, not those that have the link's name."""
    path = make(tmp_path / "d.sqlite", "PRAGMA journal_mode=WAL; CREATE TABLE t (a);")
    os.mkfifo(f"{path}{suffix}")
    link = tmp_path / "link.sqlite"
    link.symlink_to(path)
    with closing(SQLiteSandbox()) as live:
        assert live.execute(link, "SELECT a FROM t", LIMITS) == Error(
            Cause.DATABASE_UNREADABLE, f"its {suffix} file is not a regular file"
        )


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_reading_through_a_journal_leaves_no_file(sandbox: SQLiteSandbox, tmp_path: Path, suffix: str) -> None:
    """A writer that was killed leaves its journal; what it says counts, and the data folder stays as it is."""
    source, folder = tmp_path / "source", tmp_path / "data"
    source.mkdir()
    folder.mkdir()
    path = make(source / "d.sqlite", "CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute(f"PRAGMA journal_mode={'WAL' if suffix == '-wal' else 'DELETE'}")
        writer.execute("PRAGMA cache_size=1")
        writer.execute("BEGIN")
        writer.execute("UPDATE t SET a = 2")
        writer.execute("CREATE TABLE filler AS SELECT randomblob(3000) FROM t, t, t, t")
        if suffix == "-wal":
            writer.execute("COMMIT")
        for file in source.iterdir():
            if not file.name.endswith("-shm"):
                (folder / file.name).write_bytes(file.read_bytes())
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert f"d.sqlite{suffix}" in before
    result = sandbox.execute(folder / "d.sqlite", "SELECT a FROM t", LIMITS)
    assert isinstance(result, Rows), result
    assert result.rows == [(2 if suffix == "-wal" else 1,)]
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_journal_makes_sqlite_delete_no_other_file(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    """A journal may end with the name of a super-journal, which SQLite removes after a recovery, wherever it is."""
    path = make(tmp_path / "d.sqlite", "CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    put_super_journal(path, victim)
    result = sandbox.execute(path, "SELECT a FROM t", LIMITS)
    assert victim.read_text() == "precious"
    assert isinstance(result, Error)
    assert result.cause is Cause.DATABASE_UNREADABLE
    assert result.message.startswith("its journal names another file, which SQLite would delete; ")


@pytest.mark.parametrize(
    ("sql", "steady"),
    [
        ("SELECT a FROM t", True),
        ("SELECT 'now', \"random\", a AS date FROM t", True),
        ("SELECT random()", False),
        ("SELECT current_timestamp", False),
        ("SELECT * FROM recent", False),
        ("SELECT count(*) FROM (SELECT * FROM recent)", False),
    ],
)
def test_what_depends_on_the_moment_is_told_by_the_engine(
    sandbox: SQLiteSandbox, tmp_path: Path, sql: str, steady: bool
) -> None:
    path = make(
        tmp_path / "v.sqlite", "CREATE TABLE t (a); CREATE VIEW recent AS SELECT * FROM t WHERE a < julianday('now');"
    )
    result = sandbox.execute(path, sql, LIMITS)
    assert isinstance(result, Rows)
    assert result.steady is steady


@pytest.mark.parametrize(
    "content",
    ["fts5(a, r, content='v', content_rowid='rowid')", "fts4(a, r, content='v')"],
)
def test_what_a_virtual_table_reads_from_the_moment_is_told_every_time(
    sandbox: SQLiteSandbox, tmp_path: Path, content: str
) -> None:
    """It keeps the statement that it prepared over its view, so SQLite tells of the view's functions only once."""
    path = make(
        tmp_path / "search.sqlite",
        "CREATE TABLE t (a); INSERT INTO t VALUES ('x');"
        "CREATE VIEW v (rowid, a, r) AS SELECT rowid, a, random() FROM t;"
        f"CREATE VIRTUAL TABLE f USING {content}; INSERT INTO f (rowid, a, r) VALUES (1, 'x', 'y');"
        "CREATE VIEW through AS SELECT r FROM f; CREATE VIRTUAL TABLE plain USING fts5(a);",
    )

    def steady(sql: str) -> bool:
        result = sandbox.execute(path, sql, LIMITS, lossy=True)
        assert isinstance(result, Rows), result
        return result.steady

    reading = (
        "SELECT r FROM f",
        "SELECT a, r FROM f",
        "SELECT r FROM f WHERE f MATCH 'x'",
        "SELECT * FROM through",
    )
    for sql in (*reading, *reading, "SELECT CAST(x'ff' AS TEXT), r FROM f"):
        assert not steady(sql), sql


def test_full_text_of_a_plain_table_is_steady(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    path = make(
        tmp_path / "plain.sqlite",
        "CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('x'); CREATE TABLE t (a);",
    )
    for sql in ("SELECT a FROM f WHERE f MATCH 'x'", "SELECT random() FROM t", "SELECT a FROM f", "SELECT a FROM f"):
        result = sandbox.execute(path, sql, LIMITS)
        assert isinstance(result, Rows), result
        assert result.steady is ("random" not in sql)


def test_damaged_files_give_rows_or_a_sentence(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    whole = make(
        tmp_path / "whole.sqlite",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, x REAL); CREATE INDEX i ON t (name);"
        "CREATE TABLE u (a TEXT, b AS (a || '!')); CREATE VIEW v AS SELECT name, x FROM t JOIN u ON name = a;"
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 300)"
        " INSERT INTO t SELECT i, 'name' || i, i / 7.0 FROM c; INSERT INTO u SELECT name FROM t WHERE id % 3 = 0;",
    ).read_bytes()
    queries = (
        "SELECT * FROM t",
        "SELECT count(*), name FROM v GROUP BY name ORDER BY 2",
        "SELECT b FROM u WHERE a > 'name5'",
    )
    chance = random.Random(7)
    path = tmp_path / "flipped.sqlite"
    for number in range(FLIPS):
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 4, 30))):
            head = chance.random() < 0.5  # half of the damage where it hurts most
            damaged[chance.randrange(4096 if head else len(damaged))] = chance.randrange(256)
        path = tmp_path / f"flipped-{number}.sqlite"
        path.write_bytes(damaged)
        result = sandbox.execute(path, queries[number % 3], LIMITS, lossy=bool(number % 2))
        assert isinstance(result, Rows | Error | Timeout), (number, result)
        assert not isinstance(result, Error) or result.message, number
        path.unlink()


def test_text_of_a_utf16_database_keeps_its_letters(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    """Where one value is damaged, the others are still read in the database's own encoding."""
    path = make(
        tmp_path / "wide.sqlite",
        "PRAGMA encoding='UTF-16le'; CREATE TABLE t (a); INSERT INTO t VALUES ('é'), ('xZ'), ('è');",
    )
    path.write_bytes(path.read_bytes().replace("xZ".encode("utf-16-le"), b"x\x00\x00\xd8"))
    with closing(sqlite3.connect(path)) as official:
        official.text_factory = lambda data: data.decode(errors="ignore")
        expected = official.execute("SELECT a FROM t").fetchall()
    result = sandbox.execute(path, "SELECT a FROM t", LIMITS, lossy=True)
    assert isinstance(result, Rows)
    assert [row[0] for row in result.rows][::2] == ["é", "è"] == [row[0] for row in expected][::2]


def test_a_copy_that_was_begun_is_removed_with_its_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    path = make(tmp_path / "large.sqlite", "CREATE TABLE t (a);")
    os.truncate(path, 900 * 1024 * 1024)  # holes, which take no room until they are copied
    (tmp_path / "large.sqlite-journal").touch()
    with closing(SQLiteSandbox(frozen=True)) as own:
        assert isinstance(own.execute(path, "SELECT 1", Limits(timeout_s=0.05)), Timeout | Error)
    assert list(scratch.iterdir()) == []


def test_looking_a_file_over_is_bounded_and_leaves_nothing(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    path = make(folder / "wal.sqlite", "PRAGMA journal_mode=WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    assert sandbox.is_sound(path)
    assert [file.name for file in folder.iterdir()] == ["wal.sqlite"]
    greedy = make(
        tmp_path / "greedy.sqlite",
        "CREATE TABLE t (a); INSERT INTO t VALUES ('x'), ('y'); PRAGMA writable_schema=1;"
        "UPDATE sqlite_master SET sql = 'CREATE TABLE t (a, g TEXT NOT NULL AS (hex(zeroblob(400000000 + length(a)))))';",
    )
    assert not sandbox.is_sound(greedy)
    assert not sandbox.is_sound(tmp_path / "nowhere.sqlite")
