"""The benchmark of asking measures what it says, on a schema of three tables."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

_ASK: Any = runpy.run_path(str(Path(__file__).parents[2] / "bench" / "ask.py"))


def test_it_measures_answers_beside_a_bare_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    tables = {f"dw#sep#T{n}": {"column_names_original": ["KEY_ID", f"NAME_{n}"]} for n in range(3)}
    (tmp_path / "tables.json").write_text(json.dumps(tables))
    (tmp_path / "questions.json").write_text(json.dumps([{"question": f"Which name is {n}?"} for n in range(8)]))
    row = _ASK["run"](tmp_path / "tables.json", tmp_path / "questions.json", 20, 3, tmp_path / "made")
    assert (row["tables"], row["entries"], row["asked"]) == (3, 20, 3)
    assert 0 < row["overhead_ms_p50"] <= row["overhead_ms_p95"]
    assert row["bare_ms_p50"] > 0
