"""The README's Python, run as it stands."""

import re
from code import InteractiveConsole
from pathlib import Path

import pytest

import merit
from merit.errors import InputError

TEXT = (Path(__file__).parents[1] / "README.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def run(snippet: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    exec(compile(snippet, "README.md", "exec"), {})  # as it is pasted: with nothing there before


@pytest.mark.parametrize("snippet", SNIPPETS, ids=[snippet.split("\n", 1)[0] for snippet in SNIPPETS])
def test_every_snippet_runs(snippet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(snippet, tmp_path, monkeypatch)


def test_what_a_snippet_prints_is_what_its_comment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for snippet in SNIPPETS:
        (said,) = re.findall(r"^print\(.*\)  # (.*)$", snippet, re.MULTILINE)
        for _ in range(2):  # pasted again, it says the same
            run(snippet, tmp_path, monkeypatch)
            assert capsys.readouterr().out.startswith(said.removesuffix("..."))


@pytest.mark.parametrize("snippet", SNIPPETS, ids=[snippet.split("\n", 1)[0] for snippet in SNIPPETS])
def test_every_snippet_can_be_pasted_into_a_prompt(
    snippet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    prompt = InteractiveConsole()
    for line in snippet.splitlines():  # a block ends with an empty line there
        prompt.push(line)
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out


def test_so_does_what_a_comment_offers_instead(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    snippet = next(one for one in SNIPPETS if "path/to/spider" in one)
    other = re.sub(r"(dataset = )merit.load\(.*?\)  # or (.*)", r"\1\2", snippet)
    assert other != snippet
    run(other.replace("path/to/spider", str(root)), tmp_path, monkeypatch)
    assert capsys.readouterr().out.startswith("Verdict(status=<Status.DENOTATION_MISMATCH")


def test_a_benchmark_is_loaded_with_one_call(root: Path) -> None:
    assert merit.load("bundled").layout.name == "bundled"
    assert len(merit.load("bundled").questions) == 360
    assert merit.load("spider", str(root), label="books").title == "books"
    with pytest.raises(InputError, match="give its folder with --data"):
        merit.load("spider")
    with pytest.raises(InputError, match="unknown dataset 'mine'"):
        merit.load("mine")


def test_commands_in_the_readme_exist() -> None:
    """Every `merit COMMAND` with its options is one that the command line knows."""
    from merit.cli.main import cli

    commands = re.findall(r"^merit +(\w+)(?: (\w+))?(.*?)(?:#.*)?$", TEXT.replace("\\\n", " "), re.MULTILINE)
    assert len(commands) > 10
    for name, second, rest in commands:
        command = cli.commands[name]
        group = getattr(command, "commands", {})
        command = group.get(second, command)
        known = {option for parameter in command.params for option in parameter.opts}
        assert set(re.findall(r" (--[a-z-]+)", f" {second}{rest}")) <= known, (name, rest)
