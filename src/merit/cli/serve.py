"""`merit serve`: the page and the API over a database of your own."""

import webbrowser
from pathlib import Path

import click

from merit.cli.live import DATABASE, KEPT_IN, MEMORY, NAME, OWN_MODEL, author_or_user, memory_place, open_agent
from merit.cli.plain import Number
from merit.cli.screen import say
from merit.sql.address import masked
from merit.web.names import Names
from merit.web.running import listen
from merit.web.running import serve as run_server
from merit.web.site import Site
from merit.web.tokens import TokenStore

PORT = click.option("--port", type=Number(int, 0, 65535), default=8765, show_default=True, help="0 takes any free one.")
HOST = click.option(
    "--host", default="127.0.0.1", show_default=True, help="Another address lets other machines in, with tokens only."
)


@click.command()
@DATABASE
@OWN_MODEL
@KEPT_IN
@MEMORY
@NAME
@click.option("--rows/--no-rows", default=None, help="Whether values may be shown to the model (they may).")
@HOST
@PORT
@click.option("--no-browser", is_flag=True, help="Only say where the page is.")
def serve(
    url: str | None,
    model: str | None,
    folder: Path,
    memory: str,
    name: str,
    rows: bool | None,
    host: str,
    port: int,
    no_browser: bool,
) -> None:
    """Ask in a browser, watch, confirm and correct; Ctrl-C ends it."""
    with listen(host, int(port)) as listening:
        names = Names(host, int(listening.getsockname()[1]))
        tokens = TokenStore(folder)
        agent = open_agent(url, folder, name, model, memory=memory, rows=rows)
        place = memory_place(url, folder, memory)
        site = Site(
            names,
            tokens,
            bool(tokens.listed()),
            author_or_user(""),
            agent,
            memory=masked(place) if isinstance(place, str) else str(place),
            folder=folder,
        )

        def ready() -> None:
            say(f"{names.address} (Ctrl-C ends it)")
            if not no_browser:
                webbrowser.open(names.address)

        run_server(site, listening, ready)
