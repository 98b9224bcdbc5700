"""What `merit serve` and `merit view` share: where they listen, and the runs that they show."""

import shlex
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from merit.cli.plain import Number
from merit.cli.terminal import print_json, say
from merit.errors import InputError
from merit.report import build
from merit.report.page import FollowedRuns
from merit.report.page.follow import DEEPEST
from merit.runs.paths import MANIFEST, find_runs
from merit.web.names import Names

PORT = click.option("--port", type=Number(int, 0, 65535), default=8765, show_default=True, help="0 takes any free one.")
HOST = click.option(
    "--host", default="127.0.0.1", show_default=True, help="Another address lets other machines in, with tokens only."
)
NO_BROWSER = click.option("--no-browser", is_flag=True, help="Only say where the page is.")


@contextmanager
def followed(folder: Path | None) -> Iterator[FollowedRuns | None]:
    """The runs in a folder, followed while they go on."""
    if folder is None:
        yield None
        return
    live = FollowedRuns(folder.resolve(), lambda runs, refused: build(runs, refused=refused))
    live.start()
    try:
        yield live
    finally:
        live.stop()


def check_folder(folder: Path) -> None:
    """Refuse what is not a folder, with what to type instead; a folder without runs gets a notice."""
    if folder.is_file():
        raise InputError(
            f"{folder}: is a file, and `merit view` takes a run's folder or one that holds runs; {_instead(folder)}"
        )
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give a run's folder, or one that holds runs")
    if not find_runs(folder, deepest=DEEPEST):
        say(f"merit: {folder}: there is no run here yet; those that are made here will be shown", err=True)


def announcer(names: Names, no_browser: bool, as_json: bool, folder: Path | None = None) -> Callable[[], None]:
    """What says where the page is, once it is there."""

    def ready() -> None:
        if as_json:
            print_json({"address": names.address, "folder": None if folder is None else str(folder)})
        else:
            say(f"{'' if folder is None else f'{folder}: '}{names.address} (Ctrl-C ends it)")
        if not no_browser:
            webbrowser.open(names.address)

    return ready


def _instead(file: Path) -> str:
    """What to do with a file that was given for a folder."""
    if file.suffix == ".html":
        return "open a report's page in a browser"
    if (file.parent / MANIFEST).is_file():
        return f"type `{shlex.join(['merit', 'view', str(file.parent)])}`"
    return "give a folder"
