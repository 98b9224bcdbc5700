"""Calling commands as a user does, in this process."""

import io
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout

import pytest
from click.testing import CliRunner, Result

from merit.cli.main import cli, main
from merit.errors import MeritError


def merit(*arguments: object, given: str | bytes | None = None) -> Result:
    """What a command does, with `given` as its standard input."""
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], input=given)


def good(*arguments: object) -> Result:
    """What a command prints that must succeed."""
    result = merit(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result


def refused(*arguments: object, given: str | bytes | None = None) -> str:
    """The one sentence with which a command is refused."""
    result = merit(*arguments, given=given)
    assert isinstance(result.exception, MeritError), (result.output, result.exception)
    sentence = str(result.exception)
    assert "\n" not in sentence
    assert not re.search("(?=[0-9]*[a-f])[0-9a-f]{40}", sentence)  # a whole hash is unreadable
    return sentence


def call(*arguments: object) -> None:
    """Call a command, and raise what it raised."""
    result = merit(*arguments)
    if result.exception is not None:
        raise result.exception


def entered(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """What a whole command does, from the door on: its exit code and both of its outputs, without a new process."""
    command = ["merit", *map(str, arguments)]
    written = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(file, encoding="utf-8", write_through=True) for file in written)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", command)
        for name, value in environment.items():
            patch.setenv(name, value)
        code: object = 0
        try:
            main()
        except SystemExit as exit_:
            code = exit_.code or 0
    assert isinstance(code, int)
    return subprocess.CompletedProcess(command, code, *(file.getvalue().decode() for file in written))


def refusal(action: Callable[[], object]) -> str | None:
    """The one printable sentence with which something was refused; None where it was not."""
    try:
        action()
    except MeritError as error:
        sentence = str(error)
        assert sentence
        assert sentence.isprintable()
        assert len(sentence) < 2000
        return sentence
    return None
