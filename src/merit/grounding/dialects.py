"""The engines' dialects as grounding reads and writes them."""

from typing import cast

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token

from merit.sql.parser import UNREADABLE, bounded
from merit.types import DIALECTS, SQLGLOT_DIALECTS

# What a query may have been written for instead, the most frequent first.
_OTHERS = ("mysql", "postgres", "tsql", "duckdb", "oracle", "sqlite")
_SPOKEN = {
    "mysql": "MySQL",
    "postgres": "PostgreSQL",
    "tsql": "SQL Server",
    "duckdb": "DuckDB",
    "oracle": "Oracle",
    "sqlite": "SQLite",
}


def _plain(name: str) -> Dialect:
    """A dialect that keeps every function as it is written: sqlglot's own translations guess at foreign ones."""
    base = type(Dialect.get_or_raise(name))
    own: type[Parser] = base.Parser  # type: ignore[attr-defined]
    special = {name: read for name, read in own.FUNCTION_PARSERS.items() if name not in ("MAX", "MIN")}
    parser = type("Parser", (bounded(own),), {"FUNCTIONS": {}, "FUNCTION_PARSERS": special})
    return cast(Dialect, type(f"Plain{base.__name__}", (base,), {"Parser": parser})())


_PLAIN = {name: _plain(name) for name in dict.fromkeys((*SQLGLOT_DIALECTS.values(), *_OTHERS))}


class EngineDialect:
    """One engine's way to read and write SQL."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.title = DIALECTS[engine]
        self.name = SQLGLOT_DIALECTS[engine]

    def parse(self, sql: str) -> exp.Query | None:
        """The query that a text is, in the engine's own dialect; None where it is none."""
        return _parse(self.name, sql)

    def parse_foreign(self, sql: str) -> tuple[exp.Query, str] | None:
        """The query in the first other dialect that reads it, and that dialect's name for people."""
        for name in _OTHERS:
            tree = _parse(name, sql) if name != self.name else None
            if tree is not None:
                return tree, _SPOKEN[name]
        return None

    def tokens(self, sql: str) -> list[Token]:
        """The tokens of a text; none where it cannot be cut into tokens."""
        try:
            return _PLAIN[self.name].tokenize(sql)
        except UNREADABLE:
            return []

    def write(self, tree: exp.Expr) -> str:
        """A query as the engine reads it."""
        return tree.sql(dialect=self.name, unsupported_level=ErrorLevel.IGNORE)

    @property
    def folds(self) -> bool:
        """Whether a name without quotes means its lower-case form, and one in quotes exactly itself."""
        return self.engine == "postgresql"

    @property
    def bare_columns(self) -> bool:
        """Whether a column may stand beside groups that it is not grouped by."""
        return self.engine in ("sqlite", "mariadb")

    @property
    def text_in_double_quotes(self) -> bool:
        """Whether a name in double quotes that no column has is read as a text."""
        return self.engine in ("sqlite", "mysql", "mariadb")


def _parse(name: str, sql: str) -> exp.Query | None:
    dialect = _PLAIN[name]
    try:
        trees = dialect.parse(sql)
    except UNREADABLE:
        return None
    first = trees[0] if trees else None
    return first if isinstance(first, exp.Query) else None


ENGINE_DIALECTS = {engine: EngineDialect(engine) for engine in DIALECTS}
