"""Files made to do harm, and places that lead elsewhere: refused in a sentence, and nothing is written."""

import json
import os
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from making.commands import refusal
from making.disks import no_waiting
from making.fuzzing import tries
from making.hostile import exchange_in, flip_in
from making.pairs import BIRD, CORTEX_MODEL, VANNA_CSV, VANNA_RECORDS, WREN_MARKDOWN, as_lines, manifest, write_all
from merit.errors import InputError
from merit.formats import FORMATS, Pair, cortex, read_pairs, write_pairs
from merit.formats.pair import QUESTION_CHARACTERS
from merit.reading import MIB
from merit.types import Limits

PAIR = Pair("How many?", "SELECT 1")
HONEST = {
    "a.csv": VANNA_CSV,
    "a.jsonl": as_lines(BIRD),
    "b.json": json.dumps(VANNA_RECORDS),
    "c.json": json.dumps(manifest()),
    "d.yaml": CORTEX_MODEL,
    "e.md": WREN_MARKDOWN,
}


@pytest.mark.parametrize("name", HONEST)
def test_any_exchanged_value_or_byte_is_read_or_refused(name: str, tmp_path: Path) -> None:
    draw = random.Random(11)
    path = tmp_path / name
    for _ in range(tries(25)):
        path.write_text(HONEST[name])
        if path.suffix.startswith(".json") and draw.random() < 0.7:
            exchange_in(path, draw)
        else:
            flip_in(path, draw)
        refusal(lambda: read_pairs(path))


def test_values_of_other_types_are_left_out_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"question": 5, "sql": "SELECT 1"}\n{"question": "x", "sql": ["SELECT"]}\n{"question": " ", "sql": "y"}\n'
    )
    found = read_pairs(path)[1]
    assert found.pairs == ()
    assert [one.reason for one in found.skipped] == [
        "its question should be a text, not 5",
        "its SQL should be a text, not ['SELECT']",
        "its question is blank",
    ]


def test_a_header_of_a_million_columns_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question,sql," + ",".join(f"c{number}" for number in range(1_000_000)) + "\nq,SELECT 1\n")
    with no_waiting(60):
        assert [pair.sql for pair in read_pairs(path)[1].pairs] == ["SELECT 1"]


def test_a_document_of_directives_is_refused(tmp_path: Path) -> None:
    """Each is compared with all before it, in C, where nothing can stop it."""
    path = tmp_path / "a.yaml"
    tags = "".join(f"%TAG !a{number}! x\n" for number in range(101))
    path.write_text(f"{tags}---\nverified_queries: []\n")
    with pytest.raises(InputError, match="a.yaml: more than 100 lines begin with %; is it the right file?"):
        read_pairs(path)


def test_a_question_of_pages_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"question": "x" * (QUESTION_CHARACTERS + 1), "sql": "SELECT 1"}))
    assert read_pairs(path)[1].skipped[0].reason == f"its question has more than {QUESTION_CHARACTERS} characters"


def test_half_a_character_becomes_a_question_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"question": "x \\ud800", "sql": "SELECT \'\\ud800\'"}')
    (pair,) = read_pairs(path)[1].pairs
    assert (pair.question, pair.sql) == ("x ?", "SELECT '?'")


def test_a_yaml_bomb_is_not_followed(tmp_path: Path) -> None:
    bomb = "a: &a [x, x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    path = write_all(tmp_path, {"a.yml": f"{bomb}verified_queries: *i\n"}) / "a.yml"
    with pytest.raises(InputError, match=r"line 2: the alias \*a is not followed"):
        read_pairs(path)
    path.write_text("verified_queries: " + "[" * 200_000)
    with pytest.raises(InputError, match="nested more than 50 levels deep"):
        read_pairs(path)
    path.write_text("verified_queries: !!python/object/apply:os.system [echo]")
    with pytest.raises(InputError, match="the tag .* is not read"):
        read_pairs(path)


def cortex_model(columns: str, queries: int, sql: str = "SELECT * FROM __t") -> str:
    """A semantic model with one table, which each of its queries names."""
    table = f"tables:\n- {{name: t, base_table: {{table: p}}, dimensions: [{columns}]}}\n"
    return f"{table}verified_queries:\n" + f"- {{question: q, sql: {sql}}}\n" * queries


@pytest.mark.parametrize("sql", ["SELECT * FROM __t", "SELECT c FROM __t", "WITH a AS (SELECT c FROM __t) TABLE a"])
def test_one_table_does_not_make_many_long_statements(sql: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(cortex_model(f"{{name: c, expr: {'1' * Limits().sql_bytes}}}", 2, sql))
    found = read_pairs(path)[1]
    assert found.pairs == ()
    assert [(one.where, one.reason) for one in found.skipped] == [
        (
            f"{path}, verified_queries[{number}]",
            f"its SQL has more than {Limits().sql_bytes} characters with its tables spelled out",
        )
        for number in range(2)
    ]


def test_all_statements_together_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cortex, "_MOST_SPELLED_OUT", 2 * MIB)
    path = tmp_path / "a.yaml"
    path.write_text(cortex_model(f"{{name: c, expr: {'1' * 90_000}}}", 20))
    assert len(read_pairs(path)[1].pairs) == 20
    path.write_text(cortex_model(f"{{name: c, expr: {'1' * 90_000}}}", 40))
    with pytest.raises(InputError, match=r"verified_queries\[23\]: with their tables spelled out, .* more than 2 MiB"):
        read_pairs(path)


