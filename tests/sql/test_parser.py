"""Reading a query ends, whatever the query: sqlglot alone would take hours for these."""

import pytest

from merit.grounding import ground
from merit.selection import SchemaIndex, estimated_tokens, names_used
from merit.sql.parser import ParsingTooLong, parse_bounded
from merit.types import SQLGLOT_DIALECTS, Cause, Column, Schema, Status, Table, Verdict

SCHEMA = Schema("s", (Table("t", (Column("a", "INT"),)),))
ENDLESS = {
    "joins without a condition": "SELECT zz FROM " + "a JOIN " * 30 + "t",
    "types in types": "SELECT " + "STRUCT(" * 30 + "1",
    "a chain of calls": "SELECT " + "f()." * 400 + "zz FROM t",
    "a chain of subscripts": "SELECT " + "a[1]." * 400 + "zz FROM t",
}


@pytest.mark.parametrize("shape", ENDLESS)
def test_a_text_that_takes_too_long_is_given_up(shape: str) -> None:
    with pytest.raises(ParsingTooLong):
        parse_bounded(ENDLESS[shape], "postgres")


@pytest.mark.parametrize("dialect", SQLGLOT_DIALECTS)
def test_a_long_and_honest_query_is_read(dialect: str) -> None:
    joins = " ".join(f"JOIN t AS t{n} ON t{n}.a = t.a" for n in range(1, 60))
    sql = f"SELECT {', '.join(f'COUNT(t{n}.a)' for n in range(1, 60))} FROM t {joins} WHERE t.a IN ({'1, ' * 999}1)"
    assert parse_bounded(sql, SQLGLOT_DIALECTS[dialect]).sql()


@pytest.mark.parametrize("shape", ["joins without a condition", "a chain of calls"])
def test_nothing_is_grounded_or_learned_from_such_a_text(shape: str) -> None:
    refused = Verdict(Status.EXECUTION_ERROR, "no such column: zz", Cause.DBMS)
    assert ground(ENDLESS[shape], SCHEMA, "sqlite", refused) is None
    assert names_used(ENDLESS[shape], SchemaIndex(SCHEMA, estimated_tokens)) == {}


def test_a_text_that_is_not_one_statement_has_no_names() -> None:
    index = SchemaIndex(SCHEMA, estimated_tokens)
    for sql in ("SELECT a FROM t; SELECT a FROM t", "SELECT * FROM t JOIN LATERAL .", "", "SELECT '" + "x" * 30_000):
        assert names_used(sql, index) == {}
