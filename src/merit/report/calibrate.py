"""A calibration from finished runs: what a share of votes was worth where a judge knew what is right."""

from collections.abc import Sequence
from typing import Any

from merit.agent.agreement import share_of_votes
from merit.agent.confidence import Calibration, Outcome, fit
from merit.agent.rules import cast_votes, votes
from merit.errors import InputError, counted
from merit.runs import RunView
from merit.runs.run_mismatch import plain_difference


def outcomes_of(view: RunView) -> list[Outcome]:
    """For each answered question of a run whose candidates voted: the share of votes, and whether it was right."""
    return [
        (share_of_votes(cast_votes(view.method, turn.episode.attempts)), turn.final_correct) for turn in view.answers
    ]


def calibrate(views: Sequence[RunView]) -> Calibration:
    """The calibration that some runs give; refuses runs without votes, and runs that do not belong together."""
    if not views:
        raise InputError("there is no run to calibrate on; give finished runs of a method that votes, in dbms_only")
    for view in views:
        _check_votes(view)
    first = views[0]
    for number, view in enumerate(views[1:], 1):
        _check_belongs(view, views[:number])
    identity = first.identity
    outcomes = [outcome for view in views for outcome in outcomes_of(view)]
    datasets = {view.identity.dataset.sha256: view.identity for view in views}
    questions = {
        (view.identity.dataset.sha256, turn.episode.task.question.id) for view in views for turn in view.answers
    }
    data = " and ".join(
        f"{counted(sum(sha256 == data for data, _ in questions), 'question')} of {one.dataset.title} "
        f"{one.dataset.split} (protocol {one.judged_by})"
        for sha256, one in datasets.items()
    )
    return Calibration(
        model=identity.model,
        prompts=identity.prompts.family,
        method=identity.method.name,
        data=data,
        data_sha256=tuple(datasets),
        questions=len(questions),
        answers=len(outcomes),
        knots=fit(outcomes),
    )


def _check_votes(view: RunView) -> None:
    identity = view.identity
    if not votes(view.method, identity.regime):
        why = (
            f"the method {view.method.name!r} does not vote"
            if not (view.method.votes and view.method.repairs)
            else f"its regime is {identity.regime}, where candidates do not vote"
        )
        raise InputError(f"{view.path}: {why}; give runs of resample or precedent made with --regime dbms_only")
    if not view.answers:
        raise InputError(f"{view.path}: it has no answered question")


def _check_belongs(view: RunView, earlier: Sequence[RunView]) -> None:
    """Refuse a run that differs from those before it in what decides a share of votes, or that is one of them."""
    for other in earlier:
        if other.manifest.run == view.manifest.run:
            raise InputError(f"{view.path}: is the same run as {other.path}; give each run once")
    if differs := plain_difference(_setting(earlier[0]), _setting(view)):
        raise InputError(
            f"{view.path}: cannot share a calibration with {earlier[0].path}: {differs}; calibrate them one by one"
        )


def _setting(view: RunView) -> dict[str, Any]:
    """What all runs of a calibration share; seeds may differ."""
    identity = view.identity
    record = identity.record()
    method = identity.method.seeded(0).record()
    return {
        "model": record["model"],
        "prompts": {"family": identity.prompts.family},
        "method": method,
        "budget": identity.budget,
    }
