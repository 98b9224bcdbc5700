"""Which functions a query may call, by the names that stand before its brackets."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

from sqlglot import exp

from merit.sql.guard.lexer import Lexeme
from merit.sql.guard.names import names, pattern
from merit.sql.guard.refused import Refused, shown
from merit.types import Cause

Volatile = Callable[[str], bool | None]

_NAME_LISTS = {"sqlite": "sqlite", "postgresql": "postgresql", "mysql": "mysql", "mariadb": "mysql", "duckdb": "duckdb"}
_SERVER_SCHEMAS = ("pg_catalog", "information_schema")
_QUANTIFIERS = {"all", "any", "some"}  # reserved words that sqlglot may take for functions
_SEQUENCE_ATTRIBUTES = ("nextval", "currval")
_REACHES_OUT = "it reaches files, the network, locks, settings or the server itself"


def unknown(name: str) -> bool | None:  # noqa: ARG001
    """The answer for functions where no server's catalogue can be asked: none is known."""
    return None


def check_functions(lexemes: list[Lexeme], tree: exp.Expr, dialect: str, volatile: Volatile) -> tuple[str, ...] | None:
    """Raises Refused for the first call that must not be; returns the first one that is not known, if any."""
    unlisted: tuple[str, ...] | None = None
    column_lists = _column_lists(tree)
    called = {node.name.lower() for node in tree.find_all(exp.Anonymous, exp.AnonymousAggFunc)} - _QUANTIFIERS
    for lexeme, qualifiers in _before_brackets(lexemes):
        name = _folded(lexeme, dialect)
        keyword = lexeme.kind == "word" and not qualifiers and name in names("keywords")
        if keyword and name not in called and not volatile(name):
            continue
        if _allowed(name, qualifiers, dialect, volatile):
            continue
        if column_lists[name.lower()] and not qualifiers:
            column_lists[name.lower()] -= 1  # `WITH name(column, ...)` or `AS name(column, ...)`: no call
            continue
        unlisted = unlisted or (*qualifiers, name)
    _check_attributes(tree, dialect, volatile)
    return unlisted


def _folded(lexeme: Lexeme, dialect: str) -> str:
    """A function's name as the server knows it: on PostgreSQL a quoted name keeps its case."""
    return lexeme.text if dialect == "postgresql" and lexeme.kind == "name" else lexeme.text.lower()


def _before_brackets(lexemes: list[Lexeme]) -> Iterator[tuple[Lexeme, list[str]]]:
    """Every word or name before an opening bracket, with the names that qualify it."""
    for number, (lexeme, following) in enumerate(pairwise(lexemes)):
        if lexeme.kind in ("word", "name") and following.is_sign("("):
            yield lexeme, _qualifiers(lexemes, number)


def _allowed(name: str, qualifiers: list[str], dialect: str, volatile: Volatile) -> bool:
    """Whether a function may be called, as far as is known; raises Refused where it must not."""
    own = dialect == "duckdb" or not qualifiers or qualifiers[-1] in _SERVER_SCHEMAS
    listed = own and name in names(_NAME_LISTS[dialect])
    if not names("denied-schemas").isdisjoint(qualifiers) or (not listed and _denied(name)):
        raise Refused(Cause.FORBIDDEN, f"the function {shown(name)} may not be called: {_REACHES_OUT}")
    if dialect == "postgresql" and not listed and _servers_own(name):
        return False
    says = volatile(name)  # of a listed one, too: the database may have a function of its own under that name
    if says:
        message = f"the function {shown(name)} may not be called: the server says that it is volatile, so it may write"
        raise Refused(Cause.FORBIDDEN, message)
    return listed or says is False


def _denied(name: str) -> bool:
    return pattern("denied").fullmatch(name.lower()) is not None


def _servers_own(name: str) -> bool:
    """Whether a function is one of PostgreSQL's about itself, of which those that may be called are listed."""
    return name.startswith("pg_")


def _qualifiers(lexemes: list[Lexeme], number: int) -> list[str]:
    """The names before a name, as in `schema.name`; an empty text for anything else before a dot."""
    qualifiers: list[str] = []
    while number >= 2 and lexemes[number - 1].is_sign("."):
        number -= 2
        before = lexemes[number]
        qualifiers.insert(0, before.text.lower() if before.kind in ("word", "name") else "")
    return qualifiers


def _column_lists(tree: exp.Expr) -> Counter[str]:
    """How often each alias has a list of columns, which looks like a call."""
    aliases = (alias for alias in tree.find_all(exp.TableAlias) if alias.args.get("columns") and alias.this)
    return Counter(alias.name.lower() for alias in aliases)


def _check_attributes(tree: exp.Expr, dialect: str, volatile: Volatile) -> None:
    """PostgreSQL calls f(t) for `t.f` where t has no column f; MariaDB advances the sequence s for `s.nextval`."""
    for node in tree.find_all(exp.Dot, exp.Column):
        last = node.expression if isinstance(node, exp.Dot) else node.this if node.args.get("table") else None
        name = "" if not isinstance(last, exp.Identifier) else last.name if last.quoted else last.name.lower()
        if name in _SEQUENCE_ATTRIBUTES:
            raise Refused(Cause.FORBIDDEN, f"{name} may not be asked of a sequence")
        if dialect != "postgresql" or not name:
            continue
        says, listed = volatile(name), name in names("postgresql")
        if says or (says is not None and not listed and (_denied(name) or _servers_own(name))):
            kind = "volatile function" if says else "function that may not be called"
            message = f"{shown(name)} is the name of a {kind}, which PostgreSQL may call for an attribute"
            raise Refused(Cause.FORBIDDEN, message)
