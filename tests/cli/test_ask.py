"""`merit ask` and what a person says afterwards: confirm, reject, correct, history."""

import json
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from making.commands import good, merit, refused


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a database and a model's script; what is learned is kept there."""
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as db:
        db.executescript(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT);"
            "INSERT INTO orders VALUES (1, 'paid'), (2, 'open'), (3, 'paid');"
        )
    reply = {"reply": "<answer>SELECT state, count(*) AS orders FROM orders GROUP BY state</answer>"}
    (tmp_path / "script.jsonl").write_text(json.dumps(reply) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    return tmp_path


def said_by(*command: object) -> str:
    return good(*command).output


ASK = ("ask", "How many orders of each state?", "--database", "shop.sqlite", "--model", "scripted:script.jsonl")


def test_an_answer_is_sql_rows_and_what_to_say_next(shop: Path) -> None:
    lines = said_by(*ASK).splitlines()
    assert lines[:4] == [
        "SELECT state, count(*) AS orders FROM orders GROUP BY state",
        "state\torders",
        "open\t1",
        "paid\t2",
    ]
    assert lines[4] == "answered (100% of the votes, not calibrated)"
    assert lines[5].startswith("right?  merit confirm ")


def test_the_commands_it_proposes_work_as_they_are_printed(shop: Path) -> None:
    line = said_by(*ASK).splitlines()[5]
    said = said_by(*shlex.split(line)[2:])
    assert "confirmed; remembered as pre-" in said


def test_json_is_one_object(shop: Path) -> None:
    answer = json.loads(said_by(*ASK, "--json"))
    assert (answer["status"], answer["columns"], answer["rows"]) == (
        "answered",
        ["state", "orders"],
        [["open", 1], ["paid", 2]],
    )
    assert answer["agreement"] == 1.0


def test_sql_alone(shop: Path) -> None:
    assert said_by(*ASK, "--sql-only") == "SELECT state, count(*) AS orders FROM orders GROUP BY state\n"


def test_what_is_said_stands_in_the_history(shop: Path) -> None:
    first, second, third = (json.loads(said_by(*ASK, "--json"))["id"] for _ in range(3))
    own = ("--database", "shop.sqlite")
    said_by("confirm", first, *own, "--author", "ada")
    assert "rejected; nothing to remember" in said_by("reject", second, "it counts twice", *own)
    assert "corrected; remembered as pre-" in said_by("correct", third, "SELECT count(*) FROM orders", *own)
    states = [line.split()[2] for line in said_by("history").splitlines()]
    assert states == ["confirmed", "rejected", "corrected"]
    answers = [json.loads(line) for line in said_by("history", "each", "STATE", "--json").splitlines()]
    assert [answer["feedback"]["kind"] for answer in answers] == states
    assert answers[0]["feedback"]["author"] == "ada"
    assert answers[1]["feedback"]["reason"] == "it counts twice"


def test_nothing_that_runs_is_exit_1(shop: Path) -> None:
    (shop / "script.jsonl").write_text('{"reply": "<answer>SELECT * FROM nowhere_at_all</answer>"}\n')
    done = merit(*ASK)
    assert done.exit_code == 1
    assert "failed (no such table: nowhere_at_all)" in done.output
    assert "confirm" not in done.output


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("confirm", "x", "--database", "shop.sqlite"), ".merit/history.jsonl: there is no answer 'x'; `merit history` lists them"),
        (("history",), ".merit: there is no history here; ask something first, or name another --folder"),
        (("ask", "", *ASK[2:]), "the question is empty; ask something"),
        (("ask", "q", "--database", "none.sqlite", *ASK[4:]), "sqlite:///none.sqlite: there is no such database file; check the path"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence(shop: Path, command: tuple[str, ...], said: str) -> None:
    assert said in refused(*command)
