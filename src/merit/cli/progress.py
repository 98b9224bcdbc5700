"""The progress of a command, shown on a terminal."""

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Column

from merit.cli.terminal import Console, say
from merit.stream import Replies


def progress_bar() -> Bar:
    """A progress bar on a terminal: name, bar, count and time left always, then details as far as they fit."""
    console = Console(stderr=True)
    return Bar(
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, max_width=24)),
        BarColumn(bar_width=16, table_column=Column(no_wrap=True)),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TimeRemainingColumn(table_column=Column(no_wrap=True)),
        TextColumn("{task.fields[detail]}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
        console=console,
        disable=not console.is_terminal,
        expand=True,
        redirect_stdout=False,  # rich would read escape sequences in other output as colours
        redirect_stderr=False,
    )


def warn_without_sql(*replies: Replies) -> None:
    """Warn on stderr if most replies of a model held no SQL, since the numbers mean nothing then."""
    if warning := Replies.together(replies).warning():
        say(f"merit: warning: {warning}", err=True)


def kept_so_far(bar: Bar, what: str) -> str:
    """What is finished, by the counts of a progress bar."""
    done = sum(int(task.completed) for task in bar.tasks)
    return f"everything up to {what} {done} is kept" if done else f"no {what} was finished"
