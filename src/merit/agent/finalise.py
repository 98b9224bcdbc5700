"""What a finished episode leaves behind: at most one entry (paper, section 3.2, "Episode finalization")."""

from merit.agent.episode import Episode
from merit.agent.method import Method
from merit.memory import Entry, Grade, Provenance, with_id
from merit.types import Polarity, Regime


def finalise(episode: Episode, method: Method, run: str, regime: Regime) -> Entry | None:
    """The last change, as a confirmed one or as a failed direction; nothing where nothing was changed."""
    if len(episode.attempts) < 2:
        return None
    before, after = episode.attempts[-2:]
    polarity = Polarity.POSITIVE if after.verdict.satisfied else Polarity.NEGATIVE
    if polarity not in method.writes:
        return None
    assert before.failure is not None  # or there would be no attempt after it
    task = episode.task
    entry = Entry(
        id="",
        polarity=polarity,
        question=task.question.text,
        schema=task.schema,
        before=before.sql,
        status=before.verdict.status,
        db_error=before.verdict.error,
        type=before.failure.type,
        subtype=before.failure.subtype,
        after=after.sql,
        outcome=after.verdict.status,
        outcome_error=after.verdict.error,
        grade=Grade.CONFIRMED if regime is Regime.DENOTATION_CONFIRMED else Grade.EXECUTED,
        provenance=Provenance(
            run=run,
            question_id=task.question.id,
            db_id=task.question.db_id,
            position=task.position,
            step=len(episode.attempts) - 1,
            episode=f"{run}:{task.question.id}",
        ),
    )
    return with_id(entry)
