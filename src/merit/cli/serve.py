"""`merit serve`: the page and the API over a database of your own."""

import sys
from pathlib import Path

import click

from merit.cli.live import DATABASE, KEPT_IN, MEMORY, NAME, OWN_MODEL, author_or_user, memory_location, open_agent
from merit.cli.options import JSON, TRACE, traced
from merit.cli.serving import HOST, NO_BROWSER, PORT, announcer, check_folder, followed
from merit.settings import FILE_NAME, ServeSettings, read_settings
from merit.sql.address import masked
from merit.web.logs import start_logging
from merit.web.names import Names, check_proxy, check_public_url
from merit.web.running import listen, share_one_heap
from merit.web.running import serve as run_server
from merit.web.site import Site


@click.command()
@DATABASE
@OWN_MODEL
@KEPT_IN
@MEMORY
@NAME
@click.option("--rows/--no-rows", default=None, help="Whether values may be shown to the model (they may).")
@click.option("--runs", type=click.Path(path_type=Path), help="A folder of runs to show, too, as `merit view` does.")
@HOST
@PORT
@click.option("--public-url", default="", metavar="URL", help="https://HOST, where people reach it through a proxy.")
@click.option(
    "--trust-proxy",
    default="",
    metavar="ADDRESS",
    help="The proxy's address: only its word is taken for where a request comes from.",
)
@click.option(
    "--json-log/--no-json-log", default=None, help="Logs as JSON lines on the standard error (unless it is a terminal)."
)
@TRACE
@NO_BROWSER
@JSON
def serve(
    url: str | None,
    model: str | None,
    folder: Path,
    memory: str,
    name: str,
    rows: bool | None,
    runs: Path | None,
    host: str,
    port: int,
    public_url: str,
    trust_proxy: str,
    json_log: bool | None,
    trace: bool,
    no_browser: bool,
    as_json: bool,
) -> None:
    """Ask in a browser, watch, confirm and correct; Ctrl-C ends it.

    For example: merit serve, in a folder with merit.toml; or with --database and --model. Only this machine can reach
    it. Anything else needs tokens: `merit token add NAME --may ask,confirm,curate`. The API is under /api, its
    description under /openapi.json. --json prints one object with the address, once the page is there.
    """
    settings = read_settings(Path(FILE_NAME)).serve if url is None and Path(FILE_NAME).exists() else ServeSettings()
    proxy = check_proxy(trust_proxy) if trust_proxy else ""
    if runs is not None:
        check_folder(runs)
    start_logging_if(json_log)
    share_one_heap()
    with listen(host, int(port)) as listening, followed(runs) as live:
        names = Names(host, int(listening.getsockname()[1]), check_public_url(public_url) if public_url else "")
        Site(names, folder, "").check()  # before anything else is opened
        location = memory_location(url, folder, memory)
        shown = masked(location) if isinstance(location, str) else str(location)
        agent = open_agent(url, folder, name, model, memory=memory, rows=rows)
        site = Site(
            names=names,
            folder=folder,
            author=author_or_user(""),
            agent=agent,
            runs=live,
            memory=shown,
            settings=settings,
        )
        with traced(trace):
            run_server(site, listening, announcer(names, no_browser, as_json), trusted_proxy=proxy)


def start_logging_if(json_log: bool | None) -> None:
    """Write logs where that is asked for, or where no person reads the standard error."""
    if json_log if json_log is not None else not sys.stderr.isatty():
        start_logging()
