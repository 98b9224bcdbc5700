"""`merit history`: the questions that were asked, and what was said about their answers."""

import json
import re
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from merit.cli.live import KEPT_IN
from merit.cli.options import JSON
from merit.cli.terminal import Console, inline
from merit.errors import InputError
from merit.live import AnswerStatus, Asked, Feedback, History

_FEEDBACK = ("none", "confirmed", "rejected", "corrected")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?:T[\d:]{2,8})?")


@click.command()
@click.argument("words", nargs=-1)
@KEPT_IN
@click.option("--name", "database", default="", help="Only questions about this database, by its name in the memory.")
@click.option("--status", type=click.Choice([status.value for status in AnswerStatus]), help="Only such answers.")
@click.option("--feedback", type=click.Choice(_FEEDBACK), help="Only answers that people said this about.")
@click.option("--author", default="", help="Only answers that this person asked for or said something about.")
@click.option("--since", default="", metavar="DAY", help="Only what was asked on this day or later: 2026-11-16.")
@JSON
def history(
    words: tuple[str, ...],
    folder: Path,
    database: str,
    status: str | None,
    feedback: str | None,
    author: str,
    since: str,
    as_json: bool,
) -> None:
    """List the questions that were asked, newest last; with WORDS, those that have all of them in question or SQL.

    --json prints one object a line.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no history here; ask something first, or name another --folder")
    if since:
        _check_day(since)
    kept = History(folder)
    said = kept.feedback()
    found = [
        event
        for event in kept.answers().values()
        if all(word.casefold() in f"{event.question}\n{event.sql}".casefold() for word in words)
        and database in ("", event.database)
        and status in (None, event.status)
        and feedback in (None, _kind(said.get(event.id)))
        and author in ("", event.author, getattr(said.get(event.id), "author", ""))
        and event.time >= since
    ]
    if as_json:
        for event in found:
            click.echo(json.dumps({**asdict(event), "feedback": _record(said.get(event.id))}))
    else:
        narrowed = bool(words or database or status or feedback or author or since)
        _show(found, said, "no such question" if narrowed else f"no question was asked yet in {folder}")


def _check_day(since: str) -> None:
    """Refuse what is not a day, or not one of the calendar."""
    try:
        datetime.fromisoformat(since if _DAY.fullmatch(since) else "")
    except ValueError:
        raise InputError(f"--since {since}: not a day; write it as 2026-11-16") from None


def _show(found: list[Asked], said: dict[str, Feedback], none: str) -> None:
    console = Console()
    for event in found:
        state = _kind(said[event.id]) if event.id in said else event.status.value
        by = f"  ({event.author})" if event.author else ""
        line = f"{event.id}  {event.time}  {state:<9}  {event.question}{by}"
        console.print(inline(line), no_wrap=True, overflow="ignore" if console.soft_wrap else "ellipsis")
    if not found:
        console.print(inline(none), soft_wrap=True)


def _kind(event: Feedback | None) -> str:
    return "none" if event is None else type(event).__name__.lower()


def _record(event: Feedback | None) -> dict[str, object] | None:
    return None if event is None else {"kind": _kind(event), **asdict(event)}
