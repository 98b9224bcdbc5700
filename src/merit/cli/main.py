"""`merit`: the commands, and how every error reaches a person as one sentence."""

import errno
import sys
from importlib import import_module
from typing import Any

import click

from merit import __version__
from merit.cli.importing import AGAIN, ending_at_once
from merit.cli.plain import CommandGroup, Price, with_hint
from merit.cli.terminal import open_closed_streams, say, shown
from merit.errors import MeritError, Stopped

# What Ctrl-C leaves, for commands that do not say it better themselves.
_STOPPED = {
    "answers": f"a file of answers is changed as a whole or not at all; {AGAIN}",
    "ask": "of what was asked the history has at most what it took; the same command asks again",
    "audit": f"runs are as they were; {AGAIN}",
    "backup": f"no archive was written; {AGAIN}",
    "chat": "every answer that was shown is in the history; the same command begins a new conversation",
    "data check": f"the data is as it was; {AGAIN}",
    "data subset": f"the data is as it was; remove what the subset wrote so far, if any; {AGAIN}",
    "import": f"either all pairs of the file were remembered or none; {AGAIN}",
    "mcp": "what was answered is in the history; the same command serves again",
    "memory": "every entry is whole; look with `merit memory list`",
    "model": f"a model's file appears whole or not at all; {AGAIN}",
    "report": f"no report was written; {AGAIN}",
    "restore": f"nothing was restored; {AGAIN}",
    "score": f"no verdict was written; reference results are kept, except with --no-cache; {AGAIN}",
    "why": "what was asked of the model counts for the day; the same command asks again",
    "serve": "the page is closed; every answer that was given is in the history; the same command opens it again",
    "view": "the page is closed, runs are as they were; the same command opens it again",
}


# Each command's module is imported only when the command is called, so that `merit --version` is there at once.
_COMMANDS = [
    "answers",
    "ask",
    "audit",
    "backup",
    "calibrate",
    "chat",
    "check",
    "confirm",
    "correct",
    "data",
    "demo",
    "doctor",
    "export",
    "grid",
    "history",
    "import",
    "init",
    "label",
    "mcp",
    "memory",
    "methods",
    "model",
    "predict",
    "prove",
    "reject",
    "report",
    "restore",
    "run",
    "schema",
    "score",
    "serve",
    "show",
    "token",
    "view",
    "why",
    "withdraw",
]
# The modules of commands that cannot have the command's name: `import` is a word of Python.
_MODULES = {"import": "import_pairs", "export": "export_pairs"}


class _Merit(CommandGroup):
    """The group of all commands: what they print is shown, and Ctrl-C means the same in each."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click gives it
        """All names, without importing a command."""
        return _COMMANDS

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click gives it
        """A command, imported from the module that has its name."""
        if cmd_name not in _COMMANDS:
            return None
        with ending_at_once():
            module = _MODULES.get(cmd_name, cmd_name)
            command: click.Command = getattr(import_module(f"merit.cli.{module}"), module)
        return command

    def main(self, *args: Any, **kwargs: Any) -> Any:
        with shown():
            return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        words = ctx.args[:1]  # the command of a group, where one is called
        try:
            return super().invoke(ctx)
        except click.BadOptionUsage as error:
            if error.option_name == "--prices":  # one amount where there should be two
                raise click.BadOptionUsage("--prices", f"--prices takes {Price.wanted}.", error.ctx) from None
            raise
        except click.UsageError as error:
            raise with_hint(error) from None
        except KeyboardInterrupt:
            name = ctx.invoked_subcommand or ""
            left = _STOPPED.get(" ".join([name, *words])) or _STOPPED.get(name, f"nothing was changed; {AGAIN}")
            raise Stopped(f"stopped; {left}") from None


@click.group(
    cls=_Merit,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "color": True,
    },  # True: merit shows escape sequences itself
)
@click.version_option(__version__, "-V", "--version", prog_name="merit")
def cli() -> None:
    """Repair Text-to-SQL failures, and remember what was learned."""


_ADVICE = {
    errno.ENOSPC: "make room, or choose another place",
    errno.EDQUOT: "make room, or choose another place",
    errno.EROFS: "choose a place that can be written",
    errno.EACCES: "check its permissions, or choose another place",
    errno.EPERM: "check its permissions, or choose another place",
}


def _described(error: OSError) -> str:
    """An error of the system that no command expected, in one sentence."""
    sentence, advice = str(error.strerror or error), _ADVICE.get(error.errno or 0)
    # Of all that merit writes, only its standard output is a file without a name.
    sentence = f"{error.filename}: {sentence}" if error.filename else f"the output cannot be written ({sentence})"
    return f"{sentence}; {advice}" if advice else sentence


def main() -> None:
    """Run the command line; exit 1 with one sentence on anything that went wrong, 130 after Ctrl-C as shells do."""
    if not open_closed_streams():
        say("merit: standard output is closed, so nothing was begun; send it to a file, or to /dev/null", err=True)
        sys.exit(1)
    with shown():
        try:
            cli(prog_name="merit")
        except Stopped as stopped:
            say(f"merit: {stopped}", err=True)
            sys.exit(130)
        except KeyboardInterrupt:
            say(f"merit: stopped; nothing was begun; {AGAIN}", err=True)
            sys.exit(130)
        except MeritError as error:
            say(f"merit: {error}", err=True)
        except OSError as error:
            say(f"merit: {_described(error)}", err=True)
        sys.exit(1)
