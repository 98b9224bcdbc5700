"""`merit calibrate`: what a share of votes is worth, from finished runs."""

import json
import os
from pathlib import Path

import click

from merit.agent.confidence import read_calibration
from merit.cli.options import JSON
from merit.cli.terminal import print_json, say
from merit.errors import InputError, counted
from merit.files import atomic_write
from merit.report import open_runs
from merit.report.calibrate import calibrate as calibration_of
from merit.report.calibrate import outcomes_of
from merit.report.calibration_quality import brier

_FEW = 200  # questions; with fewer, a bin (a twentieth of the answers) has less than ten
_SAME = (
    "both scores are over the questions it was fitted on, so do not judge it by them: report other questions with it"
)


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write the calibration to.")
@JSON
def calibrate(runs: tuple[Path, ...], out: Path, as_json: bool) -> None:
    """Fit how often voted answers are right by their share of votes, on finished RUNS in the regime dbms_only.

    RUNS are run folders or folders that hold some, all of one model, prompt family, method and budget; seeds and data
    may differ. `merit report --calibration FILE` uses what is written. --json prints one object: the file, the numbers
    of questions and answers, the Brier score of the share of votes and of the confidence, and the calibration.
    """
    _check_out(out)
    views, refused = open_runs(runs)
    if refused:
        raise InputError(refused[0])
    calibration = calibration_of(views)
    outcomes = [outcome for view in views for outcome in outcomes_of(view)]
    before = brier(outcomes)
    after = brier([(calibration.confidence(share), right) for share, right in outcomes])
    with atomic_write(out, way_out="choose another --out") as file:
        file.write((json.dumps(calibration.record(), ensure_ascii=False, indent=2) + "\n").encode())
    if calibration.questions < _FEW:
        say(f"merit: {counted(calibration.questions, 'question')} are few; {_FEW} or more make it reliable", err=True)
    say(f"merit: {_SAME}", err=True)
    if as_json:
        counts = {"questions": calibration.questions, "answers": calibration.answers}
        scores = {"brier_before": before, "brier_after": after}
        print_json({"file": str(out), **counts, **scores, "calibration": calibration.record()})
        return
    say(
        f"{out}: calibrated on {calibration.about}; {counted(len(views), 'run')}, "
        f"{counted(calibration.answers, 'answer')}, {counted(len(calibration.knots), 'knot')}; Brier score "
        f"{before:.4f} before and {after:.4f} after"
    )


def _check_out(out: Path) -> None:
    """Refuse to write over anything that is not a calibration."""
    if os.path.lexists(out):
        try:
            read_calibration(out)
        except InputError:
            raise InputError(f"{out}: is there already, and is not a calibration; choose another --out") from None
