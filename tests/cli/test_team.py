"""One memory for a team, from the command line: what one says is right, another one's next question sees."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from making.commands import good, refused
from making.memories import make_entry, make_precedent
from making.team import team_memory
from merit.live import connect
from merit.memory import Deletion, FileStore, Grade, entries_in, open_store, with_id
from merit.models.scripted import ScriptedCompleter, ScriptedReply

SQL = "SELECT count(*) AS orders FROM orders"


@pytest.fixture
def url() -> Iterator[str]:
    with team_memory() as place:
        yield place


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as db:
        db.executescript("CREATE TABLE orders (id INTEGER PRIMARY KEY); INSERT INTO orders VALUES (1), (2)")
    (tmp_path / "script.jsonl").write_text(json.dumps({"reply": f"<answer>{SQL}</answer>"}) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    return tmp_path


def ask(question: str, *options: object) -> dict[str, list[str]]:
    command = ("ask", question, "--database", "shop.sqlite", "--model", "scripted:script.jsonl", "--json", *options)
    answer: dict[str, list[str]] = json.loads(good(*command).output)
    return answer


def test_a_confirmation_is_seen_by_a_colleague(shop: Path, url: str) -> None:
    mine = ("--folder", "ann", "--memory", url)
    answer = ask("How many orders are there?", *mine)
    good("confirm", answer["id"], "--database", "shop.sqlite", "--author", "ann", *mine)
    [listed] = entries_in(url)
    assert ask("How many orders are there now?", "--folder", "bob", "--memory", url)["recalled"] == [listed.entry.id]
    assert ask("How many orders are there today?", "--folder", "eve")["recalled"] == []
    assert not (shop / "ann" / "memory").exists()
    assert listed.entry.provenance.author == "ann"


def confirm(answer: dict[str, list[str]], author: str, *options: object) -> str:
    command = ("confirm", answer["id"], "--database", "shop.sqlite", "--author", author, *options)
    return good(*command).output.split()[-1]


def test_what_is_personal_is_promoted_to_a_team(shop: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = ("--folder", "ann", "--memory", url, "--author", "ann")
    bob = ("--folder", "bob", "--memory", url, "--author", "bob")
    entry = confirm(ask("How many orders are there?", *ann), "ann", *ann[:4], "--scope", "personal")
    assert ask("How many orders are there now?", *ann)["recalled"] == [entry]
    assert ask("How many orders are there now?", *bob, "--team", "sales")["recalled"] == []
    waiting = good("memory", "review", "--folder", "bob", "--memory", url).output.splitlines()
    assert f"{entry}\tfor ann alone\t0x\tHow many orders are there?\t{SQL}" in waiting
    assert "for       ann alone" in good("memory", "show", url, entry).output
    refusal = refused("why", ask("How many?", *ann)["id"], "--folder", "ann", "--memory", url)
    assert "rests on what is for other people alone" in refusal
    said = json.loads(good("memory", "promote", url, entry[:8], "--team", "sales", "--json").output)
    assert said["promoted"] == entry
    assert ask("How many orders are there today?", *bob, "--team", "sales")["recalled"] == said["as"]
    monkeypatch.setenv("MERIT_TEAM", "sales")
    assert ask("How many orders are there this day?", *bob)["recalled"] == said["as"]
    monkeypatch.delenv("MERIT_TEAM")
    assert ask("How many orders are there at last?", *bob)["recalled"] == []
    assert "is for these people already" in refused("memory", "promote", url, said["as"][0], "--team", "sales")
    assert "not recalled any more" in refused("memory", "promote", url, entry)
    for folder in ("ann", "bob"):
        assert "holds" in good("audit", folder, "--memory", url).output
    assert "needs the team's name" in refused("confirm", "x", "--database", "shop.sqlite", "--scope", "team", *ann[:4])


def test_a_process_that_runs_already_recalls_it_within_a_second(shop: Path, url: str) -> None:
    """Every recall asks for the log's last number first, so that nothing need be waited for."""
    model = ScriptedCompleter([ScriptedReply((), f"<answer>{SQL}</answer>")])
    with connect("shop.sqlite", model=model, folder=shop / "bob", memory=url) as running:
        assert running.ask("How many orders are there?").recalled == ()
        command = "merit confirm $(merit ask 'How many orders?' --sql-only >/dev/null; merit history | cut -c1-12)"
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "MERIT_DATABASE": "shop.sqlite",
            "MERIT_MEMORY": url,
        }
        script = command.replace("--sql-only", "--sql-only --model scripted:script.jsonl")
        done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=True)
        entry = done.stdout.split()[-1]
        assert running.ask("How many orders are there now?").recalled == (entry,)


