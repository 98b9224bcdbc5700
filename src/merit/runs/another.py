"""Two runs that are not one: in what they differ, in plain words, and what to type."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from merit.errors import RunUnusable
from merit.reading import LINES_BYTES, read_bytes
from merit.runs.decode import read_manifest
from merit.runs.manifest import differences, short
from merit.runs.paths import MANIFEST, TRAJECTORIES

# Fields of an identity, the telling ones first: what people call them, and how a command says them.
_SAID: dict[str, tuple[str, str]] = {
    "dataset.name": ("the dataset", ""),
    "dataset.label": ("the data's name", "--name"),
    "dataset.split": ("the split", "--split"),
    "dataset.sha256": ("the hash of the data", ""),
    "method.name": ("the method", "--method"),
    "seed": ("the seed", "--seed"),
    "budget": ("the budget", "--budget"),
    "length": ("the number of questions", "--limit"),
    "model.name": ("the model", "--model"),
    "model.revision": ("the model's revision", ""),
    "encoder.name": ("the encoder", "--encoder"),
    "sampling.max_prompt_tokens": ("the number of tokens that prompts are cut to", "--max-prompt-tokens"),
    "protocol": ("the protocol", "--protocol"),
    "distinct": ("DISTINCT", "--distinct"),
    "regime": ("the regime", "--regime"),
    "timeout_s": ("the time limit", "--timeout"),
    "initial_sha256": ("the hash of the first answers", ""),
    "demonstrations": ("the fixed examples", ""),
    "code": ("the hash of merit's own code", ""),
}
_WAYS_OUT = {
    "dataset.sha256": "use the data that it began with",
    "model.revision": "set MERIT_MODEL_REVISION to the revision there",
    "initial_sha256": "give the --initial that it began with",
    "demonstrations": "give the --examples that it began with",
    "code": "use the version of merit that began it",
}


def another_run(there: Mapping[str, Any], here: Mapping[str, Any]) -> tuple[str, str] | None:
    """In what a run that is there differs from the one that is wanted, and how to go on with it; None if in nothing."""
    found = {field: values for field, *values in differences(there, here)}
    if not found:
        return None
    field = next((name for name in _SAID if name in found), next(iter(found)))
    was, is_now = found[field]
    name, option = _SAID.get(field, (field, ""))
    told = f"{name} is {_plain(was)} there and {_plain(is_now)} in this command"
    way_out = _WAYS_OUT.get(field, "give the same settings")
    if field == "dataset.name":
        way_out = f"give the dataset {_plain(was)}"
    elif option and was is None:
        way_out = f"leave {option} out"
    elif option and not (field == "model.name" and not str(was).startswith("openai:")):  # others are named by a file
        way_out = f"give {option} {_plain(was)}"
    return told, way_out


def refuse_other_settings(run: Path, settings: Mapping[str, Any]) -> None:
    """Complain about a folder whose run was begun with other settings, before anything is asked for.

    Settings are fields of an identity as a command gives them; the run's folder compares the rest when it is opened.
    """
    if not (run / MANIFEST).is_file():
        return
    there = read_manifest(run).identity.record()
    named = {part: {**there[part], "name": settings[part]} for part in ("method", "dataset")}
    here = {**there, **settings, **named}
    differs = another_run(there, here)
    turns = run / TRAJECTORIES
    if differs is not None and turns.is_file() and b"\n" in read_bytes(turns, LINES_BYTES):
        raise holds_another(run, *differs)


def holds_another(run: Path, differs: str, way_out: str) -> RunUnusable:
    """What to say of a folder that holds another run."""
    return RunUnusable(
        f"{run}: holds another run: {differs}; {way_out} to go on with that one, or choose another --out"
    )


def _plain(value: Any) -> str:
    return "none" if value is None else value if isinstance(value, str) and len(value) < 40 else short(value)
