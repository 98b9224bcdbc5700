"""Where an endpoint is and what opens it, from OPENAI_BASE_URL and OPENAI_API_KEY; and texts without any secret.

Every text from an endpoint goes through `Address.redacted` before it becomes part of a message, and every text from a
library that uses the network by itself through `redacted`.
"""

import base64
import json
import os
import re
import string
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from yarl import URL

from merit.errors import InputError

DEFAULT = "https://api.openai.com/v1"
_BESIDE = frozenset({"/apply-template", "/tokenize"})  # vLLM's and llama.cpp's own paths, beside OpenAI's below /v1
_SCHEME = re.compile(r"^[\w+.-]*:/+")  # also one that is misspelled: http:/
_MOST_SHOWN = 300  # characters of an endpoint's text in a message
_MOST_SEARCHED = 8192  # characters that are searched for secrets; a response body may have millions
_SURELY_SECRET = 16  # characters; shorter keys may be made up for a local server ("none") and occur in an honest answer
_WORD = 4  # characters; a shorter secret is hidden only where it stands alone: it occurs inside ordinary words
_PIECE = 8  # characters of a secret in a row that are hidden too: libraries cut texts where they like
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)  # every character stays one
# What looks like a secret, known or not: a bearer token, a user in an address, a parameter named key, an OpenAI key.
_SECRETS = (
    (re.compile(r"\b(bearer)\s+(?=\S*\d)[^\s\"',;}]{8,}", re.IGNORECASE), r"\1 ***"),
    (re.compile(r"://[^\s@]{1,1024}@"), "://***@"),
    (re.compile(r"([?&][\w-]*(?:key|token|password|secret|sig|signature)=)[^&\s\"']+", re.IGNORECASE), r"\1***"),
    (re.compile(r"\bsk-[\w-]{8,}"), "***"),
)


@dataclass(frozen=True, slots=True)
class Address:
    """An endpoint's address; `shown` and `named` are the only parts that may be printed or kept."""

    shown: str  # without user, password and query
    named: str  # the same for messages, with a note where OPENAI_BASE_URL is not set
    headers: dict[str, str] = field(repr=False)
    _query: str = field(repr=False)
    _secrets: "_Secrets" = field(repr=False)
    _long_secrets: tuple[re.Pattern[str], ...] = field(repr=False)

    @classmethod
    def of_environment(cls) -> "Address":
        """The address that the environment names, or OpenAI's."""
        given = os.environ.get("OPENAI_BASE_URL", "").strip()
        root, user, query = _parts(given or DEFAULT)
        key = _key(os.environ.get("OPENAI_API_KEY", ""))
        if user and key:
            raise InputError(
                "OPENAI_BASE_URL holds a user or password and OPENAI_API_KEY is set, but a request can carry only one "
                "of them: take the user out of the address, or unset the key"
            )
        basic = base64.b64encode(user.encode()).decode()
        authorization = f"Bearer {key}" if key else f"Basic {basic}" if user else ""
        values = (part for pair in parse_qsl(query, keep_blank_values=True) for part in (pair[1] or pair[0],))
        known = {key, user, basic, *user.split(":", 1), *values, *_proxy_secrets()}
        return cls(
            shown=root,
            named=root if given else f"{root} (OPENAI_BASE_URL is not set)",
            headers={"Authorization": authorization} if authorization else {},
            _query=f"?{query}" if query else "",
            _secrets=_Secrets.of(known),
            _long_secrets=_patterns(secret for secret in known if len(secret) >= _SURELY_SECRET),
        )

    def url(self, path: str) -> str:
        """The address of a request."""
        root = self.shown.removesuffix("/v1") if path in _BESIDE else self.shown
        return f"{root}{path}{self._query}"

    def redacted(self, text: str) -> str:
        """A reply or an error, as a message may hold it: one short printable line without secrets."""
        return _redacted(text, self._secrets)

    def is_repeated_in(self, text: str) -> bool:
        """Whether a text holds what opens the endpoint, so that it must not be kept."""
        return any(secret.search(text) for secret in self._long_secrets)


def redacted(text: str) -> str:
    """The error of a library that opens connections by itself: one short printable line without proxies' passwords."""
    return _redacted(text, _Secrets.of(_proxy_secrets()))


