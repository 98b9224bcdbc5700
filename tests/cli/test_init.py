"""`merit init`: merit.toml for a database of one's own, checked."""

import json
import os
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from making.clock import COMES_S
from making.commands import good, merit, refused
from making.engines import POSTGRES, absent


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as db:
        db.executescript(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT); INSERT INTO orders VALUES (1, 'paid');"
        )
    (tmp_path / "script.jsonl").write_text('{"reply": "<answer>SELECT count(*) FROM orders</answer>"}\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MERIT_DATABASE", raising=False)
    return tmp_path


def test_three_words_lead_to_a_first_answer(shop: Path) -> None:
    said = good("init", "sqlite:///shop.sqlite", "--model", "scripted:script.jsonl").output
    assert "database: 1 table, 2 columns" in said
    assert "model: answers" in said
    assert "count(*)\n1\n" in good("ask", "How many orders?").output
    assert "remembered" in good("confirm", good("history").output.split()[0]).output


def test_a_password_is_not_written_down(shop: Path) -> None:
    url = "postgresql://reader:hunter2@127.0.0.1:1/shop"
    assert "hunter2" not in refused("init", url)
    assert "hunter2" not in good("init", url, "--no-check").output
    written = tomllib.loads((shop / "merit.toml").read_text())
    assert written["database"] == {"name": "shop", "url_env": "MERIT_DATABASE", "rows": "prompt"}


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://reader@example.org:hunter2@127.0.0.1:1/shop",  # users of some servers are called so
        "postgresql://reader:hunter2/shop",
        "postgresql:/reader:hunter2@127.0.0.1/shop",
        "reader:hunter2@127.0.0.1",
        "duckdb:///none.duckdb?motherduck_token=hunter2",
        "host=127.0.0.1 password=hunter2",
    ],
)
def test_a_password_is_not_written_down_wherever_it_stands(shop: Path, url: str) -> None:
    done = merit("init", url, "--name", "shop")
    assert done.exit_code != 0
    unchecked = merit("init", url, "--name", "shop", "--no-check")
    for told in (done, unchecked):
        assert "hunter2" not in told.output + str(told.exception)
    written = shop / "merit.toml"
    assert not written.exists() or "hunter2" not in written.read_text()


@pytest.mark.parametrize(
    "model",
    [
        "openai:gpt?api_key=hunter2hunter2hunter2",
        "openai:https://me:hunter2@example.org/v1",
        "openai:sk-hunter2hunter2hunter2",
    ],
)
def test_a_key_in_the_model_s_name_is_not_written_down(shop: Path, model: str) -> None:
    said = refused("init", "sqlite:///shop.sqlite", "--model", model)
    assert "--model holds a password or a key; set it as an environment variable" in said
    assert "hunter2" not in said
    assert not (shop / "merit.toml").exists()


def test_a_model_that_does_not_answer_is_said(shop: Path) -> None:
    assert "nowhere.jsonl: no such file" in refused(
        "init", "sqlite:///shop.sqlite", "--model", "scripted:nowhere.jsonl"
    )
    assert not (shop / "merit.toml").exists()


def test_a_role_that_can_write_is_said(shop: Path) -> None:
    schema = f"merit_init_{os.getpid()}"
    try:
        db = psycopg.connect(POSTGRES, autocommit=True, connect_timeout=COMES_S)
    except psycopg.OperationalError as error:
        absent(f"no PostgreSQL answers at {POSTGRES} (set MERIT_TEST_POSTGRES): {error}")
    with closing(db):
        db.execute(f"CREATE SCHEMA {schema} CREATE TABLE orders (id int)".encode())
        try:
            done = good("init", POSTGRES, "--name", "shop")
        finally:
            db.execute(f"DROP SCHEMA {schema} CASCADE".encode())
    assert "its role can do more than read (" in done.output
    assert "merit doctor` says what, and how to make one that cannot" in done.output


def test_what_is_wrong_is_said_and_the_same_command_can_be_typed_again(shop: Path) -> None:
    assert "there is no such database file" in refused("init", "sqlite:///none.sqlite")
    assert not (shop / "merit.toml").exists()
    good("init", "sqlite:///shop.sqlite")
    assert "merit.toml: is there already" in refused("init", "sqlite:///shop.sqlite")


def test_without_a_database_the_way_is_named(shop: Path) -> None:
    assert "no database was named: give --database, set MERIT_DATABASE, or write merit.toml" in refused(
        "ask", "How many?"
    )


def test_rules_of_the_file_reach_the_model(shop: Path) -> None:
    good("init", "sqlite:///shop.sqlite", "--model", "scripted:script.jsonl")
    with (shop / "merit.toml").open("a") as file:
        file.write('open = "An order is open until it is paid."\n')
    script = shop / "script.jsonl"
    script.write_text(
        '{"contains": "An order is open until it is paid.", "reply": "<answer>SELECT 42</answer>"}\n'
        + script.read_text()
    )
    assert "42" in good("ask", "How many open orders?").output


@pytest.mark.parametrize("name", ["shöp 😀", 'a "quoted" name'])
def test_any_plain_name_can_be_read_again(shop: Path, name: str) -> None:
    (shop / "shop.sqlite").rename(shop / "😀.sqlite")
    good("init", "sqlite:///😀.sqlite", "--name", name)
    assert tomllib.loads((shop / "merit.toml").read_text())["database"]["name"] == name


def test_a_password_with_a_slash_is_not_taken_for_a_name(shop: Path) -> None:
    done = refused("init", "postgresql://reader:/hunter2@127.0.0.1:1/shop")
    assert "hunter2" not in str(done)
    assert not (shop / "merit.toml").exists()


@pytest.mark.parametrize("name", ["a/b", "x\x1b[31m", "x\x7f", "x\udcff"])
def test_a_name_that_cannot_be_is_refused_and_nothing_is_left(shop: Path, name: str) -> None:
    refused("init", "sqlite:///shop.sqlite", "--name", name)
    assert not (shop / "merit.toml").exists()
    good("init", "sqlite:///shop.sqlite")


def test_the_file_holds_where_the_variable_that_it_names_is_the_usual_one(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `merit init` writes it for a URL with a password: its model and `rows = "never"` must not be passed over."""
    (shop / "merit.toml").write_text(
        '[database]\nname = "till"\nurl_env = "MERIT_DATABASE"\nrows = "never"\n[model]\nuri = "scripted:script.jsonl"\n'
    )
    monkeypatch.setenv("MERIT_DATABASE", "sqlite:///shop.sqlite")
    good("ask", "How many orders?")
    asked = json.loads(good("history", "--json").output)
    assert (asked["database"], asked["receipt"]["settings"]["rows"]) == ("till", "never")


def test_a_path_names_the_database_of_the_file(shop: Path) -> None:
    good("init", "sqlite:///shop.sqlite", "--name", "till", "--model", "scripted:script.jsonl")
    said = good("ask", "How many orders?", "--database", "shop.sqlite").output
    assert "names another database" not in said
    assert json.loads(good("history", "--json").output)["database"] == "till"


def test_a_file_about_another_database_is_left_aside_aloud(shop: Path) -> None:
    (shop / "merit.toml").write_text('[database]\nname = "till"\nurl = "sqlite:///till.sqlite"\n')
    said = good("ask", "How many orders?", "--database", "shop.sqlite", "--model", "scripted:script.jsonl").output
    assert "merit: merit.toml names another database, so nothing in it is used" in said
