"""`merit import`: question-SQL pairs of other tools."""

import sys
from collections import Counter
from pathlib import Path

import click

from merit.cli.contradictions import show_contradictions
from merit.cli.live import (
    AUTHOR,
    DATABASE,
    KEPT_IN,
    MEMORY,
    NAME,
    SCOPE,
    TEAM,
    author_or_user,
    location_shown,
    open_agent,
)
from merit.cli.options import JSON, this_command
from merit.cli.terminal import print_json, say
from merit.errors import counted
from merit.formats import FORMATS, SkippedPair, read_pairs
from merit.live import Imported
from merit.live.judging.importing import EARNED
from merit.types import Grade

_MOST_LINES = 20  # of pairs that were left out
_PROGRESS_EVERY = 200  # pairs


@click.command("import")
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--format", "kind", type=click.Choice(list(FORMATS)), help="What FILE is (default: recognised by its content)."
)
@click.option(
    "--as",
    "grade",
    type=click.Choice([grade.value for grade in EARNED]),
    default=Grade.EXECUTED.value,
    show_default=True,
    help="What the file's word is worth: confirmed only where people said that these answers are right; what was "
    "merely executed is kept, but not shown to later questions.",
)
@AUTHOR
@SCOPE
@TEAM
@DATABASE
@KEPT_IN
@MEMORY
@NAME
@click.option("--dry-run", is_flag=True, help="Execute and compare, and remember nothing.")
@JSON
def import_pairs(
    path: Path,
    kind: str | None,
    grade: str,
    author: str,
    scope: str | None,
    team: str,
    url: str | None,
    folder: Path,
    memory: str,
    name: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Learn from question-SQL pairs of another tool: FILE, or a project's folder.

    CSV, JSON lines or a JSON list (Spider's and BIRD's too), Vanna's training data, WrenAI's knowledge, Cortex's
    verified queries, dbt's analyses. Every pair is executed on your own database, read-only. What does not run is left
    out, with the reason. All others are remembered at once, or none.
    """
    found_kind, pairs = read_pairs(path, kind or "")
    with open_agent(url, folder, name, memory=memory, scope=scope, team=team) as agent:
        imported = agent.import_pairs(
            pairs,
            grade=Grade(grade),
            author=author_or_user(author),
            source=path.name,
            keep=not dry_run,
            done=_progress if sys.stderr.isatty() else None,
        )
    if as_json:
        print_json(_record(imported, found_kind, grade, dry_run))
    else:
        _show(imported, f"{path} ({found_kind})", grade, dry_run, location_shown(url, folder, memory))
    if imported.skipped and not imported.entries and not imported.known:
        raise SystemExit(1)


def _progress(number: int, total: int) -> None:
    if number % _PROGRESS_EVERY == 0:
        say(f"{number} of {total} statements executed", err=True)


def _show(imported: Imported, file: str, grade: str, dry_run: bool, location: str) -> None:
    verb = "would be imported" if dry_run else "imported"
    sentence = f"{file}: {counted(len(imported.entries), 'pair')} {verb} as {grade}, {imported.known} known already"
    if imported.deleted:
        sentence += f", {imported.deleted} deleted here and left so"
    say(f"{sentence}, {len(imported.skipped)} left out")
    for skipped in _shortened(imported.skipped):
        say(f"left out: {skipped}", err=True)
    command = f"{this_command()} memory"
    if imported.entries and grade == Grade.EXECUTED and not dry_run:
        say(f"they are not shown to later questions until `{command} confirm {location} ID` confirms them")
    show_contradictions(imported.contradictions, delete="" if dry_run else f"{command} delete {location}")


def _shortened(skipped: tuple[SkippedPair, ...]) -> list[str]:
    """A line each; reasons that come again and again are counted."""
    counts = Counter(pair.reason for pair in skipped)
    first = {pair.reason: pair.where for pair in reversed(skipped)}
    lines = [
        f"{first[reason]}{f' and {number - 1} more' if number > 1 else ''}: {reason}"
        for reason, number in counts.items()
    ]
    rest = len(lines) - _MOST_LINES
    return lines if rest <= 0 else [*lines[:_MOST_LINES], f"{rest} more reasons; --json has every one"]


def _record(imported: Imported, kind: str, grade: str, dry_run: bool) -> dict[str, object]:
    return {
        "format": kind,
        "grade": grade,
        "dry_run": dry_run,
        **imported.record(),
    }
