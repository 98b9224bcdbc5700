"""Backup and restore: consistent while others write, nothing overwritten, and archives of strangers are refused."""

import hashlib
import io
import json
import stat
import struct
import threading
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from making.commands import good, refused
from making.live import COUNT, ShopOpener, ToldModel
from merit.errors import InputError
from merit.live.record.backup import back_up, restore
from merit.live.record.history import History
from merit.memory import entries_in
from merit.web.access_tokens import Right, TokenStore


@pytest.fixture
def project(ask_shop: ShopOpener, tmp_path: Path) -> Path:
    """A folder with three answers, of which one is confirmed, and a token."""
    agent = ask_shop(ToldModel(COUNT))
    answers = [agent.ask(f"How many are there, {number}?", author="ann") for number in range(3)]
    agent.confirm(answers[0].id, author="ann")
    TokenStore(tmp_path / "own").add("ann", [Right.ASK])
    return tmp_path / "own"


def test_what_is_restored_is_what_was_there(project: Path, tmp_path: Path) -> None:
    out, again = tmp_path / "backup.zip", tmp_path / "again"
    names = back_up(project, out)
    assert {"history.jsonl", "memory/memory.jsonl", "tokens.json"} < set(names)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert restore(out, again, with_tokens=True) == names
    assert History(again).events() == History(project).events()
    assert entries_in(again / "memory") == entries_in(project / "memory")
    assert TokenStore(again).listed() == TokenStore(project).listed()
    assert stat.S_IMODE((again / "tokens.json").stat().st_mode) == 0o600
    assert not (again / "sessions.json").exists()
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("again")) == ["again"]


def test_the_commands_say_what_they_did(project: Path, tmp_path: Path) -> None:
    out = tmp_path / "backup.zip"
    assert "files of" in good("backup", out, "--folder", project).output
    assert "restored from" in good("restore", out, "--folder", tmp_path / "again").output
    assert "1 token restored: ann" in good("restore", out, "--with-tokens", "--folder", tmp_path / "all").output
    assert "is there already" in refused("backup", out, "--folder", project)
    assert "nothing is overwritten" in refused("restore", out, "--folder", project)
    assert "neither a history nor a memory" in refused("backup", tmp_path / "x.zip", "--folder", tmp_path / "nowhere")
    assert "no such file" in refused("restore", tmp_path / "nowhere.zip", "--folder", tmp_path / "new")


def test_an_archive_brings_no_token_unless_it_is_asked_for(project: Path, tmp_path: Path) -> None:
    """Who made the archive may know the token, and could then use the server."""
    out, again, named = tmp_path / "backup.zip", tmp_path / "again", tmp_path / "named"
    text = TokenStore(project).add("bob", list(Right))
    names = back_up(project, out)
    said = good("restore", out, "--folder", again).output
    assert "2 tokens were left out; --with-tokens restores them" in said
    assert not (again / "tokens.json").exists()
    assert TokenStore(again).find(text) is None
    assert json.loads(good("restore", out, "--folder", named, "--json").output)["tokens_left_out"] == 2
    assert restore(out, tmp_path / "plain") == [name for name in names if name != "tokens.json"]
    good("restore", out, "--folder", tmp_path / "all", "--with-tokens")
    assert TokenStore(tmp_path / "all").find(text) is not None


def test_an_archive_without_tokens_is_restored_without_a_word_about_them(project: Path, tmp_path: Path) -> None:
    (project / "tokens.json").unlink()
    back_up(project, tmp_path / "backup.zip")
    said = good("restore", tmp_path / "backup.zip", "--folder", tmp_path / "again").output
    assert said.count("\n") == 1
    assert "--with-tokens" not in said


