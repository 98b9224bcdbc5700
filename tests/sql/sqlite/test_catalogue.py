"""Reading a schema ends in time, whatever a catalogue holds."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from merit.errors import DatabaseUnusable
from merit.sql import SQLiteSandbox
from merit.sql.sqlite import catalogue
from merit.types import Limits, Rows


def many_keys(folder: Path, keys: int) -> Path:
    """A table with many columns and one with many keys to the last of them; SQLite reads it in a moment."""
    path = folder / "keys.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"CREATE TABLE parent ({', '.join(f'c{number}' for number in range(2000))})")
        db.execute(f"CREATE TABLE child (a, {', '.join(['FOREIGN KEY (a) REFERENCES parent (C1999)'] * keys)})")
    return path


def test_many_keys_to_a_table_of_many_columns_take_no_time_of_merits_own(tmp_path: Path) -> None:
    path = many_keys(tmp_path, 10_000)
    with closing(SQLiteSandbox()) as sandbox:
        assert isinstance(sandbox.execute(path, "SELECT 1", Limits(timeout_s=60.0)), Rows)  # its process has started
        began = time.thread_time()
        schema = catalogue.read_schema(sandbox, path)
        assert time.thread_time() - began < 1.0  # of this thread alone; each key was compared with each column
    keys = schema.tables[1].columns[0].foreign_keys
    assert set(keys) == {"parent.c1999"}
    assert len(keys) == 2_000  # more are left out


def test_following_keys_ends_with_the_time_for_the_catalogue() -> None:
    def no_time_left() -> None:
        raise DatabaseUnusable("the time is up")

    with pytest.raises(DatabaseUnusable, match="the time is up"):
        catalogue._targets({"t": []}, {"t": []}, no_time_left)
