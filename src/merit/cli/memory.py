"""`merit memory`: look after what was learned."""

import json
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path

import click
from rich.cells import cell_len, set_cell_size
from rich.markup import escape

from merit.cli.find_run import refuse_project, refuse_several
from merit.cli.options import JSON, REPLACE, check_new
from merit.cli.plain import CommandGroup
from merit.cli.terminal import Console, say, visible
from merit.errors import InputError, counted
from merit.memory import Entry, Precedent, Repair, Store, curate, entries_in, is_url, memory_folder, open_store
from merit.memory.format4 import entry_line
from merit.runs.paths import MANIFEST
from merit.types import FailureType, Polarity, shown_scope

Location = Path | str  # a folder, or a URL
_ENTRY = re.compile("(pos|neg|pre)-[0-9a-f]*")  # an entry's id, or its beginning
_WIDTHS = (20, 15, 12, 8)  # of all columns of a list but the last; ids are never cut


def _visible(text: str) -> str:
    """A text on one line, with what this terminal has no character for spelled out, so that its width is known."""
    known = sys.stdout.encoding or "utf-8"
    return visible(text, one_line=True).encode(known, "backslashreplace").decode(known)


def _print_json(value: object) -> None:
    click.echo(json.dumps(value))  # ASCII alone


def tell(as_json: bool, result: dict[str, object], sentence: str) -> None:
    """What was done, as one object or in one sentence."""
    if as_json:
        _print_json(result)
    else:
        say(_visible(sentence))


def _print_entry(entry: Entry) -> None:
    _print_json(json.loads(entry_line(entry)))


def _entries(number: int) -> str:
    return counted(number, "entry", "entries")


def memory_at(context: click.Context, _argument: click.Parameter, location: str) -> Location:
    """A memory's URL, or its folder, as given or inside a run's; a folder above several runs is refused."""
    if is_url(location):
        return location
    folder = Path(location)
    if folder.is_file():
        raise InputError(f"{folder}: is a file; give the folder of a memory or of a run")
    if _ENTRY.fullmatch(location) and not folder.exists():
        example = f"merit memory {context.info_name} .merit {location}"
        raise InputError(f"{location}: the memory comes first, as in `{example}`")
    memory_path = memory_folder(folder)
    if memory_path == folder and context.info_name not in ("import", "copy"):  # these may create one in any folder
        refuse_project(folder)
        refuse_several(folder, f"merit memory {context.info_name}", better=_remembers)
    return memory_path


def _remembers(run: Path) -> bool:
    return curate.file_bytes(memory_folder(run)) > 0


def warn_of_audit(location: Location) -> None:
    """Say it where a run's own memory was changed."""
    if isinstance(location, Path) and (location.parent / MANIFEST).exists():
        say("merit: this is the memory of a run, whose audit will no longer hold", err=True)


LOCATION = click.argument("location", metavar="MEMORY", callback=memory_at)


@contextmanager
def reading(location: Location) -> Iterator[Store]:
    """A memory that is there already, for reading."""
    with closing(open_store(location, writable=False)) as store:
        yield store


@contextmanager
def writing(location: Location) -> Iterator[Store]:
    """A memory that is there already, for writing."""
    open_store(location, writable=False).close()
    with closing(open_store(location)) as store:
        yield store


class _MemoryCommands(CommandGroup):
    """The group, with the commands that have a module of their own: those are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names in order."""
        return sorted([*super().list_commands(ctx), *_ELSEWHERE])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command of this module, or of its own."""
        if cmd_name not in _ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        command: click.Command = getattr(import_module(f"merit.cli.{_ELSEWHERE[cmd_name]}"), _ELSEWHERE[cmd_name])
        return command


_ELSEWHERE = {"check": "checkup"} | {
    name: name for name in ("conflicts", "copy", "delete", "promote", "purge", "review", "uses")
}


@click.group(cls=_MemoryCommands)
def memory() -> None:
    """List, show, check, delete, confirm, review, promote, purge, export, import, copy and count a memory's entries.

    MEMORY is a memory's folder, that of a run, which has its memory in it, or postgresql://... of a team's memory.
    """


@memory.command("list")
@LOCATION
@click.option("--polarity", type=click.Choice([p.value for p in Polarity]), help="Only entries of this kind.")
@click.option(
    "--type",
    "kind",
    type=click.Choice([t.value for t in FailureType], case_sensitive=False),
    help="Only entries about failures of this type.",
)
@click.option("--db", "db_id", help="Only entries learned on this database.")
@click.option("--deleted", is_flag=True, help="Only deleted entries.")
@click.option("--stale", is_flag=True, help="Only stale entries: their database changed.")
@JSON
def list_entries(
    location: Location,
    polarity: str | None,
    kind: str | None,
    db_id: str | None,
    deleted: bool,
    stale: bool,
    as_json: bool,
) -> None:
    """List entries, one line each: cut to the terminal's width, whole and separated by tabs in a pipe or file."""
    width = shutil.get_terminal_size().columns if Console().is_terminal else None
    if width and not as_json:
        click.echo(_row(("id", "type", "database", "position", "question"), width))
    stored, shown = entries_in(location), 0
    for item in stored:
        entry = item.entry
        if polarity not in (None, entry.polarity) or kind not in (None, entry.type):
            continue
        if db_id not in (None, entry.provenance.db_id) or deleted != (item.deleted is not None):
            continue
        if stale and item.stale is None:
            continue
        shown += 1
        if as_json:
            _print_entry(entry)
        else:
            source = entry.provenance
            called = "ANSWER" if entry.polarity is Polarity.PRECEDENT else entry.type
            click.echo(_row((entry.id, called, source.db_id, str(source.position), entry.question), width))
    if not shown:
        say(f"merit: {'no entry matches' if stored else 'there is no entry in this memory'}", err=True)


