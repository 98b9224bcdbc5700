"""How far a command is, on a terminal."""

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Column

from merit.cli.screen import Console, say
from merit.stream import Replies


def progress_bar() -> Bar:
    """How far something is, on a terminal: name, bar, count and time left always, then what there is room for."""
    console = Console(stderr=True)
    return Bar(
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, max_width=24)),
        BarColumn(bar_width=16, table_column=Column(no_wrap=True)),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TimeRemainingColumn(table_column=Column(no_wrap=True)),
        TextColumn("{task.fields[said]}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
        console=console,
        disable=not console.is_terminal,
        expand=True,
        redirect_stdout=False,  # rich would take escapes in what others print for colours
        redirect_stderr=False,
    )


def warn_without_sql(*replies: Replies) -> None:
    """Say on stderr where most replies of a model held no SQL: the numbers say nothing then."""
    if warning := Replies.together(replies).warning():
        say(f"merit: warning: {warning}", err=True)


def kept(bar: Bar, what: str) -> str:
    """What is finished, as far as a bar was told."""
    done = sum(int(task.completed) for task in bar.tasks)
    return f"everything up to {what} {done} is kept" if done else f"no {what} was finished"
