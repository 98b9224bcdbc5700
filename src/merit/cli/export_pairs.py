"""`merit export`: what was learned, for other tools."""

from pathlib import Path

import click

from merit.cli.live import KEPT_IN, MEMORY, memory_location, viewer_here
from merit.cli.options import JSON, REPLACE, check_new
from merit.cli.terminal import print_json, say
from merit.errors import InputError, counted
from merit.formats import FORMATS, write_pairs
from merit.live import export_pairs as pairs_of
from merit.memory import entries_in
from merit.types import Grade


@click.command("export")
@click.option("--format", "kind", type=click.Choice(list(FORMATS)), required=True, help="For which tool.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="The file to write; a new folder for wren and dbt."
)
@click.option(
    "--least",
    type=click.Choice([grade.value for grade in Grade]),
    default=Grade.TESTED.value,
    show_default=True,
    help="Only answers that are at least so sure.",
)
@KEPT_IN
@MEMORY
@click.option("--name", default="", help="The database, by its name in the memory (default: its only one).")
@REPLACE
@JSON
def export_pairs(
    kind: str, out: Path, least: str, folder: Path, memory: str, name: str, replace: bool, as_json: bool
) -> None:
    """Write what was learned about a database as question-SQL pairs, in the files of other tools.

    Only answers that later questions may be shown are written: none that was deleted, is stale, or is below --least,
    and none that is for other people alone.
    """
    exported = pairs_of(entries_in(memory_location(None, folder, memory)), name, Grade(least), viewer_here(None))
    if not exported.pairs:
        raise InputError(
            f"the memory has no answer{f' about {exported.database}' if exported.database else ''} that is {least} or "
            "better; nothing was written"
        )
    if not FORMATS[kind].folder:
        check_new(out, replace)
    write_pairs(exported.pairs, out, kind)
    left = {"withheld": exported.withheld, "less_sure": exported.less_sure, "changes": exported.changes}
    if as_json:
        print_json({"out": str(out), "format": kind, "exported": len(exported.pairs), **left})
        return
    say(f"{counted(len(exported.pairs), 'pair')} about {exported.database} written to {out} ({kind})")
    if any(left.values()):
        say(
            f"left behind: {exported.withheld} deleted or stale, {exported.less_sure} less than {least}, "
            f"{counted(exported.changes, 'change')} without an answer of its own",
            err=True,
        )
