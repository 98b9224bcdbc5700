"""The URL of a database: taken apart, and shown without its passwords."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, unquote_to_bytes, urlencode, urlsplit

from merit.errors import InputError, one_line
from merit.reading import sendable

FILES = ("sqlite", "duckdb")
_SCHEMES = {
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mysql",
    "mariadb": "mariadb",
}
_HIDDEN_OPTION = "(?:password|passwd|pwd|token|secret|api_?key)"
# Of a query, or of a text such as `host=h password=x`. A % in a name may spell any of these.
_SECRETS = re.compile(rf"(?i)([?&;][^=&\s]*(?:{_HIDDEN_OPTION}|%)[^=&\s]*=|\b{_HIDDEN_OPTION}\s*=\s*)[^&\s]*")
# From the first colon after the user to the last @. Either may hold any character, even one that should be quoted:
# users of some servers are called name@server.
_PASSWORD = re.compile(r"(://[^:]*):(.*)@", re.DOTALL)
_ZONE = re.compile(r"[A-Za-z0-9_+:/-]{1,64}")
_EXAMPLES = "sqlite:///file, duckdb:///file, postgresql://user@host/database or mysql://user@host/database"
_QUOTED = "write special characters of a password as %XX"


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """Where a database is, and how to reach it."""

    url: str
    dialect: str
    host: str
    port: int | None
    user: str
    password: str
    database: str  # a file's path, or the name of a server's database
    options: dict[str, str]  # the URL's query parameters, for the driver
    timezone: str  # of sessions: UTC, unless the URL says otherwise

    @property
    def shown(self) -> str:
        """The URL without passwords."""
        return masked(self.url)

    def scrubbed(self, message: str) -> str:
        """A driver's message as one line, without any secret of the URL."""
        secrets = {self.password, *(value for name, value in self.options.items() if _is_secret(name))}
        raw = _PASSWORD.search(self.url)
        secrets |= {raw[2]} if raw else set()
        for secret in sorted(filter(None, secrets), key=len, reverse=True):
            message = message.replace(secret, "***")
        return one_line(" ".join(masked(message).split()))

    def without_timezone(self) -> str:
        """The URL as a driver takes it, without what only merit knows.

        User and password are quoted: with an @ in them, libpq would look for the rest of a password as a host.
        """
        base, _, query = self.url.partition("?")
        scheme, _, rest = base.partition("://")
        user, at, place = rest.rpartition("@")
        name, colon, password = (_quoted(part) for part in user.partition(":"))
        options = urlencode(self.options, quote_via=quote)
        tail = f"?{options}" if query and options else ""
        return f"{scheme.partition('+')[0]}://{name}{':' if colon else ''}{password}{at}{place}{tail}"


def masked(url: str) -> str:
    """A URL, or a text that holds one, without its passwords."""
    return _SECRETS.sub(r"\1***", _PASSWORD.sub(r"\1:***@", url))


def parse(url: str) -> DatabaseAddress:
    """Take a URL apart; one that cannot be used is refused in a sentence."""
    scheme, separator, _ = url.partition("://")
    dialect = _SCHEMES.get(scheme.lower().partition("+")[0])
    if not separator:
        shown = "***" if "@" in url else masked(url)  # with a slip in its beginning, any part may be a password
        raise InputError(f"{shown}: is not the URL of a database; write {_EXAMPLES}")
    if dialect is None:
        raise InputError(f"{masked(url)}: merit does not know {scheme}: databases; use {_EXAMPLES}")
    if dialect not in FILES and sendable(url) != url:
        raise InputError(f"{scheme}://...: is not UTF-8 text; quote other bytes as %XX")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        # What stands where a port should may be a password, with the @ and the host left out.
        raise InputError(f"{scheme}://...: cannot be read; {_QUOTED}, and a port as a number") from None
    if dialect not in FILES and "@" in parts.path + parts.query + parts.fragment:
        # All before it may be a password with a slash or a question mark.
        raise InputError(f"{scheme}://...: cannot be read; {_QUOTED}")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    zone = options.pop("timezone", "UTC")
    if not _ZONE.fullmatch(zone):
        raise InputError(f"{masked(url)}: timezone={zone} is not the name of a time zone, such as Europe/Berlin")
    if dialect in FILES and (parts.netloc or not parts.path.strip("/")):
        raise InputError(
            f"{masked(url)}: name a file after three slashes, as in {dialect}:///folder/file, or four for /folder/file"
        )
    return DatabaseAddress(
        url=url,
        dialect=dialect,
        host=parts.hostname or "",
        port=port,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or "") or options.get("password", ""),
        database=unquote(parts.path[1:]),
        options=options,
        timezone=zone,
    )


def _quoted(part: str) -> str:
    """A part of a URL, as %XX wherever a character has a meaning; what is quoted stays what it was."""
    return quote(unquote_to_bytes(part), safe="")


def _is_secret(option: str) -> bool:
    return re.search(_HIDDEN_OPTION, option, re.IGNORECASE) is not None
