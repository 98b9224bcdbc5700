"""`merit view`: the page of a report over live run folders."""

import shlex
import webbrowser
from pathlib import Path

import click

from merit.cli.plain import Number
from merit.cli.screen import say
from merit.errors import InputError
from merit.report import build
from merit.report.page import LiveRuns, PageServer
from merit.runs.paths import MANIFEST


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--port", type=Number(int, 0, 65535), default=8765, show_default=True, help="0 takes any free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Another address lets other machines look too.")
@click.option("--no-browser", is_flag=True, help="Only say where the page is.")
def view(folder: Path, port: int, host: str, no_browser: bool) -> None:
    """Show the runs in FOLDER in a browser, and follow those that go on; Ctrl-C ends it.

    FOLDER is a run, or holds runs at most three folders deep. Tables and figures are about finished runs.
    """
    if folder.is_file():
        raise InputError(
            f"{folder}: is a file, and `merit view` takes a run's folder or one that holds runs; {_instead(folder)}"
        )
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give a run's folder, or one that holds runs")
    live = LiveRuns(folder.resolve(), lambda runs, refused: build(runs, refused=refused))
    with PageServer(live, host, port) as server:
        live.start()
        try:
            say(f"{folder}: {server.address} (Ctrl-C ends it)")
            if not no_browser:
                webbrowser.open(server.address)
            server.serve_forever()
        finally:
            live.stop()


def _instead(file: Path) -> str:
    """What to do with a file that was given for a folder."""
    if file.suffix == ".html":
        return "open a report's page in a browser"
    if (file.parent / MANIFEST).is_file():
        return f"type `{shlex.join(['merit', 'view', str(file.parent)])}`"
    return "give a folder"
