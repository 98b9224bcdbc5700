"""How sure a voted answer is, in words and as plain values."""

from typing import Any

from merit.agent.agreement import share_of_votes
from merit.agent.confidence import find_calibration
from merit.agent.rules import cast_votes
from merit.errors import counted
from merit.runs import RunView, Turn


def votes_in_words(view: RunView, turn: Turn) -> str:
    """How many votes the answer that stands got, and what that is worth."""
    attempts, final = turn.episode.attempts, turn.episode.final
    own = sum(attempt.verdict == final.verdict for attempt in attempts) if final.verdict.satisfied else 0
    stated = confidence_record(view, turn)
    weighed = f", {stated['share']:.0%} by weight" if abs(stated["share"] - own / len(attempts)) > 1e-9 else ""
    worth = "not calibrated"
    if stated["calibrated"] is not None:
        worth = f"confidence {stated['calibrated']:.0%}, calibrated on {stated['calibrated_on']}"
    return f"{own} of {counted(len(attempts), 'vote')}{weighed} ({worth})"


def confidence_record(view: RunView, turn: Turn) -> dict[str, Any]:
    """The share of votes of the answer that stands and, where merit has a calibration for it, its confidence."""
    share = share_of_votes(cast_votes(view.method, turn.episode.attempts))
    calibration = find_calibration(view.identity.model.name, view.identity.prompts.family)
    return {
        "share": share,
        "calibrated": calibration and calibration.confidence(share),
        "calibrated_on": calibration and calibration.about,
    }