def _row(cells: Sequence[str], width: int | None) -> str:
    """A line of a list; with a width, cut to fit into it."""
    *first, last = map(_visible, cells)
    if width is None:
        return "\t".join([*first, last])
    room = max(width - sum(_WIDTHS) - 2 * len(_WIDTHS), 8)
    sized = [set_cell_size(_cut(cell, size), size) for cell, size in zip(first, _WIDTHS, strict=True)]
    return "  ".join([*sized, _cut(last, room)]).rstrip()


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, width - 3) + "..."


@memory.command()
@LOCATION
@click.argument("identity")
@JSON
def show(location: Location, identity: str, as_json: bool) -> None:
    """Show one entry whole; the beginning of its id is enough."""
    with reading(location) as store:
        listed = curate.find(store, identity)
    entry, source = listed.entry, listed.entry.provenance
    if as_json:
        _print_entry(entry)
        return
    console = Console()
    state = "" if listed.recallable else f"  [red]{'stale' if listed.deleted is None else 'deleted'}[/]"
    console.print(f"[bold]{entry.id}[/]  {entry.polarity}, {entry.grade}{state}")
    for name, value in (
        ("question", entry.question),
        *_what_it_says(entry),
        ("database", source.db_id),
        ("from", f"run {source.run}, question {source.question_id}, position {source.position}, step {source.step}"),
        ("author", source.author or ""),
        ("for", shown_scope(source.scope)),
        ("time", source.time or ""),
        ("deleted", listed.deleted or ""),
        ("stale", listed.stale or ""),
    ):
        for number, line in enumerate(value.split("\n") if value else ()):
            label = name if number == 0 else ""  # later lines are indented, so that none passes for a field
            console.block(_visible(line), 12, head=f"  [dim]{label:<9}[/] ")


def _what_it_says(entry: Entry) -> list[tuple[str, str]]:
    lesson = [] if entry.lesson is None else [("lesson", entry.lesson)]
    match entry:
        case Repair():
            return [
                ("failure", f"{entry.type} / {entry.subtype}"),
                ("before", entry.before),
                ("status", f"{entry.status}  {entry.db_error or ''}"),
                ("after", entry.after),
                ("outcome", f"{entry.outcome}  {entry.outcome_error or ''}"),
                *lesson,
            ]
        case Precedent():
            return [("sql", entry.sql), ("outcome", entry.outcome), *lesson]


@memory.command()
@LOCATION
@click.argument("identity")
@JSON
def confirm(location: Location, identity: str, as_json: bool) -> None:
    """Say that an executed or agreed entry is right: a confirmed one takes its place, out of quarantine."""
    with writing(location) as store:
        old, new = curate.confirm(store, identity)
    warn_of_audit(location)
    tell(as_json, {"confirmed": old.id, "as": new.id}, f"confirmed {old.id} as {new.id}")


@memory.command()
@LOCATION
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write, JSON lines.")
@click.option(
    "--format", "version", type=click.Choice(["3", "4"]), default="4", show_default=True,
    help="The memory format to write; 3 is for merit 0.1.",
)  # fmt: skip
@REPLACE
@JSON
def export(location: Location, out: Path, version: str, replace: bool, as_json: bool) -> None:
    """Write all entries that are not deleted to one file."""
    if isinstance(location, Path) and out.absolute().parent.resolve() == location.resolve():
        raise InputError(f"{out}: lies in the memory's own folder; export to another one")
    check_new(out, replace)
    with reading(location) as store:
        count = curate.export(store, out, int(version))
    tell(as_json, {"exported": count}, f"{_entries(count)} written to {out}")


@memory.command("import")
@LOCATION
@click.argument("file", type=click.Path(path_type=Path))
@JSON
def import_entries(location: Location, file: Path, as_json: bool) -> None:
    """Add the entries of an exported file; all of them or none."""
    with closing(open_store(location)) as store:
        new, known, deleted = curate.import_entries(store, file)
    if new:
        warn_of_audit(location)
    sentence = f"{_entries(new)} imported, {known} {'was' if known == 1 else 'were'} there already"
    if deleted:
        sentence += f", {counted(deleted, 'was deleted here and stays', 'were deleted here and stay')} deleted"
    tell(as_json, {"imported": new, "known": known, "deleted": deleted}, sentence)


@memory.command()
@LOCATION
@JSON
def stats(location: Location, as_json: bool) -> None:
    """Count entries."""
    with reading(location) as store:
        counts = {**curate.stats(store), "bytes": curate.size_bytes(store)}
    if as_json:
        click.echo(json.dumps(counts, indent=2))
        return
    console = Console(soft_wrap=True)
    states = f"{counts['deleted']} deleted, {counts['stale']} stale"
    console.print(f"{_entries(counts['entries'])}, {states}, {counted(counts['bytes'], 'byte')}")
    for group in ("by_polarity", "by_type", "by_grade", "by_scope", "by_database"):
        console.print(f"[dim]{group.replace('_', ' ')}[/]")
        for name, count in counts[group].items():
            console.print(f"  {escape(f'{_visible(name):<24}')}{count:>8}")
