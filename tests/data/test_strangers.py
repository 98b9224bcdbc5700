"""A benchmark that somebody else made: nothing in it leads out of its folder, hangs, or is written anywhere else."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from making.benchmark import build
from merit.data import detect, load, survey
from merit.errors import InputError
from merit.oracle import open_judge, write_subset
from merit.oracle.demonstrations import fixed_demonstrations

HOSTILE_NAMES = ["../../x", "..", ".", "", "/etc/x", "a/b", "a\\b", "a\0b", "a\nb", "a\x1b[2J", "x" * 300]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path / "data")


def rename(root: Path, name: str, *, files: tuple[str, ...] = ("dev.json", "tables.json")) -> None:
    """Call the database `shop` something else in some files."""
    for file in files:
        records = json.loads((root / file).read_text())
        for record in records:
            record["db_id"] = name if record["db_id"] == "shop" else record["db_id"]
        (root / file).write_text(json.dumps(records))


@pytest.mark.parametrize("name", HOSTILE_NAMES)
@pytest.mark.parametrize("file", ["dev.json", "tables.json"])
def test_a_database_is_called_by_a_plain_name(root: Path, name: str, file: str) -> None:
    rename(root, name, files=(file,))
    with pytest.raises(InputError, match=rf"{file}, entry 0: the field 'db_id' cannot be .*a plain name") as said:
        load("spider", root)
    assert str(said.value).isprintable()
    assert len(str(said.value)) < 400


def test_a_name_that_this_system_cannot_spell_is_not_a_missing_database(root: Path, tmp_path: Path) -> None:
    """Where names of files are ASCII, Python says of such a folder only that it is not there."""
    rename(root, "caf\u00e9")
    (root / "database" / "shop").rename(root / "database" / "caf\u00e9")
    (tmp_path / "answers.txt").write_text("SELECT 1\n" * 12)
    command = ["score", "spider", "--data", root, "--pred", tmp_path / "answers.txt", "--no-cache"]
    ascii_names = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for environment, code, said in (
        (
            ascii_names,
            1,
            r"the field 'db_id' cannot be 'caf\xe9' here, where names of files are ascii; set PYTHONUTF8=1",
        ),
        ({**ascii_names, "PYTHONUTF8": "1"}, 0, ""),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "merit", *map(str, command)], capture_output=True, env=environment, timeout=60
        )
        assert done.returncode == code, done.stderr
        assert said in " ".join(done.stderr.decode().split())


def test_a_subset_plants_nothing_outside(root: Path, tmp_path: Path) -> None:
    """With this name, a part of the benchmark was written beside the folder that it was asked for in."""
    planted = tmp_path / "data" / "database" / ".." / ".." / "planted"
    planted.mkdir()
    (planted / "evil.sqlite.py").write_text("print('run')")
    rename(root, "../../planted")
    (tmp_path / "work").mkdir()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="a plain name"):
        write_subset(load("spider", root), tmp_path / "work" / "part", databases=None, distinct=False, seed=0)
    assert sorted(tmp_path.rglob("*")) == before


def outside(root: Path) -> Path:
    elsewhere = root.parent / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    return elsewhere


def link_file(root: Path, name: str) -> Path:
    """Put a file elsewhere, and a link to it in its place."""
    path = root / name
    path.rename(outside(root) / path.name)
    path.symlink_to(outside(root) / path.name)
    return path


@pytest.mark.parametrize("name", ["dev.json", "tables.json", "database/shop/shop.sqlite", "database/shop", "database"])
def test_no_link_leads_out_of_the_folder(root: Path, name: str) -> None:
    link_file(root, name)
    with pytest.raises(InputError, match=r"is a link that leads out of .*data; put the file itself there"):
        load("spider", root).content_hash()


def test_no_link_leads_a_suite_out_of_the_folder(root: Path) -> None:
    (root / "test_suite" / "shop").mkdir(parents=True)
    (root / "test_suite" / "shop" / "shop.sqlite").symlink_to("/etc/hostname")
    with pytest.raises(InputError, match=r"shop.sqlite: is a link that leads out of"):
        assert load("spider", root).suites


def test_no_link_leads_training_questions_out_of_the_folder(root: Path) -> None:
    dataset = load("spider", root)
    link_file(root, "train.json")
    with pytest.raises(InputError, match=r"train.json: is a link that leads out of"):
        fixed_demonstrations(dataset, 4, None)


def test_links_within_the_folder_and_a_folder_that_is_a_link_are_followed(root: Path, tmp_path: Path) -> None:
    plain = load("spider", root).content_hash()
    path = root / "database" / "shop" / "shop.sqlite"
    path.rename(root / "kept.sqlite")
    path.symlink_to(root / "kept.sqlite")
    (tmp_path / "link").symlink_to(root)
    dataset = load("spider", tmp_path / "link")
    assert dataset.content_hash() == plain
    open_judge(dataset, "db", cache=None).close()


def test_the_journal_of_what_a_link_leads_to_is_part_of_the_benchmark(root: Path, tmp_path: Path) -> None:
    path = root / "database" / "shop" / "shop.sqlite"
    path.rename(path.with_name("real.db"))
    path.symlink_to("real.db")
    plain = load("spider", root).content_hash()
    path.with_name("real.db-wal").write_bytes(b"a log")
    assert load("spider", root).content_hash() != plain
    write_subset(load("spider", root), tmp_path / "part", databases=None, distinct=False, seed=0)
    assert (tmp_path / "part" / "database" / "shop" / "shop.sqlite-wal").read_bytes() == b"a log"
    link_file(root, "database/shop/real.db-wal")
    with pytest.raises(InputError, match=r"real.db-wal: is a link that leads out of"):
        load("spider", root).content_hash()


KINDS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to nothing": lambda path: path.symlink_to(path.parent / "nothing"),
    "a link to itself": lambda path: path.symlink_to(path),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "place", ["database/shop/shop.sqlite", "database/shop/shop.sqlite-wal", "test_suite/shop/x.sqlite"]
)
def test_what_is_no_file_hangs_nothing(root: Path, place: str, kind: str, tmp_path: Path) -> None:
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    KINDS[kind](path)
    uses: dict[str, Callable[[], object]] = {
        "survey": lambda: [survey(dataset, lambda _: True) for dataset in detect(root)],
        "hash": lambda: load("spider", root).content_hash(),
        "judge": lambda: open_judge(load("spider", root), "suite" if "suite" in place else "db", cache=None),
        "subset": lambda: write_subset(
            load("spider", root), tmp_path / "part", databases=None, distinct=False, seed=0
        ),
    }  # fmt: skip
    for use in uses.values():
        with pytest.raises(InputError) as said:
            use()
        assert str(path) in str(said.value)


@pytest.mark.parametrize("name", ["dev.json", "tables.json"])
def test_a_pipe_for_the_questions_hangs_nothing(root: Path, name: str) -> None:
    (root / name).unlink()
    os.mkfifo(root / name)
    with pytest.raises(InputError, match=f"{name}: is a pipe, a socket or a device; only regular files are read"):
        load("spider", root)


def test_many_tables_with_many_columns_take_no_longer_than_they_are(root: Path) -> None:
    many = 20_000
    record: dict[str, object] = {"db_id": "wide", "table_names_original": ["t"] * many, "column_types": ["text"] * many}
    record |= {"column_names_original": [[i, "c"] for i in range(many)], "primary_keys": [], "foreign_keys": []}
    records = json.loads((root / "tables.json").read_text())
    (root / "tables.json").write_text(json.dumps([*records, record]))
    assert len(load("spider", root).schemas["wide"].tables) == many


def test_a_name_that_is_no_text_is_refused(root: Path) -> None:
    (root / "database" / "shop" / os.fsdecode(b"\xff.sqlite")).write_bytes(b"")
    with pytest.raises(InputError, match="a plain name"):
        load("spider", root).content_hash()
