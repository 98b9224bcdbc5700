"""timings.json: what each session at a run took, and how far it meant to go. Different each time, and optional."""

from pathlib import Path
from typing import Any

from merit.errors import MeritError
from merit.reading import parse_json, read_text
from merit.runs.paths import TIMINGS


def sessions(run: Path) -> list[Any]:
    """The sessions at a run, in their order; none where the file is not there, or damaged."""
    try:
        return list(parse_json(read_text(run / TIMINGS), run / TIMINGS)["sessions"])
    except (MeritError, KeyError, TypeError):
        return []


def planned_turns(run: Path) -> int | None:
    """How many turns the run has when its latest session ends; None where an earlier version did not write it down."""
    found = sessions(run)
    planned = found[-1].get("planned_turns") if found and isinstance(found[-1], dict) else None
    return planned if isinstance(planned, int) and not isinstance(planned, bool) and planned >= 0 else None
