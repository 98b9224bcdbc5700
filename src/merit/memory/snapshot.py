"""The index on disk: everything derived from the entries, so that opening a large memory need not read them all.

It is only ever a shortcut. A snapshot names how many bytes of which content it covers; when the entry files do not
begin with exactly that content, or anything about it looks wrong, it is ignored and the index is built anew.
"""

import hashlib
import json
import shutil
import uuid
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from merit.memory.entry import Grade
from merit.memory.segment import Bucket
from merit.memory.store import MemoryStore
from merit.models import EncoderIdentity
from merit.types import FailureType, Polarity

FORMAT = 2
_HEADER = "index.json"
Arrays = Mapping[str, npt.NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Covered:
    """The beginning of an entry file that a snapshot stands for."""

    bytes: int
    lines: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was derived from the covered entries."""

    encoder: EncoderIdentity | None  # of the vectors
    covered: Mapping[Polarity, Covered]
    questions: list[str]  # by code
    databases: list[str]
    segments: Mapping[str, Arrays]  # by segment name


def segment_name(bucket: Bucket) -> str:
    """The name of a segment's files."""
    return "-".join(bucket)


def bucket_named(name: str) -> Bucket:
    """The bucket of a segment's files."""
    polarity, kind, grade = name.split("-")
    return Polarity(polarity), FailureType(kind), Grade(grade)


def vector_path(index: Path, identity: EncoderIdentity, name: str) -> Path:
    """Where one segment's vectors of one encoder live."""
    digest = hashlib.sha256(repr(identity).encode()).hexdigest()[:12]
    return index / f"vectors-{digest}" / f"{name}.f32"


def cover(store: MemoryStore, polarity: Polarity, size: int, lines: int) -> Covered:
    """The first `size` bytes of an entry file."""
    return Covered(size, lines, _hash(store.path(polarity), size))


def forget(index: Path) -> None:
    """Make sure that no snapshot is taken for valid while what it stands for is being rebuilt."""
    (index / _HEADER).unlink(missing_ok=True)


def save(index: Path, snapshot: Snapshot) -> None:
    """Write a snapshot; until its header is replaced, the one before it stays the valid one."""
    generation = index / f"generation-{uuid.uuid4().hex[:12]}"  # never over an older one
    generation.mkdir(parents=True)
    for name, arrays in snapshot.segments.items():
        np.savez(generation / f"{name}.npz", **dict(arrays))  # type: ignore[arg-type]
    header = {
        "format": FORMAT,
        "generation": generation.name,
        "encoder": asdict(snapshot.encoder) if snapshot.encoder else None,
        "covered": {polarity.value: asdict(covered) for polarity, covered in snapshot.covered.items()},
        "questions": snapshot.questions,
        "databases": snapshot.databases,
        "segments": sorted(snapshot.segments),
    }
    unfinished = index / f"{_HEADER}.part"
    unfinished.write_text(json.dumps(header), encoding="utf-8")
    unfinished.replace(index / _HEADER)
    keep = {generation.name}
    if snapshot.encoder:
        keep.add(vector_path(index, snapshot.encoder, "x").parent.name)
    for path in index.iterdir():
        if path.is_dir() and path.name not in keep:
            shutil.rmtree(path, ignore_errors=True)


def load(index: Path, store: MemoryStore) -> Snapshot | None:
    """The snapshot in `index` if it fits the entry files, else None."""
    try:
        header: dict[str, Any] = json.loads((index / _HEADER).read_text(encoding="utf-8"))
        if header["format"] != FORMAT:
            return None
        covered = {Polarity(name): Covered(**value) for name, value in header["covered"].items()}
        if any(not _begins_with(store.path(polarity), part) for polarity, part in covered.items()):
            return None
        generation = index / header["generation"]
        segments = {name: _arrays(generation / f"{name}.npz") for name in header["segments"]}
        encoder = EncoderIdentity(**header["encoder"]) if header["encoder"] else None
        return Snapshot(encoder, covered, header["questions"], header["databases"], segments)
    except (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return None


def _arrays(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def _begins_with(path: Path, covered: Covered) -> bool:
    return path.stat().st_size >= covered.bytes and _hash(path, covered.bytes) == covered.sha256


def _hash(path: Path, size: int) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in _blocks(file, size):
            digest.update(block)
    return digest.hexdigest()


def _blocks(file: Any, size: int) -> Iterable[bytes]:
    while size > 0 and (block := file.read(min(size, 1 << 20))):
        size -= len(block)
        yield block
