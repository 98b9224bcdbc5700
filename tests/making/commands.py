"""Calling commands as a user does, in this process."""

from click.testing import CliRunner, Result

from merit.cli.main import cli
from merit.errors import MeritError


def merit(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def good(*arguments: object) -> Result:
    """What a command prints that must succeed."""
    result = merit(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result


def refused(*arguments: object) -> str:
    """The one sentence with which a command is refused."""
    result = merit(*arguments)
    assert isinstance(result.exception, MeritError), result.output
    assert "\n" not in str(result.exception)
    return str(result.exception)
