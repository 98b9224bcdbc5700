"""`merit mcp`: a database of your own as tools for other agents."""

import os
from pathlib import Path

import click

from merit.cli.live import AUTHOR, DATABASE, KEPT_IN, MEMORY, NAME, OWN_MODEL, author_or_user, open_agent
from merit.cli.plain import Number
from merit.cli.terminal import say
from merit.errors import InputError

_PORT = 8766
_MISSING = "`merit mcp` needs the package mcp; run, in merit's own folder: pip install '.[mcp]'"


@click.command()
@click.option(
    "--project",
    type=click.Path(path_type=Path),
    help="The folder of merit.toml, for programs that start it somewhere else (default: where it is started).",
)
@DATABASE
@OWN_MODEL
@KEPT_IN
@MEMORY
@NAME
@click.option("--rows/--no-rows", default=None, help="Whether rows and values may be shown to models (they may).")
@AUTHOR
@click.option(
    "--suggestions", is_flag=True, help="Keep a program's own verdicts for review where no person can be asked."
)
@click.option("--http", is_flag=True, help="Serve streamable HTTP instead of standard input and output.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Another address lets other machines in, with tokens only."
)
@click.option("--port", type=Number(int, 0, 65535), default=_PORT, show_default=True, help="0 takes any free one.")
@click.option(
    "--public-url", default="", metavar="URL", help="The address that clients use, where a proxy stands before it."
)
def mcp(
    project: Path | None,
    url: str | None,
    model: str | None,
    folder: Path,
    memory: str,
    name: str,
    rows: bool | None,
    author: str,
    suggestions: bool,
    http: bool,
    host: str,
    port: int,
    public_url: str,
) -> None:
    """Offer a database of your own to other agents, as tools of the Model Context Protocol.

    Another program starts it and speaks to it over standard input and output; --http serves several, at /mcp. Its tools
    ask, repair a given SQL, recall, describe the schema, and record a person's word about an answer, after asking the
    person. The database is only read. docs/how-to/mcp.md has the configuration of common agents.
    """
    try:
        from merit.mcp import callers, running, server
        from merit.mcp.http import PATH, http_app, new_gate
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("mcp", "mcp_types"):
            raise InputError(_MISSING) from None
        raise
    if project is not None:
        _enter(project)
    who = author_or_user(author)
    if not http:
        with running.stdout_kept_clean():
            agent = open_agent(url, folder, name, model, memory=memory, rows=rows)
        running.serve_stdio(server.make_server(agent, callers.owner(who), suggestions=suggestions), agent)
        return
    from merit.web.access_tokens import TokenStore
    from merit.web.names import Names, check_public_url
    from merit.web.running import listen

    with listen(host, int(port)) as listening:
        names = Names(host, int(listening.getsockname()[1]), check_public_url(public_url) if public_url else "")
        gate = new_gate(names, TokenStore(folder))
        agent = open_agent(url, folder, name, model, memory=memory, rows=rows)
        offered = server.make_server(agent, callers.token_holder(who), suggestions=suggestions)
        app = http_app(offered, agent, gate)
        say(f"{names.address.removesuffix('/')}{PATH} (Ctrl-C ends it)", err=True)
        running.serve_http(app, listening)


def _enter(project: Path) -> None:
    """Work in a project's folder, as if the command had been started there."""
    try:
        os.chdir(project)
    except OSError as error:
        raise InputError(f"--project {project}: cannot be entered ({error.strerror}); name a folder") from None
