"""What --help says is whole, and what cannot be used is refused in plain words."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from merit.cli.demo import METHODS
from merit.cli.main import cli
from merit.stream import grid as grids

REPOSITORY = Path(__file__).parents[2]


def every(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from every(below, (*path, name))


def shown(*arguments: object) -> str:
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert result.exit_code == 0
    return result.output


def refused(*arguments: object) -> str:
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    assert result.exit_code == 2
    return result.output.rpartition("Error: ")[2].strip()


GROUPS = [path for path, command in every(cli) if isinstance(command, click.Group)]


@pytest.mark.parametrize("path", GROUPS, ids=" ".join)
def test_no_sentence_about_a_command_is_cut(path: tuple[str, ...]) -> None:
    commands = shown(*path, "--help").partition("Commands:")[2]
    assert commands.strip()
    assert "..." not in commands
    assert commands.rstrip().endswith(".")


def test_every_option_says_what_it_is_for() -> None:
    options = [
        (" ".join(path), parameter.opts[0], parameter.help)
        for path, command in every(cli)
        for parameter in command.params
        if isinstance(parameter, click.Option)
    ]
    assert len(options) > 80
    assert [one for one in options if not one[2]] == []


def test_no_default_is_broken_within_a_word() -> None:
    words = re.split(r"[\s,()\[\]]+", shown("demo", "--help"))
    assert {*METHODS.split(","), "merit-demo"} <= set(words)


def test_the_help_of_grid_lists_every_field_of_its_file() -> None:
    above, _, below = shown("grid", "--help").partition("Each [[dataset]]")
    listed = [
        set(re.findall(r"^  (\w+) {2,}\S", part.partition("Options:")[0], re.MULTILINE)) for part in (above, below)
    ]
    assert listed == [set(grids._FIELDS) - {"dataset"}, set(grids._DATASET_FIELDS)]


def test_the_help_of_a_check_says_how_often_it_asks() -> None:
    said = " ".join(shown("model", "check", "--help").split())
    assert "Ask a model one question and say what works and how fast. It is asked three times: twice" in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--limit", "0"], "'--limit': '0' cannot be used; give a whole number, 1 or more"),
        (["--limit", "many"], "'--limit': 'many' cannot be used; give a whole number, 1 or more"),
        (["--max-cost", "0"], "'--max-cost': '0' cannot be used; give a number above 0"),
        (["--max-cost", "nan"], "'--max-cost': 'nan' cannot be used; give a number above 0"),
        (
            ["--prices", "1", "x"],
            "'--prices': 'x' cannot be used; give two amounts, PROMPT and OUTPUT, such as --prices",
        ),
        (["--prices", "1", "--limit"], "'--prices': '--limit' cannot be used; give two amounts, PROMPT and OUTPUT"),
        (["--prices", "1"], "--prices takes two amounts, PROMPT and OUTPUT, such as --prices 0.15 0.60."),
    ],
)
def test_a_number_that_cannot_be_used_says_what_can(given: list[str], said: str) -> None:
    heard = refused("predict", "bundled", "--model", "openai:m", "--out", "x", *given)
    assert said in heard
    assert "range" not in heard
    assert "\n" not in heard


def test_bounds_on_both_sides_are_told(tmp_path: Path) -> None:
    score = ("score", "bundled", "--pred", tmp_path, "--timeout")
    for value in ("0", "-1", "nan", "1e9", "soon"):
        assert "cannot be used; give a number, 0.01 to 3600" in refused(*score, value)
    assert "cannot be used; give a whole number, 0 to 65535" in refused("view", tmp_path, "--port", 65536)


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (["METHOD=merit"], "--methods 'merit'"),
        (["METHOD=merit", "SEED=3"], "--methods 'merit' --seeds '3'"),
        (["METHODS=merit,vanilla", "SEEDS=0,1", "LIMIT=5"], "--methods 'merit,vanilla' --seeds '0,1' --limit '5'"),
        ([], ""),
    ],
)
def test_make_demo_takes_one_method_and_one_seed_too(
    given: list[str], options: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEED", "42")  # of some other program
    monkeypatch.delenv("MAKEFLAGS", raising=False)
    made = subprocess.run(
        ["make", "--dry-run", "demo", *given], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    (line,) = (line for line in made.stdout.splitlines() if line.startswith(".venv/bin/merit demo"))
    assert line.removeprefix(".venv/bin/merit demo").strip() == options


@pytest.mark.parametrize("given", [["demo", "limit=5"], ["limit=5"], ["demo", "LIMIT=5", "Seeds=1"]])
def test_make_demo_refuses_a_setting_that_it_would_ignore(given: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAKEFLAGS", raising=False)
    command = ["make", "--dry-run", *given]
    made = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert made.returncode != 0
    assert f"make demo does not know {given[-1].partition('=')[0]}; set MODEL ENCODER METHODS" in made.stderr


def test_what_is_missing_misplaced_or_mistyped_gets_a_hint(tmp_path: Path) -> None:
    said = refused("run", "bundled", "--method", "merit", "--model", "scripted:x", "--out", tmp_path / "run")
    assert said.startswith("Missing option '--initial'. First answers, from `merit predict`")
    assert " ".join(said.split()).endswith("made where it is not there.")
    said = refused("score", "spider", tmp_path, "--pred", "x.jsonl")
    assert f"A dataset's folder is given with --data {tmp_path}" in said
    assert "--data" not in refused("score", "spider", "words", "--pred", "x.jsonl")
    assert refused("rn", "bundled") == "No such command 'rn'. Did you mean 'run'?"
    assert refused("memory", "lst", tmp_path) == "No such command 'lst'. Did you mean 'list'?"
    assert refused("xyzzy") == "No such command 'xyzzy'."
