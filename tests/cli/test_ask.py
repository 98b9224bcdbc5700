"""`merit ask` and what a person says afterwards: confirm, reject, correct, history."""

import json
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from making.commands import good, merit, refused
from making.terminal import on_terminal, plain


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
    assert [line.split()[0] for line in said_by("history", second[:8]).splitlines()] == [second], "by its id, too"
    assert said_by("history", "STATE each") == "no such question\n", "one argument is one text"


def test_nothing_that_runs_is_exit_1(shop: Path) -> None:
    (shop / "script.jsonl").write_text('{"reply": "<answer>SELECT * FROM nowhere_at_all</answer>"}\n')
    done = merit(*ASK)
    assert done.exit_code == 1
    assert "failed (no such table: nowhere_at_all)" in done.output
    assert "confirm" not in done.output


def script(shop: Path, reply: str) -> None:
    """What the model says to every prompt."""
    (shop / "script.jsonl").write_text(json.dumps({"reply": reply}) + "\n")


def test_no_answer_in_the_database_is_exit_3_and_no_invention(shop: Path) -> None:
    script(shop, "<answer>-- UNANSWERABLE: there is nothing about cars\u001b[31m</answer>")
    done = merit(*ASK)
    assert done.exit_code == 3
    assert done.output.splitlines()[0] == (
        "unanswerable (100% of the votes say that the database holds no answer: there is nothing about cars [31m)"
    )
    assert "confirm" not in done.output
    assert json.loads(merit(*ASK, "--json").output)["status"] == "unanswerable"
    assert merit(*ASK, "--sql-only").output == "\n"


def test_no_rows_are_told_from_nothing(shop: Path) -> None:
    script(shop, "<answer>SELECT id FROM orders WHERE state = 'lost'</answer>")
    assert "no rows: the statement ran, and nothing fits its conditions" in said_by(*ASK).splitlines()
    answer = json.loads(said_by(*ASK, "--json"))
    assert (answer["found"], answer["columns"], answer["rows"]) == ("no_rows", ["id"], [])


def test_what_was_not_shown_is_named(shop: Path) -> None:
    script(shop, "<answer>-- UNANSWERABLE: no states</answer>")
    (shop / "merit.toml").write_text(
        '[database]\nname = "shop"\nurl = "sqlite:///shop.sqlite"\nexclude = ["main.orders.state"]\n'
        '[model]\nuri = "scripted:script.jsonl"\n'
    )
    output = merit("ask", "Which states are there?").output
    assert "not retrieved: the model was not shown main.orders.state ('exclude' in merit.toml)" in output
    answer = json.loads(merit("ask", "Which states are there?", "--json").output)
    assert (answer["found"], answer["left_out"]["exclude"]) == ("not_retrieved", ["main.orders.state"])


def test_one_candidate_that_is_not_executed(shop: Path) -> None:
    lines = said_by(*ASK, "--no-execute").splitlines()
    assert lines[1] == "not executed (the guard would let it run)"
    assert not any("confirm" in line for line in lines)
    script(shop, "<answer>DROP TABLE orders</answer>")
    done = merit(*ASK, "--no-execute")
    assert done.exit_code == 1
    assert "not executed (the guard refuses it: DROP is not allowed; only queries that read may run)" in done.output


def test_a_question_in_any_language_is_asked_and_found_again(shop: Path) -> None:
    question = "注文は何件ありますか？ Wie viele Aufträge gibt es für Zoë? كم عدد الطلبات؟"
    rule = {"contains": question, "reply": "<answer>SELECT count(*) AS 件数 FROM orders</answer>"}
    (shop / "script.jsonl").write_text(json.dumps(rule, ensure_ascii=False) + "\n")
    assert "件数\n3\n" in said_by("ask", question, *ASK[2:])
    assert question in said_by("history", "Aufträge")


def test_a_limit_that_ends_the_asking_is_said(shop: Path) -> None:
    (shop / "merit.toml").write_text(
        '[database]\nname = "shop"\nurl = "sqlite:///shop.sqlite"\n[model]\nuri = "scripted:script.jsonl"\n'
        "[budget]\ncalls = 1\n"
    )
    output = said_by("ask", "How many orders of each state?")
    assert "unsure (100% of the votes, not calibrated)" in output
    assert "asking ended early: another call would go beyond the limit of 1 for a question ('calls' in" in output


def test_progress_is_for_terminals(shop: Path) -> None:
    assert merit(*ASK).stderr == ""
    _, shown = on_terminal(ASK)
    assert "candidate 1 of 8: asking the model ...\nthe database returned 2 rows ...\n" in plain(shown)
    assert "candidate 2 of 8" in shown


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("confirm", "x", "--database", "shop.sqlite"), ".merit: no such folder; give the --folder that the question was asked with"),
        (("history",), ".merit: there is no history here; ask something first, or name another --folder"),
        (("ask", "", *ASK[2:]), "the question is empty; ask something"),
        (("ask", "q", "--database", "none.sqlite", *ASK[4:]), "sqlite:///none.sqlite: there is no such database file; check the path"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence(shop: Path, command: tuple[str, ...], said: str) -> None:
    assert said in refused(*command)
