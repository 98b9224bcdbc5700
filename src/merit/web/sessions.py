"""Sessions: a browser that signed in with a token gets a cookie; only the cookie's hash is kept.

They outlive a restart of the server, and end with their token, by signing out, or after some weeks.
"""

import hmac
import re
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from merit.errors import InputError
from merit.reading import check_fields, check_format
from merit.web.access_tokens import Token, TokenStore, hash_of
from merit.web.private import PrivateFile

FILE = "sessions.json"
FORMAT = 1
LASTS_S = 30 * 24 * 3600
_MOST_EACH = 20  # of one token; the oldest goes
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """A browser that is signed in."""

    sha256: str  # of the cookie
    token: str  # the hash of the token that it signed in with
    expires: int  # seconds since 1970


class SessionStore:
    """The sessions of a project's folder."""

    def __init__(self, folder: Path, tokens: TokenStore) -> None:
        self._tokens = tokens
        self._file = PrivateFile[tuple[BrowserSession, ...]](folder / FILE, _read, _record, ())

    def begin(self, token: Token) -> str:
        """A new session; the text is for the cookie."""
        text, now = secrets.token_urlsafe(32), int(time.time())
        fresh = BrowserSession(hash_of(text), token.sha256, now + LASTS_S)

        def begun(sessions: tuple[BrowserSession, ...]) -> tuple[BrowserSession, ...]:
            known = {token.sha256 for token in self._tokens.listed()}
            live = [session for session in sessions if session.expires > now and session.token in known]
            own = [session for session in live if session.token == token.sha256][-(_MOST_EACH - 1) :]
            return (*(session for session in live if session.token != token.sha256), *own, fresh)

        self._file.change(begun)
        return text

    def find(self, text: str) -> Token | None:
        """The token that a cookie stands for, if it is still valid."""
        digest, found = hash_of(text), None
        for session in self._file.value():
            if hmac.compare_digest(session.sha256, digest) and session.expires > time.time():
                found = session
        if found is None:
            return None
        return next((token for token in self._tokens.listed() if token.sha256 == found.token), None)

    def end(self, text: str) -> None:
        """Sign out."""
        digest = hash_of(text)
        if any(session.sha256 == digest for session in self._file.value()):
            self._file.change(lambda sessions: tuple(session for session in sessions if session.sha256 != digest))


def _record(sessions: tuple[BrowserSession, ...]) -> dict[str, Any]:
    return {"format": FORMAT, "sessions": [asdict(session) for session in sessions]}


def _read(record: Any, where: str) -> tuple[BrowserSession, ...]:
    check_fields(record, {"format": int, "sessions": list}, where)
    check_format(record["format"], FORMAT, "a list of sessions", where)
    sessions = []
    for item in record["sessions"]:
        check_fields(item, {"sha256": str, "token": str, "expires": int}, where)
        if not (_SHA256.fullmatch(item["sha256"]) and _SHA256.fullmatch(item["token"])):
            raise InputError(f"{where}: a session has a hash that cannot be; remove the file, and sign in again")
        sessions.append(BrowserSession(item["sha256"], item["token"], item["expires"]))
    return tuple(sessions)
