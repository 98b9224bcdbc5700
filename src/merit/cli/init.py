"""`merit init`: `merit.toml` for a database of one's own, checked as far as it can be."""

import asyncio
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from merit.cli.options import JSON, this_command
from merit.cli.terminal import Console, inline, print_json, say
from merit.errors import InputError, MeritError, counted
from merit.files import atomic_write, is_file
from merit.live.calls import check_text
from merit.live.opening import full_url, name_of
from merit.models import open_completer
from merit.models.completers import KNOWN
from merit.settings import FILE_NAME, check_model, read_settings
from merit.sql.address import FILES, masked, parse
from merit.sql.connect import open_engine
from merit.types import Sampling

_VARIABLE = "MERIT_DATABASE"


@click.command()
@click.argument("url")
@click.option("--model", default="", metavar="URI", help=f"{KNOWN}.")
@click.option("--name", default="", help="What memories call the database (default: its own name).")
@click.option("--no-check", is_flag=True, help="Write the file without asking database and model.")
@JSON
def init(url: str, model: str, name: str, no_check: bool, as_json: bool) -> None:
    """Write merit.toml for the database at URL, and check database and model.

    For example: merit init postgresql://reader@host/shop --model openai:MODEL. A URL with a password is not written
    down: merit.toml then names the environment variable MERIT_DATABASE. Exit 1 where the database or the model does not
    answer: nothing is written then, so that the same command can be tried again. --json prints one object.
    """
    path, address = Path(FILE_NAME), full_url(url)
    if path.exists():
        raise InputError(f"{path}: is there already; change it, or remove it and try again")
    parse(url if _may_hold_password(url) else address)  # refused before any of it is written down
    check_model(model, "--model")
    secret = masked(address) != address
    text = _text(address, name or name_of(address), model, secret=secret)
    check_text(text, "the URL, the name or the model")
    console = Console(quiet=as_json)
    found = {} if no_check else _checked(address, model, console)
    with atomic_write(path) as file:
        file.write(text.encode())
    try:
        read_settings(path)  # what was written can be read
    except InputError as error:
        path.unlink()
        raise InputError(f"{error}; nothing was written: choose another name with --name") from None
    if as_json:
        print_json({"file": str(path), "variable": _VARIABLE if secret else None, "checked": not no_check, **found})
        return
    console.print(f"wrote {inline(str(path))}{' without a check' if no_check else ''}")
    if secret:
        say(f"the URL holds a password and was not written down: set {_VARIABLE} to it before each command")
    console.print(f'next: {this_command()} ask "..."{"" if model else " --model URI"}', soft_wrap=True)


def _may_hold_password(url: str) -> bool:
    """Whether what was given for a file is a URL with a slip in it, such as postgresql:/user:password@host."""
    return "://" not in url and "@" in url and not is_file(Path(url))


def _text(url: str, name: str, model: str, *, secret: bool) -> str:
    where = f"url_env = {_quoted(_VARIABLE)}" if secret else f"url = {_quoted(url)}"
    lines = [
        "[database]",
        f"name = {_quoted(name)}",
        where,
        'rows = "prompt"  # or "never": no value in any prompt',
        "",
    ]
    lines += ["[model]", f"uri = {_quoted(model)}" if model else '# uri = "openai:MODEL"', ""]
    lines += ["[rules]", '# fiscal_year = "The fiscal year begins in July."', ""]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """A text as TOML writes it: as JSON does, but for characters beyond 16 bits and DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _checked(url: str, model: str, console: Console) -> dict[str, Any]:
    """What database and model answer, as values; refused where one of them does not."""
    faults = []
    found: dict[str, Any] = {"tables": None, "columns": None, "findings": [], "model": None}
    try:
        found |= _check_database(url, console)
    except MeritError as error:
        faults.append(str(error))
    try:
        found["model"] = _check_model(model, console)
    except MeritError as error:
        faults.append(str(error))
    if faults:
        raise InputError(
            f"{'; '.join(faults)}; {FILE_NAME} was not written: mend that and try again, or write it with --no-check"
        )
    return found


def _check_database(url: str, console: Console) -> dict[str, Any]:
    with closing(open_engine(url)) as engine:
        schema, findings = engine.schema(), engine.health().findings
    if not schema.tables:
        why = "no table is in it" if parse(url).dialect in FILES else "no table can be seen; check the role's rights"
        raise InputError(f"{masked(url)}: {why}")
    columns = sum(len(table.columns) for table in schema.tables)
    console.print(f"database: {counted(len(schema.tables), 'table')}, {counted(columns, 'column')}")
    if wrong := [finding.text for finding in findings if not finding.good]:
        more = f"; {counted(len(wrong) - 1, 'more finding')}" if len(wrong) > 1 else ""
        doctor = f"`{this_command()} doctor`"
        role = f"its role can do more than read ({wrong[0]}{more}): {doctor} says what, and how to make one that cannot"
        console.print(inline(role))
    return {"tables": len(schema.tables), "columns": columns, "findings": wrong}


def _check_model(model: str, console: Console) -> str | None:
    if not model:
        console.print("model: none yet; name one in the file, or with --model")
        return None

    async def ask() -> None:
        completer = open_completer(model)
        try:
            await completer.complete("Answer with the word yes.", Sampling(max_tokens=8))
        finally:
            await completer.close()

    asyncio.run(ask())
    console.print("model: answers")
    return model
