"""`merit memory check`: every confirmed statement is run again."""

import sys
from pathlib import Path

import click

from merit.cli.live import DATABASE, KEPT_IN, NAME, check_learned, memory_location, open_agent
from merit.cli.options import JSON
from merit.cli.terminal import Console, inline, print_json, say
from merit.errors import counted
from merit.live.schema.checkup import Checkup


@click.command("check")
@DATABASE
@KEPT_IN
@NAME
@JSON
def checkup(url: str | None, folder: Path, name: str, as_json: bool) -> None:
    """Run every confirmed statement again on the database, and say whose results changed.

    One that fails goes stale and is not recalled until it holds again. One that gives other columns than at the last
    check is listed; it stays as it is. Exit 1 where something went stale. --json prints one object.
    """
    if isinstance(memory_location(url, folder, ""), Path):  # a team's memory is elsewhere
        check_learned(folder)
    with open_agent(url, folder, name) as agent:
        found = agent.check_memory(_tell if sys.stderr.isatty() else None)
    if as_json:
        print_json(
            {
                "ran": found.ran,
                "stale": found.stale,
                "fresh": found.fresh,
                "reshaped": {entry: {"before": was, "now": now} for entry, (was, now) in found.reshaped.items()},
                "undecided": found.undecided,
            }
        )
    else:
        _show(found)
    if found.stale:
        raise SystemExit(1)


def _tell(done: int, of_all: int) -> None:
    if done % 100 == 0:
        say(f"{done} of {of_all} ...", err=True)


def _show(found: Checkup) -> None:
    console = Console()
    lines = [(entry, f"stale: {why}") for entry, why in found.stale.items()]
    lines += [(entry, f"fresh: {why}") for entry, why in found.fresh.items()]
    lines += [
        (entry, f"other columns: {', '.join(was)} before, {', '.join(now)} now")
        for entry, (was, now) in found.reshaped.items()
    ]
    lines += [(entry, f"undecided: {why}") for entry, why in found.undecided.items()]
    for entry, why in lines:
        console.print(f"{entry}  {inline(why)}", soft_wrap=True)
    parts = [
        f"{len(found.stale)} went stale",
        f"{len(found.fresh)} came back",
        f"{len(found.reshaped)} changed columns",
    ]
    console.print(f"{counted(found.ran, 'confirmed statement', 'confirmed statements')} run: {', '.join(parts)}")
