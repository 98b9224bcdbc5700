"""What models, databases and files say is shown on the terminal, and never reaches it as a command."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from making.clock import COMES_S
from making.memories import WordEncoder, make_entry
from making.outcomes import NO_COLUMN, RIGHT, WRONG, Tried, write_run
from making.terminal import COLOURS, on_terminal
from merit.cli.main import cli
from merit.cli.terminal import Console, broken, inline, json_line, listed, say, shown, visible
from merit.memory import Memory
from merit.types import Question, Status, Verdict

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202eevil\u2066\u200f\u061c\u200b\U000e0041 [red]no[/red] [link=http://x]l[/link] :skull: é"
ESCAPED = "\\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\x7f\\u202eevil\\u2066\\u200f\\u061c\\u200b\\U000e0041 [red]no[/red] [link=http://x]l[/link] :skull: é"
DANGEROUS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run in which everything that somebody else writes is hostile."""
    questions = [Question(f"q{i}", f"db{i}", f"ask {i} {EVIL}", f"hint {EVIL}") for i in range(3)]
    failed = Verdict(Status.EXECUTION_ERROR, f"no such column: {EVIL}\nattempt 9  forged")
    courses = {
        one.id: [
            Tried(f"SELECT '{EVIL}'\nFROM one", failed),
            Tried(f"SELECT 2, '{EVIL}'", NO_COLUMN),
            Tried("SELECT 3", RIGHT if one.id == "q0" else WRONG),
        ]
        for one in questions
    }
    path = write_run(tmp_path / "run", questions, "iterative", courses).path
    with Memory(path / "memory", WordEncoder()) as memory:
        memory.commit(make_entry(question=f"ask {EVIL}", db_id=f"db {EVIL}"))
    return path


def output(*arguments: object, keys: str = "") -> str:
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments], input=keys)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


@given(st.text(alphabet=st.characters()))
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    assert not DANGEROUS.search(visible(text))
    assert not re.search(r"[\n\t]", visible(text, one_line=True))
    if not DANGEROUS.search(text):
        assert visible(text) == text


@pytest.mark.parametrize(
    "unseen", ["\u034f", "\u115f", "\u1160", "\u17b4", "\ufff9", "\U0001bca0", "\U0001d173", "\U000e0100", "\U000e0fff"]
)
def test_what_cannot_be_seen_is_shown(unseen: str) -> None:
    assert visible(f"pay{unseen}roll") == f"pay{unseen.encode('unicode_escape').decode()}roll"
    assert json_line(json.dumps(unseen, ensure_ascii=False)).isascii()


def test_json_is_the_same_value_with_its_control_characters_spelled() -> None:
    line = json_line(json.dumps(EVIL, ensure_ascii=False))
    assert not DANGEROUS.search(line)
    assert json.loads(line) == EVIL


def test_an_episode_is_shown_with_its_control_characters_spelled(run: Path) -> None:
    text = output("show", run, "q1")
    assert not DANGEROUS.search(text)
    assert f"question q1  ask 1 {ESCAPED}\n" in text
    assert f"hint {ESCAPED}" in text
    assert f"  SELECT '{ESCAPED}'\n  FROM one\n" in text  # a line of SQL stays a line, at its indent
    assert f"no such column: {ESCAPED}" in text
    assert "\nattempt 9" not in text  # what a database says cannot look like what merit says
    assert f"'{ESCAPED}'" in output("show", run, "q1").split("attempt 1")[1]


def test_the_list_of_questions_and_labelling_are_safe(run: Path, tmp_path: Path) -> None:
    listing = output("show", run)
    assert not DANGEROUS.search(listing)
    assert f"db1: ask 1 {ESCAPED}\n" in listing
    text = output("label", run, "--out", tmp_path / "labels.csv", "--fill", keys="d1q")
    assert not DANGEROUS.search(text)
    assert f"  ask 0 {ESCAPED}\n" in text or f"  ask 1 {ESCAPED}\n" in text or f"  ask 2 {ESCAPED}\n" in text
    assert f"  SELECT '{ESCAPED}'\n  FROM one\n" in text
    assert "\nattempt 9" not in text


def test_memory_is_safe_and_its_json_is_json(run: Path) -> None:
    folder = run / "memory"
    assert not DANGEROUS.search(output("memory", "list", folder))
    entry = json.loads(output("memory", "list", folder, "--json"))
    assert f"ask {ESCAPED}" in output("memory", "show", folder, entry["id"])
    assert not DANGEROUS.search(output("memory", "stats", folder))
    for command in (["list", folder], ["show", folder, entry["id"]]):
        line = output("memory", *command, "--json")
        assert not DANGEROUS.search(line)
        assert json.loads(line)["question"] == f"ask {EVIL}"


def test_json_holds_what_was_said_and_no_control_character(run: Path) -> None:
    text = output("show", run, "--json")
    assert not DANGEROUS.search(text)
    assert {one["text"] for one in json.loads(text)["questions"]} == {f"ask {i} {EVIL}" for i in range(3)}
    text = output("show", run, "q1", "--schema", "--json")
    assert not DANGEROUS.search(text)
    found = json.loads(text)
    assert found["question"]["text"] == f"ask 1 {EVIL}"
    assert found["question"]["schema"] == "schema of db1"
    assert [one["sql"] for one in found["attempts"]][1:] == [f"SELECT 2, '{EVIL}'", "SELECT 3"]
    assert found["final_correct"] is False


