"""The URL of a database: taken apart, and shown without its passwords."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, unquote_plus, unquote_to_bytes, urlencode, urlsplit

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
_HIDDEN = "***"
# In the name of an option whose value is a secret; passfile names a file.
_SECRET = re.compile(r"pass(?!file)|pwd|token|secret|api_?key", re.IGNORECASE)
_ASSIGNED = rf"(?is)((?:{_SECRET.pattern})[\w.%-]{{0,40}}\s*=\s*)"
# In a text such as libpq takes, `host=h password='x y'`, a value ends with its quotes, or at a space.
_IN_TEXT = re.compile(rf"""{_ASSIGNED}('(?:\\.|[^'\\])*'?|"(?:\\.|[^"\\])*"?|(?:\\.|[^&\s\\])*)""")
_TO_THE_END = re.compile(rf"{_ASSIGNED}.*")
_NOT_READ = re.compile(r"[\t\r\n]")  # urlsplit leaves them out
# From the first colon after the user to the last @. Either may hold any character, even one that should be quoted:
# users of some servers are called name@server.
_PASSWORD = re.compile(r"(://[^:]*):(.*)@", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
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
        secrets = {self.password, *(value for name, value in self.options.items() if _is_secret(name, value))}
        raw = _PASSWORD.search(self.url)
        secrets |= {quote(secret, safe="") for secret in secrets} | ({raw[2]} if raw else set())
        for secret in sorted(filter(None, secrets), key=len, reverse=True):
            message = message.replace(secret, _HIDDEN)
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


def masked(text: str) -> str:
    """A URL, or a text that holds one, without its passwords.

    A URL is read as `parse` reads it: an option ends at the next & or with the text, whatever is in it.
    """
    if "://" not in text:
        return _IN_TEXT.sub(rf"\1{_HIDDEN}", text)
    url = _NOT_READ.sub("", text)
    place, mark, query = _PASSWORD.sub(rf"\1:{_HIDDEN}@", url).partition("?")
    shown = _TO_THE_END.sub(rf"\1{_HIDDEN}", place) + mark + "&".join(map(_masked_option, query.split("&")))
    return text if shown == url else shown


def parse(url: str) -> DatabaseAddress:
    """Take a URL apart; one that cannot be used is refused in a sentence."""
    scheme, separator, _ = url.partition("://")
    dialect = _SCHEMES.get(scheme.lower().partition("+")[0])
    if not separator or not _SCHEME.fullmatch(scheme):
        # With a slip in its beginning, any part may be a password.
        shown = _HIDDEN if "@" in url or masked(url) != url else url
        raise InputError(f"{shown}: is not the URL of a database; write {_EXAMPLES}")
    if dialect is None:  # nor is known how its passwords are written
        raise InputError(f"{scheme}://...: merit does not know {scheme}: databases; use {_EXAMPLES}")
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


def _masked_option(option: str) -> str:
    """What stands between two & of a query, without a secret."""
    name, equals, value = option.partition("=")
    return f"{name}={_HIDDEN}" if equals and _is_secret(unquote_plus(name), unquote_plus(value)) else option


def _is_secret(option: str, value: str) -> bool:
    """Whether an option's value is a secret, by its name, or holds one, as `options=-c my.token=x` does."""
    return _SECRET.search(option) is not None or _IN_TEXT.search(value) is not None
