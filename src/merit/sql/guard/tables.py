"""Tables and views that no query may read: those that show secrets, settings or sessions of others, and files."""

import re
import unicodedata

from sqlglot import exp

from merit.sql.guard.names import names, pattern
from merit.sql.guard.refused import Refused, shown
from merit.types import Cause

_HIDDEN = "it shows secrets, settings, files or sessions of the server"
_FILE_SIGNS = re.compile(r"[/\\*?\[\]:~%]")
_FILE_ENDING = re.compile(  # DuckDB and its extensions open such names as files
    r"\.(?:csv|tsv|txt|psv|parquet|parq|pq|json|jsonl|ndjson|geojson|avro|arrows?|ipc|feather|orc|xlsx?|db|ddb|duckdb"
    r"|sqlite3?|shp|gpkg|fgb|gml|kml|osm|pbf|vortex|lance|xml|ya?ml|log|gz|zst|bz2|zip|lz4|snappy|wal)\Z"
)


def check_tables(tree: exp.Expr, dialect: str) -> None:
    """Raises Refused for the first table that no query may read."""
    for table in tree.find_all(exp.Table):
        parts = [_folded(part.name) for part in table.parts if isinstance(part, exp.Identifier)]
        if parts and (reason := _reason(parts, dialect)):
            raise Refused(Cause.FORBIDDEN, f"{shown('.'.join(parts))} may not be read: {reason}")


def _reason(parts: list[str], dialect: str) -> str:
    """Why the table may not be read, or nothing."""
    name, schema = parts[-1], parts[-2] if len(parts) > 1 else ""
    if dialect == "duckdb" and (any(map(_FILE_SIGNS.search, parts)) or _FILE_ENDING.search(".".join(parts))):
        return "the name is that of a file"
    if schema in names("denied-schemas"):
        return _HIDDEN
    if dialect in ("mysql", "mariadb"):
        hidden = schema == "information_schema" and bool(pattern("hidden-mysql").fullmatch(name))
    else:
        hidden = bool(pattern(f"hidden-{dialect}").fullmatch(name)) and name not in names("described")
    return _HIDDEN if hidden else ""


def _folded(name: str) -> str:
    """A name in lower case and without accents, since some collations ignore both."""
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char)).strip()
