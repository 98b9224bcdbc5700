"""Backup: what a project's folder holds as one archive, consistent while others write; and the way back.

An archive may come from anywhere. Only files that a folder has are taken out of it, under their own names, within sizes
that ordinary ones have; they are checked as if they were read for use before the folder appears under its name.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from merit import __version__
from merit.errors import Conflict, InputError
from merit.files import ArchiveFile, open_regular
from merit.live.measuring.regression import ACCEPTED
from merit.live.record.events import now
from merit.live.record.history import HISTORY, History
from merit.live.record.purging import MEMORY, finish_purge
from merit.live.schema.schemas import SCHEMAS
from merit.live.switch import SWITCHED
from merit.memory import entries_in
from merit.memory.format4 import LOG_NAME
from merit.memory.lock import WriterLock
from merit.memory.store import LOCK_NAME, has_memory
from merit.reading import DOCUMENT_BYTES, LINES_BYTES, MIB, check_fields, check_format, parse_json

FORMAT = 1
_CONTENTS = "merit-backup.json"
_LOG = f"{MEMORY}/{LOG_NAME}"
_TOKENS = "tokens.json"
_PLAIN = (HISTORY, _TOKENS, SWITCHED, ACCEPTED, "proof.json")
_SCHEMA = re.compile(rf"{SCHEMAS}/([0-9a-f]{{16,64}}|checked)\.json")
_LARGEST = {HISTORY: LINES_BYTES, _LOG: 4 * LINES_BYTES}
_MOST_FILES = 10_000
_MOST_BYTES = 8 * LINES_BYTES  # all together
_PIECE = MIB


def back_up(folder: Path, out: Path) -> list[str]:
    """Write an archive of a project's folder; the names of the files in it."""
    if _is_empty(folder):
        raise InputError(
            f"{folder}: has neither a history nor a memory; name the folder that `merit ask` keeps them in"
        )
    if os.path.lexists(out):
        raise InputError(f"{out}: is there already; name a new file")
    finish_purge(folder)
    with tempfile.TemporaryDirectory(prefix="merit-") as copied:
        names = _copy(folder, Path(copied))
        _pack(Path(copied), names, out)
    return names


def restore(
    archive: Path, folder: Path, check: Callable[[Path], object] = lambda _: None, *, with_tokens: bool = False
) -> list[str]:
    """Make a project's folder from an archive; it is there as a whole or not at all. `check` may refuse it.

    Tokens open a server, and who made the archive may know them: they are left out unless they are asked for.
    """
    if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{folder}: is there already, and nothing is overwritten; move it away, or name another --folder"
        )
    try:
        folder.absolute().parent.mkdir(parents=True, exist_ok=True)
        made = tempfile.TemporaryDirectory(prefix=f"{folder.name}-", dir=folder.absolute().parent)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror}); choose another --folder") from None
    with made as place:
        new = Path(place) / "new"
        new.mkdir()
        names = _unpack(archive, new)
        History(new).events()
        if has_memory(new / MEMORY):
            entries_in(new / MEMORY)
        check(new)
        if _TOKENS in names and not with_tokens:
            names.remove(_TOKENS)
            (new / _TOKENS).unlink()
        try:
            new.rename(folder)
        except OSError as error:
            raise InputError(f"{folder}: cannot be made ({error.strerror}); choose another --folder") from None
    return names


def _is_empty(folder: Path) -> bool:
    """Whether there is nothing to back up; a memory that holds no entry is nothing."""
    log = folder / _LOG
    remembers = log.stat().st_size > 0 if log.is_file() else has_memory(folder / MEMORY)
    return not remembers and not any((folder / name).is_file() for name in _PLAIN)


def _copy(folder: Path, to: Path) -> list[str]:
    """Copy everything, with feedback and changes of the memory kept out for as long as their files are copied."""
    with ExitStack() as locks:
        if (folder / HISTORY).is_file():
            locks.enter_context(History(folder).rewriting())
        if (folder / _LOG).is_file():
            lock = WriterLock(folder / MEMORY / LOCK_NAME)
            locks.callback(lock.close)
            locks.enter_context(lock)
        elif has_memory(folder / MEMORY):
            raise Conflict(
                f"{folder / MEMORY}: is of an earlier format; `merit memory copy` makes one of today's of it"
            )
        names = [name for name in (*_PLAIN, _LOG) if (folder / name).is_file()]
        names += sorted(f"{SCHEMAS}/{path.name}" for path in (folder / SCHEMAS).glob("*.json"))
        names = [name for name in names if _known(name)]
        for name in names:
            (to / name).parent.mkdir(exist_ok=True)
            _copy_lines(folder / name, to / name)
    return names


