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


def test_a_share_of_answers_is_confirmed() -> None:
    for share, wanted in ((0.25, 25), (0.0, 0), (1.0, 100)):
        bench = _SERVE["Bench"](1, 0.1, 0.1, share)
        assert sum(map(bench._confirms, range(1, 101))) == wanted


def test_growth_is_what_comes_after_the_warm_up() -> None:
    seen = [(float(second), 10 * second, 100.0 + min(second, 90) + second / 100) for second in range(601)]
    assert _SERVE["_memory"](seen) == {"rss_growth_mb": 4.5, "rss_mb_per_1000": 1.0, "rss_mb": 195.8}


def test_a_machine_too_busy_to_look_often_still_has_numbers() -> None:
    seen = [(0.0, 0, 100.0), (5.0, 10, 101.0)]
    assert _SERVE["_memory"](seen) == {"rss_growth_mb": 0.0, "rss_mb_per_1000": 0.0, "rss_mb": 101.0}
