"""What the pages on results show is what `merit report` wrote into results/."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from merit.agent import METHODS, RELATED
from merit.stream import Grid, read_grid
from merit.types import Distinct

ROOT = Path(__file__).parents[1]
OVERVIEW = ROOT / "docs" / "results.md"
TOPICS = sorted((ROOT / "docs" / "results").glob("*.md"))
# A table stands below a link to its file.
TABLE = re.compile(r"^\[(?P<name>[^\]]+)\]\(\.\./\.\./results/(?P=name)\):\n\n(?P<rows>(?:\|.*\n)+)", re.MULTILINE)
TABLES = [table for page in TOPICS for table in TABLE.finditer(page.read_text())]
# The one table of a topic that is written by hand: its numbers are the paper's and those of the others.
BY_HAND = "| the paper | here |"
# Where the overview's rows come from, and what their columns are called there.
SUMMARY = {
    "Spider dev-972, test suite": ("paper", "Spider"),
    "BIRD-303": ("paper", "BIRD"),
    "the bundled 360": ("paper", "bundled"),
    "Spider dev-972, without an oracle": ("no-oracle", "Spider, questions 972"),
}
COLUMNS = ("Zero-shot", "Iterative", "Reflexion-style", "Dyn. RAG", "MERIT", "Resample", "Precedent")


def cells(row: str) -> list[str]:
    return [re.sub(r"\*\*|</?u>", "", cell).strip() for cell in row.strip().strip("|").split("|")]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table["name"]))
def test_every_row_is_the_reports_own(table: re.Match[str]) -> None:
    written = (ROOT / "results" / table["name"]).read_text().splitlines()
    assert [row for row in table["rows"].splitlines() if row not in written] == []


def test_every_table_of_a_topic_names_its_file() -> None:
    texts = [page.read_text() for page in TOPICS]
    named = sum(table["rows"].count("\n") for table in TABLES)
    by_hand = sum(text.partition(BY_HAND)[2].partition("\n\n")[0].count("\n|") + 1 for text in texts if BY_HAND in text)
    assert by_hand > 5
    assert named + by_hand == sum(line.startswith("|") for text in texts for line in text.splitlines())


@pytest.mark.parametrize("page", [OVERVIEW, ROOT / "README.md"], ids=lambda page: page.name)
@pytest.mark.parametrize("row", SUMMARY)
def test_the_summary_is_the_reports_own(page: Path, row: str) -> None:
    folder, dataset = SUMMARY[row]
    lines = (ROOT / "results" / folder / "tables" / "main.md").read_text().splitlines()
    accuracy = {tuple(cells(line)[:2]): cells(line)[3].split(" ±")[0] for line in lines if line.startswith("| ")}
    shown = next(line for line in page.read_text().splitlines() if line.startswith(f"| {row} |"))
    assert cells(shown)[1:] == [accuracy.get((dataset, column), "") for column in COLUMNS]


MADE = {
    "defog/tables/defog.md": "defog/table.py",
    "grounding/tables/rules.md": "grounding/table.py",
    "grounding/tables/against-merit.md": "grounding/against_merit_table.py",
    "replayed/tables/bounds.md": "replayed/table.py",
    "votes/tables/votes.md": "votes/table.py",
    "votes/tables/calibration.md": "votes/calibration.py",
}


@pytest.mark.parametrize("table", MADE)
def test_a_table_is_made_from_its_scores(table: str) -> None:
    program = ROOT / "results" / MADE[table]
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert done.stdout == (ROOT / "results" / table).read_text()


def test_every_topic_is_reached_from_the_overview() -> None:
    text = OVERVIEW.read_text()
    assert [page.name for page in TOPICS if f"(results/{page.name})" not in text] == []


def test_every_run_holds_and_is_one_of_its_identity() -> None:
    runs = [json.loads(line) for line in (ROOT / "results" / "runs.jsonl").read_text().splitlines()]
    audits = (ROOT / "results" / "audit.txt").read_text().splitlines()
    assert [line.partition(": holds. ")[0] for line in audits] == [run["run"] for run in runs]
    assert len({run["run"] for run in runs}) == len(runs) > 200
    assert {run["manifest"]["identity"]["budget"] for run in runs} == {7}
    for run in runs:
        assert run["metrics"]["method"] == run["manifest"]["identity"]["method"]["name"] == run["run"].split("/")[1]


SETS = subprocess.run(
    [sys.executable, ROOT / "results" / "sets.py", "list"], capture_output=True, text=True, check=True
).stdout


def grid_of(name: str, folder: Path) -> Grid:
    done = subprocess.run(
        [sys.executable, ROOT / "results" / "sets.py", "grid", name, "--model", "openai:m"],
        capture_output=True,
        text=True,
        check=True,
    )
    (folder / "grid.toml").write_text(done.stdout)
    return read_grid(folder / "grid.toml")


@pytest.mark.parametrize("line", SETS.splitlines(), ids=lambda line: str(line).split()[0])
def test_the_grid_of_every_set_can_be_read_and_has_its_runs(line: str, tmp_path: Path) -> None:
    name, _, _, runs, _ = line.split()
    grid = grid_of(name, tmp_path)
    assert len(grid.runs) == int(runs)
    assert {spec.budget for spec in grid.runs.values()} == {7}
    assert {spec.data.distinct for spec in grid.runs.values() if spec.data.name == "spider"} <= {
        Distinct.DROPPED if name.endswith("-dropped") else Distinct.KEPT
    }


def test_every_method_is_in_a_set(tmp_path: Path) -> None:
    """All of the paper's and ours on three benchmarks, but vanilla on BIRD; every idea of related work on two."""
    for name in ("spider", "bird", "bundled"):
        methods = {spec.method for spec in grid_of(name, tmp_path).runs.values()}
        assert METHODS.keys() - methods == ({"vanilla"} if name == "bird" else set())
    for name in ("spider-related", "bird-related"):
        assert {spec.method for spec in grid_of(name, tmp_path).runs.values()} == RELATED.keys()


@pytest.mark.parametrize("name", ["spider-reviewed", "bird-reviewed", "bundled-reviewed", "distinct-reviewed"])
def test_the_grid_of_reviewed_runs_has_every_cell(name: str, tmp_path: Path) -> None:
    """No reviews, and both kinds for three shares, over three seeds."""
    cells_of: dict[int, set[tuple[float, str]]] = {}
    for spec in grid_of(name, tmp_path).runs.values():
        assert spec.review is not None
        assert spec.data.prompts == "live"
        cells_of.setdefault(spec.seed, set()).add((spec.review.share, spec.review.kind if spec.review.share else ""))
    kinds = {(share, kind) for share in (0.1, 0.3, 1.0) for kind in ("corrections", "thumbs")}
    assert cells_of == {seed: {(0.0, ""), *kinds} for seed in (0, 1, 2)}
