"""`merit token`: who may use a server over the network."""

from dataclasses import asdict
from pathlib import Path

import click

from merit.cli.live import KEPT_IN
from merit.cli.options import JSON
from merit.cli.plain import CommandGroup
from merit.cli.terminal import print_json, say
from merit.errors import InputError
from merit.web.access_tokens import Right, TokenStore

_RIGHTS = ",".join(Right)


@click.group(cls=CommandGroup)
def token() -> None:
    """Add, list and revoke the tokens of `merit serve`; only hashes of them are kept."""


@token.command()
@click.argument("name")
@click.option("--may", default="ask", show_default=True, metavar="RIGHTS", help=f"Of {_RIGHTS}, with commas between.")
@KEPT_IN
@JSON
def add(name: str, may: str, folder: Path, as_json: bool) -> None:
    """Make a token for NAME, under which everything is recorded that is done with it; it is shown once.

    Every token may look at answers, memory and schema. `ask` lets it ask, `confirm` judge answers, `curate` change the
    memory, import, and start a proof.
    """
    wanted = [word.strip() for word in may.split(",") if word.strip()]
    if unknown := [word for word in wanted if word not in set(Right)]:
        raise InputError(f"--may: there is no right {unknown[0]!r}; write some of {_RIGHTS}")
    text = TokenStore(folder).add(name, map(Right, wanted))
    if as_json:
        print_json({"name": name, "may": wanted, "token": text})
        return
    say(f"{name} may {', '.join(wanted) or 'look'}; the token is shown only here:", err=True)
    click.echo(text)


@token.command("list")
@KEPT_IN
@JSON
def list_tokens(folder: Path, as_json: bool) -> None:
    """List the tokens: names, rights and dates."""
    tokens = TokenStore(folder).listed()
    if as_json:
        print_json([{key: value for key, value in asdict(token).items() if key != "sha256"} for token in tokens])
        return
    if not tokens:
        say("there is no token; `merit token add NAME` makes one", err=True)
    for token in tokens:
        click.echo(f"{token.name}\t{','.join(token.may)}\t{token.created}")


@token.command()
@click.argument("name")
@KEPT_IN
@JSON
def revoke(name: str, folder: Path, as_json: bool) -> None:
    """Take a token back: from the next request on, a running server refuses it and its sessions."""
    TokenStore(folder).revoke(name)
    if as_json:
        print_json({"name": name, "revoked": True})
        return
    say(f"{name}: revoked")
