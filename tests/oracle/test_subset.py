"""A part of a benchmark is a benchmark: the same questions under the same ids, judged the same."""

import json
import os
from contextlib import closing
from pathlib import Path

import pytest

from making.benchmark import ITEMS, build
from making.disks import no_waiting
from merit.data import load
from merit.errors import InputError
from merit.oracle import open_judge, subset, write_subset


@pytest.mark.parametrize("layout", ["spider", "bird"])
def test_whole_databases_are_drawn(tmp_path: Path, layout: str) -> None:
    whole = load(layout, build(tmp_path / "data", layout=layout))
    count = write_subset(whole, tmp_path / "part", databases=1, distinct=False, seed=0)
    part = load(layout, tmp_path / "part")
    (name,) = {question.db_id for question in part.questions}
    assert [question.id for question in part.questions] == [q.id for q in whole.questions if q.db_id == name]
    assert count == len(part.questions) < len(whole.questions)
    with closing(open_judge(part, "db", cache=None, timeout_s=60.0)) as judge:
        for question in part.questions:
            item = next(item for item in ITEMS if item.text == question.text)
            assert judge.judge(question, item.reference).correct
            assert not judge.judge(question, item.wrong).correct


def test_the_seed_decides_which(tmp_path: Path) -> None:
    whole = load("spider", build(tmp_path / "data"))
    drawn = set()
    for seed in range(8):
        write_subset(whole, tmp_path / str(seed), databases=1, distinct=False, seed=seed)
        drawn |= {question.db_id for question in load("spider", tmp_path / str(seed)).questions}
    assert drawn == {"shop", "school"}


def test_one_question_for_each_distinct_reference(tmp_path: Path) -> None:
    root = build(tmp_path / "data")
    records = json.loads((root / "dev.json").read_text())
    again = {**records[0], "question": "The same in other words?", "query": f"  {records[0]['query'].upper()} ; "}
    (root / "dev.json").write_text(json.dumps([again, *records]))
    write_subset(load("spider", root), tmp_path / "part", databases=None, distinct=True, seed=0)
    part = load("spider", tmp_path / "part")
    assert [question.id for question in part.questions][:2] == [0, 2]
    assert part.questions[0].text == "The same in other words?"
    assert len(part.questions) == len({(one["db_id"], one["query"].lower()) for one in records})


def test_the_suite_comes_along(tmp_path: Path) -> None:
    root = build(tmp_path / "data")
    for name in ("shop.sqlite", "shop_other.sqlite"):
        (root / "test_suite" / "shop").mkdir(parents=True, exist_ok=True)
        (root / "test_suite" / "shop" / name).write_bytes((root / "database" / "shop" / "shop.sqlite").read_bytes())
    write_subset(load("spider", root), tmp_path / "part", databases=None, distinct=True, seed=0)
    assert [path.name for path in load("spider", tmp_path / "part").suites["shop"]] == [
        "shop.sqlite",
        "shop_other.sqlite",
    ]


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    whole = load("spider", build(tmp_path / "data"))
    with pytest.raises(InputError, match=r"data: is not empty; choose a new folder for --out"):
        write_subset(whole, tmp_path / "data", databases=None, distinct=False, seed=0)
    with pytest.raises(InputError, match=r"--databases 3: there are only 2 with questions"):
        write_subset(whole, tmp_path / "part", databases=3, distinct=False, seed=0)
    write_subset(whole, tmp_path / "one", databases=1, distinct=False, seed=0)
    with pytest.raises(InputError, match=r"--databases 2: there is only \w+ with questions"):
        write_subset(load("spider", tmp_path / "one"), tmp_path / "part", databases=2, distinct=False, seed=0)


def test_a_part_without_questions_is_refused_for_its_databases(tmp_path: Path) -> None:
    root = build(tmp_path / "data")
    (root / "database").rename(root / "elsewhere")
    with pytest.raises(InputError, match=r"data: no question has its database; fetch the databases"):
        write_subset(load("spider", root), tmp_path / "part", databases=None, distinct=False, seed=0)
    assert not (tmp_path / "part").exists()


def test_a_database_of_holes_is_not_copied(tmp_path: Path) -> None:
    root = build(tmp_path / "data")
    os.truncate(root / "database" / "shop" / "shop.sqlite", 17 << 30)
    with no_waiting(), pytest.raises(InputError, match=r"shop.sqlite: more than 16 GiB; is it the right file\?"):
        write_subset(load("spider", root), tmp_path / "part", databases=None, distinct=True, seed=0)


def test_a_part_that_could_not_be_read_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = load("spider", build(tmp_path / "data"))
    monkeypatch.setattr(subset, "DOCUMENT_BYTES", 300)
    with pytest.raises(InputError, match=r"part/.*\.json: would have more than"):
        write_subset(whole, tmp_path / "part", databases=1, distinct=False, seed=0)
    assert not (tmp_path / "part").exists()
