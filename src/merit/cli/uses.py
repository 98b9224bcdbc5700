"""`merit memory uses`: the later answers that an entry had a part in."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from merit.cli.live import again
from merit.cli.memory import LOCATION, Location, reading
from merit.cli.options import JSON, this_command
from merit.cli.terminal import Console, inline, print_json
from merit.errors import InputError, counted
from merit.live import History
from merit.live.opening import FOLDER
from merit.live.record.history import HISTORY
from merit.live.record.uses import Use, uses_of
from merit.memory import curate
from merit.memory.contents import promoted, read_contents


@click.command("uses")
@LOCATION
@click.argument("identities", nargs=-1, required=True, metavar="ID...")
@JSON
def uses(location: Location, identities: tuple[str, ...], as_json: bool) -> None:
    """List every later answer that entries had a part in, with what was learned from it, to any depth.

    An ID is an entry's, or the beginning of it. An answer is listed if its prompts showed one of the entries, showed
    what was learned from such an answer, or followed such an answer in a conversation. Each comes with the command
    that asks it again. --json prints one object.
    """
    project = project_of(location)
    if project is None:
        raise InputError(
            "there is no history beside this memory; for a team's memory, go to the folder that has .merit"
        )
    with reading(location) as store:
        entries = [curate.find(store, identity).entry.id for identity in identities]
        family = promoted(entries, read_contents(store).entries.values())
    found = uses_of(family, History(project).events())
    if as_json:
        print_json({"entries": entries, "answers": [_record(use, project) for use in found]})
        return
    console = Console()
    named = ", ".join(entries)
    console.print(
        f"{named}: {counted(len(found), 'later answer')}" if found else f"{named}: no later answer was shown it"
    )
    for use in found:
        _show(use, project, console)


def project_of(location: Location) -> Path | None:
    """The folder whose history goes with a memory: the one around it, or for a team's memory the one here."""
    project = location.parent if isinstance(location, Path) else FOLDER
    return project if (project / HISTORY).is_file() else None


def later_uses(project: Path, entries: Sequence[str], location: str) -> tuple[int, str]:
    """How many later answers entries had a part in, and how to list them, as the end of a sentence.

    `place` is what the command calls the memory.
    """
    count = len(uses_of(entries, History(project).events()))
    if not count:
        return 0, "; no later answer was shown it"
    command = f"`{this_command()} memory uses {location} {' '.join(entries)}`"
    return count, f"; {counted(count, 'later answer')} rest{'s' if count == 1 else ''} on it: {command}"


def _ask_again(use: Use, project: Path) -> str:
    return f"{this_command()} ask {shlex.quote(use.question)}{again(None, project, '')}"


def _record(use: Use, project: Path) -> dict[str, object]:
    return {**use.record(), "ask_again": _ask_again(use, project)}


def _show(use: Use, project: Path, console: Console) -> None:
    indent = 2 * min(use.depth, 8)
    head = f"{' ' * indent}[bold]{inline(use.asked.id)}[/] "
    console.block(f"{use.asked.time[:10]}  {use.asked.status}  {' '.join(use.question.split())}", indent + 2, head=head)
    console.block(f"through {', '.join(use.through)}", indent + 2, "dim", head=" " * (indent + 2))
    if use.learned:
        console.block(f"left {', '.join(use.learned)}", indent + 2, "dim", head=" " * (indent + 2))
    console.print(f"{' ' * (indent + 2)}{inline(_ask_again(use, project))}", soft_wrap=True)
