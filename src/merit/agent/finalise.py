"""What a finished episode leaves behind: at most one entry (paper, section 3.2, "Episode finalization")."""

from merit.agent.agreement import is_agreed
from merit.agent.behaviour import Keep
from merit.agent.method import Method
from merit.agent.rules import NO_FAILURE, candidates_of, votes
from merit.agent.trajectory import Attempt, Episode
from merit.memory import Entry, Grade, Provenance, with_id
from merit.types import Polarity, Regime


def finalise(episode: Episode, method: Method, run: str, regime: Regime) -> Entry | None:
    """What the episode came to, as far as the method keeps it: an answer, or else the last change and how it ended."""
    candidates = candidates_of(episode.attempts)
    after = episode.final
    kept = method.behaviour.keep(method, episode, regime)
    if kept is Keep.PRECEDENT and after.verdict.satisfied:
        before, failure, polarity = Attempt("", "", 0, 0, after.verdict, None), NO_FAILURE, Polarity.PRECEDENT
    elif kept is Keep.REPAIR and len(candidates) > 1:
        before, polarity = candidates[-2], Polarity.POSITIVE if after.verdict.satisfied else Polarity.NEGATIVE
        failure = before.failure or NO_FAILURE
    else:
        return None  # nothing to keep, or nothing was changed
    task = episode.task
    entry = Entry(
        id="",
        polarity=polarity,
        question=task.question.text,
        schema=task.schema,
        before=before.sql,
        status=before.verdict.status,
        db_error=before.verdict.error,
        type=failure.type,
        subtype=failure.subtype,
        after=after.sql,
        outcome=after.verdict.status,
        outcome_error=after.verdict.error,
        grade=grade_of(episode, method, regime),
        provenance=Provenance(
            run=run,
            question_id=task.question.id,
            db_id=task.question.db_id,
            position=task.position,
            step=len(candidates) - 1,
            episode=f"{run}:{task.question.id}",
        ),
    )
    return with_id(entry)


def grade_of(episode: Episode, method: Method, regime: Regime) -> Grade:
    """How sure what the episode came to is."""
    if regime is Regime.DENOTATION_CONFIRMED:
        return Grade.CONFIRMED
    agreed = votes(method, regime) and is_agreed([attempt.verdict for attempt in episode.attempts], method.agreed)
    return Grade.AGREED if agreed else Grade.EXECUTED
