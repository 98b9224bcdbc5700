"""Whether two queries say the same to PostgreSQL, MySQL, MariaDB and DuckDB: never, where the engine may differ.

Servers are found through MERIT_TEST_POSTGRES and MERIT_TEST_MARIADB (URLs; default: the usual local addresses).
"""

import time
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import duckdb
import psycopg
import pymysql
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from making.engines import MARIADB, mariadb_server, postgres_server
from merit.sql import canonical
from merit.types import DIALECTS, Limits

OTHERS = [dialect for dialect in DIALECTS if dialect != "sqlite"]
POSTGRES_LIKE = ["postgresql", "duckdb"]
MYSQL_LIKE = ["mysql", "mariadb"]

LONGEST = Limits().sql_bytes
QUERY = "SELECT name, x FROM t AS a WHERE x >= 1.5 AND name <> 'It''s' GROUP BY name"


@pytest.mark.parametrize("dialect", OTHERS)
@pytest.mark.parametrize(
    "same",
    [
        "select name,x from t as a where x>=1.5 and name!='It''s' group by name",
        f"\n\t{QUERY}\r\n ",
        f"{QUERY};",
        f"{QUERY} ; \n",
        f"-- names\n{QUERY} -- and x",
        f"/* names; 'and' \n x */{QUERY}; -- done",
        QUERY.replace(" ", "/**/ "),
        f"{QUERY} -- done\r\n",
    ],
)
def test_layout_comments_keywords_and_a_last_semicolon_make_no_difference(dialect: str, same: str) -> None:
    assert canonical(same, dialect) == canonical(QUERY, dialect)


SAME = [
    ("postgresql", "SELECT Name FROM T", "select nAME from t"),  # it folds plain names
    ("postgresql", "SELECT 1 /* a /* b */ c */ + 1", "SELECT 1+1"),
    ("duckdb", "SELECT 1 /* a /* b */ c */ + 1", "SELECT 1+1"),
    ("postgresql", "SELECT $$It's$$", "select  $$It's$$"),
    ("postgresql", "SELECT $q$ $$ ; -- $q$", "select $q$ $$ ; -- $q$;"),
    ("postgresql", r"SELECT E'It\'s -- fine'", r"select E'It\'s -- fine' -- done"),
    ("postgresql", "SELECT a=-1, b<>+2", "SELECT a = - 1, b != + 2"),
    ("duckdb", "SELECT a=-1", "SELECT a = - 1"),
    ("mysql", "SELECT 1 # one\n+ 1", "SELECT 1 + 1"),
    ("mariadb", "SELECT a=-1", "SELECT a = -1"),
    ("mysql", "SELECT `a` FROM t", "select `a` from t"),
    ("mysql", 'SELECT "x;y" FROM t', 'select "x;y" from t;'),
    ("mysql", "SELECT 1--1", "SELECT 1 - - 1"),
    ("mysql", r"SELECT 'a\\' FROM t -- done", r"select 'a\\' from t"),
]


@pytest.mark.parametrize(("dialect", "left", "right"), SAME)
def test_what_an_engine_reads_the_same(dialect: str, left: str, right: str) -> None:
    assert canonical(left, dialect) == canonical(right, dialect)


