"""A newcomer looks at runs with `report`, `show`, `label`, `view`, `memory`, `audit` and `data`: every dead end has a way out."""

import json
import re
import shlex
from pathlib import Path

import pytest

from making.commands import good, merit, refused
from making.outcomes import RIGHT, WRONG, Tried, write_run
from making.reports import letters, questions, write_all
from making.runs import make_bench
from merit.data import load
from merit.memory import entries_in
from merit.memory.format4 import LOG_NAME
from merit.runs import stream_order


def proposed(sentence: str) -> list[str]:
    """The command that a sentence says to type."""
    typed = re.search("`merit ([^`]*)`", sentence)
    assert typed, sentence
    return shlex.split(typed[1])


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    write_all(tmp_path / "runs", letters(12, 4, ("iterative", "merit")), questions(12))
    return tmp_path / "runs"


# What is compared


def test_a_method_without_runs_is_told_with_those_that_there_are(runs: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "out")
    said = good("report", runs, *out, "--against", "reflexion").stderr
    assert said.endswith("no run of reflexion; --against can name iterative, merit\n")
    said = good("report", runs / "iterative", *out, "--against", "reflexion").stderr
    assert said.endswith("no run of reflexion; --against can name iterative\n")
    said = good("report", runs / "iterative", *out, "--against", "iterative").stderr
    assert said.endswith("nothing is paired, there are runs of iterative alone\n")
    assert good("report", runs / "iterative", *out).stderr == ""  # nobody asked for a comparison


def test_a_run_that_is_being_written_is_shown_up_to_its_last_whole_line(runs: Path) -> None:
    run = runs / "iterative" / "seed0"
    (run / "metrics.json").unlink(missing_ok=True)
    whole = good("show", run).stdout.splitlines()
    with (run / "trajectories.jsonl").open("rb+") as file:
        file.truncate((run / "trajectories.jsonl").stat().st_size - 10)
    assert good("show", run).stdout.splitlines() == whole[:-1]


# Folders and files in the place of a run


@pytest.mark.parametrize(
    ("command", "after"), [("show", []), ("show", ["3"]), ("label", []), ("memory list", []), ("memory stats", [])]
)
def test_a_folder_above_runs_gets_the_command_for_one(runs: Path, command: str, after: list[str]) -> None:
    for folder, count in ((runs, 6), (runs.parent, 6), (runs / "merit", 3)):
        said = refused(*command.split(), folder, *after)
        assert said.startswith(f"{folder}: holds {count} runs and is none itself; name one")
        *typed, run = proposed(said)[: len(command.split()) + 1]
        assert typed == command.split()
        assert (Path(run) / "manifest.json").is_file()
        assert proposed(said)[len(typed) + 1 :] == after
        assert said.count("seed") == count + 1
    alone = refused(*command.split(), runs.parent / "nowhere", *after)
    assert "there is no run here" in alone or "there is no memory here" in alone


def test_many_runs_are_not_all_listed(tmp_path: Path) -> None:
    write_all(tmp_path / "runs", letters(4, 4), questions(4))
    assert refused("show", tmp_path / "runs").endswith(" and 11 more")


def test_the_example_for_a_memory_is_a_run_that_has_one(tmp_path: Path) -> None:
    bench = make_bench(tmp_path / "bench")
    bench.run(tmp_path / "runs" / "a", "iterative")
    bench.run(tmp_path / "runs" / "b", "merit")
    typed = proposed(refused("memory", "list", tmp_path / "runs"))
    assert typed == ["memory", "list", str(tmp_path / "runs" / "b")]
    assert good(*typed).stdout
    assert good("memory", "list", tmp_path / "runs" / "a").stderr == "merit: there is no entry in this memory\n"


def test_a_file_in_the_place_of_a_run_is_told_what_it_is(runs: Path, tmp_path: Path) -> None:
    good("report", runs, "--out", tmp_path / "out")
    run, page = runs / "merit" / "seed0", tmp_path / "out" / "report.html"
    for command in ("show", "label", "audit"):
        assert f"is a file; give the folder of a run, such as {run}" in refused(command, run / "manifest.json")
        assert "is opened in a browser, and this command takes the folder of a run" in refused(command, page)
        assert refused(command, tmp_path / "out" / "report.md").endswith("is a file; give a run's folder")
    told = merit("report", page, "--out", tmp_path / "out").stderr
    assert "is opened in a browser" in told
    assert "takes a run's folder or one that holds runs; open a report's page in a browser" in refused("view", page)
    assert proposed(refused("view", run / "metrics.json").split(";")[1]) == ["view", str(run)]
    assert "is a file; give the folder of a memory or of a run" in refused("memory", "list", page)