def test_a_backup_while_people_confirm_holds_whole_feedback(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent = ask_shop(ToldModel(COUNT))
    ids = [agent.ask(f"How many are there, {number}?").id for number in range(40)]
    done = threading.Event()

    def confirm() -> None:
        for identity in ids:
            agent.confirm(identity)
        done.set()

    thread = threading.Thread(target=confirm)
    thread.start()
    number = 0
    while not done.is_set() or number < 2:
        number += 1
        back_up(tmp_path / "own", tmp_path / f"{number}.zip")
    thread.join()
    for each in range(1, number + 1):
        folder = tmp_path / f"restored-{each}"
        restore(tmp_path / f"{each}.zip", folder)
        entries = {item.entry.id for item in entries_in(folder / "memory")}
        assert all(set(word.entries) <= entries for word in History(folder).feedback().values())


def test_what_a_crash_left_of_a_line_is_left_out(project: Path, tmp_path: Path) -> None:
    for name in ("history.jsonl", "memory/memory.jsonl"):
        with (project / name).open("ab") as file:
            file.write(b'{"format":3,"kind":"as')
    back_up(project, tmp_path / "backup.zip")
    restore(tmp_path / "backup.zip", tmp_path / "again")
    assert len(History(tmp_path / "again").answers()) == 3


def changed(archive: Path, change: Callable[[dict[str, bytes]], None], *, honest: bool = True) -> Path:
    """An archive with other files; `honest` hashes say what is in it."""
    with zipfile.ZipFile(archive) as opened:
        files = {info.filename: opened.read(info) for info in opened.infolist()}
    contents = json.loads(files.pop("merit-backup.json"))
    change(files)
    if honest:
        contents["files"] = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    out = archive.with_name("changed.zip")
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("merit-backup.json", json.dumps(contents))
        for name, data in files.items():
            made.writestr(name, data)
    return out


@pytest.mark.parametrize(
    "name",
    ["../evil", "/tmp/evil", "memory/../../evil", "schemas/../evil.json", "memory", "a/b", "HISTORY.JSONL", "schemas/x.json",
     "history.jsonl\\x", "sessions.json", "merit.toml", "schemas/" + "0" * 16 + ".json/x", "./history.jsonl"],
)  # fmt: skip
def test_no_file_gets_out_of_the_folder_or_has_another_name(project: Path, tmp_path: Path, name: str) -> None:
    back_up(project, tmp_path / "backup.zip")
    archive = changed(tmp_path / "backup.zip", lambda files: files.update({name: b"x"}))
    with pytest.raises(InputError, match="files that a backup does not have"):
        restore(archive, tmp_path / "again")
    assert not (tmp_path / "again").exists()
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("history.jsonl", b"{}\n", "history.jsonl, line 1"),
        ("memory/memory.jsonl", b"{}\n", "memory.jsonl"),
        ("tokens.json", b"{}", "tokens.json"),
        ("switched_off.json", b"0" * (70 << 20), "larger than such a file can be"),
    ],
)
def test_files_are_checked_before_they_are_used(
    project: Path, tmp_path: Path, name: str, data: bytes, said: str
) -> None:
    back_up(project, tmp_path / "backup.zip")
    archive = changed(tmp_path / "backup.zip", lambda files: files.update({name: data}))
    with pytest.raises(InputError, match=said):
        restore(archive, tmp_path / "again", lambda made: TokenStore(made).listed())
    assert not (tmp_path / "again").exists()


def test_a_damaged_archive_is_refused(project: Path, tmp_path: Path) -> None:
    back_up(project, tmp_path / "backup.zip")
    whole = (tmp_path / "backup.zip").read_bytes()
    archive = tmp_path / "damaged.zip"
    for data in (b"", b"PK", whole[: len(whole) // 2], whole[:200] + b"XX" + whole[202:], b"x" * 1000):
        archive.write_bytes(data)
        with pytest.raises(InputError):
            restore(archive, tmp_path / "again")
    lying = changed(tmp_path / "backup.zip", lambda files: files.update({"tokens.json": b"{}"}), honest=False)
    with pytest.raises(InputError, match="not a backup"):
        restore(lying, tmp_path / "again")
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    archive.write_bytes(empty.getvalue())
    with pytest.raises(InputError, match="not a backup"):
        restore(archive, tmp_path / "again")


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_only_what_merit_packs_is_unpacked(project: Path, tmp_path: Path, packing: int) -> None:
    """Damaged LZMA raises an error of its own, and its dictionary takes as much memory as it says."""
    back_up(project, tmp_path / "backup.zip")
    with zipfile.ZipFile(tmp_path / "backup.zip") as whole, zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        for info in whole.infolist():
            kind = info.compress_type if info.filename == "merit-backup.json" else packing
            other.writestr(info.filename, whole.read(info), kind)
    with pytest.raises(InputError, match="not a backup that merit wrote"):
        restore(tmp_path / "other.zip", tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_nothing_is_written_through_a_link(project: Path, tmp_path: Path) -> None:
    (tmp_path / "link.zip").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is there already"):
        back_up(project, tmp_path / "link.zip")
    back_up(project, tmp_path / "backup.zip")
    (tmp_path / "again").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is there already"):
        restore(tmp_path / "backup.zip", tmp_path / "again")
    (tmp_path / "through.zip").symlink_to(tmp_path / "backup.zip")
    with pytest.raises(InputError, match="a link"):
        restore(tmp_path / "through.zip", tmp_path / "new")


def test_a_directory_that_is_all_holes_is_not_read(tmp_path: Path) -> None:
    """An archive that takes a few bytes of the disk may say that its list of files has gigabytes."""
    archive, size = tmp_path / "holes.zip", 256 << 20
    with archive.open("wb") as file:
        file.seek(size)
        file.write(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, size, 0, 0))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="not a backup that merit wrote"):
            restore(archive, tmp_path / "again")
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()
