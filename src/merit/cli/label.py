"""`merit label`: failures for a person to name, as a file and one by one in the terminal."""

import sys
from pathlib import Path

import click
from rich.cells import cell_len
from rich.markup import render

from merit.cli.find_run import open_run
from merit.cli.options import JSON, stoppable
from merit.cli.plain import at_least
from merit.cli.terminal import Console, inline, print_json, say
from merit.errors import InputError, counted
from merit.report import labels
from merit.report.names import FAILURES
from merit.runs import RunView

_OTHER_KEYS = ["[bold]b[/] back", "[bold]s[/] skip", "[bold]d[/] database schema", "[bold]q[/] quit"]
_KEYS = {str(number): kind for number, kind in enumerate(FAILURES, 1)}


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("labels.csv"),
    show_default=True,
    help="The CSV file; one that was begun goes on.",
)
@click.option("--n", "size", type=at_least(1), help="A sample of so many, every failure type in proportion.")
@click.option("--seed", type=at_least(0), default=0, show_default=True, help="Decides the sample and its order.")
@click.option("--classifier", is_flag=True, help="Add the classifier's own label as the last column.")
@click.option(
    "--fill/--write-only", default=None, help="Label in the terminal, or only write the file (default: by terminal)."
)
@JSON
def label(
    run: Path, out: Path, size: int | None, seed: int, classifier: bool, fill: bool | None, as_json: bool
) -> None:
    """Write the failed first answers of RUN to a CSV file whose column 'human' is to be filled in, and fill it in here.

    In the terminal a key names the failure; every answer is saved at once, and the same command goes on later.
    `merit report --labels FILE` tells how well the classifier agrees. A cell that a spreadsheet would take for a
    formula is written with an apostrophe before it, which is taken away again when the file is read.
    """
    view = open_run(run, "merit label")
    chosen = labels.records(view, labels.sample(view, size, seed), classifier=classifier)
    if not chosen:
        raise InputError(f"{run}: no first answer failed, so there is nothing to label")
    begun = out.exists()
    if begun:
        chosen = _begun_records(view, out, chosen if size is not None else None)
    else:
        labels.write_records(out, chosen)
    here = sys.stdin.isatty() if fill is None else fill
    if here:
        with stoppable(lambda: f"{_so_far(chosen)} in {out}"):
            _fill(view, out, chosen, Console())
    if as_json:
        print_json({"file": str(out), "failures": len(chosen), "labelled": _labelled(chosen), "written": not begun})
    elif here:
        say(f"{out}: {_so_far(chosen)}")
    else:
        rows = counted(len(chosen), "row")
        done = f"was there already with {rows}, and was not changed" if begun else f"written, with {rows}"
        say(f"{out}: {done}; {_so_far(chosen)}. Fill in its column 'human', here with --fill or in a spreadsheet")


def _so_far(lines: list[labels.Record]) -> str:
    are = "is" if len(lines) == 1 else "are"
    return f"{_labelled(lines)} of {counted(len(lines), 'failure')} {are} labelled"


def _labelled(lines: list[labels.Record]) -> int:
    return sum(bool(record["human"].strip()) for record in lines)


def _begun_records(view: RunView, out: Path, wanted: list[labels.Record] | None) -> list[labels.Record]:
    """The lines of a file that was begun, if it is of this run and sample."""
    records = [record for _, record in labels.read_records(out)]
    if any(record["run"] != view.manifest.run for record in records):
        raise InputError(f"{out}: holds labels of another run; choose another --out")
    if wanted is not None and _ids(wanted) != _ids(records):
        raise InputError(f"{out}: holds another sample; leave --n out to go on with it, or choose another --out")
    return records


def _ids(records: list[labels.Record]) -> list[str]:
    return [record["question_id"] for record in records]


def _fill(view: RunView, out: Path, lines: list[labels.Record], console: Console) -> None:
    """Ask for one label after the other, beginning with the first that is missing."""
    index = next((i for i, record in enumerate(lines) if not record["human"].strip()), len(lines))
    while index < len(lines):
        _show(lines[index], f"{index + 1} of {len(lines)}", console)
        try:
            key = click.getchar().lower()
        except EOFError:
            return
        except OSError:
            raise InputError("--fill: there is no terminal to ask in; fill in the column 'human' by hand") from None
        if key in ("q", "", "\x04"):
            return
        if key in _KEYS:
            lines[index]["human"] = _KEYS[key].value
            labels.write_records(out, lines)
            console.print(f"  [green]{FAILURES[_KEYS[key]]}[/]")
            index += 1
        elif key == "s":
            index += 1
        elif key == "b":
            index = max(0, index - 1)
        elif key == "d":
            schemas = {asked.question.db_id: asked.schema for asked in view.questions.values()}
            console.block(schemas.get(lines[index]["db_id"], ""), 2)


def _show(record: labels.Record, where: str, console: Console) -> None:
    named = f"  now {record['human']}" if record["human"].strip() else ""
    about = f"question {record['question_id']}, database {record['db_id']}"
    console.print(f"\n[bold]{where}[/]  {inline(about)}[dim]{inline(named)}[/]")
    console.block(record["question"], 2)
    if record["evidence"]:
        console.block(record["evidence"], 2, "dim")
    console.block(record["sql"] or "(no SQL)", 2, "cyan")
    console.block(record["error"], 4, head=f"  [yellow]{inline(record['status'])}[/]  ")
    named_keys = [f"[bold]{key}[/] {FAILURES[kind]}" for key, kind in _KEYS.items()]
    for line in _lines(named_keys, console.width) + _lines(_OTHER_KEYS, console.width):
        console.print(line)


def _lines(keys: list[str], width: int) -> list[str]:
    """Keys side by side, as many in a line as there is room for; none is torn from its name."""
    lines = [""]
    for key in keys:
        longer = f"{lines[-1]}  {key}"
        if lines[-1] and cell_len(render(longer).plain) > width:
            lines.append(f"  {key}")
        else:
            lines[-1] = longer
    return lines