# Questions that a run does not have


def test_a_question_beyond_the_limit_is_not_one_that_comes_later(tmp_path: Path) -> None:
    asked = questions(12)
    order = [one.id for one in stream_order(asked, 0)]
    courses = {one.id: [Tried("SELECT 1", WRONG), Tried("SELECT 2", RIGHT)] for one in asked}
    short = write_run(tmp_path / "short", asked, "iterative", courses, answered=5).path
    said = refused("show", short, order[5])
    assert "is left out: this run takes only the first 5 of 12 questions (--limit of `merit run`); 5 questions" in said
    open_end = write_run(tmp_path / "open", asked, "iterative", courses, answered=5, finished=False).path
    said = refused("show", open_end, order[5])
    assert "comes later: the run is not finished and has not come to it yet; 5 questions are finished" in said
    assert "is not in its stream" in refused("show", open_end, "nowhere")
    one = write_run(tmp_path / "one", asked, "iterative", courses, answered=1).path
    assert refused("show", one, order[5]).endswith(f"1 question is finished, and `merit show {one}` lists it")


# Labels without a terminal


def test_labels_say_what_was_written(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "labels.csv"
    command = ("label", runs / "merit" / "seed0", "--out", out, "--n", 4)
    assert good(*command).stdout == (
        f"{out}: written, with 4 rows; 0 of 4 failures are labelled. Fill in its column 'human', here with --fill or in "
        "a spreadsheet\n"
    )
    assert good(*command).stdout.startswith(f"{out}: was there already with 4 rows, and was not changed; 0 of 4 ")
    found = json.loads(good(*command, "--json").stdout)
    assert found == {"file": str(out), "failures": 4, "labelled": 0, "written": False}
    out.unlink()
    assert json.loads(good(*command, "--json").stdout)["written"]
    assert (
        ": written, with 1 row; 0 of 1 failure is labelled"
        in good(*command[:2], "--out", tmp_path / "one.csv", "--n", 1).stdout
    )


# The data of a run


@pytest.mark.parametrize(("layout", "other"), [("bird", "spider"), ("spider", "bird")])
def test_a_folder_of_another_benchmark_is_told_from_the_runs_own(tmp_path: Path, layout: str, other: str) -> None:
    bench = make_bench(tmp_path / "own", layout=layout)
    run = bench.run(tmp_path / "run", "iterative").path
    strange = make_bench(tmp_path / "other", layout=other).root
    edited = make_bench(tmp_path / "edited", layout=layout, canary="other").root
    hashes = [load(layout, root).content_hash()[:12] for root in (edited, bench.root)]
    audit, show = ("audit", run), ("show", run, "0", "--with-references")
    for command in (audit, show):
        said = refused(*command, "--data", strange)
        assert said.startswith(f"{run}: is a run over {layout} dev, but {strange} holds {other} dev")
        assert said.endswith("; give --data the folder that the run was made over")
        said = refused(*command, "--data", edited)
        assert f"{edited} holds another {layout} dev: its content hash is {hashes[0]}" in said
        assert f"that of the run's data is {hashes[1]}" in said
        both = refused(*command, "--data", strange, "--data", edited)
        assert f"{strange} holds {other} dev" in both
        assert f"{edited} holds another {layout} dev" in both
        near = refused(*command, "--data", bench.root.parent)
        assert near.startswith(f"{run}: is a run over {layout} dev, but {bench.root.parent}: ")
        assert near.endswith(f"give {bench.root}")
        good(*command, "--data", strange, "--data", bench.root)
    assert "is for one question: name it after the run" in refused("show", run, "--with-references")


# What an audit says


def test_an_audit_for_programs(tmp_path: Path) -> None:
    bench = make_bench(tmp_path / "bench")
    one, two = (bench.run(tmp_path / "runs" / name, "merit").path for name in ("one", "two"))
    found = json.loads(good("audit", one, "--data", bench.root, "--json").stdout)
    assert found["holds"] is True
    (record,) = found["runs"]
    assert (record["run"], record["holds"], record["why"]) == (str(one), True, None)
    assert record["findings"]["questions"] == record["findings"]["stream"] == 12
    assert record["findings"]["judged"] is True
    assert any("the model's own" in item for item in record["on_trust"])
    (two / "predictions.jsonl").write_text("")
    result = merit("audit", one, two, "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert [record["holds"] for record in found["runs"]] == [True, False]
    assert "0 lines for 12 answered questions" in found["runs"][1]["why"]
    assert found["runs"][1]["findings"] is None
    alone = merit("audit", two, "--json")
    assert alone.exit_code == 1
    assert json.loads(alone.stdout)["runs"] == found["runs"][1:]
    assert "0 lines for 12 answered questions" in str(alone.exception)


def test_a_run_whose_data_was_not_given_is_not_called_false(tmp_path: Path) -> None:
    bench, other = make_bench(tmp_path / "one"), make_bench(tmp_path / "two", canary="other")
    one = bench.run(tmp_path / "runs" / "one", "iterative").path
    two = other.run(tmp_path / "runs" / "two", "iterative").path
    result = merit("audit", one, two, "--data", bench.root, "--json")
    assert [record["holds"] for record in json.loads(result.stdout)["runs"]] == [True, None]
    assert str(result.exception) == "1 of 2 runs could not be audited"
    (two / "metrics.json").unlink()
    assert str(merit("audit", one, two).exception) == "1 of 2 runs does not hold"


@pytest.mark.parametrize("name", ["manifest.json", "trajectories.jsonl", "metrics.json"])
def test_a_link_that_leads_nowhere_ends_no_other_runs_audit(tmp_path: Path, name: str) -> None:
    bench = make_bench(tmp_path / "bench")
    one, two = (bench.run(tmp_path / "runs" / name, "iterative").path for name in ("one", "two"))
    (one / name).unlink()
    (one / name).symlink_to("a" * 300)
    result = merit("audit", tmp_path / "runs")
    assert f"{two}: holds" in result.output.replace("\n", "")
    assert f"{one / name}: cannot be read (File name too long)" in result.stderr
    assert str(result.exception).startswith("1 of 2 runs")


def test_an_audit_says_that_entries_were_deleted(tmp_path: Path) -> None:
    run = make_bench(tmp_path / "bench").run(tmp_path / "run", "merit").path
    first, second = [one.entry.id for one in entries_in(run / "memory") if one.entry.id.startswith("pos-")][:2]
    good("audit", run)
    warned = good("memory", "delete", run, first, "--reason", "wrong join").stderr
    assert "whose audit will no longer hold" in warned
    said = refused("audit", run)
    assert f"{LOG_NAME}: 1 entry was deleted from this run's memory by `merit memory delete`" in said
    assert f"(the first is '{first}', because 'wrong join')" in said
    good("memory", "delete", run, second, "--reason", "another")
    assert "2 entries were deleted from this run's memory" in refused("audit", run)
    number = int(re.findall(r"take the lines from (\d+) on out of the file", refused("audit", run))[0])
    file = run / "memory" / LOG_NAME
    file.write_text("".join(file.read_text().splitlines(keepends=True)[: number - 1]))
    good("audit", run)  # what it suggests works


def test_other_changes_of_a_runs_memory_are_warned_of(tmp_path: Path) -> None:
    bench = make_bench(tmp_path / "bench")
    run, other = (bench.run(tmp_path / name, "merit", seed=seed).path for seed, name in enumerate(("one", "two")))
    good("memory", "export", other, "--out", tmp_path / "entries.jsonl")
    assert "whose audit will no longer hold" in good("memory", "import", run, tmp_path / "entries.jsonl").stderr
    assert good("memory", "import", run, tmp_path / "entries.jsonl").stderr == ""  # nothing was new
    assert "belongs to no turn" in refused("audit", run)


# Schemas of databases


def test_a_database_alone_is_found_or_told_how_to_name(root: Path) -> None:
    assert good("data", "schema", "claims_office").stdout.startswith("Database: claims_office\n")
    said = refused("data", "schema", "concert_singer")
    assert proposed(said) == ["data", "schema", "spider", "concert_singer", "--data", "FOLDER"]
    (name,) = load("spider", root).schemas
    assert (
        good("data", "schema", name, "--data", root).stdout
        == good("data", "schema", "spider", name, "--data", root).stdout
    )
    listing = good("data", "schema", "spider", "--data", root).stdout
    assert listing == good("data", "schema", root).stdout == f"{name}\n"
    said = refused("data", "schema", "spider", "zzz", "--data", root)
    assert good(*proposed(said)).stdout == listing
