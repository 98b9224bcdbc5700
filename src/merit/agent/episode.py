"""The episode (paper, Algorithm 1): judge, classify, recall, ask again, until the judge is satisfied or K is used up.

Attempts stay in their episode. Nothing here writes to the memory: `finalise` turns a finished episode into at most one
entry, and the stream commits it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from merit import prompts
from merit.agent import agreement
from merit.agent.method import Method
from merit.agent.work import Work
from merit.errors import ContextOverflow
from merit.failure import classify
from merit.memory import Cue, Memory, Precedent, Recall, Repair, failure_context
from merit.models import Completer, Completion, Sampling
from merit.oracle import Oracle
from merit.prompts import Family, Prompt, parse_reflection, parse_sql
from merit.sql import canonical
from merit.tracing import span
from merit.types import Demonstration, Failure, FailureSubtype, FailureType, Question, QuestionId, Regime, Verdict

NO_FAILURE = Failure(FailureType.UNKNOWN, FailureSubtype.UNKNOWN)  # of a candidate that ran, or of an answer
Apart = Callable[[Callable[[Question, str], Verdict], Question, str], Awaitable[Verdict]]
_SEEDS = 1000  # more than an episode has draws, so that streams do not share theirs


@dataclass(frozen=True, slots=True)
class Draft:
    """The shared first answer, y(0); tokens are 0 where its maker did not say."""

    sql: str
    reply: str
    prompt_tokens: int = 0
    output_tokens: int = 0
    tokens_estimated: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A question in its place in the stream."""

    question: Question
    schema: str
    position: int
    draft: Draft
    reads_from: int  # entries of earlier positions than this may be recalled: `position`, but for controls


@dataclass(frozen=True, slots=True)
class Attempt:
    """One SQL, what was asked to get it, and what became of it."""

    sql: str
    reply: str
    prompt_tokens: int
    output_tokens: int
    verdict: Verdict
    failure: Failure | None
    prompt_sha256: str | None = None  # None for the shared first answer
    recall: Recall | None = None
    repeat: bool = False  # set aside: the verdict is that of the earlier candidate it repeats, and no budget was used
    tokens_estimated: bool = False  # by merit, since the model's server did not count them


@dataclass(frozen=True, slots=True)
class Reflection:
    """What the model said about its failures."""

    text: str
    reply: str
    prompt_tokens: int
    output_tokens: int
    prompt_sha256: str
    tokens_estimated: bool = False


@dataclass(frozen=True, slots=True)
class Episode:
    """A finished question."""

    task: Task
    attempts: tuple[Attempt, ...]
    reflections: tuple[Reflection, ...]
    chosen: int = -1  # which attempt stands; the last, unless candidates voted

    @property
    def final(self) -> Attempt:
        """The attempt that stands."""
        return self.attempts[self.chosen]


@dataclass(frozen=True, slots=True)
class Agent:
    """A method with everything it works with."""

    method: Method
    budget: int
    family: Family
    completer: Completer
    oracle: Oracle
    memory: Memory
    regime: Regime = Regime.DENOTATION_CONFIRMED
    sampling: Sampling = field(default_factory=Sampling)
    demonstrations: tuple[Demonstration, ...] = ()
    work: Work = field(default_factory=Work)
    verdicts: dict[QuestionId, dict[str, Verdict]] = field(default_factory=dict)  # heard already, by question and SQL
    apart: Apart = asyncio.to_thread  # how the oracle is heard without holding up others


async def repair(agent: Agent, task: Task) -> Episode:
    """Algorithm 1, lines 3 to 22, for one question."""
    draft = task.draft
    verdict = await _judge(agent, task.question, draft.sql)
    cost = (draft.prompt_tokens, draft.output_tokens)
    first = Attempt(draft.sql, draft.reply, *cost, verdict, _failure(verdict), tokens_estimated=draft.tokens_estimated)
    attempts = [first]
    reflections: list[Reflection] = []
    while unfinished(agent.method, agent.regime, agent.budget, attempts):
        if agent.method.reflects:
            reflections.append(await _reflect(agent, task, attempts))
        if spent(agent.method, agent.budget, attempts):
            break
        with span("attempt", {"merit.step": len(attempts)}):
            attempts.append(await _attempt(agent, task, attempts, reflections))
    return Episode(task, tuple(attempts), tuple(reflections), chosen(agent.method, agent.regime, attempts))


async def _attempt(agent: Agent, task: Task, attempts: Sequence[Attempt], reflections: Sequence[Reflection]) -> Attempt:
    """Algorithm 1, lines 11 to 15: recall, ask for one revision, judge it."""
    recall = _recall(agent, task, attempts)
    shown = Shown(recall.positives, recall.negatives, recall.precedents) if recall else Shown()
    prompt = repair_prompt(agent.method, agent.family, task, attempts, shown, reflections, agent.demonstrations)
    reply = await _ask(agent, task, prompt, drawn(agent.method, agent.sampling, len(attempts)))
    sql = parse_sql(reply.text)
    earlier = repeated(agent.method, agent.regime, sql, attempts)
    verdict = earlier.verdict if earlier else await _judge(agent, task.question, sql)
    cost = (reply.prompt_tokens, reply.output_tokens)
    again, estimated = earlier is not None, reply.tokens_estimated
    return Attempt(sql, reply.text, *cost, verdict, _failure(verdict), prompt.sha256, recall, again, estimated)


