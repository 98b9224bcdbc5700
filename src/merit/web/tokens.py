"""Tokens: who may ask, confirm and curate over the network. Only their hashes are kept, in a file of the project."""

import hashlib
import hmac
import json
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from merit.errors import InputError
from merit.files import atomic_write, open_regular, take_lock
from merit.reading import check_fields, check_format, parse_json, read_text

FILE = "tokens.json"
FORMAT = 1
_LOCK = "tokens.lock"
_PREFIX = "merit_"  # so that scanners for secrets find one that was committed by mistake
_BYTES = 32
_MOST = 1000  # tokens
_NAME = re.compile(r"[\w.@+-]{1,64}")
_SHA256 = re.compile("[0-9a-f]{64}")
_WAIT_S = 5.0


class Right(StrEnum):
    """What a token may allow; reading is allowed by every token."""

    ASK = "ask"
    CONFIRM = "confirm"  # confirm, reject, correct and withdraw
    CURATE = "curate"  # change the memory, import, prove


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is kept: whose it is and what it allows, but not its text."""

    name: str
    may: tuple[Right, ...]
    sha256: str
    created: str  # ISO 8601 in UTC


class TokenStore:
    """The tokens of a project's folder. A running server sees at once what another process adds or revokes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._lock = threading.Lock()
        self._seen: tuple[int, ...] | None = None  # the file that `_tokens` were read from
        self._tokens: tuple[Token, ...] = ()

    def add(self, name: str, may: Iterable[Right]) -> str:
        """Make a token; its text is returned here and never again."""
        if not _NAME.fullmatch(name):
            raise InputError(f"the name {name!r} cannot be used; write 1 to 64 letters, digits and . _ @ + -")
        rights = tuple(right for right in Right if right in set(may))
        text = _PREFIX + secrets.token_urlsafe(_BYTES)

        def added(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
            if any(token.name == name for token in tokens):
                raise InputError(
                    f"{self.path}: there is a token {name!r} already; revoke it first, or use another name"
                )
            if len(tokens) >= _MOST:
                raise InputError(f"{self.path}: has {_MOST} tokens, which are the most; revoke some")
            return (*tokens, Token(name, rights, _hash(text), datetime.now(UTC).isoformat(timespec="seconds")))

        self._change(added)
        return text

    def revoke(self, name: str) -> None:
        """Take a token back, from the next request on."""

        def left(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
            if all(token.name != name for token in tokens):
                raise InputError(f"{self.path}: there is no token {name!r}; `merit token list` lists them")
            return tuple(token for token in tokens if token.name != name)

        self._change(left)

    def listed(self) -> tuple[Token, ...]:
        """All tokens, the oldest first."""
        with self._lock:
            seen = _state(self.path)
            if seen != self._seen:
                self._tokens = _read(self.path) if seen is not None else ()
                self._seen = seen
            return self._tokens

    def find(self, text: str) -> Token | None:
        """The token with this text; every one is compared, each in constant time."""
        digest, found = _hash(text), None
        for token in self.listed():
            if hmac.compare_digest(token.sha256, digest):
                found = token
        return found

    def _change(self, change: Callable[[tuple[Token, ...]], tuple[Token, ...]]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.path.parent}: cannot be made ({error.strerror}); choose another folder") from None
        with _locked(self.path.with_name(_LOCK)):
            tokens = change(_read(self.path) if self.path.exists() else ())
            record = {"format": FORMAT, "tokens": [asdict(token) for token in tokens]}
            write_private(self.path, json.dumps(record, ensure_ascii=False, indent=1).encode())


def write_private(path: Path, data: bytes) -> None:
    """Write a file that only its owner may read, as a whole or not at all."""
    with atomic_write(path) as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(data)


def _hash(text: str) -> str:
    """A token has 256 random bits, so that a plain hash of it cannot be guessed."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _state(path: Path) -> tuple[int, ...] | None:
    """What changes whenever a file is replaced; None where there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check its permissions") from None
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def _read(path: Path) -> tuple[Token, ...]:
    record = parse_json(read_text(path), path)
    check_fields(record, {"format": int, "tokens": list}, str(path))
    check_format(record["format"], FORMAT, "a list of tokens", str(path))
    return tuple(_token(item, str(path)) for item in record["tokens"][:_MOST])


def _token(record: Any, where: str) -> Token:
    check_fields(record, {"name": str, "may": list, "sha256": str, "created": str}, where)
    known = {right.value for right in Right}
    if not all(isinstance(right, str) and right in known for right in record["may"]):
        raise InputError(f"{where}: a token may {', '.join(known)}, and one says otherwise; it was edited")
    if not _SHA256.fullmatch(record["sha256"]) or not _NAME.fullmatch(record["name"]):
        raise InputError(f"{where}: a token's name or hash cannot be what it is; it was edited")
    return Token(record["name"], tuple(map(Right, record["may"])), record["sha256"], record["created"])


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes from changing the tokens meanwhile."""
    try:
        file = open_regular(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); check its permissions") from None
    try:
        until = time.monotonic() + _WAIT_S
        while not take_lock(file):
            if time.monotonic() > until:
                raise InputError(f"{path}: another process is changing the tokens; try again")
        yield
    finally:
        os.close(file)
