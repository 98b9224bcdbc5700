"""The URL of a memory on PostgreSQL, taken apart. What is shown of it is made of parts that hold no secret."""

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, urlencode

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from merit.errors import InputError, one_line
from merit.reading import sendable

DEFAULT_SCHEMA = "merit"
_SCHEMA = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,47}")  # with a beginning before it, still the name of a channel
_SECRETS = ("password", "sslpassword")
_EXAMPLE = "postgresql://user@host/database?schema=merit"


@dataclass(frozen=True, slots=True)
class MemoryAddress:
    """Where a memory is: a schema of a database."""

    shown: str
    schema: str
    conninfo: str = field(repr=False)  # as libpq takes it, with its secrets
    secrets: tuple[str, ...] = field(repr=False)

    def scrubbed(self, message: object) -> str:
        """A driver's message as one line, without any secret of the URL."""
        text = str(message)
        for secret in self.secrets:
            text = text.replace(secret, "***").replace(quote(secret, safe=""), "***")
        return one_line(" ".join(text.split()))


def parse_address(url: str) -> MemoryAddress:
    """Take a URL apart. One that cannot be used is not repeated: with a slip in it, any part may be a password."""
    base, _, query = url.strip().partition("?")
    scheme, separator, rest = base.partition("://")
    if not separator or scheme.lower() not in ("postgresql", "postgres"):
        raise InputError(f"the URL of a memory cannot be read; write a folder's path, or {_EXAMPLE}")
    if sendable(url) != url:
        raise InputError("the URL of a memory is not UTF-8 text; quote other bytes as %XX")
    options = dict(parse_qsl(query, keep_blank_values=True))
    schema = options.pop("schema", DEFAULT_SCHEMA)
    if not _SCHEMA.fullmatch(schema) or schema == "information_schema":
        raise InputError(
            f"the URL of a memory: schema={schema[:60]!r} cannot be used; write up to 48 of a-z, 0-9 and _, beginning "
            "with a letter and not with pg_"
        )
    conninfo = f"postgresql://{rest}{'?' if options else ''}{urlencode(options, quote_via=quote)}"
    slip = InputError(f"the URL of a memory cannot be read; write {_EXAMPLE}, special characters of a password as %XX")
    try:
        parts = {name: str(value) for name, value in conninfo_to_dict(conninfo).items()}
    except ProgrammingError:
        raise slip from None
    if "@" in rest.partition("/")[2] or rest.count("@") > 1 or re.search("[^0-9,]", parts.get("port", "")):
        raise slip
    secrets = sorted((parts[name] for name in _SECRETS if parts.get(name)), key=len, reverse=True)
    return MemoryAddress(_shown(parts, schema), schema, conninfo, tuple(secrets))


def _shown(parts: dict[str, str], schema: str) -> str:
    user = f"{quote(parts['user'])}@" if parts.get("user") else ""
    port = f":{parts['port']}" if parts.get("port") else ""
    place = f"{user}{quote(parts.get('host', ''), safe='[]:,/')}{port}/{quote(parts.get('dbname', ''))}"
    return f"postgresql://{place}?schema={schema}"
