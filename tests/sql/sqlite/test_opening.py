"""What lies beside a database that is opened: read as part of it, and left there."""

import sqlite3
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from merit.sql import SQLiteSandbox, content_hash, journals
from merit.types import Cause, Error, Limits, Rows

LIMITS = Limits(timeout_s=60.0)


def with_writers_log(folder: Path, name: str) -> Path:
    """A database as a writer that was killed leaves it: its -wal holds the newest row."""
    (folder / "source").mkdir()
    with closing(sqlite3.connect(folder / "source" / name)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.executescript("CREATE TABLE t (a); INSERT INTO t VALUES ('old'); PRAGMA wal_checkpoint(TRUNCATE);")
        writer.execute("UPDATE t SET a = 'new'")
        writer.commit()
        for suffix in ("", "-wal"):
            (folder / f"{name}{suffix}").write_bytes((folder / "source" / f"{name}{suffix}").read_bytes())
    return folder / name


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("through", ["file", "link"])
def test_an_empty_database_beside_a_log_is_refused_because_sqlite_would_delete_the_log(
    tmp_path: Path, through: str
) -> None:
    path = tmp_path / "d.sqlite"
    path.touch()
    (tmp_path / "d.sqlite-wal").write_bytes(b"precious")
    if through == "link":
        (tmp_path / "link.sqlite").symlink_to(path)
        path = tmp_path / "link.sqlite"
    before = contents(tmp_path)
    with closing(SQLiteSandbox()) as live:
        result = live.execute(path, "SELECT 1", LIMITS)
    assert isinstance(result, Error)
    assert result.cause is Cause.DATABASE_UNREADABLE
    assert result.message.startswith("the file is empty, and SQLite would delete the -wal file beside it")
    assert contents(tmp_path) == before


@pytest.mark.parametrize("frozen", [True, False])
def test_a_link_is_read_with_the_log_of_what_it_leads_to(tmp_path: Path, frozen: bool) -> None:
    real, link = with_writers_log(tmp_path, "real.db"), tmp_path / "d.sqlite"
    link.symlink_to(real.name)
    before = contents(tmp_path)
    with closing(SQLiteSandbox(frozen=frozen)) as sandbox:
        result = sandbox.execute(link, "SELECT a FROM t", LIMITS)
    assert isinstance(result, Rows), result
    assert result.rows == [("new",)]
    if frozen:
        assert contents(tmp_path) == before


def test_a_log_that_has_the_name_of_a_link_belongs_to_no_database(tmp_path: Path) -> None:
    real, link = with_writers_log(tmp_path, "real.db"), tmp_path / "d.sqlite"
    link.symlink_to(real.name)
    Path(f"{real}-wal").rename(f"{link}-wal")
    with closing(SQLiteSandbox(frozen=True)) as sandbox:
        result = sandbox.execute(link, "SELECT a FROM t", LIMITS)
    assert isinstance(result, Rows), result
    assert result.rows == [("old",)]  # as SQLite reads it
    assert journals(link) == []


def test_the_content_of_a_link_is_that_of_what_it_leads_to(tmp_path: Path) -> None:
    real, link = with_writers_log(tmp_path, "real.db"), tmp_path / "d.sqlite"
    link.symlink_to(real.name)
    assert journals(link) == [Path(f"{real}-wal")]
    assert content_hash(link) == content_hash(real)


def test_a_damaged_virtual_table_spoils_no_other_table(tmp_path: Path) -> None:
    path = tmp_path / "d.sqlite"
    with closing(apsw.Connection(str(path))) as db:
        db.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1); CREATE VIRTUAL TABLE r USING rtree(id, low, high)")
        db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        db.execute("INSERT INTO r VALUES (1, 2, 3); UPDATE r_node SET data = zeroblob(100)")
    with closing(SQLiteSandbox(frozen=True)) as sandbox:
        result = sandbox.execute(path, "SELECT a FROM t", LIMITS)
        assert isinstance(result, Rows), result
        assert result.rows == [(1,)]
        damaged = sandbox.execute(path, "SELECT * FROM r", LIMITS)
        assert isinstance(damaged, Error)
        assert damaged.cause is Cause.DATABASE_UNREADABLE
