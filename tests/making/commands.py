"""Calling commands as a user does, in this process."""

import re
from collections.abc import Callable

from click.testing import CliRunner, Result

from merit.cli.main import cli
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
