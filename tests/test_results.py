"""What docs/results.md shows is what `merit report` wrote into results/."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results.md"
# A table stands below a link to its file.
TABLE = re.compile(r"^\[(?P<name>[^\]]+)\]\(\.\./results/(?P=name)\):\n\n(?P<rows>(?:\|.*\n)+)", re.MULTILINE)
TABLES = list(TABLE.finditer(PAGE.read_text()))
OWN = (
    "| the paper | here |"  # the one table that is written by hand: its numbers are the paper's and those of the others
)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table["name"]))
def test_every_row_is_the_reports_own(table: re.Match[str]) -> None:
    written = (ROOT / "results" / table["name"]).read_text().splitlines()
    assert [row for row in table["rows"].splitlines() if row not in written] == []


def test_every_table_names_its_file() -> None:
    named = sum(table["rows"].count("\n") for table in TABLES)
    by_hand = PAGE.read_text().partition(OWN)[2].partition("\n\n")[0].count("\n|") + 1
    assert named + by_hand == sum(line.startswith("|") for line in PAGE.read_text().splitlines())


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", PAGE.read_text())
    assert links
    assert [link for link in links if not (PAGE.parent / link).exists()] == []


def test_every_run_holds_and_is_one_of_its_identity() -> None:
    runs = [json.loads(line) for line in (ROOT / "results" / "runs.jsonl").read_text().splitlines()]
    audits = (ROOT / "results" / "audit.txt").read_text().splitlines()
    assert [line.partition(": holds. ")[0] for line in audits] == [run["run"] for run in runs]
    assert len({run["run"] for run in runs}) == len(runs) > 200
    assert {run["manifest"]["identity"]["budget"] for run in runs} == {7}
    for run in runs:
        assert run["metrics"]["method"] == run["manifest"]["identity"]["method"]["name"] == run["run"].split("/")[1]
