"""Loading benchmarks: what is there, without its answers."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from making.benchmark import build
from merit.data import Dataset, check_label, detect, load
from merit.errors import InputError


def test_questions_come_without_their_answers(library: Dataset) -> None:
    assert [question.id for question in library.questions] == list(range(10))
    assert library.questions[0].text == "How many books are there?"
    assert "count(*)" not in repr(library)


def test_the_original_database_comes_first(library: Dataset) -> None:
    assert [path.name for path in library.suites["library"]] == ["library.sqlite", "library_other.sqlite"]
    assert [path.name for path in library.databases["library"]] == ["library.sqlite"]


def test_every_file_with_sqlite_in_its_name_takes_part_but_sqlites_own(root: Path) -> None:
    suite = root / "test_suite" / "library"
    shutil.copy(suite / "library.sqlite", suite / "a.sqlite.bak")
    (suite / "library.sqlite-wal").touch()
    (suite / "notes.txt").touch()
    names = [path.name for path in load("spider", root).suites["library"]]
    assert names == ["library.sqlite", "a.sqlite.bak", "library_other.sqlite"]


def test_a_database_that_is_absent_is_counted_not_an_error(root: Path) -> None:
    shutil.rmtree(root / "database")
    dataset = load("spider", root)
    assert dataset.absent("db") == {"library": 10}
    assert dataset.absent("suite") == {}


def test_the_content_hash_follows_every_file(root: Path) -> None:
    before = load("spider", root).content_hash()
    assert load("spider", root).content_hash() == before
    other = root / "test_suite" / "library" / "library_other.sqlite"
    other.write_bytes(other.read_bytes() + b"\0")
    assert load("spider", root).content_hash() != before


def test_the_suite_protocol_needs_a_suite(root: Path) -> None:
    shutil.rmtree(root / "test_suite")
    with pytest.raises(InputError, match="no test_suite or test_suite_database folder here; use the protocol db"):
        load("spider", root).files("suite")


def broken(root: Path, name: str, text: str) -> None:
    (root / name).write_text(text)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("dev.json", "[\n{,\n]", r"dev.json, line 2: not valid JSON"),
        ("dev.json", "{}", r"dev.json: expected a JSON list of objects"),
        ("dev.json", '[{"db_id": "library"}]', r"dev.json, entry 0: the field 'question' is missing"),
        (
            "dev.json",
            '[{"db_id": 3, "question": "?"}]',
            r"dev.json, entry 0: the field 'db_id' should be a text, not 3",
        ),
        ("dev.json", '["x"]', r"dev.json, entry 0: expected a JSON object"),
        ("dev.json", '[{"db_id": "zoo", "question": "?"}]', r"dev.json, entry 0: unknown db_id 'zoo'"),
        ("tables.json", "[", r"tables.json, line 1: not valid JSON"),
        ("dev.json", "[" * 100_000, r"dev.json, line 1: JSON nested too deeply"),
    ],
)
def test_a_bad_file_is_named_with_its_line(root: Path, name: str, text: str, message: str) -> None:
    broken(root, name, text)
    with pytest.raises(InputError, match=message):
        load("spider", root)


def test_ids_are_unique(root: Path) -> None:
    entries = [{"db_id": "library", "question": "?", "query": "SELECT 1", "question_id": 5}] * 2
    broken(root, "dev.json", json.dumps(entries))
    with pytest.raises(InputError, match="entry 1: the question id 5 is there twice"):
        load("spider", root)


@pytest.mark.parametrize("identity", ["1\nmerit: all is well", "\x1b[2J", "a\u202eb"])
def test_an_id_can_be_named_in_a_message(root: Path, identity: str) -> None:
    entry = {"db_id": "library", "question": "?", "query": "SELECT 1", "question_id": identity}
    broken(root, "dev.json", json.dumps([entry]))
    with pytest.raises(InputError, match="entry 0: the field 'question_id' should be .* that can be printed") as caught:
        load("spider", root)
    assert str(caught.value).isprintable()


def test_a_schema_that_does_not_fit_together(root: Path) -> None:
    tables = json.loads((root / "tables.json").read_text())
    tables[0]["foreign_keys"] = [[6, 999]]
    broken(root, "tables.json", json.dumps(tables))
    with pytest.raises(InputError, match=r"tables.json, entry 0 \(library\)"):
        load("spider", root)


def test_files_that_are_not_there(tmp_path: Path, root: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        load("spider", tmp_path / "nowhere")
    with pytest.raises(InputError, match="looks like spider, not like bird; use spider for it"):
        load("bird", root)
    (root / "dev.json").unlink()
    with pytest.raises(InputError, match="dev.json: no such file"):
        load("spider", root)


def test_binary_junk_is_not_read_as_text(root: Path) -> None:
    (root / "dev.json").write_bytes(b"\xff\xfe\x00junk")
    with pytest.raises(InputError, match="not UTF-8 text"):
        load("spider", root)


def test_a_folder_that_is_near_the_one_that_was_meant(root: Path, tmp_path: Path) -> None:
    """Each refusal says what to type instead."""
    birds = tmp_path / "birds"
    bird = build(birds / "dev", layout="bird")
    near = build(tmp_path / "a bird", layout="bird")
    below, above = birds, root / "database"
    for name, place, said in (
        ("spider", bird, f"{bird}: looks like bird, not like spider; use bird for it"),
        ("bird", root, f"{root}: looks like spider, not like bird; use spider for it"),
        ("bird", below, f"{below}: bird is one level further down: give {bird}"),
        ("spider", tmp_path, f"{tmp_path}: spider is one level further down: give {root}"),
        ("bird", tmp_path, f"{tmp_path}: bird is one level further down: give {near}"),
        ("spider", above, f"{above}: spider is one level further up: give {root}"),
        ("spider", root / "dev.json", f"{root / 'dev.json'}: is a file; give the folder that it is in, {root}"),
    ):
        with pytest.raises(InputError) as caught:
            load(name, place)
        assert str(caught.value) == said
    for place in (below, above, root / "dev.json"):
        with pytest.raises(InputError, match=": give |; give "):
            detect(place)
    with pytest.raises(InputError, match=r"has no split train of spider, which is .*; use the split dev"):
        load("spider", root, "train")
    with pytest.raises(InputError, match=r"^unknown dataset 'spidr'; did you mean 'spider'\?$"):
        load("spidr", root)
    with pytest.raises(InputError, match=r"unknown dataset 'mine'; use bundled, spider or bird; a folder of your own"):
        load("mine", root)
    with pytest.raises(InputError, match=r"neither spider \(dev.json, tables.json and database/\) nor bird"):
        detect(bird / "dev_databases" / "shop")


@pytest.mark.parametrize("label", ["", " x", "a/b", "..", "a\nb", "x" * 61, "Spider", "bundled", "\u202ex"])
def test_a_name_of_its_own_is_plain_and_nobody_elses(label: str) -> None:
    with pytest.raises(InputError, match="^the data's name: "):
        check_label(label, "the data's name")


def test_a_dataset_is_shown_under_its_own_name(library: Dataset) -> None:
    check_label("Our shop, v2", "--name")
    assert (library.title, replace(library, label="Our shop, v2").title) == ("spider", "Our shop, v2")


def test_detecting_what_a_folder_holds(root: Path, tmp_path: Path) -> None:
    assert [(dataset.layout.name, dataset.split) for dataset in detect(root)] == [("spider", "dev")]
    with pytest.raises(InputError, match="spider is one level further down: give .*/example"):
        detect(tmp_path)


def test_the_real_benchmarks_load(real_data: Path) -> None:
    spider = load("spider", real_data / "spider")
    assert len(spider.questions) == 1034
    assert spider.absent() == {"wta_1": 62}
    assert sum(map(len, spider.suites.values())) == 122
    train = load("spider", real_data / "spider", "train")
    assert len(train.questions) == 7000
    assert dict(train.absent()) == {"baseball_1": 82, "soccer_1": 14}
    bird = load("bird", real_data / "bird")
    assert len(bird.questions) == 1534
    assert sum(question.db_id in bird.databases for question in bird.questions) == 303
    assert all(question.difficulty for question in bird.questions)
