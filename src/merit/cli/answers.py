"""`merit answers`: the answers that models have given."""

from contextlib import closing
from pathlib import Path
from typing import Any

import click
from rich.markup import escape
from rich.table import Table

from merit.audit.recording import manifest_place, write_recording
from merit.cache import cache_folder
from merit.cli.options import JSON, REPLACE, check_new
from merit.cli.plain import CommandGroup
from merit.cli.terminal import Console, print_json, say
from merit.errors import InputError
from merit.models import AnswerStore
from merit.models.answers import FILE as ANSWERS
from merit.models.exported import is_exported, open_recording, write_exported
from merit.report import open_runs

_PATH = click.Path(path_type=Path)


@click.group(cls=CommandGroup)
def answers() -> None:
    """Count, merge and export the answers that models have given."""


_FILE = click.option("--file", type=_PATH, help="A file of answers (default: the one in the cache folder).")


def _store(file: Path | None) -> AnswerStore:
    path = file or cache_folder() / ANSWERS
    if file is None and not path.exists():
        raise InputError(_none_yet(path))
    return open_recording(path)


def _none_yet(path: Path) -> str:
    return (
        f"{path}: no answers yet; `merit predict` and `merit run` keep every answer of a model there, and "
        "`merit answers merge FILE` takes over those of another file"
    )


@answers.command("list")
@_FILE
@JSON
def list_models(file: Path | None, as_json: bool) -> None:
    """Say whose answers are there, and how many; --json prints one object, with every model under models."""
    if file is None and not (path := cache_folder() / ANSWERS).exists():
        if as_json:
            print_json({"models": []})
        else:
            say(_none_yet(path))
        return
    table = Table("model", "revision", "answers")
    models = []
    with closing(_store(file)) as store:
        for identity, count in store.models():
            table.add_row(escape(identity.name), escape(identity.revision), str(count))
            models.append({"name": identity.name, "revision": identity.revision, "answers": count})
    if as_json:
        print_json({"models": models})
    else:
        Console().print(table)


@answers.command()
@click.argument("other", type=_PATH)
@click.option("--file", type=_PATH, help="The file to merge into (default: the one in the cache folder).")
@JSON
def merge(other: Path, file: Path | None, as_json: bool) -> None:
    """Take over the answers of another file: one that merit kept, or one of JSON lines that it exported."""
    with closing(open_recording(other)) as source, closing(AnswerStore(file or cache_folder() / ANSWERS)) as store:
        added, total = store.take(source.items()), len(store)
    _tell({"added": added, "answers": total}, f"{added} new answers, {total} in all", as_json)


@answers.command()
@_FILE
@click.option("--out", type=_PATH, required=True, help="The file to write, JSON lines; compressed if it ends in .xz.")
@click.option(
    "--runs",
    multiple=True,
    type=_PATH,
    help="Only the answers that these finished runs used, from their own folders (or one that holds some); each is "
    "audited on the way, and a manifest is written beside the file. May be repeated.",
)
@click.option(
    "--note", "notes", multiple=True, metavar="NAME=TEXT", help="With --runs: a line of the manifest's 'made'."
)
@REPLACE
@JSON
def export(
    file: Path | None, out: Path, runs: tuple[Path, ...], notes: tuple[str, ...], replace: bool, as_json: bool
) -> None:
    """Write answers as JSON lines: all of a file, or a recording of some runs, which `replay:` reads.

    --json prints one object about what was written.
    """
    if not is_exported(out):
        raise InputError(f"{out}: name a file that ends in .jsonl or .jsonl.xz")
    check_new(out, replace)
    if runs:
        if file is not None:
            raise InputError("--runs takes the answers from the runs' own folders: leave --file out")
        _record(runs, out, notes, as_json)
        return
    with closing(_store(file)) as store:
        count = write_exported(out, store.items())
    _tell({"out": str(out), "answers": count}, f"{count} answers written to {out}", as_json)


def _record(runs: tuple[Path, ...], out: Path, notes: tuple[str, ...], as_json: bool) -> None:
    views, refused = open_runs(runs)
    for sentence in refused:
        say(f"merit: left out: {sentence}", err=True)
    manifest = write_recording(views, out, dict(_note(note) for note in notes))
    count, manifest_path = manifest["answers"], manifest_place(out)
    about = {"out": str(out), "answers": count, "runs": len(views), "manifest": str(manifest_path)}
    _tell(about, f"{count} answers of {len(views)} runs written to {out}, described in {manifest_path}", as_json)


def _tell(about: dict[str, Any], sentence: str, as_json: bool) -> None:
    if as_json:
        print_json(about)
    else:
        say(sentence)


def _note(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name.strip() and equals and value.strip()):
        raise InputError(f"--note {text}: write it as NAME=TEXT")
    return name.strip(), value.strip()
