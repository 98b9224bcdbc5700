"""The proof that a run is what it claims: everything is derived again from the model's replies as it recorded them.

With the run's data at hand, its questions are compared with the dataset and every attempt is judged again; without it,
both are taken from the run. `Findings.on_trust` lists what was not proven. The first contradiction is told in one line.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from merit.agent import Attempt, FirstAnswer, Method, finalise
from merit.agent.behaviour import Recalled, moment_of, recall_policy, repair_prompt
from merit.agent.rules import NO_FAILURE, chosen, cue_of, sampling_of_draw, spent, unfinished
from merit.agent.trajectory import Reflection, reflections_until
from merit.audit.against_data import AuditData, check_against, engine_note
from merit.audit.candidate import AttemptSource, check_candidate
from merit.audit.causal import RecallOccasion, check_recall
from merit.audit.claims import check_folder, check_metrics, check_predictions
from merit.audit.entry_lines import EntryLines
from merit.audit.findings import Findings
from merit.audit.notes import check_notes, check_reflections
from merit.audit.reviews import ReviewReplay
from merit.audit.scores import check_scores, explained, same_ranking, whole_pools, with_scores
from merit.audit.verdicts import VerdictChecks
from merit.errors import AuditFailed, counted
from merit.memory import Entry, Memory, RecallPolicy, VolatileStore
from merit.oracle import Judge
from merit.prompts import Family, Prompt, family_named, initial
from merit.reading import parse_json
from merit.runs import RunView, Turn, stream_order
from merit.runs.paths import RETRIEVALS, TRAJECTORIES
from merit.runs.plan import Planned, method_in, plan
from merit.runs.retrievals import recall_line
from merit.runs.text import read_lines
from merit.runs.turn import turn_line
from merit.types import (
    Completion,
    Encoder,
    FailureType,
    Regime,
    Sampling,
    Status,
)

Heard = Callable[[Prompt, Sampling, Completion], None]


def audit_run(
    view: RunView, *, encoder: Encoder | None = None, data: AuditData | None = None, heard: Heard = lambda *_: None
) -> Findings:
    """Derive a run again; an `encoder` lets every recall be ranked again, `data` every question and attempt be checked.

    `heard` is told every prompt on the way, how its answer was drawn, and the answer.
    """
    check_folder(view)
    if data is not None:
        check_against(view, data)
    with ExitStack() as stack:
        memory = None
        if view.method.recall is not None and (encoder is not None or not view.method.encodes):
            needed = encoder if view.method.encodes else None
            memory = stack.enter_context(Memory(VolatileStore(), needed))
        judge, findings = data.benchmark.judge if data else None, Findings()
        verdicts = VerdictChecks(view, judge, findings)
        replay = _Replay(view, memory, judge, ReviewReplay.of(view, data), heard, verdicts, findings)
        replay.run()
    check_predictions(view)
    check_metrics(view)
    replay.findings.ranked, replay.findings.judged = memory is not None, data is not None
    replay.reviews.add_to(replay.findings)
    return replay.findings


@dataclass(slots=True)
class _Replay:
    """A run gone through again, turn by turn, with the memory as it was at each."""

    view: RunView
    memory: Memory | None
    judge: Judge | None
    reviews: ReviewReplay
    heard: Heard
    verdicts: VerdictChecks
    findings: Findings
    committed: dict[str, Entry] = field(default_factory=dict)

    @property
    def regime(self) -> Regime:
        """How much of the truth the agent was told."""
        return self.view.identity.regime

    def run(self) -> None:
        """Check every turn against the plan and against everything before it."""
        view = self.view
        order = stream_order([asked.question for asked in view.questions.values()], view.identity.seed)
        length = view.identity.length or len(order)
        todo = plan([view.questions[question.id] for question in order[:length]], view.method)
        if len(view.turns) > len(todo) or (len(view.turns) < len(todo) and not view.method.online):
            raise AuditFailed(
                f"{view.path / TRAJECTORIES}: {counted(len(view.turns), 'turn')}, but the stream has {len(todo)}"
            )
        recalls = self._lines(RETRIEVALS)
        stored = EntryLines(view.path)
        lines = self._lines(TRAJECTORIES)
        for turn, planned, (number, line) in zip(view.turns, todo, lines, strict=False):
            where = f"{view.path / TRAJECTORIES}, line {number} (question {planned.task.question.id})"
            self._check_place(turn, planned, where)
            self._check_episode(turn, planned, recalls, where)
            self._check_entry(turn, planned, stored, where)
            if turn_line(turn, view.manifest.run) != line:
                raise AuditFailed(f"{where}: has fields that are not part of a turn")
        if next(recalls, None) is not None:
            raise AuditFailed(f"{view.path / RETRIEVALS}: has a line that belongs to no turn")
        stored.check_all_used()
        self.findings.questions = len(view.answers)
        self.findings.stream = len(order)
        self.findings.label = view.identity.dataset.label

    def _check_place(self, turn: Turn, planned: Planned, where: str) -> None:
        task = turn.episode.task
        if task.question.id != planned.task.question.id or turn.phase is not planned.phase:
            raise AuditFailed(f"{where}: is question {task.question.id}; the stream was reordered")
        if task.position != planned.task.position:
            raise AuditFailed(f"{where}: is recorded at position {task.position}, not {planned.task.position}")
        first = turn.episode.attempts[0]
        first_answer = FirstAnswer(
            turn.episode.first.sql, first.reply, first.prompt_tokens, first.output_tokens, first.tokens_estimated
        )
        if first_answer != task.first_answer or first.prompt_sha256 is not None:
            raise AuditFailed(f"{where}: attempt 0 is not the shared first answer")
        if first.prompt_tokens:  # else it is from a file of predictions, which does not say what was asked
            asked = initial(self._family, planned.task.question, planned.task.schema, live=planned.task.live)
            self._tell(asked, self._sampling, first)

    def _check_episode(self, turn: Turn, planned: Planned, recalls: Iterator[Any], where: str) -> None:
        method, budget = method_in(planned.phase, self.view.method), self.view.identity.budget
        attempts, recalled_before, shown = turn.episode.attempts, self.findings.recalls, Recalled()
        for step, attempt in enumerate(attempts):
            at = f"{where}, attempt {step}"
            if attempt.written is not None:
                self.verdicts.check(attempt.written, planned.task.question, at)
            self.verdicts.check(attempt, planned.task.question, at)
            occasion = AttemptSource(planned.task, attempts[:step], method, self.regime, self._family.dialect)
            check_candidate(attempt, occasion, at)
            self.findings.groundings += attempt.written is not None
            so_far = attempts[: step + 1]
            goes_on = unfinished(method, self.regime, budget, so_far) and not spent(method, budget, so_far)
            if goes_on == (step == len(attempts) - 1):
                raise AuditFailed(f"{at}: the episode should {'go on' if goes_on else 'end'} here")
            if step:
                shown = self._check_repair(turn, planned, step, method, recalls, at)
        self._check_written(check_notes(turn.episode, planned.task, len(attempts), shown, method, self._family, where))
        self._check_written(check_reflections(turn.episode, planned.task, method, self._family, where))
        if turn.episode.chosen != chosen(method, self.regime, attempts):
            raise AuditFailed(f"{where}: another attempt than the one recorded should stand")
        if (turn.initial_correct, turn.final_correct) != self._right(turn):
            raise AuditFailed(
                f"{where}: what is recorded as right is not what the verdicts say{engine_note(self.view)}"
            )
        if turn.recalls != self.findings.recalls - recalled_before:
            raise AuditFailed(f"{where}: the number of recalls is not that of the repairs")

    def _right(self, turn: Turn) -> tuple[bool, bool]:
        """Whether the first and the last attempt are right, as far as that can be known."""
        first, last = turn.episode.first, turn.episode.final
        if self.regime.has_oracle:
            return first.verdict.correct, last.verdict.correct
        if self.judge is None:  # the agent was not told; but what did not even run is not right
            ran = (first.verdict.status is Status.EXECUTED, last.verdict.status is Status.EXECUTED)
            return turn.initial_correct and ran[0], turn.final_correct and ran[1]
        question = turn.episode.task.question
        return self.judge.judge(question, first.sql).correct, self.judge.judge(question, last.sql).correct

    def _check_repair(
        self, turn: Turn, planned: Planned, step: int, method: Method, recalls: Iterator[Any], at: str
    ) -> Recalled:
        attempt, before = turn.episode.attempts[step], turn.episode.attempts[:step]
        written, examples = reflections_until(turn.episode.reflections, step), self.view.identity.demonstrations
        moment = moment_of(self._family, planned.task, before, written, examples)
        earlier = tuple(note for note in written if note.after != step)  # than the recall, which notes follow
        policy = recall_policy(method, replace(moment, reflections=earlier))
        shown = Recalled() if policy is None else self._check_recall(before, planned, policy, recalls)
        self._check_written(check_notes(turn.episode, planned.task, step, shown, method, self._family, at))
        prompt = repair_prompt(method, moment, shown)
        if prompt.sha256 != attempt.prompt_sha256:
            raise AuditFailed(f"{at}: the prompt is not the one that the records give")
        self._tell(prompt, sampling_of_draw(method, self._sampling, step), attempt)
        self.findings.prompts += 1
        return shown

    def _check_recall(
        self, before: Sequence[Attempt], planned: Planned, policy: RecallPolicy, recalls: Iterator[Any]
    ) -> Recalled:
        task, step, path = planned.task, len(before), self.view.path / RETRIEVALS
        number, line = next(recalls, (0, None))
        where = f"{path}, line {number} (question {task.question.id}, step {step})"
        if line is None:
            raise AuditFailed(f"{path}: question {task.question.id}, step {step} has no line")
        record = parse_json(line, path, number)
        pools = record.get("pools") if isinstance(record, dict) else None
        if recall_line(planned.phase, task, step, pools) != line:
            raise AuditFailed(f"{where}: is not the recall of this step")
        occasion = RecallOccasion(policy, task, _type(before), self.committed, where)
        shown = check_recall(pools, occasion)
        self.reviews.check_shown(shown, task, where)
        if self.memory is None:
            check_scores(pools, occasion)
        else:
            cue, everything = cue_of(task, before), whole_pools(policy, len(self.committed))
            again = explained(self.memory, cue, policy)
            whole = partial(explained, self.memory, cue, everything)
            if not same_ranking(pools, again, whole, exact=not self.view.method.encodes):
                raise AuditFailed(f"{where}: ranking the same memory again gives another result")
        self.findings.recalls += 1
        return with_scores(shown, pools)

    def _check_written(self, written: Iterable[tuple[Prompt, Reflection]]) -> None:
        for prompt, reflection in written:
            self._tell(prompt, self._sampling, reflection)
            self.findings.prompts += 1

    def _check_entry(self, turn: Turn, planned: Planned, stored: EntryLines, where: str) -> None:
        method = method_in(planned.phase, self.view.method)
        entry = finalise(turn.episode, method, self.view.manifest.run, self.regime)
        if turn.entry != (entry.id if entry else None):
            raise AuditFailed(f"{where}: left the entry {turn.entry}, but the episode gives {entry and entry.id}")
        left = [entry] if entry else self.reviews.entries_left_by(turn, where)
        if mismatch := stored.mismatch(left):
            raise AuditFailed(f"{mismatch} that {where} left")
        self.committed |= {entry.id: entry for entry in left}
        if self.memory is not None:
            self.memory.commit_all(left)
        self.findings.entries += len(left)

    def _tell(self, prompt: Prompt, sampling: Sampling, reply: Attempt | Reflection) -> None:
        cost = (reply.prompt_tokens, reply.output_tokens)
        self.heard(prompt, sampling, Completion(reply.reply, *cost, reply.tokens_estimated))

    @property
    def _sampling(self) -> Sampling:
        return self.view.identity.sampling

    @property
    def _family(self) -> Family:
        return family_named(self.view.identity.dataset.name, self.view.identity.prompts.family)

    def _lines(self, name: str) -> Iterator[tuple[int, str]]:
        return iter(list(enumerate(read_lines(self.view.path / name), 1)))


def _type(attempts: Sequence[Attempt]) -> FailureType:
    return (attempts[-1].failure or NO_FAILURE).type
