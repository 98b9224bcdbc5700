"""What a finished episode leaves behind: at most one entry (paper, section 3.2, "Episode finalization")."""

from merit.agent.agreement import is_agreed
from merit.agent.behaviour import Keep, kept
from merit.agent.method import Method
from merit.agent.rules import NO_FAILURE, candidates_of, changed_from, votes
from merit.agent.trajectory import Attempt, Episode, RefusedStatement
from merit.memory import Entry, Grade, Precedent, Provenance, Repair, with_id
from merit.types import Polarity, Regime


def finalise(episode: Episode, method: Method, run: str, regime: Regime) -> Entry | None:
    """What the episode came to, as far as the method keeps it: an answer, or else the last change and how it ended.

    In the regime reviewed it leaves nothing by itself: `feedback` says what is learned from a reviewer.
    """
    if regime is Regime.REVIEWED:
        return None
    keep, polarity = kept(method, episode, regime), polarity_of(episode, method)
    candidates = candidates_of(episode.attempts)
    if keep is None or polarity not in method.writes:
        return None
    task = episode.task
    source = Provenance(
        run=run,
        question_id=task.question.id,
        db_id=task.question.db_id,
        position=task.position,
        step=len(candidates) - 1,
        episode=f"{run}:{task.question.id}",
    )
    grade = grade_of(episode, method, regime)
    if polarity is Polarity.PRECEDENT:
        return with_id(_precedent(episode, grade, source)) if keep is Keep.PRECEDENT else None
    before = changed_from(episode)
    if keep is not Keep.REPAIR or before is None:
        return None
    return with_id(_repair(episode, before, polarity, grade, source))


def polarity_of(episode: Episode, method: Method) -> Polarity:
    """Which pool an entry of a finished episode belongs to, where its method keeps one."""
    if not episode.final.verdict.satisfied:
        return Polarity.NEGATIVE
    return Polarity.PRECEDENT if Polarity.PRECEDENT in method.writes else Polarity.POSITIVE


def _precedent(episode: Episode, grade: Grade, source: Provenance) -> Precedent:
    task, answer = episode.task, episode.final
    status = answer.verdict.status
    about = (task.question.text, task.schema, answer.sql, status, status, grade, source)
    return Precedent("", *about, lesson=episode.lesson)


def _repair(
    episode: Episode, before: Attempt | RefusedStatement, polarity: Polarity, grade: Grade, source: Provenance
) -> Repair:
    task, after = episode.task, episode.final
    failure = (before if polarity is Polarity.POSITIVE else after).failure or NO_FAILURE
    return Repair(
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
        grade=grade,
        provenance=source,
        lesson=episode.lesson,
    )


def grade_of(episode: Episode, method: Method, regime: Regime) -> Grade:
    """How sure what the episode came to is."""
    if regime.has_oracle:
        return Grade.CONFIRMED
    agreed = votes(method, regime) and is_agreed([attempt.verdict for attempt in episode.attempts], method.agreed)
    return Grade.AGREED if agreed else Grade.EXECUTED
