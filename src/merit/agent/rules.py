"""The rules of an episode: when it goes on, when its budget is spent, which attempt stands, how one is drawn."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from merit.agent import agreement
from merit.agent.agreement import Vote
from merit.agent.trajectory import Attempt, Episode, RefusedStatement, Task
from merit.memory import Cue, failure_context
from merit.sql import canonical
from merit.types import Failure, FailureSubtype, FailureType, Grounded, Regime, Sampling, Verdict

if TYPE_CHECKING:
    from merit.agent.method import Method

NO_FAILURE = Failure(FailureType.UNKNOWN, FailureSubtype.UNKNOWN)  # of a candidate that ran, or of an answer
_DRAWS_PER_SEED = 1000  # more than an episode has draws, so that the streams of two seeds share none


def unfinished(method: "Method", regime: Regime, budget: int, attempts: Sequence[Attempt]) -> bool:
    """Whether an episode needs another attempt, budget permitting."""
    if not method.repairs:
        return False
    if votes(method, regime):
        return not agreement.decided(cast_votes(method, attempts), budget + 1 - len(attempts))
    return attempts[-1].failure is not None


def chosen(method: "Method", regime: Regime, attempts: Sequence[Attempt]) -> int:
    """Which attempt stands, counted from the end as -1 where it is the last."""
    return agreement.choose(cast_votes(method, attempts)) if votes(method, regime) else -1


def votes(method: "Method", regime: Regime) -> bool:
    """Whether candidates vote: only where the agent is not told what is right."""
    return method.votes and method.repairs and not regime.has_oracle


def cast_votes(method: "Method", attempts: Sequence[Attempt]) -> list[Vote]:
    """What each candidate votes for; one that had to be grounded may count less than one that ran as it was written."""
    return [Vote(attempt.verdict, method.grounded_vote if attempt.written else 1.0) for attempt in attempts]


def spent(method: "Method", budget: int, attempts: Sequence[Attempt]) -> bool:
    """Whether the budget of candidates or of draws is used up."""
    candidates = sum(not attempt.repeat for attempt in attempts[1:])
    return candidates >= budget or len(attempts) > budget * method.draws


def repeated(method: "Method", regime: Regime, sql: str, attempts: Sequence[Attempt]) -> Attempt | None:
    """The earlier candidate that a new one repeats, where repeats are set aside (and candidates do not vote)."""
    if method.draws == 1 or votes(method, regime):
        return None
    text = canonical(sql)
    return next((attempt for attempt in attempts if text in _texts(attempt)), None)


def _texts(attempt: Attempt) -> set[str]:
    """A candidate's SQL, as it was written and as it was grounded."""
    written = [attempt.written.sql] if attempt.written else []
    return {canonical(sql) for sql in [attempt.sql, *written]}


def grounding(method: "Method", task: Task, sql: str, verdict: Verdict, dialect: str) -> Grounded | None:
    """What becomes of a statement that the database refused, where the method grounds."""
    if not method.grounds or task.tables is None:
        return None
    from merit.grounding import ground  # only here: sqlglot would take a fifth of every command's start

    return ground(sql, task.tables, dialect, verdict)


def candidates_of(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Each candidate once: the attempts that repeat no earlier one."""
    return [attempt for attempt in attempts if not attempt.repeat]


def changed_from(episode: Episode) -> Attempt | RefusedStatement | None:
    """The statement that the final one changed: what was written before grounding, or the candidate before it."""
    candidates = candidates_of(episode.attempts)
    return episode.final.written or (candidates[-2] if len(candidates) > 1 else None)


def cue_of(task: Task, attempts: Sequence[Attempt]) -> Cue:
    """What the memory is asked after the latest of these attempts."""
    last = attempts[-1]
    return Cue(
        question=task.whole_question,
        question_id=task.question.id,
        db_id=task.question.db_id,
        position=task.reads_from,
        step=len(attempts),
        sql=last.sql,
        failure_context=failure_context(last.sql, last.verdict.status, last.verdict.error),
        type=(last.failure or NO_FAILURE).type,
        until=task.until,
        viewer=task.viewer,
    )


def sampling_of_draw(method: "Method", sampling: Sampling, draw: int) -> Sampling:
    """How the draw of this number in its episode is made."""
    if not method.temperature or (method.greedy_first and draw == 1):
        return sampling
    return replace(sampling, temperature=method.temperature, seed=method.seed * _DRAWS_PER_SEED + draw)
