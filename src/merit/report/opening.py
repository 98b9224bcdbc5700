"""Opening the runs a report is asked for; a damaged or unfinished run is left out, with a sentence that says so."""

import os
from collections.abc import Iterable
from pathlib import Path

from merit.errors import MeritError, RunUnusable, counted, one_line
from merit.reading import check_regular, parse_json, read_text
from merit.runs import RunView, in_use, is_finished, read_run, run_folders
from merit.runs.accounting import account_as_recorded
from merit.runs.paths import METRICS
from merit.runs.timings import planned_turns


def open_runs(paths: Iterable[Path], *, unfinished: bool = False) -> tuple[list[RunView], list[str]]:
    """All runs in some folders, and a sentence for each that cannot be reported."""
    runs: list[RunView] = []
    refused: list[str] = []
    for path in _folders(paths, refused):
        try:
            runs.append(_open(path, unfinished=unfinished))
        except MeritError as error:
            refused.append(str(error))
        except OSError as error:
            refused.append(one_line(f"{error.filename or path}: cannot be read ({error.strerror})"))
    return runs, refused


def _folders(paths: Iterable[Path], refused: list[str]) -> list[Path]:
    """Run folders among and below some folders, each once."""
    folders: dict[Path, Path] = {}
    for path in paths:
        try:
            folders |= {folder.resolve(): folder for folder in run_folders(path, refused)}
        except RunUnusable as error:
            refused.append(str(error))
        except OSError as error:
            refused.append(f"{error.filename or path}: cannot be read ({error.strerror})")
    return list(folders.values())


def _open(path: Path, *, unfinished: bool) -> RunView:
    finished = is_finished(path)
    run = read_run(path, torn=not finished)
    if not finished:
        if os.path.lexists(path / METRICS):
            check_regular(path / METRICS)
        if not unfinished:
            done, planned = counted(len(run.turns), "turn"), planned_turns(path)
            so_far = f"{done} so far" if planned is None else f"{done} of {planned}"
            first = "another process is at it: wait for it" if in_use(path) else "finish it first"
            raise RunUnusable(
                f"{path}: not finished ({so_far}); {first} (a report can show what is there, with --unfinished)"
            )
        return run
    recorded = parse_json(read_text(path / METRICS), path / METRICS)
    metrics = account_as_recorded(run.turns, run.method, recorded, run.identity.regime)
    if not isinstance(recorded, dict) or any(recorded.get(name) != value for name, value in metrics.items()):
        raise RunUnusable(f"{path / METRICS}: does not follow from the turns; `merit audit` says more")
    return run
