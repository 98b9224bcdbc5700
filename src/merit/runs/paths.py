"""The files of a run's folder by name, and finding such folders.

manifest.json        what the run is                        stream.json          questions, schemas, first answers
trajectories.jsonl   one line a turn: the episode           retrievals.jsonl     one line a recall: pools and scores
predictions.jsonl    one line a question: the final SQL     memory/              the memory's log
metrics.json         the paper's accounting, at the end     timings.json         what it took, which differs each time
"""

from pathlib import Path

from merit.errors import RunUnusable
from merit.memory.format4 import LOG_NAME

MANIFEST, STREAM, METRICS, TIMINGS = "manifest.json", "stream.json", "metrics.json", "timings.json"
TRAJECTORIES, RETRIEVALS, PREDICTIONS = "trajectories.jsonl", "retrievals.jsonl", "predictions.jsonl"
MEMORY, LOCK = "memory", "run.lock"
ENTRIES = f"{MEMORY}/{LOG_NAME}"


def is_finished(run: Path) -> bool:
    """Whether a run has come to its end."""
    return (run / METRICS).is_file()


def find_runs(folder: Path, *, deepest: int | None = None) -> list[Path]:
    """The folder itself if it is a run's, else all those below it, at most `deepest` folders down; perhaps none."""
    if (folder / MANIFEST).is_file():
        return [folder]
    if deepest is None:
        return sorted(path.parent for path in folder.rglob(MANIFEST))
    patterns = ["*/" * depth + MANIFEST for depth in range(1, deepest + 1)]
    return sorted({path.parent for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


def refuse_file(path: Path) -> None:
    """Say what to give where a file was given instead of a run's folder."""
    if not path.is_file():
        return
    parent = path.absolute().parent
    way_out = f"give the folder of a run, such as {parent}" if (parent / MANIFEST).is_file() else "give a run's folder"
    if path.suffix == ".html":
        way_out = "a report's page is opened in a browser, and this command takes the folder of a run"
    raise RunUnusable(f"{path}: is a file; {way_out}")


def run_folders(folder: Path) -> list[Path]:
    """A run's folder itself, or all those below a folder; a folder without any is refused."""
    refuse_file(folder)
    runs = find_runs(folder)
    if not runs:
        raise RunUnusable(f"{folder}: there is no run here, nor in a folder below (no {MANIFEST})")
    return runs