DIFFERENT = [
    (OTHERS, "SELECT 'a'", "SELECT 'A'"),
    (OTHERS, 'SELECT "a"', 'SELECT "A"'),
    (OTHERS, "SELECT 'a'", 'SELECT "a"'),
    (OTHERS, "SELECT a FROM t", 'SELECT "a" FROM t'),
    (OTHERS, "SELECT x'41'", "SELECT x '41'"),
    (OTHERS, "SELECT 1 a", "SELECT 1a"),
    (OTHERS, "SELECT 1e1", "SELECT 1 e1"),
    (OTHERS, "SELECT 1e+1", "SELECT 1e + 1"),
    (OTHERS, "SELECT 1 .5", "SELECT 1.5"),
    (OTHERS, "SELECT a >= b", "SELECT a > = b"),
    (OTHERS, "SELECT a || b", "SELECT a | | b"),
    (OTHERS, "SELECT 1", "SELECT 1;;"),
    (OTHERS, "SELECT 1", "SELECT 1; SELECT 2"),
    (OTHERS, "SELECT 1", "SELECT 1 /*"),  # never closed, and an error
    (OTHERS, "SELECT 'a", "SELECT 'a "),
    (OTHERS, "SELECT 1 -- a\r+ 1", "SELECT 1 -- b"),
    (OTHERS, "SELECT É", "SELECT é"),
    (OTHERS, r"SELECT '\' , A, ' '", r"SELECT '\' , a, ' '"),  # settings decide where these texts end
    (POSTGRES_LIKE, "SELECT $$a$$", "SELECT $$A$$"),
    (POSTGRES_LIKE, "SELECT $q$a $$ B$q$", "SELECT $q$a $$ b$q$"),
    (POSTGRES_LIKE, "SELECT $$it's A $$", "SELECT $$it's a $$"),
    (POSTGRES_LIKE, r"SELECT E'\' A'", r"SELECT E'\' a'"),
    (POSTGRES_LIKE, "SELECT E'a'", "SELECT E 'a'"),
    (POSTGRES_LIKE, "SELECT 'a'\n'b'", "SELECT 'a' 'b'"),  # 'ab', and an error
    (POSTGRES_LIKE, "SELECT 'a' -- c\n'b'", "SELECT 'a' 'b'"),
    (POSTGRES_LIKE, "SELECT 'a'\n'b\\'", "SELECT 'a' 'b\\'"),
    (POSTGRES_LIKE, "SELECT 1 != -1", "SELECT 1 !=-1"),  # an operator of three signs
    (POSTGRES_LIKE, "SELECT a # b", "SELECT a"),
    (POSTGRES_LIKE, "SELECT 1::int", "SELECT 1: :int"),
    (POSTGRES_LIKE, "SELECT 1 /* /* */ + 1", "SELECT 1"),
    (["postgresql"], "SELECT U&'a'", "SELECT U & 'a'"),
    (["postgresql"], "SELECT U&'a\\' UESCAPE '!'", "SELECT U & 'a\\' UESCAPE '!'"),
    (["duckdb"], "SELECT 1::/**/int", "SELECT 1::int"),  # a syntax error
    (["duckdb"], "SELECT {A: 1}", "SELECT {a: 1}"),  # the case of names is part of a struct
    (["duckdb"], "SELECT q FROM (SELECT 1 AS A) q", "SELECT q FROM (SELECT 1 AS a) q"),
    (["duckdb"], "SELECT q FROM (SELECT 1 AS ORDER) q", "SELECT q FROM (SELECT 1 AS order) q"),
    (["duckdb"], "SELECT struct_pack(LEFT := 1)", "SELECT struct_pack(left := 1)"),
    (MYSQL_LIKE, "SELECT * FROM t", "SELECT * FROM T"),  # on Linux, another table
    (MYSQL_LIKE, "SELECT * FROM db.`select`", "SELECT * FROM db.`SELECT`"),
    (MYSQL_LIKE, "SELECT * FROM db.left", "SELECT * FROM db.LEFT"),
    (MYSQL_LIKE, "SELECT count(*) FROM t", "SELECT count (*) FROM t"),  # no such function
    (MYSQL_LIKE, "SELECT 1 /*! + 1 */", "SELECT 1"),
    (MYSQL_LIKE, "SELECT 1 /*M! + 1 */", "SELECT 1"),
    (MYSQL_LIKE, "SELECT /*+ SET_VAR(sql_mode='') */ 1", "SELECT 1"),
    (MYSQL_LIKE, "SELECT 1 --1", "SELECT 1 -- 1"),
    (MYSQL_LIKE, "SELECT a --; -- ", "SELECT a --;\r"),  # the server cuts off the end, and a comment remains
    (MYSQL_LIKE, "SELECT 1;\n;", "SELECT 1; ;/**/"),
    (MYSQL_LIKE, "SELECT 0x41", "SELECT 0X41"),
    (MYSQL_LIKE, "SELECT @a", "SELECT @ a"),
    (MYSQL_LIKE, "SELECT a.5", "SELECT a .5"),
    (MYSQL_LIKE, "SELECT 1$a", "SELECT 1 $a"),
    (MYSQL_LIKE, "SELECT _utf8'a'", "SELECT _utf8 'a'"),
    (MYSQL_LIKE, r"SELECT 'a\' # B'", r"SELECT 'a\' # b'"),
    (MYSQL_LIKE, r'SELECT "a\" # B"', r'SELECT "a\" # b"'),
    (MYSQL_LIKE, "SELECT `a # b`", "SELECT `a # B`"),
]