@dataclass(frozen=True, slots=True)
class _Secrets:
    """What must not be printed, whole or in part."""

    whole: tuple[re.Pattern[str], ...]
    pieces: frozenset[str]  # of eight characters

    @classmethod
    def of(cls, secrets: Iterable[str]) -> "_Secrets":
        """The secrets in every spelling in which they may come back."""
        known = set(filter(None, secrets))
        spellings = {spelling.translate(_LOWER) for secret in known for spelling in _spellings(secret)}
        pieces = {spelling[at : at + _PIECE] for spelling in spellings for at in range(len(spelling) - _PIECE + 1)}
        return cls(_patterns(known), frozenset(pieces))

    def hidden(self, text: str) -> str:
        """The text without them."""
        for secret in self.whole:
            text = secret.sub("***", text)
        lower, shown, at = text.translate(_LOWER), list[str](), 0
        while at < len(text):
            end = at
            while lower[end : end + _PIECE] in self.pieces:
                end += 1
            shown.append("***" if end > at else text[at])
            at = end + _PIECE - 1 if end > at else at + 1
        return "".join(shown)


def _redacted(text: str, secrets: _Secrets) -> str:
    line = secrets.hidden(" ".join(_beginning(text).split()))
    for pattern, replacement in _SECRETS:
        line = pattern.sub(replacement, line)
    return printable(line)[:_MOST_SHOWN]


def _beginning(text: str) -> str:
    """The beginning of a text, cut between two words: half of a secret would not be recognised."""
    if len(text) <= _MOST_SEARCHED:
        return text
    words = text[:_MOST_SEARCHED].rsplit(maxsplit=1)
    return words[0] if len(words) == 2 else "(one very long word)"


def printable(text: str) -> str:
    """A text with its control characters spelled out, so that a terminal shows them instead of executing them."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode() for char in text
    )


def _patterns(secrets: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """A pattern for each secret, longest first: a shorter one may be part of it."""
    return tuple(_pattern(secret) for secret in sorted(filter(None, secrets), key=len, reverse=True))


def _spellings(secret: str) -> set[str]:
    """Every spelling in which an endpoint may return a secret."""
    spellings = {secret, quote(secret, safe="", errors="surrogateescape"), json.dumps(secret)[1:-1]}
    if len(secret) >= _WORD:
        spellings |= {_base64(secret, encoding) for encoding in ("utf-8", "latin-1")}  # aiohttp's proxies get Latin-1
    return spellings


def _pattern(secret: str) -> re.Pattern[str]:
    choices = "|".join(re.escape(spelling) for spelling in sorted(_spellings(secret), key=len, reverse=True))
    return re.compile(choices if len(secret) >= _WORD else rf"(?<!\w)(?:{choices})(?!\w)", re.IGNORECASE)


def _base64(secret: str, encoding: str) -> str:
    try:
        return base64.b64encode(secret.encode(encoding, "surrogateescape")).decode().rstrip("=")
    except UnicodeEncodeError:
        return secret  # it cannot be sent in this encoding


def _parts(given: str) -> tuple[str, str, str]:
    """An address without its secrets, its user (with password), and its query; raises if it is not an address."""
    try:
        url = urlsplit(given)
        usable = url.scheme in ("http", "https") and bool(url.hostname) and (url.port is None or url.port > 0)
        usable = usable and "@" not in url.path + url.fragment  # else it ends a password with / or # in it
        (URL(given).host or "").encode("idna")  # as it will be looked up
    except ValueError:
        usable = False
    if not usable or not given.isprintable():
        advice = "; write / and # before its @ as %2F and %23" if "@" in given else ""
        raise InputError(
            f"OPENAI_BASE_URL is {_without_secrets(given)!r}; it should be an address such as "
            f"http://localhost:8000/v1{advice}"
        )
    user, _, host = url.netloc.rpartition("@")
    root = given.partition("#")[0].partition("?")[0].rstrip("/")
    return (root.replace(url.netloc, host, 1) if user else root), unquote(user), url.query


def _without_secrets(given: str) -> str:
    """A malformed address, without what may have been meant as user, password, query or key."""
    without = re.sub(r"^(\w+://)?.*@", r"\1***@", given, flags=re.DOTALL)
    without = re.sub(r"\?.*", "?***", without, flags=re.DOTALL)
    without = re.sub(r"^(\w+://[^/:]*):(?!\d+(?:/|$))[^/]*", r"\1:***", without)  # no port: a password without its host
    return _SECRETS[-1][0].sub("***", without)


def _proxy_secrets() -> set[str]:
    """Users and passwords of the proxies in the environment, as they are spelled there and as they are sent."""
    proxies = [value.strip() for name, value in os.environ.items() if name.lower().endswith("_proxy")]
    users = {_SCHEME.sub("", value).rpartition("@")[0] for value in proxies} - {""}
    users |= {unquote(user) for user in users}
    return {part for user in users for part in (user, user if ":" in user else f"{user}:", user.partition(":")[2])}


def _key(given: str) -> str:
    """The key; raises if it cannot be sent. It is never part of a message."""
    key = given.strip()
    if not key.isascii() or not key.isprintable():
        raise InputError("OPENAI_API_KEY has characters that no key has; set it anew")
    return key
