"""The index on disk: everything derived from the entries, so that opening a large memory need not read them all.

It is only ever a shortcut. A snapshot names the sequence number of the log that it stands for, the log's fingerprint up
to there, and the hash of every byte of its own. When anything differs, it is not used, and the index is built anew.

The hashes find damage, not forgery: a writer who can change the index with its hashes can change the entries as well.
A forged index can change the order of what is recalled or hide entries, as edited entries can; it cannot make one
up or break the causal rule, because an entry that is recalled is read from the log and compared with its row.
Hashing costs about 0.6 s for each GB where the processor has instructions for SHA-256, so 0.1 s for the vectors of
100,000 entries in 384 dimensions and 0.9 s for those of a million, shared by the processor's cores.
"""

import fcntl
import hashlib
import json
import logging
import os
import re
import shutil
import uuid
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from io import BufferedReader
from operator import index as as_int
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from merit.errors import InputError
from merit.memory.files import open_file, refuse_link
from merit.memory.index import Index
from merit.memory.segment import COLUMNS, Arrays, Segment, SegmentKey
from merit.memory.vectors import Vectors
from merit.types import EncoderIdentity, FailureType, Grade, Polarity, Store

FORMAT = 7  # 7: entries can be for a person or a team
_HEADER = "index.json"
_COLUMNS = "columns.bin"  # the lists of names and every segment's columns, one after the other
_NAMES = {"questions": np.uint8, "databases": np.uint8, "scopes": np.uint8}  # as JSON, by code
_FOLDER = re.compile(r"(?:generation|vectors)-[0-9a-f]{12}")
_LARGEST_HEADER = 1 << 20
_FAULTS = (InputError, OSError, KeyError, TypeError, ValueError, RecursionError, MemoryError)
Layout = tuple[Mapping[str, Any], list[int]]  # the arrays' types by name, and their lengths

_log = logging.getLogger(__name__)


