"""One way to say things: DATASET --data FOLDER, --name, --json; and a way out of every dead end."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from making.benchmark import ITEMS, build
from making.commands import good, merit, refused
from making.grids import run_grid, write_grid
from making.tampering import reidentify
from merit.data import load
from merit.report.labels import records, sample
from merit.runs import read_run


def as_json(*arguments: object) -> Any:
    return json.loads(good(*arguments, "--json").stdout)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return build(tmp_path / "data")


@pytest.fixture
def pred(tmp_path: Path) -> Path:
    path = tmp_path / "pred.txt"
    path.write_text("".join(f"{item.reference}\n" for item in ITEMS))
    return path


# DATASET --data FOLDER


def test_data_check_takes_a_name_and_a_folder_like_every_command(data: Path) -> None:
    found = as_json("data", "check", "spider", "--data", data)
    assert [(one["dataset"], one["layout"], one["split"]) for one in found["datasets"]] == [
        ("spider", "spider", "dev"),
        ("spider", "spider", "train"),
    ]
    assert as_json("data", "check", data) == found  # a folder alone is taken for what it is
    named = as_json("data", "check", "spider", "--data", data, "--name", "shops")
    assert [one["dataset"] for one in named["datasets"]] == ["shops", "shops"]
    assert "shops dev" in good("data", "check", "spider", "--data", data, "--name", "shops").stdout


def test_data_schema_does_too(data: Path) -> None:
    named = good("data", "schema", "spider", "shop", "--data", data).stdout
    assert named == good("data", "schema", data, "shop").stdout == load("spider", data).schemas["shop"].text() + "\n"
    said = refused("data", "schema", "spider", "shopp", "--data", data)
    assert said == f"{data}: there is no database 'shopp' in its tables file; did you mean shop?"


def test_a_subset_of_some_questions(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "part"
    shown = good("data", "subset", "spider", "--data", data, "--limit", 5, "--out", out).stdout
    assert shown == f"5 questions in {out}; use it as spider --data {out}, with --name for a name of its own\n"
    whole, part = load("spider", data), load("spider", out)
    assert len(part.questions) == 5
    assert [question for question in whole.questions if question in part.questions] == list(part.questions)
    other = as_json("data", "subset", "spider", "--data", data, "--limit", 5, "--seed", 1, "--out", tmp_path / "other")
    assert other == {"out": str(tmp_path / "other"), "layout": "spider", "questions": 5}
    assert load("spider", tmp_path / "other").questions != part.questions
    again = as_json("data", "subset", "spider", "--data", data, "--limit", 99, "--out", tmp_path / "all")
    assert again["questions"] == len(ITEMS)


# A name of its own


def test_a_score_shows_the_name_that_its_data_is_given(data: Path, pred: Path) -> None:
    score = ("score", "spider", "--data", data, "--pred", pred, "--name", "our [bench]")
    assert "our [bench] dev, protocol db" in good(*score).stdout
    found = as_json(*score)
    assert (found["dataset"], found["layout"]) == ("our [bench]", "spider")
    for wrong in ("BIRD", "a/b", ".."):
        assert refused(*score[:-1], wrong).startswith("the data's name: ")


def grid_of(folder: Path, model: str, label: str, initial: str = "initial.jsonl", **more: Any) -> Result:
    dataset = {"initial": initial, "label": label} if label else {"initial": initial}
    path = write_grid(folder, model=model, methods=["zero_shot", "iterative"], budget=1, dataset=dataset, **more)
    return run_grid(path)


def test_a_run_carries_its_name_to_the_report(data: Path, model: str, tmp_path: Path) -> None:
    assert grid_of(tmp_path, model, "shops").exit_code == 0
    run = tmp_path / "runs" / "shops-dev" / "iterative" / "seed0"
    dataset = json.loads((run / "manifest.json").read_text())["identity"]["dataset"]
    assert (dataset["name"], dataset["label"]) == ("spider", "shops")
    good("report", tmp_path / "runs", "--out", tmp_path / "report")
    written = (tmp_path / "report" / "report.md").read_text()
    assert "shops" in written
    assert "Spider" not in written
    assert "shops" in (tmp_path / "report" / "report.html").read_text()
    shown = good("audit", run, "--data", data).stdout
    assert "12 of 12 questions (compared with the dataset)" in shown
    assert "- that its dataset is rightly called shops" in shown
    view = read_run(run)
    assert {line["dataset"] for line in records(view, sample(view, None, 0), classifier=False)} == {"shops"}


@pytest.mark.parametrize("label", ["Spider", "a/b", "", 7])
def test_a_manifest_with_a_name_that_nobody_could_give_is_refused(
    data: Path, model: str, tmp_path: Path, label: object
) -> None:
    run = [
        "run",
        "spider",
        "--data",
        data,
        "--initial",
        tmp_path / "i.jsonl",
        "--method",
        "zero_shot",
        "--model",
        model,
    ]
    good(*run, "--out", tmp_path / "run", "--limit", 2)
    reidentify(tmp_path / "run", lambda identity: identity["dataset"].update(label=label))
    assert "label" in refused("audit", tmp_path / "run")


def test_a_name_changes_nothing_but_the_name(data: Path, model: str, tmp_path: Path) -> None:
    """Runs over the same data are compared whatever it was called, also those from before it had a name."""
    assert grid_of(tmp_path, model, "").exit_code == 0
    assert grid_of(tmp_path, model, "shops", out="others").exit_code == 0
    shutil.rmtree(tmp_path / "runs" / "spider-dev" / "iterative")
    shutil.rmtree(tmp_path / "others" / "shops-dev" / "zero_shot")
    plain = json.loads((tmp_path / "runs/spider-dev/zero_shot/seed0/manifest.json").read_text())["identity"]
    assert "label" not in plain["dataset"]  # as in every run so far
    shown = good(
        "report", tmp_path / "runs", tmp_path / "others", "--out", tmp_path / "report", "--against", "zero_shot"
    )
    assert "not compared" not in shown.stderr
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    main = next(table for table in report["tables"] if table["id"] == "main")
    assert {row["dataset"]["text"] for row in main["rows"]} == {"shops"}
    assert len(main["rows"]) == 2


def test_a_run_goes_on_under_its_name_alone(data: Path, model: str, tmp_path: Path) -> None:
    run = [
        "run",
        "spider",
        "--data",
        data,
        "--initial",
        tmp_path / "i.jsonl",
        "--method",
        "zero_shot",
        "--model",
        model,
    ]
    good(*run, "--out", tmp_path / "run", "--name", "shops")
    good(*run, "--out", tmp_path / "run", "--name", "shops")
    assert "the data's name is shops there and none here; give the data's name shops" in refused(
        *run, "--out", tmp_path / "run"
    )


def test_two_datasets_of_one_layout_in_one_grid(data: Path, model: str, tmp_path: Path) -> None:
    shutil.copytree(data, tmp_path / "more")
    text = f'out = "runs"\nmodel = "{model}"\nmethods = ["zero_shot"]\nseeds = [0]\n'
    for label, folder in (("shops", "data"), ("shops_", "more")):
        text += f'[[dataset]]\nname = "spider"\nlabel = "{label}"\ndata = "{folder}"\ninitial = "{label}.jsonl"\n'
    (tmp_path / "grid.toml").write_text(text)
    (tmp_path / "more" / "dev.json").write_text((data / "dev.json").read_text() + "\n")
    good("grid", tmp_path / "grid.toml")
    good("report", tmp_path / "runs", "--out", tmp_path / "report")
    figures = {path.stem for path in (tmp_path / "report" / "figures").glob("learning*")}
    assert figures == {"learning-shops-1", "learning-shops-2"}  # though both would make the same file's name
    main = (tmp_path / "report" / "tables" / "main.csv").read_text()
    assert "shops," in main
    assert "shops_," in main


# --json


def test_answers_say_what_they_did_as_json(data: Path, model: str, tmp_path: Path) -> None:
    good("predict", "spider", "--data", data, "--model", model, "--out", tmp_path / "i.jsonl", "--limit", 3)
    found = as_json("answers", "list")
    assert [(one["name"], one["answers"]) for one in found["models"]] == [("scripted:script.jsonl", 3)]
    out = tmp_path / "answers.jsonl"
    assert as_json("answers", "export", "--out", out) == {"out": str(out), "answers": 3}


def test_a_merge_and_a_recording_say_it_as_json(data: Path, model: str, tmp_path: Path) -> None:
    run = [
        "run",
        "spider",
        "--data",
        data,
        "--initial",
        tmp_path / "i.jsonl",
        "--method",
        "zero_shot",
        "--model",
        model,
    ]
    good(*run, "--out", tmp_path / "run", "--cache", tmp_path / "other")
    merged = as_json("answers", "merge", next((tmp_path / "other").glob("answers*")))
    assert merged == {"added": 12, "answers": 12}
    found = as_json("answers", "export", "--runs", tmp_path / "run", "--out", tmp_path / "recording.jsonl")
    assert (found["answers"], found["runs"]) == (12, 1)
    assert Path(found["manifest"]).is_file()


# Dead ends


def test_a_folder_that_is_near_says_what_to_type(data: Path, pred: Path, tmp_path: Path) -> None:
    bird = build(tmp_path / "below" / "bird", layout="bird")
    score = ("--pred", pred)
    assert "looks like spider, not like bird; use spider for it" in refused("score", "bird", "--data", data, *score)
    assert "looks like bird, not like spider; use bird for it" in refused("score", "spider", "--data", bird, *score)
    assert "bird is one level further down: give" in refused("score", "bird", "--data", tmp_path / "below", *score)
    assert f"spider is one level further up: give {data}" in refused("data", "check", data / "database")
    assert "is a file; give the folder that it is in" in refused("data", "check", data / "dev.json")
    assert "is a file; give the folder that it is in" in refused("data", "check", "spider", "--data", data / "dev.json")
    assert "no such folder" in refused("data", "check", tmp_path / "nowhere")
    assert "unknown dataset 'spidr'; did you mean spider?" in refused("data", "check", "spidr")
    assert "give its folder (--data" in refused("data", "check", "spider")
    assert "bundled comes with merit" in refused("score", "bundled", "--data", data, *score)


def test_a_folder_named_as_a_dataset_is_pointed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path / "spider")
    monkeypatch.chdir(tmp_path)
    assert refused("data", "check", "spider").endswith("for the folder here, type `spider --data spider`")
    good("data", "check", "spider", "--data", "spider")


def test_an_unknown_dataset_leads_on(data: Path, pred: Path) -> None:
    for name, said in (
        ("spidr", "unknown dataset 'spidr'; did you mean spider?"),
        ("mine", "a folder of your own in Spider's layout is `spider --data FOLDER --name NAME`"),
        (data, "is a folder; type `spider --data "),
    ):
        result = merit("score", name, "--pred", pred)
        assert result.exit_code == 2
        assert said in result.output


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"limit": 5}, "the field 'limit' belongs to a dataset: write it below its [[dataset]]"),
        ({"initial": "x"}, "the field 'initial' belongs to a dataset: write it below its [[dataset]]"),
        ({"dataset": {"seeds": [1]}}, "the field 'seeds' holds for all datasets: write it above the first [[dataset]]"),
        (
            {"dataset": {"name": "mine"}},
            "unknown dataset 'mine'; use spider or bird or bundled; data of your own takes",
        ),
        ({"dataset": {"label": "Bird"}}, "'Bird' is the name of a benchmark that merit knows"),
        ({"dataset": {"name": "bundled"}}, "bundled comes with merit, under its own name; leave 'data' out"),
    ],
)
def test_a_grid_says_where_a_field_goes(data: Path, tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    assert said in refused("grid", write_grid(tmp_path, **changes))
