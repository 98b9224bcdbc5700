"""Files that are written whole or not at all, locks, and hashes over many files."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from making.disks import no_waiting
from merit.errors import InputError, RunUnusable
from merit.files import atomic_write, hash_listing, is_locked, open_regular, take_lock, write_all


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), atomic_write(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_text() == "before"
    with atomic_write(path) as file:
        file.write(b"after")
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_said_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "none" / "file"
    says = r"file: cannot be written \(No such file or directory\); choose another place"
    with pytest.raises(InputError, match=says), atomic_write(path):
        pass
    with pytest.raises(RunUnusable, match="wait"), atomic_write(path, fault=RunUnusable, way_out="wait"):
        pass


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("other")
    (tmp_path / "file.part").symlink_to(tmp_path / "other")
    with atomic_write(tmp_path / "file") as file:
        file.write(b"mine")
    assert (tmp_path / "other").read_text() == "other"


def test_two_who_write_one_file_do_not_mix_it(tmp_path: Path) -> None:
    """The first gave its name to what the second had not finished: half a model, checked against another file's hash."""
    path = tmp_path / "file"
    with atomic_write(path) as file:
        file.write(b"whole")
        with (
            pytest.raises(InputError, match="file: another process is writing it; wait for that one"),
            atomic_write(path),
        ):
            pass
    assert path.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [path]


HOLD = """
import os, sys
from merit.files import take_lock
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
print(take_lock(file), flush=True)
sys.stdin.read()
"""


def test_a_lock_is_one_processs_until_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert is_locked(path) is False  # not even there
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        assert is_locked(path) is True
        file = os.open(path, os.O_RDWR)
        assert take_lock(file) is False
        holder.communicate()
    assert is_locked(path) is False
    assert take_lock(file) is True
    os.close(file)


def test_a_lock_that_cannot_be_asked(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "link")
    assert is_locked(tmp_path / "link") is None
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/null")
    (tmp_path / "elsewhere").symlink_to(tmp_path / "file")
    (tmp_path / "file").touch()
    with no_waiting():
        assert [is_locked(tmp_path / name) for name in ("pipe", "device", "elsewhere", ".")] == [None] * 4


def test_only_a_regular_file_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "new")
    with no_waiting():
        for name in ("pipe", "link", "."):
            with pytest.raises(OSError, match=name):
                open_regular(tmp_path / name, os.O_RDONLY | os.O_CREAT)
    os.close(open_regular(tmp_path / "new", os.O_RDWR | os.O_CREAT))
    assert (tmp_path / "new").is_file()


def test_all_of_the_data_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr("merit.files.os.write", lambda file, data: real(file, data[:3]))  # as a full pipe does
    with (tmp_path / "file").open("wb") as file:
        write_all(file.fileno(), b"0123456789")
    assert (tmp_path / "file").read_bytes() == b"0123456789"


def test_a_listing_is_hashed_by_name_and_content() -> None:
    assert hash_listing([("a", "1"), ("b/c", "2")]) == hashlib.sha256(b"a\x001\nb/c\x002\n").hexdigest()
    assert len({hash_listing(files) for files in ([], [("a", "1")], [("a", "2")], [("b", "1")])}) == 4
