"""timings.json is optional: what it says of a run's plan is read with care."""

from pathlib import Path

import pytest

from merit.runs.timings import planned_turns, sessions


@pytest.mark.parametrize(
    ("text", "planned"),
    [
        ('{"format": 1, "sessions": [{"planned_turns": 5}, {"planned_turns": 10}]}', 10),
        ('{"format": 1, "sessions": [{"planned_turns": 5}, {"turns": 3}]}', None),
        ('{"format": 1, "sessions": [{"planned_turns": true}]}', None),
        ('{"format": 1, "sessions": [{"planned_turns": -1}]}', None),
        ('{"format": 1, "sessions": ["planned_turns"]}', None),
        ('{"format": 1, "sessions": []}', None),
        ('{"format": 1, "sessions": 7}', None),
        ('{"format": 1', None),
    ],
)
def test_the_latest_session_says_how_many_turns_are_planned(text: str, planned: int | None, tmp_path: Path) -> None:
    (tmp_path / "timings.json").write_text(text)
    assert planned_turns(tmp_path) == planned


def test_a_run_without_timings_has_no_sessions(tmp_path: Path) -> None:
    assert sessions(tmp_path) == []
    assert planned_turns(tmp_path) is None
