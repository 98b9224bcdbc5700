"""The cache of reference results: exact, shared, and never a reason to fail."""

import logging
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merit.errors import CacheUnusable
from merit.oracle.results import _FILE, ResultStore
from merit.sql import decode, encode

values = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
)
rows = st.lists(st.tuples(values, values), max_size=5)


@given(rows)
def test_encoding_is_exact(given_rows: list[tuple[object, object]]) -> None:
    back = decode(encode(given_rows))  # type: ignore[arg-type]
    assert back == given_rows
    assert [[type(v) for v in row] for row in back] == [[type(v) for v in row] for row in given_rows]


@given(rows, rows)
def test_equal_bytes_mean_equal_rows_of_equal_types(
    one: list[tuple[object, object]], other: list[tuple[object, object]]
) -> None:
    typed = [[(type(v), str(v)) for v in row] for row in one] == [[(type(v), str(v)) for v in row] for row in other]
    assert (encode(one) == encode(other)) == typed  # type: ignore[arg-type]


def test_what_is_kept_is_found_again_by_another_process(tmp_path: Path) -> None:
    first = ResultStore(tmp_path)
    first.keep(b"reference", {"db": (1, encode([(1,)]))})
    assert first.fetch(b"reference") == {"db": (1, encode([(1,)]))}
    first.close()
    second = ResultStore(tmp_path)
    assert second.fetch(b"reference") == {"db": (1, encode([(1,)]))}
    assert second.fetch(b"unknown") == {}
    second.close()


def test_kills_add_up(tmp_path: Path) -> None:
    for _ in range(2):
        store = ResultStore(tmp_path)
        store.add_kills({"a": 2, "b": 1})
        store.close()
    store = ResultStore(tmp_path)
    assert store.kills() == {"a": 4, "b": 2}
    store.close()


def test_a_changed_file_is_hashed_again(tmp_path: Path) -> None:
    store = ResultStore(None)
    file = tmp_path / "db"
    file.write_bytes(b"one")
    first = store.content_hashes([file])[file]
    file.write_bytes(b"other")
    assert store.content_hashes([file])[file] != first
    store.close()


def test_a_damaged_cache_is_started_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "references-v3.sqlite").write_bytes(b"junk" * 4096)
    with caplog.at_level(logging.WARNING):
        store = ResultStore(tmp_path)
    assert "recreated" in caplog.text
    store.keep(b"reference", {"db": (0, encode([]))})
    store.close()


def test_an_altered_result_is_not_believed(tmp_path: Path) -> None:
    store = ResultStore(tmp_path)
    store.keep(b"reference", {"db": (1, encode([(1,)]))})
    store.close()
    db = sqlite3.connect(tmp_path / "references-v3.sqlite")
    db.execute("UPDATE result SET rows = ?", (encode([(2,)]),))
    db.commit()
    db.close()
    store = ResultStore(tmp_path)
    assert store.fetch(b"reference") == {}
    store.close()


def test_pages_that_cannot_be_read_cost_no_verdict(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = ResultStore(tmp_path)
    for number in range(300):
        store.keep(b"%d" % number, {"db": (1, encode([("x" * 500,)]))})
    store.close()
    path = tmp_path / "references-v3.sqlite"
    data = bytearray(path.read_bytes())
    data[3 * 4096 :] = b"\xff" * (len(data) - 3 * 4096)
    path.write_bytes(data)
    store = ResultStore(tmp_path)
    with caplog.at_level(logging.WARNING):
        assert all(store.fetch(b"%d" % number) in ({}, {"db": (1, encode([("x" * 500,)]))}) for number in range(300))
        store.close()
    assert "could not be read" in caplog.text


def test_many_processes_may_open_a_new_cache_at_once(tmp_path: Path) -> None:
    script = "import sys; from pathlib import Path; from merit.oracle.results import ResultStore; ResultStore(Path(sys.argv[1])).close()"
    for number in range(3):
        folder = tmp_path / str(number)
        opened = [
            subprocess.Popen([sys.executable, "-c", script, str(folder)], stderr=subprocess.PIPE) for _ in range(6)
        ]
        assert [process.communicate()[1].decode() for process in opened] == [""] * 6


def test_a_database_with_a_log_beside_it_is_what_both_say(tmp_path: Path) -> None:
    store = ResultStore(None)
    path = tmp_path / "db.sqlite"
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("CREATE TABLE t (a)")
    writer.commit()
    before = store.content_hashes([path])[path]
    writer.execute("INSERT INTO t VALUES (1)")
    writer.commit()
    assert store.content_hashes([path])[path] != before
    writer.close()
    store.close()


def test_the_same_bytes_in_another_journal_are_another_content(tmp_path: Path) -> None:
    store = ResultStore(None)
    path, log = tmp_path / "db.sqlite", tmp_path / "db.sqlite-wal"
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE t (a)")
        kept = {file: file.read_bytes() for file in (path, log)}
    for file, content in kept.items():  # as a writer that was killed leaves them
        file.write_bytes(content)
    with_log = store.content_hashes([path])[path]
    log.rename(tmp_path / "db.sqlite-journal")  # which SQLite finds to be none: there is no table now
    assert store.content_hashes([path])[path] != with_log
    store.close()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(CacheUnusable, match="choose another folder with MERIT_CACHE, or --cache in a command"):
        ResultStore(blocked / "cache")


def test_a_full_disk_costs_no_verdict(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = ResultStore(tmp_path)
    store._db.execute("PRAGMA max_page_count = 8")
    with caplog.at_level(logging.WARNING):
        store.keep(b"reference", {"db": (1, encode([("x" * 100_000,)]))})
        assert store.fetch(b"reference")  # still known
        store.close()
    assert "was not written" in caplog.text


def test_the_security_page_names_the_file_to_remove() -> None:
    assert f"`{_FILE}`" in (Path(__file__).parents[2] / "SECURITY.md").read_text()
