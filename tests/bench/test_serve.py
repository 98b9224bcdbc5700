"""The benchmark of the server measures what it says, with a few people and one kill."""

import asyncio
import runpy
from pathlib import Path
from typing import Any

_SERVE: Any = runpy.run_path(str(Path(__file__).parents[2] / "bench" / "serve.py"))


def test_it_counts_answers_and_looks_up_what_was_acknowledged(tmp_path: Path) -> None:
    row = asyncio.run(_SERVE["run"](tmp_path, 0.1, 3, 0.05, 0.1, 1))
    assert row["errors"] == 0, row["first_errors"]
    assert row["asks"] > 3
    assert row["confirmed"] > 0
    assert 0 < row["overhead_ms_p50"] <= row["overhead_ms_p95"]
