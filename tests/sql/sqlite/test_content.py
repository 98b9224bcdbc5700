"""The identity of a database's content."""

from pathlib import Path

from merit.reading import hash_file
from merit.sql import content_hash, journals


def test_content_is_the_file_and_its_journals(tmp_path: Path) -> None:
    database, copy = tmp_path / "d.sqlite", tmp_path / "copy.sqlite"
    database.write_bytes(b"content")
    copy.write_bytes(b"content")
    assert content_hash(database) == content_hash(copy) == hash_file(database)
    (tmp_path / "d.sqlite-wal").write_bytes(b"more")
    assert journals(database) == [tmp_path / "d.sqlite-wal"]
    assert content_hash(database) != content_hash(copy)
