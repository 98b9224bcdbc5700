"""Tokens: who may ask, confirm and curate over the network. Only their hashes are kept, in a file of the project."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from merit.errors import InputError
from merit.reading import check_fields, check_format
from merit.web.private import PrivateFile

FILE = "tokens.json"
FORMAT = 1
_PREFIX = "merit_"  # so that scanners for secrets find one that was committed by mistake
_BYTES = 32
_MOST = 1000  # tokens
_NAME = re.compile(r"[\w.@+-]{1,64}", re.ASCII)
_SHA256 = re.compile("[0-9a-f]{64}")


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
        self._file = PrivateFile[tuple[Token, ...]](folder / FILE, read_tokens, _record, ())

    @property
    def path(self) -> Path:
        """The file that they are kept in."""
        return self._file.path

    def add(self, name: str, may: Iterable[Right]) -> str:
        """Make a token; its text is returned here and never again."""
        if not _NAME.fullmatch(name):
            raise InputError(f"the name {name!r} cannot be used; write 1 to 64 letters, digits and . _ @ + -")
        wanted = set(may)
        rights = tuple(right for right in Right if right in wanted)
        text = _PREFIX + secrets.token_urlsafe(_BYTES)

        def added(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
            if any(token.name == name for token in tokens):
                raise InputError(
                    f"{self.path}: there is a token {name!r} already; revoke it first, or use another name"
                )
            if len(tokens) >= _MOST:
                raise InputError(f"{self.path}: has {_MOST} tokens, which are the most; revoke some")
            return (*tokens, Token(name, rights, hash_of(text), datetime.now(UTC).isoformat(timespec="seconds")))

        self._file.change(added)
        return text

    def revoke(self, name: str) -> None:
        """Take a token back, from the next request on."""

        def left(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
            if all(token.name != name for token in tokens):
                raise InputError(f"{self.path}: there is no token {name!r}; `merit token list` lists them")
            return tuple(token for token in tokens if token.name != name)

        left(self.listed())  # refused before a folder is made for it
        self._file.change(left)

    def listed(self) -> tuple[Token, ...]:
        """All tokens, the oldest first."""
        return self._file.value()

    def find_bearer(self, header: str) -> Token | None:
        """The token of an Authorization header."""
        scheme, _, text = header.partition(" ")
        return self.find(text.strip()) if scheme.lower() == "bearer" else None

    def find(self, text: str) -> Token | None:
        """The token with this text; every one is compared, each in constant time."""
        digest, found = hash_of(text), None
        for token in self.listed():
            if hmac.compare_digest(token.sha256, digest):
                found = token
        return found


def hash_of(text: str) -> str:
    """What is kept of a secret: it has 256 random bits, so that its plain hash cannot be guessed."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _record(tokens: tuple[Token, ...]) -> dict[str, Any]:
    return {"format": FORMAT, "tokens": [asdict(token) for token in tokens]}


def read_tokens(record: Any, where: str) -> tuple[Token, ...]:
    """Tokens from their record, every field checked."""
    check_fields(record, {"format": int, "tokens": list}, where)
    check_format(record["format"], FORMAT, "a list of tokens", where)
    return tuple(_token(item, where) for item in record["tokens"][:_MOST])


def _token(record: Any, where: str) -> Token:
    check_fields(record, {"name": str, "may": list, "sha256": str, "created": str}, where)
    known = [right.value for right in Right]
    if not all(isinstance(right, str) and right in known for right in record["may"]):
        raise InputError(f"{where}: a token has a right that is none of {', '.join(known)}; the file was edited")
    if not _SHA256.fullmatch(record["sha256"]) or not _NAME.fullmatch(record["name"]):
        raise InputError(f"{where}: a token has a name or a hash that cannot be; the file was edited")
    return Token(record["name"], tuple(map(Right, record["may"])), record["sha256"], record["created"])
