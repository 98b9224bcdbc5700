"""A recording: exactly the answers that some finished runs used, so that they can be run again without their model.

Nothing is taken from a store of answers. A run folder holds every reply; the prompts they answer are derived again, as
an audit derives them, so a run that does not hold leaves no recording.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from merit.errors import InputError
from merit.models import answer_key
from merit.models.exported import Answer, write_exported
from merit.models.tokens import without_estimate
from merit.prompts import Prompt
from merit.reading import hash_file
from merit.stream.audit import audit_run
from merit.stream.folder import RunView, json_text, write_text
from merit.stream.manifest import difference
from merit.types import Completion, ModelIdentity, Sampling

FORMAT = 1
# What all runs of a recording share; it is said once.
_SHARED = ("model", "sampling", "dataset", "protocol", "regime", "budget", "initial_sha256", "prompts")


def manifest_place(recording: Path) -> Path:
    """Where a recording's manifest lies: beside it, under the same name."""
    return recording.with_name(f"{recording.name.partition('.')[0]}.json")


def write_recording(runs: Sequence[RunView], path: Path, made: Mapping[str, str]) -> dict[str, Any]:
    """Write the answers of some runs, each once, and beside them the manifest, which is returned.

    `made` is what runs do not know of how their answers came about: quantisation, engine, machine, date.
    """
    shared, encoder = _shared(runs)
    identity = ModelIdentity(**shared["model"])
    kept: dict[bytes, Answer] = {}
    said = [_record(view, identity, kept) for view in runs]
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
        "methods": list(dict.fromkeys(one["method"] for one in said)),
        "seeds": sorted({one["seed"] for one in said}),
        "runs": said,
    }
    write_text(manifest_place(path), json_text(manifest))
    return manifest


def _record(view: RunView, identity: ModelIdentity, kept: dict[bytes, Answer]) -> dict[str, Any]:
    """Add a run's answers to those kept, each under its hash; returns what the manifest says of the run."""
    used = set()

    def heard(prompt: Prompt, sampling: Sampling, completion: Completion) -> None:
        key, completion = answer_key(identity, prompt.text, sampling), without_estimate(completion)
        used.add(key)
        if kept.setdefault(key, (key, identity, completion))[2] != completion:
            raise InputError(
                f"{view.path}: another answer to the prompt {key.hex()[:12]} came before; a recording has one"
            )

    report = audit_run(view, heard=heard)
    about = {"method": view.method.name, "seed": view.identity["seed"]}
    return {**about, "questions": report.questions, "answers": len(used)}


def _shared(runs: Sequence[RunView]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """What runs share, and the encoder of those that have one; runs that differ in it are no one recording."""
    if not runs:
        raise InputError("nothing to record: give finished runs")
    first = {name: runs[0].identity[name] for name in _SHARED}
    encoder: dict[str, Any] | None = None
    for view in runs:
        differs = difference(first, {name: view.identity[name] for name in _SHARED})
        if encoder is not None and view.identity["encoder"] is not None:
            differs = differs or difference(encoder, view.identity["encoder"], "encoder")
        if differs:
            raise InputError(f"{view.path}: is not of one recording with the runs before it: {differs}")
        encoder = encoder or view.identity["encoder"]
    return first, encoder