@pytest.mark.parametrize(
    ("dialect", "left", "right"),
    [(dialect, left, right) for dialects, left, right in DIFFERENT for dialect in dialects],
)
def test_what_an_engine_may_tell_apart_is_different(dialect: str, left: str, right: str) -> None:
    assert canonical(left, dialect) != canonical(right, dialect)


def test_a_dialect_that_is_not_known_is_refused() -> None:
    with pytest.raises(KeyError):
        canonical("SELECT 1", "cobol")


@given(st.text(), st.sampled_from(OTHERS))
@example("", "mysql")
@example(";", "postgresql")
@example("$", "postgresql")
@example("@", "mysql")
@example("\x00\ud800 SELECT", "duckdb")
def test_any_text_has_a_form_and_layout_before_it_makes_no_difference(text: str, dialect: str) -> None:
    assert canonical(f" \n{text}", dialect) == canonical(text, dialect)


WORDS = st.sampled_from(
    ["SELECT", "a", "A", "left", "'x'", "'X'", "'x y'", "1", "1.5", "=", "<", ">", "-", "(", ")", ",", "*"]
)


@given(st.lists(WORDS, min_size=1, max_size=8), WORDS, st.data(), st.sampled_from(OTHERS))
def test_another_token_is_another_query(words: list[str], other: str, data: st.DataObject, dialect: str) -> None:
    at = data.draw(st.integers(0, len(words) - 1))
    if canonical(words[at], dialect) != canonical(other, dialect):
        changed = [*words[:at], other, *words[at + 1 :]]
        assert canonical(" ".join(words), dialect) != canonical(" ".join(changed), dialect)


@pytest.mark.parametrize("dialect", OTHERS)
@pytest.mark.parametrize(
    "text",
    [
        "(" * 200_000,
        "'" + "''" * 100_000,
        "''" * 100_000 + "'",
        r"\'" * 100_000,
        "'" + r"\'" * 100_000,
        '"' * 200_001,
        "/*" * 100_000,
        "/**/" * 50_000,
        "$a$" * 70_000,
        "$$" * 100_000,
        "".join(f"$a{number}$" for number in range(30_000)),
        "`" * 200_001,
        "1" * 200_000 + "e",
        "." * 200_000,
        "+-" * 100_000,
        "a" * 200_000,
        "@" * 200_000,
        "x'" * 100_000,
        "@a" * 100_000,
        "$a1" * 70_000,
        "SELECT " + "1+" * 100_000 + "1",
    ],
    ids=lambda text: text[:12],
)
def test_long_texts_take_no_long_time(text: str, dialect: str) -> None:
    started = time.process_time()
    canonical(text[:LONGEST], dialect)
    assert time.process_time() - started < 10.0  # a square of these lengths takes minutes


# Statements put together from tokens, written in two ways, on real engines: the same form is the same outcome.

