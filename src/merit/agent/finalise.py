"""What a finished episode leaves behind: at most one entry (paper, section 3.2, "Episode finalization")."""

from merit.agent.agreement import is_agreed
from merit.agent.episode import NO_FAILURE, Attempt, Episode, votes
from merit.agent.method import Method
from merit.memory import Entry, Grade, Provenance, with_id
from merit.types import Polarity, Regime


def finalise(episode: Episode, method: Method, run: str, regime: Regime) -> Entry | None:
    """What the episode came to, as far as the method keeps it: an answer, or else the last change and how it ended."""
    candidates = [attempt for attempt in episode.attempts if not attempt.repeat]
    after = episode.final
    if after.verdict.satisfied and Polarity.PRECEDENT in method.writes:
        before, failure, polarity = Attempt("", "", 0, 0, after.verdict, None), NO_FAILURE, Polarity.PRECEDENT
    elif len(candidates) > 1 and not votes(method, regime):
        before, polarity = candidates[-2], Polarity.POSITIVE if after.verdict.satisfied else Polarity.NEGATIVE
        assert before.failure is not None  # or there would be no attempt after it
        failure = before.failure
    else:
        return None  # nothing was changed
    if polarity not in method.writes:
        return None
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