def unfinished(method: Method, regime: Regime, budget: int, attempts: Sequence[Attempt]) -> bool:
    """Whether an episode would go on, if it could."""
    if not method.repairs:
        return False
    if votes(method, regime):
        return not agreement.decided([attempt.verdict for attempt in attempts], budget + 1 - len(attempts))
    return attempts[-1].failure is not None


def chosen(method: Method, regime: Regime, attempts: Sequence[Attempt]) -> int:
    """Which attempt stands, counted from the end as -1 where it is the last."""
    return agreement.choose([attempt.verdict for attempt in attempts]) if votes(method, regime) else -1


def votes(method: Method, regime: Regime) -> bool:
    """Whether candidates vote: only where nobody says what is right."""
    return method.votes and method.repairs and regime is Regime.DBMS_ONLY


def spent(method: Method, budget: int, attempts: Sequence[Attempt]) -> bool:
    """Whether an episode has no further candidate, or no further draw."""
    candidates = sum(not attempt.repeat for attempt in attempts[1:])
    return candidates >= budget or len(attempts) > budget * method.draws


def repeated(method: Method, regime: Regime, sql: str, attempts: Sequence[Attempt]) -> Attempt | None:
    """The earlier candidate that a new one says again, where the method sets such aside (and does not count votes)."""
    if method.draws == 1 or votes(method, regime):
        return None
    said = canonical(sql)
    return next((attempt for attempt in attempts if canonical(attempt.sql) == said), None)


@dataclass(frozen=True, slots=True)
class Shown:
    """What of the memory a prompt shows."""

    positives: Sequence[Repair] = ()
    negatives: Sequence[Repair] = ()
    precedents: Sequence[Precedent] = ()


def repair_prompt(
    method: Method,
    family: Family,
    task: Task,
    attempts: Sequence[Attempt],
    shown: Shown,
    reflections: Sequence[Reflection],
    demonstrations: Sequence[Demonstration],
) -> Prompt:
    """The prompt of the attempt that follows these."""
    if not method.history:
        return prompts.initial(family, task.question, task.schema, shown.precedents)
    candidates = _candidates(attempts)
    return prompts.repair(
        family,
        task.question,
        task.schema,
        [(attempt.sql, attempt.verdict) for attempt in candidates],
        _last_failure(candidates),
        positives=shown.positives,
        negatives=shown.negatives,
        precedents=shown.precedents,
        reflections=[reflection.text for reflection in reflections],
        demonstrations=demonstrations,
    )


def reflection_prompt(family: Family, task: Task, attempts: Sequence[Attempt]) -> Prompt:
    """The prompt of the reflection that follows these attempts."""
    candidates = _candidates(attempts)
    tried = [(attempt.sql, attempt.verdict) for attempt in candidates]
    return prompts.reflection(family, task.question, task.schema, tried, _last_failure(candidates))


def _candidates(attempts: Sequence[Attempt]) -> list[Attempt]:
    """What a prompt tells of: each candidate once, so that feedback is that of the last one it shows."""
    return [attempt for attempt in attempts if not attempt.repeat]


def _last_failure(attempts: Sequence[Attempt]) -> Failure:
    return attempts[-1].failure or NO_FAILURE  # only candidates that vote follow one that did not fail


def cue_of(task: Task, attempts: Sequence[Attempt]) -> Cue:
    """What the memory is asked after the latest of these attempts."""
    last = attempts[-1]
    return Cue(
        question=task.question.text,
        question_id=task.question.id,
        db_id=task.question.db_id,
        position=task.reads_from,
        step=len(attempts),
        sql=last.sql,
        failure_context=failure_context(last.sql, last.verdict.status, last.verdict.error),
        type=(last.failure or NO_FAILURE).type,
    )


def _failure(verdict: Verdict) -> Failure | None:
    return None if verdict.satisfied else classify(verdict)


async def _judge(agent: Agent, question: Question, sql: str) -> Verdict:
    heard = agent.verdicts.setdefault(question.id, {})
    verdict = heard.get(sql)
    if verdict is None:
        with agent.work.of("judge"):  # in a thread, since a statement may take until its deadline
            verdict = await agent.apart(agent.oracle.judge, question, sql)
        heard[sql] = verdict
    return verdict


def _recall(agent: Agent, task: Task, attempts: Sequence[Attempt]) -> Recall | None:
    if agent.method.recall is None:
        return None
    with agent.work.of("recall"):
        return agent.memory.recall(cue_of(task, attempts), agent.method.recall)


async def _reflect(agent: Agent, task: Task, attempts: Sequence[Attempt]) -> Reflection:
    prompt = reflection_prompt(agent.family, task, attempts)
    reply = await _ask(agent, task, prompt, agent.sampling)
    cost = (reply.prompt_tokens, reply.output_tokens)
    return Reflection(parse_reflection(reply.text), reply.text, *cost, prompt.sha256, reply.tokens_estimated)


def drawn(method: Method, sampling: Sampling, draw: int) -> Sampling:
    """How the draw of this number in its episode is made."""
    if not method.temperature or (method.greedy_first and draw == 1):
        return sampling
    return replace(sampling, temperature=method.temperature, seed=method.seed * _SEEDS + draw)


async def _ask(agent: Agent, task: Task, prompt: Prompt, sampling: Sampling) -> Completion:
    with agent.work.of("model"):
        try:
            return await agent.completer.complete(prompt.text, sampling)
        except ContextOverflow as error:
            raise ContextOverflow(f"question {task.question.id}, {prompt.version}: {error}") from None
