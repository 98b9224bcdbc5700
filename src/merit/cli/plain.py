"""What click says, in plainer words: numbers that cannot be used, and commands of a group in whole sentences."""

import difflib
from pathlib import Path
from typing import Any

import click


class Number(click.ParamType[float]):
    """A number from `least` (or above it) to `most`; anything else is refused, with what to give."""

    name = "number"

    def __init__(
        self, kind: type[int] | type[float], least: float, most: float | None = None, *, above: bool = False
    ) -> None:
        self._kind = kind
        self._least = least
        self._most = most
        self._above = above

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number, if it is one and within bounds."""
        try:
            number = self._kind(value)
        except (ValueError, TypeError, OverflowError):
            self.fail(f"{value!r} cannot be used; give {self.wanted}", param, ctx)
        enough = number > self._least if self._above else number >= self._least
        if not enough or (self._most is not None and number > self._most):  # also where it is nan
            self.fail(f"{value!r} cannot be used; give {self.wanted}", param, ctx)
        return number

    @property
    def wanted(self) -> str:
        """What can be used, in words."""
        kind = "a whole number" if self._kind is int else "a number"
        if self._above:
            return f"{kind} above {self._least:g}"
        return (
            f"{kind}, {self._least:g} or more" if self._most is None else f"{kind}, {self._least:g} to {self._most:g}"
        )


class Price(Number):
    """One of two amounts of money."""

    wanted = "two amounts, PROMPT and OUTPUT, such as --prices 0.15 0.60"


def at_least(least: int) -> Number:
    """A whole number with a lower bound."""
    return Number(int, least)


def with_hint(error: click.UsageError) -> click.UsageError:
    """The error, with what a missing option is for, or how a folder is given."""
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option) and not error.message:
        choices = error.param.type.get_missing_message(error.param, error.ctx)  # click puts a full stop before these
        words = (error.param.help or "").rstrip(".") if choices else error.param.help
        return click.MissingParameter(words, error.ctx, error.param)
    if isinstance(error, click.NoSuchOption) and error.option_name == "--cache":
        words = "This command has no --cache; set the environment variable MERIT_CACHE to the folder instead."
        return click.UsageError(words, error.ctx)
    command = error.ctx.command if error.ctx else None
    if command and error.message.startswith("Got unexpected extra argument"):
        folder = error.message.partition("(")[2].rstrip(")")
        if any("--data" in parameter.opts for parameter in command.params) and Path(folder).is_dir():
            return click.UsageError(f"{error.message}. A dataset's folder is given with --data {folder}", error.ctx)
        if any("--folder" in parameter.opts for parameter in command.params) and Path(folder).is_dir():
            return click.UsageError(
                f"{error.message}. The folder of memory and history is given with --folder", error.ctx
            )
    return error


class CommandGroup(click.Group):
    """A group of commands whose help says what each does in a whole sentence, over two lines where it must."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called; for a typo, the nearest one (click offers what begins alike)."""
        name, known = args[0], self.list_commands(ctx)
        if name not in known and (near := difflib.get_close_matches(name, known, 1)):
            raise click.UsageError(f"No such command {name!r}. Did you mean {near[0]!r}?", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands."""
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                rows.append((name, command.get_short_help_str(limit=1000)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)