def test_other_peoples_prints_tables_and_logs_pass_the_same_door(capsys: pytest.CaptureFixture[str]) -> None:
    with shown():
        click.echo(f"echo {EVIL}", color=True)
        print(f"print {EVIL}")
        sys.stderr.write(f"log {EVIL}\n")
        console, table = Console(width=300), Table("a")
        table.add_row(inline(EVIL))
        table.add_row(Text(f"raw {EVIL}"))
        console.print(table, soft_wrap=True)
        console.print(Text(EVIL), inline(EVIL))
        say(f"one\nline {EVIL}")
    found = capsys.readouterr()
    assert not DANGEROUS.search(found.out + found.err)
    assert found.out.count(ESCAPED) == 5
    assert found.out.count(ESCAPED.replace("\\x07", "")) == 2  # rich's own texts leave that one out
    assert f"one\\nline {ESCAPED}\n" in found.out
    assert found.err == f"log {ESCAPED}\n"


def test_only_our_own_colours_reach_a_terminal(run: Path) -> None:
    code, text = on_terminal(["show", run, "q1"], columns=100)
    assert code == 0, text
    assert COLOURS.search(text)  # it is coloured
    assert not DANGEROUS.search(COLOURS.sub("", text))
    for sequence in set(COLOURS.findall(text)):
        assert re.fullmatch(r"\x1b\[(0|1|2|3|1;2|3\d|\d;3\d)?m", sequence), sequence
    assert "\\x1b[2J" in text


def test_the_last_sentence_is_one_line_and_safe(tmp_path: Path) -> None:
    name = tmp_path / "no\x1b[31m\nmerit: all is well"
    for arguments in (["show", name], ["show", tmp_path, "--\x1b[2J"]):
        code, text = on_terminal(arguments)
        assert code in (1, 2)
        assert not DANGEROUS.search(COLOURS.sub("", text))
        assert "\nmerit: all is well" not in text
        assert "\\x1b" in text


@pytest.mark.parametrize(
    "environment", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_a_terminal_that_knows_only_ascii_gets_all_of_it(run: Path, environment: dict[str, str]) -> None:
    commands: list[list[object]] = [
        ["show", run, "q1"],
        ["show", run],
        ["methods"],
        ["memory", "list", run / "memory"],
        ["--help"],
    ]
    given = json.dumps([[str(part) for part in command] for command in commands])
    code = "import json, sys; from merit.cli.main import cli; [cli.main(one, standalone_mode=False) for one in json.loads(sys.argv[1])]"
    environment = {**os.environ, **environment}
    done = subprocess.run([sys.executable, "-c", code, given], capture_output=True, env=environment, timeout=COMES_S)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert rb"\xe9" in done.stdout
    assert b"precedent" in done.stdout
    assert b"Usage: " in done.stdout


def test_long_lists_say_how_many_more() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed([str(i) for i in range(25)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 15 more"


def test_every_command_prints_through_the_door() -> None:
    """A console of rich's own would lose its colours, and one with a file of its own would pass the door."""
    for path in (Path(__file__).parents[2] / "src" / "merit" / "cli").glob("*.py"):
        assert path.name == "terminal.py" or "from rich.console import" not in path.read_text()


@given(st.lists(st.text("ab` \u5927", min_size=1, max_size=12)).map(" ".join), st.integers(1, 30))
def test_a_broken_sentence_says_the_same(sentence: str, width: int) -> None:
    lines = broken(sentence, width).split("\n")
    assert "".join("".join(lines).split()) == "".join(sentence.split())
    for line in lines:  # what is too wide is one word, or one command
        whole = re.fullmatch("(?:[^\\s`]|`[^`]*`|`)*", line.strip())
        assert cell_len(line.strip()) <= width or whole


def test_a_sentence_is_broken_between_words_and_not_in_commands() -> None:
    said = broken("merit: runs: holds 2 runs; name one, for example `merit show runs/a 17`; or all", 40)
    assert said.split("\n") == ["merit: runs: holds 2 runs; name one, for", "example `merit show runs/a 17`; or all"]
    assert broken("type `merit show runs/a 17` now", 12).split("\n") == ["type", "`merit show runs/a 17`", "now"]


def in_shell(command: str) -> subprocess.CompletedProcess[str]:
    words = ["sh", "-c", f'merit() {{ "{sys.executable}" -m merit "$@"; }}; {command}']
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=COMES_S)


@pytest.mark.parametrize("command", ["methods", "--help", "--version", "memory list nothing"])
def test_a_closed_output_is_refused_in_one_sentence(command: str) -> None:
    done = in_shell(f"merit {command} >&-")
    said = "merit: standard output is closed, so nothing was begun; send it to a file, or to /dev/null\n"
    assert (done.returncode, done.stderr) == (1, said)
    assert (in_shell(f"merit {command} >&- 2>&-").returncode, done.stdout) == (1, "")


def test_closed_input_and_messages_keep_nothing_from_working() -> None:
    assert in_shell("merit --version <&- 2>&-").stdout.startswith("merit, version")


def test_a_reader_that_has_gone_ends_it_quietly() -> None:
    done = in_shell("{ merit methods; echo $? >&2; } | :")
    assert done.stderr == "1\n"
