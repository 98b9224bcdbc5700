"""Changing a run after the fact, as somebody would who covers it up."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from merit.data import Dataset
from merit.runs import read_run
from merit.runs.accounting import account
from merit.runs.manifest import run_id
from merit.runs.text import json_text

Record = dict[str, Any]
TURNS, LOG, ENTRIES, ANSWERS = (
    "trajectories.jsonl",
    "retrievals.jsonl",
    "memory/memory.jsonl",
    "predictions.jsonl",
)


def rewrite(run: Path, file: str, change: Callable[[list[Record]], object]) -> None:
    """Change the records of a file of JSON lines."""
    path = run / file
    records = [json.loads(line) for line in path.read_text().splitlines()]
    change(records)
    path.write_text("".join(_line(record) + "\n" for record in records))


def _line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def turn_where(records: list[Record], holds: Callable[[Record], bool]) -> Record:
    return next(record for record in records if holds(record))


def settle(run: Path) -> None:
    """Count anew, as somebody would who covers up a change."""
    view = read_run(run)
    (run / "metrics.json").write_text(json_text(account(view.turns, view.method, view.identity.regime)))


def reidentify(run: Path, change: Callable[[Record], object]) -> None:
    """Change what the run is, and give it the name that follows wherever it is named."""
    manifest = json.loads((run / "manifest.json").read_text())
    before = manifest["run"]
    change(manifest["identity"])
    (run / "manifest.json").write_text(json_text(manifest))
    for path in run.rglob("*.json*"):
        path.write_text(path.read_text().replace(before, run_id(manifest["identity"])))


def restream(run: Path, change: Callable[[Record], object], *, indent: int = 1) -> None:
    """Change what stream.json says, and make the manifest agree with it."""
    stream = json.loads((run / "stream.json").read_text())
    change(stream)
    text = json.dumps(stream, ensure_ascii=False, indent=indent) + "\n"
    (run / "stream.json").write_text(text)

    def follow(identity: Record) -> None:
        identity["stream_sha256"] = hashlib.sha256(text.encode()).hexdigest()
        identity["dataset"]["questions"] = len({one["id"] for one in stream["questions"]})

    reidentify(run, follow)


def claim_data(run: Path, dataset: Dataset) -> None:
    """Say of a run that it was made over a dataset, whatever it was made over."""
    reidentify(run, lambda identity: identity["dataset"].update(sha256=dataset.content_hash()))