def save(folder: Path, index: Index, store: Store) -> None:
    """Write a snapshot; until its header is replaced, the one before it stays the valid one.

    While another process writes its own, this one is not needed and left out. No link is followed: an index in a folder
    from elsewhere must not write or remove anything outside it.
    """
    refuse_link(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _save(folder, index, store)
    except BlockingIOError:
        return
    finally:
        os.close(lock)


def _save(folder: Path, index: Index, store: Store) -> None:
    refuse_link(folder / index.vector_folder)
    generation = folder / f"generation-{uuid.uuid4().hex[:12]}"  # never over an older one
    generation.mkdir()
    (folder / index.vector_folder).mkdir(exist_ok=True)
    segments = {_name(key): segment for key, segment in index.segments.items()}
    names = {name: _json_array(getattr(index, name)) for name in _NAMES}
    dumped = {name: segments[name].dump() for name in sorted(segments)}
    with (generation / _COLUMNS).open("xb") as file:
        digest = _write(file, [names, *dumped.values()])
    header = {
        "format": FORMAT,
        "generation": generation.name,
        "encoder": asdict(index.encoder) if index.encoder else None,
        "vector_folder": index.vector_folder,
        "vectors": {
            name: segment.vectors.save(folder / index.vector_folder / f"{name}.f32")
            for name, segment in segments.items()
            if segment.vectors is not None
        },
        "sequence": index.sequence,
        "fingerprint": store.fingerprint(index.sequence),
        "columns": digest,
        "names": [len(array) for array in names.values()],
        "segments": {name: [len(array) for array in arrays.values()] for name, arrays in dumped.items()},
    }
    unfinished = folder / f"{_HEADER}.part"
    unfinished.unlink(missing_ok=True)  # it may be a link to something else
    with unfinished.open("x", encoding="utf-8") as file:
        json.dump({**header, "sha256": _checksum(header)}, file)
    unfinished.replace(folder / _HEADER)
    _remove_older(folder, {generation.name, index.vector_folder})


def _remove_older(folder: Path, kept: set[str]) -> None:
    """Remove the folders of earlier snapshots, and links and pipes under such names, but not what links lead to."""
    for path in folder.iterdir():
        if not _FOLDER.fullmatch(path.name) or path.name in kept:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:  # rmtree would wait for a pipe's writer
            path.unlink()


def load(folder: Path, store: Store, encoder: EncoderIdentity | None) -> Index | None:
    """The index in `folder` if it is whole, fits the log and has this encoder's vectors, else None.

    Without an encoder, vectors are left where they are, unread.
    """
    if not os.path.lexists(folder / _HEADER):
        return None
    while True:
        header: dict[str, Any] = {}
        try:
            refuse_link(folder)
            header = _header(folder)
            if encoder is not None and header["encoder"] != asdict(encoder):
                return None
            return _index(folder, header, store, encoder)
        except _FAULTS as error:
            if header and _is_replaced(folder, header):
                continue  # another process saved a newer one meanwhile, and removed the files of this one
            _log.warning("%s: made again, because it is damaged or not of these entries (%s)", folder, error)
            return None


def _is_replaced(folder: Path, header: dict[str, Any]) -> bool:
    try:
        return _header(folder) != header
    except _FAULTS:
        return False


def _header(folder: Path) -> dict[str, Any]:
    with open_file(folder / _HEADER, through_link=False) as file:
        header = json.loads(file.read(_LARGEST_HEADER + 1))
    if not isinstance(header, dict):
        raise TypeError(f"{_HEADER} is not an object")
    checksum = header.pop("sha256")
    if checksum != _checksum(header) or header["format"] != FORMAT:
        raise ValueError(f"{_HEADER} was changed, or another version of merit wrote it")
    return header


def _index(folder: Path, header: dict[str, Any], store: Store, encoder: EncoderIdentity | None) -> Index:
    index = Index(encoder)
    index.unread_vectors = encoder is None and header["encoder"] is not None
    index.sequence = as_int(header["sequence"])
    if index.sequence < 0 or store.fingerprint(index.sequence) != header["fingerprint"]:
        raise ValueError("the log was changed")
    lengths = dict(header["segments"])
    layouts = [(_NAMES, header["names"]), *((COLUMNS, of_segment) for of_segment in lengths.values())]
    with open_file(_own_folder(folder, header["generation"]) / _COLUMNS, through_link=False) as file:
        names, *dumped = _read(file, layouts, header["columns"])
    for name in _NAMES:
        setattr(index, name, {key: code for code, key in enumerate(json.loads(names[name].tobytes()))})
    if index.scopes.get("") != 0:
        raise ValueError("the scopes do not begin with that of everyone")
    named = zip(lengths, dumped, strict=True)
    segments = {name: Segment.load(_key(name), arrays) for name, arrays in named}
    if encoder is not None:
        vector_folder, dimension = _own_folder(folder, header["vector_folder"]), encoder.dimension
        index.vector_folder = vector_folder.name

        def read(name: str) -> Vectors:
            return Vectors.read(vector_folder / f"{name}.f32", dimension, segments[name].count, header["vectors"][name])

        with ThreadPoolExecutor(os.cpu_count()) as pool:  # hashing lets other threads work
            for name, vectors in zip(segments, pool.map(read, segments), strict=True):
                segments[name].vectors = vectors
    for segment in segments.values():
        index.restore(segment)
    return index


def _write(file: BinaryIO, groups: Iterable[Arrays]) -> str:
    """Write arrays one after the other; returns the hash of all bytes."""
    digest = hashlib.sha256()
    for arrays in groups:
        for array in arrays.values():
            data = array.tobytes()
            file.write(data)
            digest.update(data)
    return digest.hexdigest()


def _read(file: BufferedReader, layouts: Iterable[Layout], checksum: str) -> list[Arrays]:
    """The arrays of a file, as their layouts say; a ValueError if it has any other byte."""
    digest, left = hashlib.sha256(), os.fstat(file.fileno()).st_size
    groups: list[Arrays] = []
    for columns, lengths in layouts:
        arrays: dict[str, Any] = {}
        for (name, kind), length in zip(columns.items(), lengths, strict=True):
            if not 0 <= length <= left:
                raise ValueError(f"{_COLUMNS} is too short")
            arrays[name] = np.zeros(length, kind)
            left -= file.readinto(arrays[name].data)
            digest.update(arrays[name].data)
        groups.append(arrays)
    if left or digest.hexdigest() != checksum:
        raise ValueError(f"{_COLUMNS} is damaged")
    return groups


def _own_folder(folder: Path, name: str) -> Path:
    """A folder in that of the index, if its name is one that `save` gives: neither it nor a link may lead elsewhere."""
    if not _FOLDER.fullmatch(name):
        raise ValueError(f"{name!r} is not a folder of an index")
    refuse_link(folder / name)
    return folder / name


def _json_array(names: Iterable[str]) -> Any:
    return np.frombuffer(json.dumps(list(names)).encode(), np.uint8)


def _checksum(header: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(header).encode()).hexdigest()


def _name(key: SegmentKey) -> str:
    return "-".join(key)


def _key(name: str) -> SegmentKey:
    polarity, kind, grade = name.split("-")
    return Polarity(polarity), FailureType(kind), Grade(grade)
