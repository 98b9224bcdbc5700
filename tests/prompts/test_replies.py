"""Reading replies: the recovery steps one by one, which goes before which, and that no reply is too strange."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from merit.prompts import parse_reflection, parse_sql
from merit.types import DIALECTS

WITH = "WITH x AS (SELECT 1) SELECT * FROM x"

ANSWERS = [
    ("<answer>SELECT 1</answer>", "SELECT 1"),
    ("<answer>\n  SELECT a\n  FROM t\n</answer>\n", "SELECT a\n  FROM t"),
    ("<answer>SELECT 1;</answer>", "SELECT 1;"),
    ("<ANSWER>SELECT 1</ANSWER>", "SELECT 1"),
    ("<Answer>SELECT 1</aNSWER>", "SELECT 1"),
    ("It is <answer>SELECT 1</answer>, I think.", "SELECT 1"),
    (f"<answer>{WITH}</answer>", WITH),
    ("<answer>not SQL at all</answer>", "not SQL at all"),
    ("<answer>SELECT a FROM t WHERE a < 1 AND b > `c d`</answer>", "SELECT a FROM t WHERE a < 1 AND b > `c d`"),
    ("<answer>SELECT 1</answer> Or rather <answer>SELECT 2</answer>", "SELECT 2"),
    ("<answer>SELECT 1</answer><answer>SELECT 2</answer><answer>SELECT 3</answer>", "SELECT 3"),
    ("<answer></answer><answer>SELECT 1</answer>", "SELECT 1"),
    ("<answer>SELECT 1</answer><answer> \n </answer>", "SELECT 1"),
    ("Between <answer> and </answer>: <answer>SELECT 1</answer>", "SELECT 1"),
]
FENCED_ANSWERS = [
    ("<answer>```sql\nSELECT 1\n```</answer>", "SELECT 1"),
    ("<answer>\n```\nSELECT 1\n```\n</answer>", "SELECT 1"),
    ("<answer>```SQL\r\nSELECT 1\r\n```</answer>", "SELECT 1"),
    ("<answer>```sql SELECT 1```</answer>", "SELECT 1"),
    ("<answer>Like so:\n```sql\nSELECT 1\n```</answer>", "SELECT 1"),
    ("<answer>```sql\nSELECT 1</answer>\n```", "SELECT 1"),
    ("```\n<answer>SELECT 1</answer>\n```", "SELECT 1"),
]
CUT_OFF = [
    ("<answer>SELECT 1", "SELECT 1"),
    ("Let me see.\n<ANSWER>\nSELECT a,\n  b", "SELECT a,\n  b"),
    ("<answer>```sql\nSELECT 1\n```", "SELECT 1"),
    ("<answer>```sql\nSELECT 1", "SELECT 1"),
    ("<answer>SELECT 1 <answer>SELECT 2", "SELECT 2"),
    ("<answer></answer><answer>SELECT 1", "SELECT 1"),
]
FENCES = [
    ("```sql\nSELECT 1\n```", "SELECT 1"),
    ("```\nSELECT 1\n```", "SELECT 1"),
    ("```SQLite\nSELECT 1;\n```", "SELECT 1;"),
    ("```sql SELECT 1```", "SELECT 1"),
    ("```sql  \nSELECT a\n\nFROM t\n```", "SELECT a\n\nFROM t"),
    (f"So:\n```sql\n{WITH}\n```\nThat is all.", WITH),
    ("```sql\nSELECT 1\n```\nBetter:\n```sql\nSELECT 2\n```", "SELECT 2"),
    ("```sql\nSELECT 1\n```\n```\n```", "SELECT 1"),
    ("```sql\nSELECT 1", "SELECT 1"),
    ("```sql\nSELECT 1\n```\nBetter:\n```sql\nSELECT 2", "SELECT 2"),
]
STATEMENTS = [
    ("SELECT 1", "SELECT 1"),
    ("SELECT 1;", "SELECT 1"),
    ("select a\nfrom t", "select a\nfrom t"),
    ("The query is:\nSELECT 1; and nothing else.", "SELECT 1"),
    ("The query is:\n\n  SELECT a\n  FROM t\n\nIt counts.", "SELECT a\n  FROM t"),
    ("The query is:\n\tSELECT a\n \t \nIt counts.", "SELECT a"),
    (f"Then:\n{WITH}; done", WITH),
    ("SELECT 1;\nSELECT 2;", "SELECT 1"),
    ("Selecting is hard.\nWithout doubt:\nSELECT 1", "SELECT 1"),
]
ORDER = [
    ("<answer>SELECT 1</answer> No: <answer>SELECT 2", "SELECT 1"),
    ("<answer>SELECT 1</answer>\n```sql\nSELECT 2\n```\nSELECT 3;", "SELECT 1"),
    ("```sql\nSELECT 2\n```\nSELECT 3;\n\n<answer>SELECT 1", "SELECT 1"),
    ("SELECT 2;\n```sql\nSELECT 1\n```\nSELECT 3;", "SELECT 1"),
    ("```sql\nSELECT 1\n```\n<answer> ", "SELECT 1"),
    ("```\n```\nSELECT 1;", "SELECT 1"),
]
THOUGHTS = [
    ("<think>SELECT 2;</think>SELECT 1", "SELECT 1"),
    ("<think><answer>SELECT 2</answer></think>\n<answer>SELECT 1</answer>", "SELECT 1"),
    ("<think><answer>SELECT 2</answer></think>\nSELECT 1;", "SELECT 1"),
    ("```\nSELECT 2\n```</think>```\nSELECT 1\n```", "SELECT 1"),
    ("<think>a</think>SELECT 3;<think>b</think><answer>SELECT 1", "SELECT 1"),
    ("<think>SELECT 2;</think>I give up.", ""),
]
NOTHING = [
    ("", ""),
    (" \n\t", ""),
    ("I do not know.", ""),
    ("<answer>", ""),
    ("```", ""),
    ("```sql\n```", ""),
    ("</answer>", ""),
    ("<think></think>", ""),
    ("<reflection>It failed.</reflection>", ""),
]
ODD = [
    ("<answer></answer>", ""),
    ("<answer>\n</answer>\nSELECT 1;", "SELECT 1"),
    ("I use <answer> tags. <answer>SELECT 1</answer>", "SELECT 1"),
    ("```SELECT 1```", "SELECT 1"),
    ("<answer>```SELECT 1```</answer>", "SELECT 1"),
    ("<answer>SELECT '```' FROM t</answer>", "SELECT '```' FROM t"),
    ("SELECT 1\r\n\r\nIt counts.", "SELECT 1"),
    ("With this in mind:\n\nSELECT 1;", "SELECT 1"),
    ("SELECT ';' FROM t; That is all.", "SELECT ';' FROM t"),
    ("Here: SELECT 1", "SELECT 1"),
    ("I select nothing.", ""),
    ("```sql\nSELECT 1\n```\nResult:\n```\n1\n```", "SELECT 1"),
    ("Hm.</THINK><answer>SELECT 1</answer>", "SELECT 1"),
    ("<answer>SELECT 1</answer></think>", "SELECT 1"),
]
TABLE = ANSWERS + FENCED_ANSWERS + CUT_OFF + FENCES + STATEMENTS + ORDER + THOUGHTS + NOTHING + ODD

PIECES = st.sampled_from(
    ["<answer>", "</answer>", "<ANSWER>", "<think>", "</think>", "<reflection>", "</reflection>"]
    + ["```", "```sql", "`", "<", ";", "\n", "\n\n", " ", "\t", "SELECT 1", "with", "a"]
)
REPLIES = st.text(st.characters(exclude_categories=())) | st.lists(PIECES, max_size=20).map("".join)
MARKUP = re.compile(r"```|</?answer>|</?think>|</?reflection>", re.IGNORECASE)
PLAIN = st.text(min_size=1).filter(lambda text: text.strip() and not MARKUP.search(text))

LENGTH = 100_000
LONG = [
    "`",
    "```",
    "```sql\n",
    "select ",
    "select\n",
    "with x;",
    "</answer>",
    "<answer></answer>",
    "<answer> </answer>",
    "<think>",
    "</think>",
    "<reflection>",
    "<reflection></reflection>",
    "<",
    " ",
    "\n",
    " \n\t",
]


@pytest.mark.parametrize(("reply", "sql"), TABLE)
def test_the_sql_in_a_reply(reply: str, sql: str) -> None:
    assert parse_sql(reply) == sql


@given(REPLIES)
def test_every_reply_can_be_read(reply: str) -> None:
    sql = parse_sql(reply)
    assert sql == sql.strip()
    assert sql in reply


@given(PLAIN, st.sampled_from(["<answer>{}</answer>", "<answer>{}", "```sql\n{}\n```", "<think></think><answer>{}"]))
@example("SELECT '{}' FROM `a b` WHERE x < 1;", "<answer>{}</answer>")
@example(r"SELECT '\1\n' -- \g<0>", "<answer>{}</answer>")
def test_sql_comes_back_as_it_was_said(sql: str, manner: str) -> None:
    assert parse_sql(manner.replace("{}", sql)) == sql.strip()


@given(PLAIN, PLAIN, PLAIN)
def test_only_the_last_complete_answer_counts(before: str, sql: str, after: str) -> None:
    assert parse_sql(f"{before}<answer>{before}</answer>{after}<answer>{sql}</answer>{after}") == sql.strip()


@given(REPLIES, PLAIN)
def test_what_was_thought_before_does_not_count(thought: str, sql: str) -> None:
    assert parse_sql(f"{thought}</think><answer>{sql}</answer>") == sql.strip()


@pytest.mark.parametrize("piece", LONG)
@pytest.mark.parametrize("start", ["", "<answer>", "```", "select ", "<reflection>"])
def test_long_replies_come_to_an_end(start: str, piece: str) -> None:
    reply = start + piece * (LENGTH // len(piece))
    assert parse_sql(reply) in reply
    assert parse_reflection(reply)


def test_a_long_stutter_of_tags_comes_to_an_end() -> None:
    assert parse_sql("<answer>" * 12_500 + "SELECT 1") == "SELECT 1"


@pytest.mark.parametrize(
    ("reply", "reflection"),
    [
        ("<reflection>The join is missing.</reflection>", "The join is missing."),
        ("Well: <reflection>The join is missing.</reflection> Yes.", "The join is missing."),
        ("<REFLECTION>The join is missing.</Reflection>", "The join is missing."),
        ("<reflection>\n  The join\n\n  is\tmissing.\n</reflection>", "The join is missing."),
        ("<reflection>The join is", "The join is"),
        ("The join\nis missing.", "The join is missing."),
        ("The join is missing.</reflection>", "The join is missing.</reflection>"),
        ("<think>Hm.</think>The join is missing.", "The join is missing."),
        ("<think><reflection>Hm.</reflection></think><reflection>It is missing.</reflection>", "It is missing."),
        ("<reflection>One.</reflection><reflection>Two.</reflection>", "One."),
        ("<reflection></reflection>", "(none)"),
        ("<reflection>\n", "(none)"),
        ("<think>Hm.</think>", "(none)"),
        (" \n", "(none)"),
        ("", "(none)"),
    ],
)
def test_the_reflection_in_a_reply(reply: str, reflection: str) -> None:
    assert parse_reflection(reply) == reflection


@given(REPLIES)
def test_a_reflection_is_one_line_and_never_empty(reply: str) -> None:
    reflection = parse_reflection(reply)
    assert reflection
    assert reflection == " ".join(reflection.split())
    assert reflection.splitlines() == [reflection]


@given(PLAIN)
def test_a_reflection_comes_back_word_by_word(text: str) -> None:
    assert parse_reflection(f"<reflection>{text}</reflection>").split() == text.split()
    assert parse_reflection(text).split() == text.split()


DIALECT_STATEMENTS = [
    ("sqlite", "SELECT ';' FROM t; done", "SELECT ';' FROM t"),
    ("postgresql", "SELECT $$a;\n\nb$$ FROM t; done", "SELECT $$a;\n\nb$$ FROM t"),
    ("postgresql", "SELECT $q$ $$ ; $q$; done", "SELECT $q$ $$ ; $q$"),
    ("postgresql", r"SELECT E'it\'s; fine', 1; done", r"SELECT E'it\'s; fine', 1"),
    ("postgresql", r"SELECT 'C:\', 1; done", r"SELECT 'C:\', 1"),
    ("postgresql", "SELECT 1 -- it's one; really\n+ 1; done", "SELECT 1 -- it's one; really\n+ 1"),
    ("postgresql", "SELECT 1 /* a;\n\nb */ + 1; done", "SELECT 1 /* a;\n\nb */ + 1"),
    ("duckdb", "SELECT $$a;b$$; done", "SELECT $$a;b$$"),
    ("mysql", r"SELECT 'it\'s; fine', 1; done", r"SELECT 'it\'s; fine', 1"),
    ("mysql", r'SELECT "say \"a;b\"", 1; done', r'SELECT "say \"a;b\"", 1'),
    ("mysql", "SELECT `a;b` FROM t; done", "SELECT `a;b` FROM t"),
    ("mysql", "SELECT 1 # it's one; really\n+ 1; done", "SELECT 1 # it's one; really\n+ 1"),
    ("mariadb", "SELECT 1--1; done", "SELECT 1--1"),
    ("mariadb", "SELECT 1\n\nThat's all.", "SELECT 1"),
]


@pytest.mark.parametrize(("dialect", "reply", "sql"), DIALECT_STATEMENTS)
def test_a_quoted_semicolon_ends_nothing_in_its_dialect(dialect: str, reply: str, sql: str) -> None:
    assert parse_sql(reply, dialect) == sql


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("reply", "sql"), [case for case in TABLE if not any(sign in case[0] for sign in "'\"`#$") and "--" not in case[0]]
)
def test_without_quotes_every_dialect_reads_alike(dialect: str, reply: str, sql: str) -> None:
    assert parse_sql(reply, dialect) == sql


@given(REPLIES, st.sampled_from(list(DIALECTS)))
def test_every_reply_can_be_read_in_every_dialect(reply: str, dialect: str) -> None:
    sql = parse_sql(reply, dialect)
    assert sql == sql.strip()
    assert sql in reply


@pytest.mark.parametrize("piece", [*LONG, "'", r"\'", "/*", "$a$", "$$", "--", "E'", r"E'\'", "#", '"'])
@pytest.mark.parametrize("dialect", [dialect for dialect in DIALECTS if dialect != "sqlite"])
def test_long_replies_come_to_an_end_in_every_dialect(dialect: str, piece: str) -> None:
    for start in ("SELECT ", "SELECT '", "SELECT $x$"):
        reply = start + piece * (LENGTH // len(piece))
        assert parse_sql(reply, dialect) in reply
