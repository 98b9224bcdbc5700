"""The benchmarks of imports and of drift say what they should, on few entries."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from making.databases import SERVERS
from merit.formats import FORMATS

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("name", ["csv", "wren"])
def test_pairs_come_in_once(name: str, tmp_path: Path) -> None:
    assert name in FORMATS
    imports: dict[str, Any] = runpy.run_path(str(BENCH / "imports.py"))
    imports["make_database"](tmp_path / "shop.sqlite")
    row = imports["measure"](name, imports["make_pairs"](60), tmp_path)
    assert row["pairs"] == 60
    assert row["besides_s"] == pytest.approx(row["import_s"] - row["execute_s"], abs=0.01)


@pytest.mark.parametrize("dialect", SERVERS)
def test_exactly_the_affected_entries_change(dialect: str, tmp_path: Path) -> None:
    drift: dict[str, Any] = runpy.run_path(str(BENCH / "drift.py"))
    row = drift["measure"](dialect, 10, 120, tmp_path)
    assert row["stale"] == {"rename": 4, "drop": 4, "retype": 4, "add": 0}
    assert row["wrong"] == 0