TOKENS = st.sampled_from(
    ["SELECT", "DISTINCT", "name", "t", "T", "id", "FROM", "WHERE", "AND", "count", "(", ")", "*", ",", "=", "<>"]
    + ["<", ">", "'One'", "'a''b'", r"'a\'", r"'\\'", r"E'\''", '"One"', '"name"', "`id`", "1", "2.5", ".5", "1e1", "e"]
    + ["x'41'", "||", "|", "-", "+", ".", ";", "$$One$$", "$a$", "ORDER", "BY", "LIMIT", "AS", "É", "->", "!", "%", "/"]
    + ["#", "@", ":", "::", ":=", "=>", "{", "}", "LEFT", "row", "/*", "*/", "--", "/*!", "IN", "NULL", "IS", "NOT"]
)
BEGINNINGS = st.sampled_from(
    [["SELECT"], ["SELECT", "name", "FROM", "t", "WHERE"], ["SELECT", "*", "FROM", "t", "ORDER", "BY"]]
    + [["SELECT", "q", "FROM", "(", "SELECT", "1", "AS"], ["SELECT", "count"], ["SELECT", "'a'"]]
)
GAPS = st.sampled_from(
    ["", " ", " ", "\n", "\t ", " \r\n", "/**/", " /* ' */ ", ' -- "\n', "/* /* */ */", " # x\n", "\r"]
)


@st.composite
def written_twice(draw: st.DrawFn) -> tuple[str, str]:
    tokens = draw(BEGINNINGS) + draw(st.lists(TOKENS, min_size=1, max_size=6))
    return _written(draw, tokens), _written(draw, tokens)


def _written(draw: st.DrawFn, tokens: list[str]) -> str:
    text = ""
    for token in tokens:
        text += draw(st.sampled_from([token, token.lower(), token.upper()])) + draw(GAPS)
    return text + draw(st.sampled_from(["", ";", " ;\n"]))


Outcome = Callable[[str], object]


@pytest.fixture(scope="module")
def on_duckdb() -> Iterator[Outcome]:
    connection = duckdb.connect(config={"enable_external_access": "false"})
    connection.execute("CREATE TABLE t (id INT, name VARCHAR); INSERT INTO t VALUES (1, 'One'), (2, 'one')")

    def outcome(sql: str) -> object:
        try:
            return repr(connection.execute(sql).fetchall())
        except duckdb.Error as error:
            return type(error).__name__

    yield outcome
    connection.close()


@pytest.fixture(scope="module")
def on_postgresql() -> Iterator[Outcome]:
    connection = postgres_server()
    connection.execute("CREATE TEMP TABLE t (id INT, name TEXT)")
    connection.execute("INSERT INTO t VALUES (1, 'One'), (2, 'one')")
    connection.execute("SET default_transaction_read_only = on")

    def outcome(sql: str) -> object:
        try:
            cursor = connection.execute(sql.encode())
            return repr(cursor.fetchall()) if cursor.description else "no rows"
        except psycopg.Error as error:
            return error.sqlstate

    yield outcome
    connection.close()


@pytest.fixture(scope="module")
def on_mariadb() -> Iterator[Outcome]:
    connection = mariadb_server(database=urlsplit(MARIADB).path.lstrip("/"))
    cursor = connection.cursor()
    cursor.execute("CREATE TEMPORARY TABLE t (id INT, name TEXT)")
    cursor.execute("INSERT INTO t VALUES (1, 'One'), (2, 'one')")

    def outcome(sql: str) -> object:
        try:
            cursor.execute(sql)
            return repr(cursor.fetchall())
        except pymysql.Error as error:
            return error.args[0]

    yield outcome
    connection.close()


@settings(max_examples=500)
@given(written_twice())
def test_the_same_form_is_the_same_outcome_on_duckdb(on_duckdb: Outcome, written: tuple[str, str]) -> None:
    _check("duckdb", on_duckdb, written)


@settings(max_examples=500)
@given(written_twice())
def test_the_same_form_is_the_same_outcome_on_postgresql(on_postgresql: Outcome, written: tuple[str, str]) -> None:
    _check("postgresql", on_postgresql, written)


@settings(max_examples=500)
@given(written_twice())
def test_the_same_form_is_the_same_outcome_on_mariadb(on_mariadb: Outcome, written: tuple[str, str]) -> None:
    _check("mariadb", on_mariadb, written)


def _check(dialect: str, outcome: Outcome, written: tuple[str, str]) -> None:
    left, right = written
    if canonical(left, dialect) == canonical(right, dialect):
        assert outcome(left) == outcome(right)
