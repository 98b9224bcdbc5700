"""The benchmark in Spider's layout: the same bytes each time, whole or not there, and read like any other."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from importlib import import_module
from pathlib import Path

import pytest

from making.clock import COMES_S
from making.disks import no_file_larger_than
from merit.bundled import build, built, open_dataset, read_sources
from merit.bundled.tables import read_shapes, spider_record
from merit.data import load
from merit.errors import CacheUnusable, InputError
from merit.oracle import fixed_demonstrations, open_judge
from merit.reading import hash_file
from merit.types import Status

SOURCES = read_sources()
BUILDING = import_module("merit.bundled.build")
# Where it matters how the benchmark is built and not what is in it, two of its databases do.
SMALLER = """
from importlib import import_module
from pathlib import Path
building = import_module("merit.bundled.build")
sources = building.read_sources()[:2]
building.read_sources = lambda: sources
print(building.built(Path({!r})))
"""


@pytest.fixture(scope="module")
def place(bundled_cache: Path) -> Path:
    return built(bundled_cache)


@pytest.fixture
def smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BUILDING, "read_sources", lambda: SOURCES[:2])


@pytest.fixture(scope="module")
def smaller_place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("smaller")
    build(folder, SOURCES[:2])
    return folder


def contents(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): hash_file(path) for path in folder.rglob("*") if path.is_file()}


def test_two_builds_are_the_same_bytes(place: Path, tmp_path: Path) -> None:
    build(tmp_path)
    assert contents(tmp_path) == contents(place)


def test_it_is_read_like_spider(place: Path) -> None:
    dataset = load("bundled", place)
    assert len(dataset.questions) == sum(len(source.questions) for source in SOURCES)
    assert {question.id for question in dataset.questions} >= {"bike_share-01", "wind_farm-40"}
    assert {*dataset.databases} == {*dataset.suites} == {source.db_id for source in SOURCES}
    for source in SOURCES:
        original, *others = dataset.suites[source.db_id]
        assert original.name == f"{source.db_id}.sqlite"
        assert len(others) == len(source.seeds) >= 6
        assert hash_file(original) == hash_file(dataset.databases[source.db_id][0])
        assert len({hash_file(path) for path in others}) == len(others)
    assert load("spider", place).content_hash() == dataset.content_hash()


def test_a_file_holds_what_its_source_says(place: Path) -> None:
    source = SOURCES[0]
    path = place / "database" / source.db_id / f"{source.db_id}.sqlite"
    with closing(sqlite3.connect(path)) as db, closing(source.original()) as written:
        assert list(db.iterdump()) == list(written.iterdump())
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_every_reference_is_right_by_the_judge(place: Path) -> None:
    dataset = load("bundled", place)
    sql = {written.id: written.sql for source in SOURCES for written in source.questions}
    with closing(open_judge(dataset, "suite", cache=None)) as judge:
        assert judge.unjudgeable(dataset.questions) == {}
        for question in dataset.questions[::20]:
            spaced = f"SELECT * FROM ({sql[str(question.id)]})"  # another text, run on every database
            if "order by" not in spaced.lower():
                assert judge.judge(question, spaced).status is Status.CORRECT


def test_schemas_say_what_sqlite_says(tmp_path: Path) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(
            """CREATE TABLE Shop (shop_id INTEGER PRIMARY KEY, Name TEXT, opened DATE, open BOOLEAN, "odd name" REAL);
            CREATE TABLE sale (shop_id INT, day TEXT, PRIMARY KEY (shop_id, day), FOREIGN KEY (shop_id) REFERENCES shop);
            CREATE TABLE refund (s INT, d TEXT, FOREIGN KEY (s, d) REFERENCES sale (shop_id, day));"""
        )
        record = spider_record("shops", db)
        assert [shape.unique for shape in read_shapes(db)] == [(("shop_id",),), (("shop_id", "day"),), ()]
    assert record["table_names_original"] == ["Shop", "sale", "refund"]
    assert record["column_names_original"][:3] == [[-1, "*"], [0, "shop_id"], [0, "Name"]]
    assert record["column_types"] == [
        "text",
        "number",
        "text",
        "time",
        "boolean",
        "number",
        "number",
        "text",
        "number",
        "text",
    ]
    assert record["primary_keys"] == [1, 6, 7]
    assert record["foreign_keys"] == [[6, 1], [8, 6], [9, 7]]
    (tmp_path / "tables.json").write_text(json.dumps([record]))
    (tmp_path / "dev.json").write_text("[]")
    assert (
        "  shop_id number PRIMARY KEY FOREIGN KEY -> Shop.shop_id" in load("spider", tmp_path).schemas["shops"].text()
    )


def test_vanilla_has_four_solved_questions_of_another_database(place: Path) -> None:
    dataset = load("bundled", place)
    shown = fixed_demonstrations(dataset, 4, None)
    assert len({one.question for one in shown}) == 4
    train = load("bundled", place, "train")
    assert {question.db_id for question in train.questions} == {"library"}
    with closing(open_judge(train, "suite", cache=None)) as judge:
        by_text = {question.text: question for question in train.questions}
        assert all(judge.judge(by_text[one.question], one.sql).correct for one in shown)


@pytest.mark.usefixtures("smaller")
def test_it_is_built_once(tmp_path: Path) -> None:
    first = built(tmp_path)
    before = contents(first)
    stamp = (first / "dev.json").stat().st_mtime_ns
    assert built(tmp_path) == first
    assert (first / "dev.json").stat().st_mtime_ns == stamp
    assert contents(first) == before
    assert [path.name for path in first.parent.iterdir()] == [first.name]


@pytest.mark.usefixtures("smaller")
def test_building_that_takes_a_while_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(BUILDING, "_QUIET_S", 60.0)
    built(tmp_path / "quick")
    assert caplog.messages == []
    monkeypatch.setattr(BUILDING, "_QUIET_S", 0.01)
    built(tmp_path / "slow")
    told = f"merit: building the databases of the bundled benchmark in {tmp_path / 'slow' / 'bundled'}, once; "
    assert caplog.messages == [f"{told}this can take a minute"]


def test_several_processes_may_build_at_once(tmp_path: Path, smaller_place: Path) -> None:
    script = SMALLER.format(str(tmp_path))
    running = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = {process.communicate(timeout=COMES_S)[0].strip() for process in running}
    assert [process.returncode for process in running] == [0] * 4
    (place,) = map(Path, said)
    assert [path.name for path in place.parent.iterdir()] == [place.name]
    assert contents(place) == contents(smaller_place)


@pytest.mark.usefixtures("smaller")
@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.15, 0.3])
def test_killed_while_building_nothing_half_is_taken_for_whole(
    tmp_path: Path, smaller_place: Path, after_s: float
) -> None:
    process = subprocess.Popen([sys.executable, "-c", SMALLER.format(str(tmp_path))], stdout=subprocess.DEVNULL)
    while process.poll() is None and not list(tmp_path.glob("bundled/*")):
        time.sleep(0.005)
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert contents(built(tmp_path)) == contents(smaller_place)


@pytest.mark.usefixtures("smaller")
def test_what_a_killed_process_left_is_swept_when_it_is_old(tmp_path: Path) -> None:
    old, fresh = tmp_path / "bundled" / "a.part", tmp_path / "bundled" / "b.part"
    for folder in (old, fresh):
        folder.mkdir(parents=True)
        (folder / "dev.json").write_text("[")
    os.utime(old, (1, 1))
    built(tmp_path)
    assert not old.exists()
    assert fresh.exists()


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(
        CacheUnusable,
        match="cannot build the benchmark here .*; choose another folder with MERIT_CACHE, or --cache in a command",
    ):
        built(tmp_path / "file")


@pytest.mark.parametrize("room", [2_000, 20_000])
def test_a_full_disk_is_named_and_nothing_is_left(tmp_path: Path, room: int) -> None:
    says = (
        rf"{re.escape(str(tmp_path))}: cannot build the benchmark here \(.+\); choose another folder with MERIT_CACHE"
    )
    with no_file_larger_than(room), pytest.raises(CacheUnusable, match=says):
        built(tmp_path)
    assert not list((tmp_path / "bundled").iterdir())


@pytest.mark.usefixtures("smaller")
def test_only_this_benchmark_needs_no_folder(tmp_path: Path, place: Path) -> None:
    with pytest.raises(
        InputError, match=r"spider: give its folder \(--data, or root in Python\); only bundled comes with merit"
    ):
        open_dataset("spider", None, "dev", tmp_path)
    assert open_dataset("bundled", None, "dev", tmp_path).root == built(tmp_path)
    for kind, given in (("folder", (place, "")), ("name", (None, "ours"))):
        with pytest.raises(InputError, match=f"bundled comes with merit, under its own name; leave the {kind} out"):
            open_dataset("bundled", given[0], "dev", tmp_path, given[1])
