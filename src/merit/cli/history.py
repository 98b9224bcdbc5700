"""`merit history`: the questions that were asked, and what was said about their answers."""

import json
import re
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click

from merit.cli.live import KEPT_IN, check_history
from merit.cli.options import JSON
from merit.cli.terminal import Console, inline
from merit.errors import InputError
from merit.live import AnswerStatus, Asked, Feedback, History
from merit.live.record.browsing import HistorySearch
from merit.live.record.events import feedback_record, kind_of

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

    The beginning of an answer's id finds it, too. --json prints one object a line.
    """
    check_history(folder)
    if since:
        _check_day(since)
    kept, search = History(folder), HistorySearch(words, status or "", feedback or "", author, since, database=database)
    feedback_by_answer = kept.feedback()
    found = [event for event in kept.answers().values() if search.fits(event, feedback_by_answer.get(event.id))]
    if as_json:
        for event in found:
            about = feedback_by_answer.get(event.id)
            click.echo(json.dumps({**asdict(event), "feedback": about and feedback_record(about)}))
    else:
        narrowed = search != HistorySearch()
        _show(found, feedback_by_answer, "no such question" if narrowed else f"no question was asked yet in {folder}")


def _check_day(since: str) -> None:
    """Refuse what is not a day, or not one of the calendar."""
    try:
        datetime.fromisoformat(since if _DAY.fullmatch(since) else "")
    except ValueError:
        raise InputError(f"--since {since}: not a day; write it as 2026-11-16") from None


def _show(found: list[Asked], feedback: dict[str, Feedback], none: str) -> None:
    console = Console()
    for event in found:
        state = kind_of(feedback[event.id]) if event.id in feedback else event.status.value
        by = f"  ({event.author})" if event.author else ""
        line = f"{event.id}  {event.time}  {state:<9}  {event.question}{by}"
        console.print(inline(line), no_wrap=True, overflow="ignore" if console.soft_wrap else "ellipsis")
    if not found:
        console.print(inline(none), soft_wrap=True)