def test_many_tables_and_columns_are_found_by_the_words_of_a_query(tmp_path: Path) -> None:
    path, names = tmp_path / "a.yaml", range(6000)
    tables = "tables:\n" + "".join(f"- {{name: a{one}, base_table: {{table: b}}}}\n" for one in names)
    tables += (
        f"- {{name: t, base_table: {{table: p}}, dimensions: [{', '.join(f'{{name: c{one}}}' for one in names)}]}}\n"
    )
    queries = "".join(f"- {{question: q{one}, sql: SELECT c{one} FROM __t}}\n" for one in names)
    path.write_text(f"{tables}verified_queries:\n{queries}")
    with no_waiting(10):
        pairs = read_pairs(path)[1].pairs
    assert [pair.sql for pair in pairs] == [
        f"WITH __t AS (SELECT c{one} FROM p) SELECT c{one} FROM __t" for one in names
    ]


def test_a_table_that_is_defined_twice_is_spelled_out_in_neither_way(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(cortex_model("{name: c}", 1).replace("verified", "- {name: T, base_table: {table: q}}\nverified"))
    found = read_pairs(path)[1]
    assert (found.pairs, found.skipped[0].reason) == (
        (),
        "names the table '__t', which the model defines more than once",
    )


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # all holes
    with pytest.raises(InputError, match="more than 64 MiB; is it the right file"):
        read_pairs(path)


def test_pipes_devices_and_missing_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path / "nowhere"):
        with pytest.raises(InputError, match=r"a pipe, a socket or a device|no such file"):
            read_pairs(path)


def test_a_link_leads_out_of_no_project(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text(WREN_MARKDOWN)
    project = write_all(tmp_path / "project", {"knowledge/sql/a.md": WREN_MARKDOWN})
    (project / "knowledge/sql/b.md").symlink_to(secret)
    with pytest.raises(InputError, match=r"b\.md: is a link that leads out of"):
        read_pairs(project)
    other = write_all(tmp_path / "other", {"dbt_project.yml": ""})
    (other / "target").symlink_to(tmp_path / "elsewhere")
    write_all(tmp_path / "elsewhere", {"manifest.json": json.dumps(manifest())})
    with pytest.raises(InputError, match=r"manifest\.json: is a link that leads out of"):
        read_pairs(other)
    os.mkfifo(project / "knowledge/sql/c.md")
    (project / "knowledge/sql/b.md").unlink()
    with pytest.raises(InputError, match=r"c\.md: is a pipe"):
        read_pairs(project)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"question,sql\nx,\xff\n")
    with pytest.raises(InputError, match=r"not UTF-8 text \(byte 15\)"):
        read_pairs(path)


def test_no_cell_of_a_csv_file_is_a_formula(tmp_path: Path) -> None:
    hostile = ["=HYPERLINK(1)", "+A1", "-2+3", "@SUM(1)", "\t=1", "＝1"]
    write_pairs([Pair(text, f"={text}", author=text) for text in hostile], tmp_path / "a.csv", "csv")
    text = (tmp_path / "a.csv").read_text()
    assert not re.search('(^|,)"?[=+@\t＝-]', text, re.MULTILINE)
    assert [pair.question for pair in read_pairs(tmp_path / "a.csv")[1].pairs] == [text.strip() for text in hostile]


@pytest.mark.parametrize("name", [name for name, known in FORMATS.items() if known.folder])
def test_no_question_leads_out_of_the_folder(name: str, tmp_path: Path) -> None:
    questions = ["../../x", "/etc/passwd", "..", ".", "a\0b", "CON", "x" * 5000, "a/b", "\u202e", "~root"]
    (tmp_path / "in").mkdir()
    write_pairs([Pair(question, "SELECT 1") for question in questions], tmp_path / "in" / "out", name)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["out"]
    files = [path for path in (tmp_path / "in" / "out").rglob("*") if path.is_file()]
    assert len([path for path in files if path.suffix != ".yml"]) == len(questions)
    assert all(re.fullmatch(r"[a-z0-9_-]{1,70}\.(md|sql|yml)", path.name) for path in files)


@pytest.mark.parametrize("name", FORMATS)
def test_an_export_overwrites_no_folder_device_or_link_target(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / "link").symlink_to(target)
    (tmp_path / "part.part").symlink_to(tmp_path / "folder")
    for place in ("folder", "pipe"):
        with pytest.raises(InputError, match=r"is there already|is not a regular file"):
            write_pairs([PAIR], tmp_path / place, name)
    for place in ("link", "part"):
        refusal(lambda place=place: write_pairs([PAIR], tmp_path / place, name))  # type: ignore[misc]
    assert target.read_text() == "mine"
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.parametrize("time", ["yesterday", "", "9999-99-99", "0001-01-01T00:00:00+23:59", "\x1b"])
def test_a_time_that_is_none_is_left_out(time: str, tmp_path: Path) -> None:
    write_pairs([replace(PAIR, time=time)], tmp_path / "a.yml", "cortex")
    assert [pair.time for pair in read_pairs(tmp_path / "a.yml")[1].pairs] == [""]


def test_an_export_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match=r"out: cannot be written \(No space left on device\)"):
        write_pairs([PAIR], tmp_path / "out", "wren")
    assert list(tmp_path.iterdir()) == []
