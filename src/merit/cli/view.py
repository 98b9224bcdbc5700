"""`merit view`: the page of a report over live run folders."""

from pathlib import Path

import click

from merit.cli.live import author_or_user
from merit.cli.options import JSON
from merit.cli.serving import HOST, NO_BROWSER, PORT, announcer, check_folder, followed
from merit.live.opening import FOLDER
from merit.web.names import Names
from merit.web.running import listen, serve
from merit.web.site import Site


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@PORT
@HOST
@click.option("--tokens", type=click.Path(path_type=Path), default=FOLDER, help="The folder of `merit token`'s tokens.")
@NO_BROWSER
@JSON
def view(folder: Path, port: int, host: str, tokens: Path, no_browser: bool, as_json: bool) -> None:
    """Show the runs in FOLDER in a browser, and follow those that go on; Ctrl-C ends it.

    FOLDER is a run, or holds runs at most three folders deep. Tables and figures are about finished runs. `merit serve
    --runs FOLDER` shows them beside a database. --json prints one object with the address, once the page is there.
    """
    check_folder(folder)
    with listen(host, int(port)) as listening, followed(folder) as live:
        names = Names(host, int(listening.getsockname()[1]))
        site = Site(names, tokens, author_or_user(""), runs=live)
        site.check()
        serve(site, listening, announcer(names, no_browser, as_json, folder))