def _copy_lines(source: Path, target: Path) -> None:
    """A file, without what a crash left of a last line."""
    try:
        with os.fdopen(open_regular(source, os.O_RDONLY), "rb") as file, target.open("xb") as copy:
            shutil.copyfileobj(file, copy, _PIECE)
    except OSError as error:
        raise InputError(f"{source}: cannot be copied ({error.strerror})") from None
    if source.suffix == ".jsonl":
        with target.open("rb+") as copy:
            copy.truncate(_whole(copy.seek(0, os.SEEK_END), copy))


def _whole(size: int, file: Any) -> int:
    """Where the last whole line ends."""
    end = size
    while end:
        start = max(0, end - _PIECE)
        file.seek(start)
        if (at := file.read(end - start).rfind(b"\n")) >= 0:
            return int(start + at + 1)
        end = start
    return 0


def _pack(folder: Path, names: list[str], out: Path) -> None:
    unfinished = out.with_name(f"{out.name}.part")
    hashes = {name: _sha256(folder / name) for name in names}
    contents = {"format": FORMAT, "merit": __version__, "time": now(), "files": hashes}
    try:
        file = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(file, "wb") as stream:
                with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
                    archive.writestr(_CONTENTS, json.dumps(contents, indent=1))
                    for name in names:
                        archive.write(folder / name, name)
                stream.flush()
                os.fsync(stream.fileno())
            os.link(unfinished, out)  # unlike a rename, it replaces nothing
        finally:
            unfinished.unlink()
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror}); choose another place") from None


def _unpack(archive: Path, to: Path) -> list[str]:
    damaged = InputError(f"{archive}: not a backup that merit wrote, or damaged; give another one")
    try:
        with ArchiveFile(open_regular(archive, os.O_RDONLY)) as file, zipfile.ZipFile(file) as opened:
            infos = opened.infolist()
            names = [info.filename for info in infos]
            if not names or names[0] != _CONTENTS or len(names) > _MOST_FILES or len({*names}) != len(names):
                raise damaged
            if any(info.compress_type != zipfile.ZIP_DEFLATED for info in infos):
                raise damaged  # other ways of packing have faults and needs of memory of their own
            hashes = _contents(_bytes(opened, infos[0]), archive)
            if set(hashes) != set(names[1:]) or not all(map(_known, names[1:])):
                raise InputError(f"{archive}: holds files that a backup does not have; nothing was taken out of it")
            if sum(info.file_size for info in infos) > _MOST_BYTES:
                raise InputError(f"{archive}: its files are larger than those of a project can be")
            for info in infos[1:]:
                _extract(opened, info, to / info.filename)
                if _sha256(to / info.filename) != hashes[info.filename]:
                    raise damaged
    except FileNotFoundError:
        raise InputError(f"{archive}: no such file") from None
    except OSError as error:
        raise InputError(f"{archive}: cannot be read ({error.strerror or error})") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, UnicodeError):
        raise damaged from None
    return names[1:]


def _contents(data: bytes, archive: Path) -> dict[str, str]:
    record = parse_json(data.decode(), archive)
    check_fields(record, {"format": int, "files": dict}, str(archive))
    check_format(record["format"], FORMAT, "a backup", str(archive))
    return {str(name): str(digest) for name, digest in record["files"].items()}


def _bytes(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with opened.open(info) as file:
        return file.read(DOCUMENT_BYTES)


def _extract(opened: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path) -> None:
    """Take one file out, up to the size that it may have; whatever the archive says of it, it is a plain file."""
    left = _LARGEST.get(info.filename, DOCUMENT_BYTES)
    with suppress(FileExistsError):
        target.parent.mkdir()
    file = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with opened.open(info) as source, os.fdopen(file, "wb") as out:
        while piece := source.read(_PIECE):
            left -= len(piece)
            if left < 0:
                raise InputError(f"{info.filename}: larger than such a file can be; nothing was restored")
            out.write(piece)
        out.flush()
        os.fsync(out.fileno())


def _known(name: str) -> bool:
    return name in (*_PLAIN, _LOG) or _SCHEMA.fullmatch(name) is not None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
