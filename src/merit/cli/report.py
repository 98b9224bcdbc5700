"""`merit report`: tables and figures of finished runs."""

import sys
from pathlib import Path

import click

from merit.agent import find_method
from merit.agent.confidence import read_calibration
from merit.cli.options import JSON, PRICES, stoppable
from merit.cli.references import DATA, WITH_REFERENCES, answers, check_asked
from merit.cli.tables import show_table
from merit.cli.terminal import Console, print_json, say
from merit.errors import InputError, counted
from merit.report import TokenPrices, build, open_runs, read_labels, write_report
from merit.report.accuracy import FULL
from merit.report.page import write_page
from merit.report.reviewed import reviewed_summary
from merit.report.writing import check_folder


@click.command()
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder for tables and figures: a new or empty one, or one that holds an earlier report.",
)
@click.option("--against", show_default=FULL, help="The method that all others are paired with.")
@click.option("--unfinished", is_flag=True, help="Report runs that are not finished too, as far as they are.")
@PRICES
@JSON
@click.option(
    "--labels",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Human labels that `merit label` made: report how well the failure classifier agrees.",
)
@click.option(
    "--calibration",
    type=click.Path(path_type=Path),
    help="What `merit calibrate` wrote: turns shares of votes into confidences (default: merit's own, if it fits).",
)
@WITH_REFERENCES
@DATA
def report(
    runs: tuple[Path, ...],
    out: Path,
    against: str | None,
    unfinished: bool,
    prices: tuple[float, float] | None,
    labels: tuple[Path, ...],
    calibration: Path | None,
    with_references: bool,
    roots: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Write the paper's tables and figures of RUNS, run folders or folders that hold some, and of human labels.

    Runs that do not share data, first answers, protocol, regime, budget, model or encoder are never compared; what
    differs is shown. A run that is damaged or not finished is left out with a note. Exit 1 if nothing can be reported.
    --json prints one object: the files, how many runs, which tables and figures, and all notes.
    """
    check_asked(roots, with_references)
    if not runs and not labels:
        raise InputError("nothing to report: give run folders, or --labels with a file")
    check_folder(out)
    method, labelled = find_method(against or FULL).name, read_labels(*labels)
    calibrated = read_calibration(calibration) if calibration else None
    views, refused = open_runs(runs, unfinished=unfinished)
    if sys.stderr.isatty():
        say(f"merit: {counted(len(views), 'run')} read; writing tables, figures and the page", err=True)
    made = build(
        views,
        TokenPrices(*prices) if prices else None,
        against=method,
        named=against is not None,
        labels=labelled,
        calibration=calibrated,
        refused=refused,
    )
    for sentence in (*made.refused, *made.notes):
        say(f"merit: {sentence}", err=True)
    if not made.tables:
        sys.exit(1)
    reported = {run.view.path for group in made.groups for run in group.all_runs()}
    shown = [view for view in views if view.path in reported]
    page = out / "report.html"
    with stoppable(lambda: "every file that was written is whole", "the same command writes all of them"):
        files = write_report(made, out)
        left_out = write_page(made, shown, page, answers(shown, roots) if with_references else None)
    for sentence in left_out:
        say(f"merit: {sentence}", err=True)
    if with_references:
        say(f"merit: {page} holds reference answers", err=True)
    if as_json:
        contents = {"tables": [table.id for table in made.tables], "figures": [figure.id for figure in made.figures]}
        messages = {"refused": [*made.refused, *left_out], "notes": made.notes}
        print_json({"report": str(files[0]), "page": str(page), "runs": len(reported), **contents, **messages})
        return
    if (reviewed := reviewed_summary(made.groups)).rows:  # what such runs are made for, at a glance
        show_table(Console(), reviewed)
    parts = (counted(len(reported), "run"), counted(len(made.tables), "table"), counted(len(made.figures), "figure"))
    say(f"{', '.join(parts)}: {files[0]}, and with every episode {page}")
