"""In which setting two runs differ, in plain words, and what to type to go on with the one that is there."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from merit.errors import RunUnusable
from merit.reading import LINES_BYTES, read_bytes
from merit.runs.manifest import differences, short
from merit.runs.manifest_reading import read_manifest
from merit.runs.paths import MANIFEST, TRAJECTORIES

# What people call the fields of an identity, in the order in which a difference is told.
_FIELD_NAMES = {
    "dataset.name": "the dataset",
    "dataset.label": "the data's name",
    "dataset.split": "the split",
    "dataset.sha256": "the hash of the data",
    "method.name": "the method",
    "seed": "the seed",
    "budget": "the budget",
    "length": "the number of questions",
    "model.name": "the model",
    "model.revision": "the model's revision",
    "encoder.name": "the encoder",
    "sampling.max_prompt_tokens": "the limit on prompt tokens",
    "protocol": "the protocol",
    "distinct": "DISTINCT",
    "regime": "the regime",
    "review.share": "the share of answers that are reviewed",
    "review.kind": "what the reviewer does",
    "timeout_s": "the time limit",
    "initial_sha256": "the hash of the first answers",
    "demonstrations": "the fixed examples",
    "code": "the hash of merit's own code",
}
_REMEDIES = {  # of what cannot simply be given; words that fit options, grids and programs alike
    "dataset.sha256": "use the data that it began with",
    "model.revision": "set MERIT_MODEL_REVISION to the revision there",
    "initial_sha256": "give the first answers that it began with",
    "demonstrations": "give the examples that it began with",
    "code": "use the version of merit that began it",
}


def field_name(field: str) -> str:
    """What people call a field of an identity."""
    return _FIELD_NAMES.get(field) or field.replace(".", " ").replace("_", " ")


def plain_difference(there: Any, here: Any) -> str | None:
    """The first field in which two records differ, as people call it, with both values; None where they do not."""
    for field, was, is_now in differences(there, here):
        return f"{field_name(field)} is {short(was)} there and {short(is_now)} here"
    return None


def run_mismatch(there: Mapping[str, Any], here: Mapping[str, Any]) -> tuple[str, str] | None:
    """In what a run that is there differs from the one that is wanted, and how to go on with it; None if in nothing."""
    found = {field: values for field, *values in differences(there, here)}
    if not found:
        return None
    field = next((name for name in _FIELD_NAMES if name in found), next(iter(found)))
    was, is_now = found[field]
    name = field_name(field)
    told = f"{name} is {_plain(was)} there and {_plain(is_now)} here"
    unnamed = field == "model.name" and not str(was).startswith("openai:")  # it was given as a file
    if field in _REMEDIES or field not in _FIELD_NAMES or unnamed:
        return told, _REMEDIES.get(field, "give the same settings")
    return told, f"leave {name} out" if was is None else f"give {name} {_plain(was)}"


def refuse_other_settings(run: Path, settings: Mapping[str, Any]) -> None:
    """Complain about a folder whose run was begun with other settings, before anything is asked for.

    Settings are fields of an identity as a command gives them; the run's folder compares the rest when it is opened.
    """
    if not (run / MANIFEST).is_file():
        return
    there = read_manifest(run).identity.record()
    named = {part: {**there[part], "name": settings[part]} for part in ("method", "dataset")}
    here = {**there, **settings, **named}
    differs = run_mismatch(there, here)
    turns = run / TRAJECTORIES
    if differs is not None and turns.is_file() and b"\n" in read_bytes(turns, LINES_BYTES):
        raise holds_another(run, *differs)


def holds_another(run: Path, differs: str, way_out: str) -> RunUnusable:
    """What to say of a folder that holds another run."""
    return RunUnusable(
        f"{run}: holds another run: {differs}; {way_out} to go on with that one, or choose another place"
    )


def _plain(value: Any) -> str:
    return "none" if value is None else value if isinstance(value, str) and len(value) < 40 else short(value)
