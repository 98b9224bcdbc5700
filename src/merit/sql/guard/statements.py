"""What a statement is by its first word, and the words that no query has."""

from merit.sql.guard.lexer import Lexeme
from merit.sql.guard.names import names
from merit.sql.guard.refused import Refused, shown
from merit.types import Cause

_FIRST_WORDS = ("select", "with", "values", "table")
_DUCKDB_FIRST_WORDS = ("from", "pivot", "unpivot")
_BEFORE_QUERIES = ("union", "all", "except", "intersect", "name", "distinct")
# Reserved on every engine, and part of no query that only reads.
_NEVER = {
    "into": "INTO writes a table, a file or a variable",
    "outfile": "INTO OUTFILE writes a file",
    "dumpfile": "INTO DUMPFILE writes a file",
    "procedure": "PROCEDURE is not allowed in a query",
}


def one_query(lexemes: list[Lexeme], dialect: str) -> list[Lexeme]:
    """The pieces of the one statement, without semicolons after it; raises Refused where it is not one query."""
    while lexemes and lexemes[-1].is_sign(";"):
        lexemes = lexemes[:-1]
    if not lexemes:
        raise Refused(Cause.STATEMENTS, "the text holds no statement")
    if any(lexeme.is_sign(";") for lexeme in lexemes):
        raise Refused(Cause.STATEMENTS, "only one statement may run; remove what follows the semicolon")
    _check_first_word(lexemes, dialect)
    _check_inner_statements(lexemes)
    unpivots = dialect == "duckdb" and lexemes[0].text == "unpivot"  # `UNPIVOT ... INTO NAME x VALUE y` writes nothing
    for before, lexeme, after in zip(lexemes, lexemes[1:], [*lexemes[2:], None], strict=False):
        named = before.is_sign(".") or (before.kind == "word" and before.text == "as")
        names_columns = unpivots and after is not None and after.text == "name"
        if lexeme.kind == "word" and lexeme.text in _NEVER and not named and not names_columns:
            raise Refused(Cause.READ_ONLY, f"{_NEVER[lexeme.text]}; only queries that read may run")
    return lexemes


def _check_inner_statements(lexemes: list[Lexeme]) -> None:
    """Refuse other statements in brackets: DuckDB runs `FROM (SHOW t)`, which sqlglot reads as a table."""
    for before, word, after in zip(lexemes, lexemes[1:], lexemes[2:], strict=False):
        begins = before.is_sign("(") or (before.kind == "word" and before.text in _BEFORE_QUERIES)
        if not begins or word.kind != "word" or word.text not in names("inner"):
            continue
        if after.kind in ("name", "text") or (after.kind == "word" and after.text not in names("operators")):
            raise Refused(Cause.FORBIDDEN, f"{word.text.upper()} is not allowed inside a query")


def _check_first_word(lexemes: list[Lexeme], dialect: str) -> None:
    first = next((lexeme for lexeme in lexemes if not lexeme.is_sign("(")), lexemes[0])
    word = first.text if first.kind == "word" else ""
    if word in _FIRST_WORDS or (dialect == "duckdb" and word in _DUCKDB_FIRST_WORDS):
        return
    for cause, file in ((Cause.READ_ONLY, "writing"), (Cause.FORBIDDEN, "outside")):
        if word in names(file):
            raise Refused(cause, f"{word.upper()} is not allowed; only queries that read may run")
    raise Refused(Cause.STATEMENTS, f"a query begins with SELECT, WITH or VALUES, not with {shown(first.text)}")
