"""`merit restore`: a project's folder from a backup."""

from pathlib import Path

import click

from merit.cli.live import KEPT_IN
from merit.cli.options import JSON
from merit.cli.terminal import print_json, say
from merit.errors import counted
from merit.live.record.backup import restore as restore_folder
from merit.web.access_tokens import Token, TokenStore


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--with-tokens", is_flag=True, help="Restore the tokens, too: whoever holds one may use the server.")
@KEPT_IN
@JSON
def restore(file: Path, with_tokens: bool, folder: Path, as_json: bool) -> None:
    """Make the folder of a project from FILE, which `merit backup` wrote; a folder that is there is left as it is.

    Every file is checked first. Tokens are left out, since a stranger's archive may hold one that the stranger knows.
    Sessions are not in a backup: who uses the page signs in again.
    """
    tokens: list[Token] = []
    names = restore_folder(file, folder, lambda made: tokens.extend(TokenStore(made).listed()), with_tokens=with_tokens)
    left_out = 0 if with_tokens else len(tokens)
    if as_json:
        print_json({"folder": str(folder), "from": str(file), "files": names, "tokens_left_out": left_out})
        return
    say(f"{folder}: {counted(len(names), 'file')} restored from {file}")
    if left_out:
        verb, them = ("was", "it") if left_out == 1 else ("were", "them")
        say(f"{counted(left_out, 'token')} {verb} left out; --with-tokens restores {them}")
    elif tokens:
        names_of = ", ".join(token.name for token in tokens)
        say(f"{counted(len(tokens), 'token')} restored: {names_of}; `merit token revoke` takes one back")
