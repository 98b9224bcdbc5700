"""A recording: exactly the answers that some finished runs used, so that they can be run again without their model.

Nothing is taken from a store of answers. A run folder holds every reply; the prompts they answer are derived again, as
an audit derives them, so a run that does not hold leaves no recording.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from merit.audit.audit import audit_run
from merit.errors import InputError
from merit.models import answer_key
from merit.models.exported import Answer, write_exported
from merit.models.token_counts import without_estimate
from merit.prompts import Prompt
from merit.reading import hash_file
from merit.runs import RunView, difference
from merit.runs.manifest import Record
from merit.runs.text import json_text, write_text
from merit.types import Completion, Sampling

FORMAT = 1
# What all runs of a recording share; it is said once.
_SHARED = ("model", "sampling", "dataset", "protocol", "distinct", "regime", "budget", "initial_sha256", "prompts")


def manifest_place(recording: Path) -> Path:
    """Where a recording's manifest lies: beside it, under the same name."""
    return recording.with_name(f"{recording.name.partition('.')[0]}.json")


def write_recording(runs: Sequence[RunView], path: Path, made: Mapping[str, str]) -> dict[str, Any]:
    """Write the answers of some runs, each once, and beside them the manifest, which is returned.

    `made` is what runs do not know of how their answers came about: quantisation, engine, machine, date.
    """
    shared, encoder = _shared(runs)
    kept: dict[bytes, Answer] = {}
    recorded = [_record(view, kept) for view in runs]
    # Alike texts side by side are packed best, and the order does not depend on that of the runs.
    count = write_exported(path, sorted(kept.values(), key=lambda answer: (answer[2].text, answer[0])))
    manifest = {
        "format": FORMAT,
        "file": path.name,
        "sha256": hash_file(path),
        "answers": count,
        **shared,
        "encoder": encoder,
        "made": dict(made),
        "methods": list(dict.fromkeys(run["method"] for run in recorded)),
        "seeds": sorted({run["seed"] for run in recorded}),
        "runs": recorded,
    }
    write_text(manifest_place(path), json_text(manifest))
    return manifest


def _record(view: RunView, kept: dict[bytes, Answer]) -> dict[str, Any]:
    """Add a run's answers to those kept, each under its hash; returns what the manifest says of the run."""
    used, model = set(), view.identity.model

    def heard(prompt: Prompt, sampling: Sampling, completion: Completion) -> None:
        key, completion = answer_key(model, prompt.text, sampling), without_estimate(completion)
        used.add(key)
        if kept.setdefault(key, (key, model, completion))[2] != completion:
            raise InputError(
                f"{view.path}: another answer to the prompt {key.hex()[:12]} came before; a recording has one"
            )

    findings = audit_run(view, heard=heard)
    about = {"method": view.method.name, "seed": view.identity.seed}
    return {**about, "questions": findings.questions, "answers": len(used)}


def _shared(runs: Sequence[RunView]) -> tuple[Record, Record | None]:
    """What all runs share, and the encoder of those that have one; runs with different settings cannot be recorded."""
    if not runs:
        raise InputError("nothing to record: give finished runs")
    first: Record = {}
    encoder: Record | None = None
    for view in runs:
        record = view.identity.record()
        shared = {name: record[name] for name in _SHARED}
        first = first or shared
        differs = difference(first, shared)
        if encoder is not None and record["encoder"] is not None:
            differs = differs or difference(encoder, record["encoder"], "encoder")
        if differs:
            raise InputError(f"{view.path}: cannot share a recording with the runs before it: {differs}")
        encoder = encoder or record["encoder"]
    return first, encoder