def test_merit_toml_says_where_the_memory_is(shop: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (shop / "merit.toml").write_text(
        '[database]\nname = "shop"\nurl = "sqlite:///shop.sqlite"\n[model]\nuri = "scripted:script.jsonl"\n'
        '[memory]\nurl_env = "TEAM_MEMORY"\n'
    )
    monkeypatch.setenv("TEAM_MEMORY", url)
    answer = json.loads(good("ask", "How many orders are there?", "--json").output)
    good("correct", answer["id"], SQL)
    assert len(entries_in(url)) == 1
    with closing(open_store(url)) as store:
        store.append([with_id(make_precedent(7, question="from elsewhere", grade=Grade.AGREED, db_id="shop"))])
    (waiting,) = [line for line in good("memory", "review").output.splitlines() if "elsewhere" in line]
    assert "agreed" in waiting
    assert "the team's memory was not reached" in good("memory", "purge", ".merit", "--author", "x", "--yes").stderr
    assert "only a memory in a folder can be purged" in refused("memory", "purge", url, "--deleted", "--yes")
    monkeypatch.delenv("TEAM_MEMORY")
    assert "TEAM_MEMORY: the environment variable is not set; set it to the URL of the memory" in refused("ask", "x")


def test_the_commands_on_memories_take_a_url(tmp_path: Path, url: str) -> None:
    made = [with_id(make_entry(1)), with_id(make_precedent(2, grade=Grade.AGREED)), with_id(make_entry(3))]
    log = [*made, Deletion(made[2].id, "wrong join")]
    with closing(FileStore(tmp_path / "mine")) as store:
        store.append(log)
    assert "there is no memory here" in refused("memory", "list", url)
    said = good("memory", "copy", tmp_path / "mine", url).output
    assert said.startswith("4 changes copied to postgresql://")
    assert json.loads(good("memory", "copy", tmp_path / "mine", url, "--json").output) == {"copied": 0}
    assert good("memory", "list", url).stdout.count("question") == 2
    assert "wrong join" in good("memory", "show", url, made[2].id).output
    good("memory", "confirm", url, made[1].id)
    good("memory", "delete", url, made[0].id, "--reason", "old")
    stats = json.loads(good("memory", "stats", url, "--json").output)
    assert (stats["entries"], stats["deleted"]) == (1, 3)
    assert stats["bytes"] > 0
    good("memory", "export", url, "--out", tmp_path / "out.jsonl")
    assert json.loads(good("memory", "import", url, tmp_path / "out.jsonl", "--json").output)["known"] == 1
    good("memory", "copy", url, tmp_path / "back")
    with closing(FileStore(tmp_path / "back", writable=False)) as store:
        assert [change for _, change in store.since(0)][:4] == log
        assert len(list(store.since(0))) == 7
    assert entries_in(tmp_path / "back") == entries_in(url)
    assert "holds something other than a beginning of" in refused(
        "memory", "copy", tmp_path / "mine", tmp_path / "back"
    )


@pytest.mark.parametrize("slip", ["postgresql://ann:s3cret@127.0.0.1:1/db", "postgresql:/ann:s3cret@127.0.0.1/db"])
def test_no_command_shows_a_password(shop: Path, slip: str) -> None:
    for command in (
        ("memory", "list", slip),
        ("memory", "copy", slip, "there"),
        ("memory", "import", slip, "script.jsonl"),
        ("ask", "How many?", "--database", "shop.sqlite", "--model", "scripted:script.jsonl", "--memory", slip),
    ):
        said = refused(*command)
        assert "s3cret" not in said
        assert "memory" in said
    assert not any("s3cret" in path.name for path in shop.rglob("*"))
