"""The answers of a real model that come with merit, so that it can be tried without one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merit.bundled.source import HERE
from merit.errors import InputError
from merit.reading import check_fields, check_format, hash_file, parse_json, read_text

FORMAT = 1
FILE, MANIFEST = "answers.jsonl.xz", "answers.json"
LIVE = "live.jsonl"  # the answers of the demo's live part, each with its model's name
_FIELDS: dict[str, type] = {
    "format": int,
    "sha256": str,
    "answers": int,
    "model": dict,
    "made": dict,
    "methods": list,
    "seeds": list,
    "encoder": object,
}
_WAY_OUT = "install merit again, or ask a live model with --model"


@dataclass(frozen=True, slots=True)
class Recording:
    """A file of answers, and the manifest that says how they were made."""

    path: Path
    manifest: dict[str, Any]

    @property
    def uri(self) -> str:
        """The model that answers from it."""
        return f"replay:{self.path}"


def recorded(folder: Path = HERE) -> Recording:
    """The recording in a folder, checked against the hash in its manifest."""
    path, manifest_path = folder / FILE, folder / MANIFEST
    for needed in (path, manifest_path):
        if not needed.is_file():
            raise InputError(f"{needed}: the recorded answers that come with merit are not here; {_WAY_OUT}")
    manifest = parse_json(read_text(manifest_path), manifest_path)
    check_fields(manifest, {"format": int}, str(manifest_path))
    check_format(manifest["format"], FORMAT, "a recording", str(manifest_path))
    check_fields(manifest, _FIELDS, str(manifest_path))
    if hash_file(path) != manifest["sha256"]:
        raise InputError(f"{path}: damaged (its hash is not the one that {MANIFEST} names); {_WAY_OUT}")
    return Recording(path, manifest)


def live_recording() -> Path:
    """The file of recorded answers to the questions of the demo's live part."""
    path = HERE / LIVE
    if not path.is_file():
        raise InputError(f"{path}: the recorded answers that come with merit are not here; {_WAY_OUT}")
    return path
