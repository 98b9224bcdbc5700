"""The cache of reference results: exact, shared, and never a reason to fail."""

import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merit.errors import CacheUnusable
from merit.oracle.results import ResultStore, decode, encode

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
    (tmp_path / "references-v1.sqlite").write_bytes(b"junk" * 4096)
    with caplog.at_level(logging.WARNING):
        store = ResultStore(tmp_path)
    assert "started anew" in caplog.text
    store.keep(b"reference", {"db": (0, encode([]))})
    store.close()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(CacheUnusable, match="set MERIT_CACHE"):
        ResultStore(blocked / "cache")


def test_a_full_disk_costs_no_verdict(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = ResultStore(tmp_path)
    store._db.execute("PRAGMA max_page_count = 8")
    with caplog.at_level(logging.WARNING):
        store.keep(b"reference", {"db": (1, encode([("x" * 100_000,)]))})
        assert store.fetch(b"reference")  # still known
        store.close()
    assert "was not written" in caplog.text
