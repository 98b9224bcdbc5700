"""Texts without secrets: what an endpoint or a library says, as a message may hold it.

Every text from an endpoint goes through `Address.redacted` before it becomes part of a message, and every text from a
library that uses the network by itself through `redacted`.
"""

import base64
import html
import json
import os
import re
import string
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, unquote

_SCHEME = re.compile(r"^[\w+.-]*:/+")  # also one that is misspelled: http:/
_MOST_SHOWN = 300  # characters of an endpoint's text in a message
_MOST_SEARCHED = 8192  # characters that are searched for secrets; a response body may have millions
_WORD = 4  # characters; a shorter secret is hidden only where it stands alone: it occurs inside ordinary words
_PIECE = 8  # characters of a secret in a row that are hidden too: libraries cut texts where they like
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)  # every character stays one
# What looks like a secret, known or not: a bearer token, a user in an address, a parameter named key, an OpenAI key.
LIKELY_SECRETS = (
    (re.compile(r"\b(bearer)\s+(?=\S*\d)[^\s\"',;}]{8,}", re.IGNORECASE), r"\1 ***"),
    (re.compile(r"://[^\s@]{1,1024}@"), "://***@"),
    (re.compile(r"([?&][\w-]*(?:key|token|password|secret|sig|signature)=)[^&\s\"']+", re.IGNORECASE), r"\1***"),
    (re.compile(r"\bsk-[\w-]{8,}"), "***"),
)


def redacted(text: str) -> str:
    """The error of a library that opens connections by itself: one short printable line without proxies' passwords."""
    return without_secrets(text, Secrets.of(proxy_secrets()))


@dataclass(frozen=True, slots=True)
class Secrets:
    """What must not be printed, whole or in part."""

    whole: tuple[re.Pattern[str], ...]
    pieces: frozenset[str]  # of eight characters

    @classmethod
    def of(cls, secrets: Iterable[str]) -> "Secrets":
        """The secrets in every spelling in which they may come back."""
        known = set(filter(None, secrets))
        spellings = {spelling.translate(_LOWER) for secret in known for spelling in _spellings(secret)}
        pieces = {spelling[at : at + _PIECE] for spelling in spellings for at in range(len(spelling) - _PIECE + 1)}
        return cls(patterns(known), frozenset(pieces))

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


def without_secrets(text: str, secrets: Secrets) -> str:
    """One short printable line of a text, without secrets and what looks like one."""
    line = secrets.hidden(" ".join(_beginning(text).split()))
    for pattern, replacement in LIKELY_SECRETS:
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


def patterns(secrets: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """A pattern for each secret, longest first: a shorter one may be part of it."""
    return tuple(_pattern(secret) for secret in sorted(filter(None, secrets), key=len, reverse=True))


def _spellings(secret: str) -> set[str]:
    """Every spelling in which an endpoint may return a secret."""
    spellings = {secret, quote(secret, safe="", errors="surrogateescape"), json.dumps(secret)[1:-1]}
    spellings |= {html.escape(secret), html.escape(secret, quote=False)}
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


def proxy_secrets() -> set[str]:
    """Users and passwords of the proxies in the environment, as they are spelled there and as they are sent."""
    proxies = [value.strip() for name, value in os.environ.items() if name.lower().endswith("_proxy")]
    users = {_SCHEME.sub("", value).rpartition("@")[0] for value in proxies} - {""}
    users |= {unquote(user) for user in users}
    return {part for user in users for part in (user, user if ":" in user else f"{user}:", user.partition(":")[2])}
