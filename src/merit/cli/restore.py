"""`merit restore`: a project's folder from a backup."""

from pathlib import Path

import click

from merit.cli.live import KEPT_IN
from merit.cli.options import JSON
from merit.cli.terminal import print_json, say
from merit.errors import counted
from merit.live.record.backup import restore as restore_folder
from merit.web.access_tokens import TokenStore


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@KEPT_IN
@JSON
def restore(file: Path, folder: Path, as_json: bool) -> None:
    """Make the folder of a project from FILE, which `merit backup` wrote; a folder that is there is left as it is.

    Every file is checked first. Sessions are not in a backup: who uses the page signs in again.
    """
    names = restore_folder(file, folder, lambda made: TokenStore(made).listed())
    if as_json:
        print_json({"folder": str(folder), "from": str(file), "files": names})
        return
    say(f"{folder}: {counted(len(names), 'file')} restored from {file}")
