"""Where an endpoint is and what opens it, from OPENAI_BASE_URL and OPENAI_API_KEY."""

import base64
import os
import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from yarl import URL

from merit.errors import InputError
from merit.models.redaction import LIKELY_SECRETS, Secrets, patterns, proxy_secrets, without_secrets

DEFAULT = "https://api.openai.com/v1"
_SURELY_SECRET = 16  # characters; shorter keys may be made up for a local server ("none") and occur in answers
_BESIDE = frozenset({"/apply-template", "/tokenize"})  # vLLM's and llama.cpp's own paths, beside OpenAI's below /v1


@dataclass(frozen=True, slots=True)
class Address:
    """An endpoint's address; `shown` and `named` are the only parts that may be printed or kept."""

    shown: str  # without user, password and query
    named: str  # the same for messages, with a note where OPENAI_BASE_URL is not set
    headers: dict[str, str] = field(repr=False)
    _query: str = field(repr=False)
    _secrets: Secrets = field(repr=False)
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
        known = {key, user, basic, *user.split(":", 1), *values, *proxy_secrets()}
        return cls(
            shown=root,
            named=root if given else f"{root} (OPENAI_BASE_URL is not set)",
            headers={"Authorization": authorization} if authorization else {},
            _query=f"?{query}" if query else "",
            _secrets=Secrets.of(known),
            _long_secrets=patterns(secret for secret in known if len(secret) >= _SURELY_SECRET),
        )

    def url(self, path: str) -> str:
        """The address of a request."""
        root = self.shown.removesuffix("/v1") if path in _BESIDE else self.shown
        return f"{root}{path}{self._query}"

    def redacted(self, text: str) -> str:
        """A reply or an error, as a message may hold it: one short printable line without secrets."""
        return without_secrets(text, self._secrets)

    def is_repeated_in(self, text: str) -> bool:
        """Whether a text holds what opens the endpoint, so that it must not be kept."""
        return any(secret.search(text) for secret in self._long_secrets)


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
    return LIKELY_SECRETS[-1][0].sub("***", without)


def _key(given: str) -> str:
    """The key; raises if it cannot be sent. It is never part of a message."""
    key = given.strip()
    if not key.isascii() or not key.isprintable():
        raise InputError("OPENAI_API_KEY has characters that no key has; set it anew")
    return key
