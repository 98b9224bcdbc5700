"""`merit history`: the questions that were asked, and what was said about their answers."""

from dataclasses import asdict
from pathlib import Path

import click

from merit.cli.live import KEPT_IN
from merit.cli.options import JSON
from merit.cli.screen import Console, inline, print_json
from merit.errors import InputError
from merit.live import Asked, Feedback, History


@click.command()
@click.argument("text", default="")
@KEPT_IN
@JSON
def history(text: str, folder: Path, as_json: bool) -> None:
    """List the questions that were asked, oldest first; with TEXT, those that have it in question or SQL.

    --json prints one object.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no history here; ask something first, or name another --folder")
    asked: list[Asked] = []
    said: dict[str, Feedback] = {}
    for event in History(folder).events():
        if isinstance(event, Asked):
            asked.append(event)
        else:
            said[event.answer] = event
    found = [event for event in asked if text.lower() in f"{event.question}\n{event.sql}".lower()]
    if as_json:
        print_json({"answers": [{**asdict(event), "feedback": _feedback(said.get(event.id))} for event in found]})
        return
    console = Console()
    for event in found:
        told = said.get(event.id)
        state = type(told).__name__.lower() if told else event.status.value
        line = f"{event.id}  {event.time}  {state:<9}  {event.question}"
        console.print(inline(line), no_wrap=True, overflow="ignore" if console.soft_wrap else "ellipsis")
    if not found:
        console.print("no question" + (f" with {inline(repr(text))}" if text else " was asked yet"))


def _feedback(event: Feedback | None) -> dict[str, object] | None:
    return None if event is None else {"kind": type(event).__name__.lower(), **asdict(event)}
