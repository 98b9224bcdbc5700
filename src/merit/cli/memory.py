"""`merit memory`: look after what was learned."""

import json
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from merit.cli.screen import Console, json_line
from merit.memory import curate
from merit.types import FailureType, Polarity

_FOLDER = click.argument("folder", type=click.Path(path_type=Path))
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")


@click.group()
def memory() -> None:
    """List, show, delete, confirm, export, import and count a memory's entries."""


@memory.command("list")
@_FOLDER
@click.option("--polarity", type=click.Choice([p.value for p in Polarity]))
@click.option("--type", "kind", type=click.Choice([t.value for t in FailureType], case_sensitive=False))
@click.option("--db", "db_id", help="Only entries learned on this database.")
@click.option("--deleted", is_flag=True, help="Only deleted entries.")
@_JSON
def list_entries(
    folder: Path, polarity: str | None, kind: str | None, db_id: str | None, deleted: bool, as_json: bool
) -> None:
    """List entries, one line each."""
    table = Table("id", "type", "database", "position", "question")
    for one in curate.kept(folder):
        entry = one.entry
        if polarity not in (None, entry.polarity) or kind not in (None, entry.type):
            continue
        if db_id not in (None, entry.provenance.db_id) or deleted != (one.deleted is not None):
            continue
        if as_json:
            click.echo(json_line(entry.to_line()))
        else:
            source = entry.provenance
            table.add_row(entry.id, entry.type, escape(source.db_id), str(source.position), escape(entry.question))
    if not as_json:
        Console().print(table)


@memory.command()
@_FOLDER
@click.argument("identity")
@_JSON
def show(folder: Path, identity: str, as_json: bool) -> None:
    """Show one entry whole; the beginning of its id is enough."""
    one = curate.find(folder, identity)
    if as_json:
        click.echo(json_line(one.entry.to_line()))
        return
    entry, source = one.entry, one.entry.provenance
    changed = entry.polarity is not Polarity.PRECEDENT
    console = Console(highlight=False, soft_wrap=True)
    console.print(
        f"[bold]{entry.id}[/]  {entry.polarity}, {entry.grade}" + ("  [red]deleted[/]" if one.deleted else "")
    )
    for name, value in (
        ("question", entry.question),
        ("failure", f"{entry.type} / {entry.subtype}" if changed else ""),
        ("before", entry.before),
        ("status", f"{entry.status}  {entry.db_error or ''}" if changed else ""),
        ("after", entry.after),
        ("outcome", f"{entry.outcome}  {entry.outcome_error or ''}"),
        ("database", source.db_id),
        ("from", f"run {source.run}, question {source.question_id}, position {source.position}, step {source.step}"),
        ("deleted", one.deleted or ""),
    ):
        if value:
            console.print(f"  [dim]{name:<9}[/] {escape(value)}")


@memory.command()
@_FOLDER
@click.argument("identity")
@click.option("--reason", required=True, help="Why; it is kept with the deletion.")
def delete(folder: Path, identity: str, reason: str) -> None:
    """Take an entry out of every later recall."""
    click.echo(f"deleted {curate.delete(folder, identity, reason).id}")


@memory.command()
@_FOLDER
@click.argument("identity")
def confirm(folder: Path, identity: str) -> None:
    """Say that an executed or agreed entry is right: a confirmed one takes its place, out of quarantine."""
    old, new = curate.confirm(folder, identity)
    click.echo(f"confirmed {old.id} as {new.id}")


@memory.command()
@_FOLDER
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write, JSON lines.")
def export(folder: Path, out: Path) -> None:
    """Write all entries that are not deleted to one file."""
    click.echo(f"{curate.export(folder, out)} entries written to {out}")


@memory.command("import")
@_FOLDER
@click.argument("file", type=click.Path(path_type=Path))
def import_entries(folder: Path, file: Path) -> None:
    """Add the entries of an exported file; all of them or none."""
    new, there = curate.import_entries(folder, file)
    click.echo(f"{new} entries imported, {there} were there already")


@memory.command()
@_FOLDER
@_JSON
def stats(folder: Path, as_json: bool) -> None:
    """Count entries."""
    counted = curate.stats(folder)
    if as_json:
        click.echo(json.dumps(counted, indent=2))
        return
    console = Console(highlight=False)
    console.print(f"{counted['entries']} entries, {counted['deleted']} deleted, {counted['bytes']} bytes")
    for group in ("by_polarity", "by_type", "by_grade", "by_database"):
        console.print(f"[dim]{group.replace('_', ' ')}[/]")
        for name, count in counted[group].items():
            console.print(f"  {escape(name):<24}{count:>8}")
