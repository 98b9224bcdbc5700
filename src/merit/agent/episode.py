"""The episode (paper, Algorithm 1): judge, classify, recall, ask again, until the judge is satisfied or K is used up.

Attempts stay in their episode. Nothing here writes to the memory: `finalise` turns a finished episode into at most one
entry, and the stream commits it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from merit.agent.behaviour import Recalled, moment_of, recall_policy, reflection_prompt, repair_prompt
from merit.agent.method import Method
from merit.agent.notes import next_note, note_moment, read_note
from merit.agent.rules import chosen, cue_of, grounding, repeated, sampling_of_draw, spent, unfinished
from merit.agent.trajectory import Attempt, Episode, Reflection, RefusedStatement, Task
from merit.agent.work import Work
from merit.errors import ContextOverflow
from merit.failure import classify
from merit.memory import Memory, Recall
from merit.prompts import Family, Prompt, parse_reflection, parse_sql
from merit.tracing import span
from merit.types import Completer, Completion, Demonstration, Oracle, Regime, Sampling


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
    widen: Callable[[Task, Sequence[Attempt]], Task] | None = None  # shows more where names were missing; live use only
    goes_on: Callable[[Sequence[Attempt]], bool] | None = None  # decides in place of the method; benchmarks have none


async def repair(agent: Agent, task: Task) -> Episode:
    """Algorithm 1, lines 3 to 22, for one question."""
    first = task.first_answer
    answered = Completion(first.reply, first.prompt_tokens, first.output_tokens, first.tokens_estimated)
    attempts = [await _judged(agent, task, first.sql, answered, ())]
    reflections: list[Reflection] = []
    while _goes_on(agent, attempts):
        if agent.method.reflects:
            reflections.append(await _reflect(agent, task, attempts))
        if spent(agent.method, agent.budget, attempts):
            break
        if agent.widen is not None:
            task = agent.widen(task, attempts)
        with span("attempt", {"merit.step": len(attempts)}):
            attempts.append(await _attempt(agent, task, attempts, reflections))
    await _take_notes(agent, task, attempts, reflections, recalled_by(attempts[-1].recall), ended=True)
    return Episode(task, tuple(attempts), tuple(reflections), chosen(agent.method, agent.regime, attempts))


def _goes_on(agent: Agent, attempts: Sequence[Attempt]) -> bool:
    if agent.goes_on is not None:
        return agent.goes_on(attempts)
    return unfinished(agent.method, agent.regime, agent.budget, attempts)


async def _attempt(agent: Agent, task: Task, attempts: Sequence[Attempt], reflections: list[Reflection]) -> Attempt:
    """Algorithm 1, lines 11 to 15: recall, ask for one revision, judge it; some methods take notes in between."""
    recall = _recall(agent, task, attempts, reflections)
    recalled = recalled_by(recall)
    await _take_notes(agent, task, attempts, reflections, recalled, ended=False)
    moment = moment_of(agent.family, task, attempts, reflections, agent.demonstrations)
    prompt = repair_prompt(agent.method, moment, recalled)
    reply = await _ask(agent, task, prompt, sampling_of_draw(agent.method, agent.sampling, len(attempts)))
    attempt = await _judged(agent, task, parse_sql(reply.text, agent.family.dialect), reply, attempts)
    return replace(attempt, prompt_sha256=prompt.sha256, recall=recall)


async def _judged(agent: Agent, task: Task, sql: str, reply: Completion, before: Sequence[Attempt]) -> Attempt:
    """What the model wrote, judged; what the database refuses is grounded, and both are one candidate."""
    written, earlier = None, repeated(agent.method, agent.regime, sql, before)
    if earlier is not None:
        sql = earlier.sql if earlier.written else sql  # else it would stand as a text that the database refuses
        verdict = earlier.verdict
    else:
        verdict = await agent.oracle.judge(task.question, sql)
        if grounded := grounding(agent.method, task, sql, verdict, agent.family.dialect):
            written = RefusedStatement(sql, verdict, classify(verdict, agent.family.dialect), grounded.changes)
            sql, earlier = grounded.sql, repeated(agent.method, agent.regime, grounded.sql, before)
            verdict = earlier.verdict if earlier else await agent.oracle.judge(task.question, sql)
    return Attempt(
        sql,
        reply.text,
        reply.prompt_tokens,
        reply.output_tokens,
        verdict,
        None if verdict.satisfied else classify(verdict, agent.family.dialect),
        repeat=earlier is not None,
        tokens_estimated=reply.tokens_estimated,
        written=written,
    )


def _recall(agent: Agent, task: Task, attempts: Sequence[Attempt], reflections: Sequence[Reflection]) -> Recall | None:
    moment = moment_of(agent.family, task, attempts, reflections, agent.demonstrations)
    policy = recall_policy(agent.method, moment)
    if policy is None:
        return None
    with agent.work.of("recall"):
        return agent.memory.recall(cue_of(task, attempts), policy)


def recalled_by(recall: Recall | None) -> Recalled:
    """What of a recall a method may see."""
    if recall is None:
        return Recalled()
    scores = {match.entry.id: match.score for match in recall.matches}
    return Recalled(recall.positives, recall.negatives, recall.precedents, scores)


async def _take_notes(
    agent: Agent,
    task: Task,
    attempts: Sequence[Attempt],
    notes: list[Reflection],
    recalled: Recalled,
    *,
    ended: bool,
) -> None:
    """Add the notes that the method has the model write after the latest of these attempts."""
    while True:
        moment = note_moment(agent.family, task, attempts, notes, recalled, ended=ended)
        prompt = next_note(agent.method, moment)
        if prompt is None:
            return
        reply = await _ask(agent, task, prompt, agent.sampling)
        text = read_note(agent.method, moment, reply.text)
        cost = (reply.prompt_tokens, reply.output_tokens)
        notes.append(Reflection(text, reply.text, *cost, prompt.sha256, reply.tokens_estimated, len(attempts)))


async def _reflect(agent: Agent, task: Task, attempts: Sequence[Attempt]) -> Reflection:
    prompt = reflection_prompt(agent.family, task, attempts)
    reply = await _ask(agent, task, prompt, agent.sampling)
    cost = (reply.prompt_tokens, reply.output_tokens)
    return Reflection(parse_reflection(reply.text), reply.text, *cost, prompt.sha256, reply.tokens_estimated)


async def _ask(agent: Agent, task: Task, prompt: Prompt, sampling: Sampling) -> Completion:
    with agent.work.of("model"):
        try:
            return await agent.completer.complete(prompt.text, sampling)
        except ContextOverflow as error:
            raise ContextOverflow(f"question {task.question.id}, {prompt.version}: {error}") from None
