"""docs/spec.md names code and tests that exist, and the paper's settings are what a run has if nothing else is said."""

import re
from pathlib import Path
from pkgutil import resolve_name

import pytest

from merit.benchmark import DataSpec
from merit.stream import RunSpec, read_grid
from merit.types import Regime, Sampling

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "spec.md").read_text()
CLAIMS = PAGE.partition("\n## The paper, claim by claim\n")[2]
_ROW = re.compile(r"^\| (?!Where \|)(.+) \|$", re.MULTILINE)  # without headings
ROWS = [row.split(" | ") for row in _ROW.findall(CLAIMS)]
_NODE = re.compile(r"`([\w/]+\.py)::(test_\w+)`")


def test_the_tests_that_the_specification_names_exist() -> None:
    named = re.findall(r"`(test_\w+)`", PAGE)
    files = re.findall(r"`(tests/[\w/]+\.py)`", PAGE)
    written = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) > 30
    assert {name for name in named if f"def {name}(" not in written} == set()
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_every_claim_names_its_test_with_its_file() -> None:
    assert len(ROWS) > 100
    for where, claim, code, tests in ROWS:
        nodes = _NODE.findall(tests)
        assert all((where, claim, code, nodes)), claim
        missing = [name for file, name in nodes if f"def {name}(" not in (ROOT / "tests" / file).read_text()]
        assert missing == [], claim


@pytest.mark.parametrize("named", sorted({row[2].strip("`") for row in ROWS}))
def test_the_code_that_a_claim_names_exists(named: str) -> None:
    assert resolve_name(f"merit.{named}")


def test_without_a_choice_a_run_has_the_papers_settings(tmp_path: Path) -> None:
    """Sections 3.1 and 4.1 and Table 7, as far as they are numbers and not a method's policy."""
    spec = RunSpec(DataSpec("bird", tmp_path), tmp_path / "initial.jsonl", "merit")
    assert (spec.budget, spec.regime, spec.data.timeout_s) == (7, Regime.DENOTATION_CONFIRMED, 30.0)
    assert (Sampling().temperature, Sampling().max_tokens) == (0.0, 512)
    grid = tmp_path / "grid.toml"
    grid.write_text('out = "runs"\nmodel = "openai:m"\n[[dataset]]\nname = "bundled"\ninitial = "initial.jsonl"\n')
    runs = read_grid(grid).runs.values()
    assert {run.seed for run in runs} == {0, 1, 2}
    assert {(run.budget, run.regime) for run in runs} == {(7, Regime.DENOTATION_CONFIRMED)}
