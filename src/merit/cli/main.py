"""`merit`: the commands, and how every error reaches a person as one sentence."""

import sys
from typing import Any

import click

from merit import __version__
from merit.cli.audit import audit
from merit.cli.data import data
from merit.cli.demo import demo
from merit.cli.grid import grid
from merit.cli.label import label
from merit.cli.memory import memory
from merit.cli.methods import methods
from merit.cli.model import answers, model
from merit.cli.predict import predict
from merit.cli.report import report
from merit.cli.run import run
from merit.cli.score import score
from merit.cli.screen import say, shown
from merit.cli.show import show
from merit.cli.view import view
from merit.errors import MeritError, Stopped

# What Ctrl-C leaves, for commands that do not say it better themselves.
_AGAIN = "the same command begins anew"
_STOPPED = {
    "answers": f"a file of answers is changed as a whole or not at all; {_AGAIN}",
    "audit": f"runs are as they were; {_AGAIN}",
    "data": f"the data is as it was; remove what a subset wrote so far, if any; {_AGAIN}",
    "demo": f"every finished run is kept; {_AGAIN}",
    "memory": "every entry is whole; look with `merit memory list`",
    "model": f"a model's file appears whole or not at all; {_AGAIN}",
    "report": "every file that was written is whole; the same command writes all of them",
    "score": f"no verdict was written, reference results are kept; {_AGAIN}",
    "view": "the page is closed, runs are as they were; the same command opens it again",
}


class _Merit(click.Group):
    """The group of all commands: what they print is shown, and Ctrl-C means the same in each."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        with shown():
            return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            left = _STOPPED.get(ctx.invoked_subcommand or "", f"nothing was changed; {_AGAIN}")
            raise Stopped(f"stopped; {left}") from None


@click.group(
    cls=_Merit,
    context_settings={"help_option_names": ["-h", "--help"], "color": True},  # True: escapes are ours to show
)
@click.version_option(__version__, "-V", "--version", prog_name="merit")
def cli() -> None:
    """Repair Text-to-SQL failures, and remember what was learned."""


for command in (
    answers,
    audit,
    data,
    demo,
    grid,
    label,
    memory,
    methods,
    model,
    predict,
    report,
    run,
    score,
    show,
    view,
):
    cli.add_command(command)


def main() -> None:
    """Run the command line; exit 1 with one sentence on anything that went wrong, 130 after Ctrl-C as shells do."""
    with shown():
        try:
            cli(prog_name="merit")
        except Stopped as stopped:
            say(f"merit: {stopped}", err=True)
            sys.exit(130)
        except MeritError as error:
            say(f"merit: {error}", err=True)
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            say(f"merit: {place}{error.strerror or error}", err=True)
        sys.exit(1)
