"""What the pages on results show is what `merit report` wrote into results/."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from merit.agent import RELATED
from merit.stream import read_grid

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


@pytest.mark.parametrize("table", ["defog/tables/defog.md", "grounding/tables/rules.md"])
def test_a_table_is_made_from_its_scores(table: str) -> None:
    written = ROOT / "results" / table
    program = written.parents[1] / "table.py"
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert done.stdout == written.read_text()


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


def test_the_grid_of_reviewed_runs_can_be_read_and_has_every_cell() -> None:
    """No reviews, and both kinds for three shares, over four datasets and three seeds."""
    grid = read_grid(ROOT / "results" / "reviewed.toml")
    cells_of: dict[tuple[str, int], set[tuple[float, str]]] = {}
    for spec in grid.runs.values():
        assert spec.review is not None
        assert spec.data.prompts == "live"
        place = (spec.data.label or spec.data.name, spec.seed)
        cells_of.setdefault(place, set()).add((spec.review.share, spec.review.kind if spec.review.share else ""))
    kinds = {(share, kind) for share in (0.1, 0.3, 1.0) for kind in ("corrections", "thumbs")}
    datasets = ("spider", "spider-distinct", "bird", "bundled")
    assert cells_of == {(name, seed): {(0.0, ""), *kinds} for name in datasets for seed in (0, 1, 2)}


def test_the_grid_of_related_work_can_be_read_and_has_every_method() -> None:
    """Every idea, and what to compare it with, over two datasets and three seeds with K = 7."""
    grid = read_grid(ROOT / "results" / "related.toml")
    cells = {(spec.data.name, spec.seed, spec.method) for spec in grid.runs.values()}
    compared = ("zero_shot", "iterative", "reflexion", "merit", "resample", "precedent", "precedent_grounded")
    datasets, methods = ("spider", "bird"), (*compared, *RELATED)
    assert cells == {(name, seed, method) for name in datasets for seed in (0, 1, 2) for method in methods}
    assert {spec.budget for spec in grid.runs.values()} == {7}
