"""The benchmarks of a team's memory, small."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from making.engines import POSTGRES
from making.team import admin

BENCH = Path(__file__).parents[2] / "bench"


def run(script: str, *options: str) -> Any:
    with admin():  # skipped where no server answers
        command = [sys.executable, str(BENCH / script), "--postgres", POSTGRES, "--json", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    return json.loads(done.stdout or done.stderr)


def test_a_few_people_over_two_servers() -> None:
    seen = run("team.py", "--minutes", "0.05", "--askers", "3", "--confirming", "2", "--think", "0.5", "--latency", "0")
    assert (seen["errors"], seen["lost"], seen["late"], seen["contradictions"]) == (0, 0, 0, 0), seen
    assert seen["confirmed"] > 0
    assert seen["asks"] > seen["confirmed"]


def test_a_memory_is_opened_from_its_index() -> None:
    seen = run("opening.py", "--entries", "300")
    assert seen["entries"] == 300
    assert {"postgres_opened_s", "folder_opened_s"} <= set(seen)
