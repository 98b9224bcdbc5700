"""`merit backup`: everything that a project has learned and was asked, as one file."""

from pathlib import Path

import click

from merit.cli.live import KEPT_IN, memory_location
from merit.cli.options import JSON
from merit.cli.terminal import print_json, say
from merit.errors import counted
from merit.live.record.backup import back_up


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@KEPT_IN
@JSON
def backup(file: Path, folder: Path, as_json: bool) -> None:
    """Write memory, history, tokens (as hashes) and known schemas to FILE, a new zip archive.

    A server may go on meanwhile: what it acknowledged before is in the archive. Questions and statements are in it, so
    keep it as you keep the folder itself. `merit restore` makes a folder of it again.
    """
    names = back_up(folder, file)
    if as_json:
        print_json({"out": str(file), "folder": str(folder), "files": names})
    else:
        say(f"{file}: {counted(len(names), 'file')} of {folder}")
    if isinstance(memory_location(None, folder, ""), str):
        say("merit: the team's memory is on its own server, and not in it; back that up with pg_dump", err=True)
