"""`--json`: every command that prints results has it, and what it prints can be read by a program."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from making.commands import good, merit, refused
from making.shop import make_shop
from merit.cli import serving
from merit.cli.main import cli
from merit.web.names import Names

WITHOUT = {"mcp": "its standard output is the protocol"}  # commands that print no results, and why


def commands(group: click.Group = cli, *path: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield " ".join([*path, name]), command


def as_json(*arguments: object) -> Any:
    return json.loads(good(*arguments, "--json").stdout)


@pytest.fixture(autouse=True)
def _shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_shop(tmp_path / "shop.sqlite")
    reply = {"reply": "<answer>SELECT count(*) FROM orders</answer>"}
    (tmp_path / "script.jsonl").write_text(json.dumps(reply) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MERIT_DATABASE", raising=False)


def test_every_command_that_prints_results_has_it() -> None:
    lacking = {
        name for name, command in commands() if not any("--json" in parameter.opts for parameter in command.params)
    }
    assert lacking == set(WITHOUT)


def test_a_conversation_has_one_object_for_every_line_of_input() -> None:
    lines = [":yes", "How many orders?", ":why", ":sql SELECT 3", "And now?", ":no", "Still?", ":yes", ":help"]
    command = ["chat", "--json", "--database", "shop.sqlite", "--model", "scripted:script.jsonl"]
    done = merit(*command, given="\n".join(lines) + "\n")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = ["error", "answer", "why", "corrected", "answer", "rejected", "answer", "confirmed", "help"]
    assert [one["kind"] for one in told] == kinds
    assert told[0]["error"] == "nothing was asked yet"
    assert told[1]["rows"] == [[told[1]["rows"][0][0]]]
    assert told[2]["answer"] == told[3]["answer"] == told[1]["id"]
    assert told[2]["attempts"][0]["sql"] == told[1]["sql"]
    assert told[3]["entries"]
    assert ":yes" in told[8]["commands"]
    assert done.exit_code == 1  # the first line could not be followed


def test_init_says_what_it_found(tmp_path: Path) -> None:
    found = as_json("init", "shop.sqlite", "--model", "scripted:script.jsonl")
    assert (found["file"], found["checked"], found["variable"]) == ("merit.toml", True, None)
    assert found["model"] == "scripted:script.jsonl"
    assert found["tables"] > 0
    assert tomllib.loads((tmp_path / "merit.toml").read_text())["model"]["uri"] == "scripted:script.jsonl"


def test_init_without_a_check_writes_what_could_not_be_reached(tmp_path: Path) -> None:
    wrong = ("init", "sqlite:///none.sqlite")
    assert "merit.toml was not written: mend that and try again" in refused(*wrong)
    assert not (tmp_path / "merit.toml").exists()
    assert as_json(*wrong, "--no-check") == {"file": "merit.toml", "variable": None, "checked": False}
    assert (tmp_path / "merit.toml").exists()


def test_a_page_says_where_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    serving.announcer(Names("127.0.0.1", 8765), True, True, Path("runs"))()
    assert json.loads(capsys.readouterr().out) == {"address": Names("127.0.0.1", 8765).address, "folder": "runs"}


def test_backups_and_tokens(tmp_path: Path) -> None:
    good("ask", "How many?", "--database", "shop.sqlite", "--model", "scripted:script.jsonl")
    good("token", "add", "ann")
    assert as_json("token", "revoke", "ann") == {"name": "ann", "revoked": True}
    packed = as_json("backup", "all.zip")
    assert (packed["out"], packed["folder"]) == ("all.zip", ".merit")
    assert "history.jsonl" in packed["files"]
    restored = as_json("restore", "all.zip", "--folder", tmp_path / "again")
    files = [name for name in packed["files"] if name != "tokens.json"]
    again = {"folder": str(tmp_path / "again"), "from": "all.zip"}
    assert restored == {**again, "files": files, "tokens_left_out": 0}
