"""The proof that a run is what it claims: everything is derived again from trajectories and stored memory.

Nothing of the run is taken on trust but the model's replies and, unless a judge is at hand, the verdicts. The first
contradiction is reported in one line.
"""

import hashlib
import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from merit import prompts
from merit.agent import Attempt, Draft, Method, finalise
from merit.agent.episode import cue_of
from merit.errors import AuditFailed
from merit.failure import classify
from merit.memory import Entry, Memory
from merit.models import Encoder
from merit.oracle import Oracle, under
from merit.prompts import BIRD, SPIDER, parse_reflection, parse_sql, templates_hash
from merit.reading import parse_json, read_text
from merit.stream.causal import check_recall
from merit.stream.folder import (
    METRICS,
    PREDICTIONS,
    RETRIEVALS,
    STREAM,
    TRAJECTORIES,
    RunView,
    memory_file,
    read_lines,
    read_run,
)
from merit.stream.metrics import check_arithmetic, metrics
from merit.stream.order import stream_order
from merit.stream.plan import Planned, method_in, plan
from merit.stream.turn import Phase, Turn, pool_records, prediction_line
from merit.types import Demonstration, Failure, Polarity, Regime, Status


@dataclass(slots=True)
class Report:
    """What an audit went through."""

    turns: int = 0
    attempts: int = 0
    prompts: int = 0
    recalls: int = 0
    entries: int = 0
    ranked: bool = False  # whether every recall was ranked again
    judged: bool = False  # whether every attempt was judged again


def audit(path: Path, *, encoder: Encoder | None = None, oracle: Oracle | None = None) -> Report:
    """Derive a run again; an `encoder` lets every recall be ranked again, an `oracle` every attempt be judged again."""
    view = read_run(path)
    _check_stream(view)
    with ExitStack() as stack:
        memory = None
        if view.method.recall is not None and (encoder is not None or not view.method.encodes):
            scratch = stack.enter_context(tempfile.TemporaryDirectory())
            needed = encoder if view.method.encodes else None
            memory = stack.enter_context(Memory(Path(scratch), needed, keep_index=False))
        regime = Regime(view.identity["regime"])
        replay = Replay(view, regime, memory, under(regime, oracle) if oracle else None, oracle)
        replay.run()
        replay.report.ranked, replay.report.judged = memory is not None, oracle is not None
    _check_files(view)
    return replay.report


@dataclass(slots=True)
class Replay:
    """A run gone through again, turn by turn, with the memory as it was at each."""

    view: RunView
    regime: Regime
    memory: Memory | None
    seen: Oracle | None  # what the agent was told
    truth: Oracle | None
    committed: dict[str, Entry] = field(default_factory=dict)
    report: Report = field(default_factory=Report)

    def run(self) -> None:
        """Check every turn against the plan and against everything before it."""
        view = self.view
        order = stream_order([one.question for one in view.questions.values()], view.identity["seed"])
        length = view.identity["length"] or len(order)
        todo = plan([view.questions[question.id] for question in order[:length]], view.method)
        if len(view.turns) > len(todo):
            raise AuditFailed(f"{view.path / TRAJECTORIES}: {len(view.turns)} turns, but the stream has {len(todo)}")
        recalls = self._recalls()
        stored = {p: self._entries(p) for p in Polarity}
        for number, (turn, planned) in enumerate(zip(view.turns, todo, strict=False), 1):
            where = f"{view.path / TRAJECTORIES}, line {number} (question {planned.task.question.id})"
            self._check_place(turn, planned, where)
            self._check_episode(turn, planned, recalls, where)
            self._check_entry(turn, planned, stored, where)
            self.report.turns += 1
        for rest, name in [(recalls, RETRIEVALS), *((stored[p], memory_file(p)) for p in Polarity)]:
            if next(rest, None) is not None:
                raise AuditFailed(f"{view.path / name}: has a line that belongs to no turn")

    def _check_place(self, turn: Turn, planned: Planned, where: str) -> None:
        task = turn.episode.task
        if task.question.id != planned.task.question.id or turn.phase is not planned.phase:
            raise AuditFailed(f"{where}: is question {task.question.id}; the stream was reordered")
        if task.position != planned.task.position:
            raise AuditFailed(f"{where}: is recorded at position {task.position}, not {planned.task.position}")
        first, draft = turn.episode.attempts[0], task.draft
        if Draft(first.sql, first.reply, first.prompt_tokens, first.output_tokens) != draft or first.prompt_sha256:
            raise AuditFailed(f"{where}: attempt 0 is not the shared first answer")

    def _check_episode(self, turn: Turn, planned: Planned, recalls: Iterator[Any], where: str) -> None:
        method, budget = method_in(planned.phase, self.view.method), self.view.identity["budget"]
        attempts = turn.episode.attempts
        for step, attempt in enumerate(attempts):
            at = f"{where}, attempt {step}"
            self._check_verdict(attempt, planned, at)
            last = step == len(attempts) - 1
            goes_on = method.repairs and attempt.failure is not None and step < budget
            if goes_on == last:
                raise AuditFailed(f"{at}: the episode should {'go on' if goes_on else 'end'} here")
            if step:
                self._check_repair(turn, planned, step, method, recalls, at)
        self._check_reflections(turn, planned, method, where)
        if (turn.initial_correct, turn.final_correct) != self._right(turn):
            raise AuditFailed(f"{where}: what is recorded as right is not what the verdicts say")
        if turn.recalls != (len(attempts) - 1 if method.recall is not None else 0):
            raise AuditFailed(f"{where}: the number of recalls is not that of the repairs")

    def _right(self, turn: Turn) -> tuple[bool, bool]:
        """Whether the first and the last attempt are right, as far as that can be known."""
        first, last = turn.episode.attempts[0], turn.episode.final
        if self.regime is Regime.DENOTATION_CONFIRMED:
            return first.verdict.correct, last.verdict.correct
        if self.truth is None:  # the agent was not told, and nobody is here to ask
            return turn.initial_correct, turn.final_correct
        question = turn.episode.task.question
        return self.truth.judge(question, first.sql).correct, self.truth.judge(question, last.sql).correct

    def _check_verdict(self, attempt: Attempt, planned: Planned, at: str) -> None:
        verdict = attempt.verdict
        hidden = (Status.CORRECT, Status.DENOTATION_MISMATCH)
        if verdict.status in (hidden if self.regime is Regime.DBMS_ONLY else (Status.EXECUTED,)):
            raise AuditFailed(f"{at}: the status {verdict.status} cannot be seen in the regime {self.regime}")
        if attempt.failure != (None if verdict.satisfied else classify(verdict)):
            raise AuditFailed(f"{at}: the failure type does not follow from the verdict {verdict.status}")
        if self.seen is not None and (now := self.seen.judge(planned.task.question, attempt.sql)) != verdict:
            raise AuditFailed(f"{at}: recorded as {verdict.status}, but the judge says {now.status}")
        self.report.attempts += 1

    def _check_repair(
        self, turn: Turn, planned: Planned, step: int, method: Method, recalls: Iterator[Any], at: str
    ) -> None:
        attempts = turn.episode.attempts
        failure = attempts[step - 1].failure
        assert failure is not None
        if attempts[step].sql != parse_sql(attempts[step].reply):
            raise AuditFailed(f"{at}: the SQL is not the one in the reply")
        positives: list[Entry] = []
        negatives: list[Entry] = []
        if method.recall is not None:
            positives, negatives = self._check_recall(turn, planned, step, method, recalls, failure)
        prompt = prompts.repair(
            self._family,
            planned.task.question,
            planned.task.schema,
            [(attempt.sql, attempt.verdict) for attempt in attempts[:step]],
            failure,
            positives=positives,
            negatives=negatives,
            reflections=[reflection.text for reflection in turn.episode.reflections[:step]],
            demonstrations=[Demonstration(**one) for one in self.view.identity["demonstrations"]],
        )
        if prompt.sha256 != attempts[step].prompt_sha256:
            raise AuditFailed(f"{at}: the prompt is not the one that the records give")
        self.report.prompts += 1

    def _check_recall(
        self, turn: Turn, planned: Planned, step: int, method: Method, recalls: Iterator[Any], failure: Failure
    ) -> tuple[list[Entry], list[Entry]]:
        assert method.recall is not None
        task = planned.task
        number, record = next(recalls, (0, None))
        where = f"{self.view.path / RETRIEVALS}, line {number} (question {task.question.id}, step {step})"
        if record is None:
            raise AuditFailed(f"{self.view.path / RETRIEVALS}: question {task.question.id}, step {step} has no line")
        place = {
            "phase": planned.phase,
            "position": task.position,
            "question_id": task.question.id,
            "step": step,
            "reads_from": task.reads_from,
        }
        for name, value in place.items():
            if record.get(name) != value:
                raise AuditFailed(f"{where}: the field {name!r} is {record.get(name)!r}, not {value!r}")
        found = check_recall(record.get("pools"), method.recall, task, failure.type, self.committed, where)
        if self.memory is not None:
            again = self.memory.recall(cue_of(task, turn.episode.attempts[:step], failure), method.recall)
            if json.loads(json.dumps(pool_records(again))) != record["pools"]:
                raise AuditFailed(f"{where}: ranking the same memory again gives another result")
        self.report.recalls += 1
        return found

    def _check_reflections(self, turn: Turn, planned: Planned, method: Method, where: str) -> None:
        attempts, reflections = turn.episode.attempts, turn.episode.reflections
        failed = sum(attempt.failure is not None for attempt in attempts)
        if len(reflections) != (failed if method.reflects else 0):
            raise AuditFailed(f"{where}: {len(reflections)} reflections for {failed} unsuccessful attempts")
        for number, reflection in enumerate(reflections, 1):
            tried = [(attempt.sql, attempt.verdict) for attempt in attempts[:number]]
            failure = attempts[number - 1].failure
            assert failure is not None
            prompt = prompts.reflection(self._family, planned.task.question, planned.task.schema, tried, failure)
            if prompt.sha256 != reflection.prompt_sha256 or parse_reflection(reflection.reply) != reflection.text:
                raise AuditFailed(f"{where}, reflection {number}: prompt or text is not the one that the records give")
            self.report.prompts += 1

    def _check_entry(self, turn: Turn, planned: Planned, stored: dict[Polarity, Iterator[Any]], where: str) -> None:
        method = method_in(planned.phase, self.view.method)
        entry = finalise(turn.episode, method, self.view.manifest["run"], self.regime)
        if turn.entry != (entry.id if entry else None):
            raise AuditFailed(f"{where}: left the entry {turn.entry}, but the episode gives {entry and entry.id}")
        if entry is None:
            return
        number, line = next(stored[entry.polarity], (0, None))
        if line != entry.to_line():
            file = self.view.path / memory_file(entry.polarity)
            raise AuditFailed(f"{file}, line {number or 'missing'}: is not the entry {entry.id} that {where} left")
        self.committed[entry.id] = entry
        if self.memory is not None:
            self.memory.commit(entry)
        self.report.entries += 1

    @property
    def _family(self) -> prompts.Family:
        return BIRD if self.view.identity["dataset"]["name"] == BIRD.name else SPIDER

    def _recalls(self) -> Iterator[tuple[int, Any]]:
        path = self.view.path / RETRIEVALS
        return iter([(n, parse_json(line, path, n)) for n, line in enumerate(read_lines(path), 1)])

    def _entries(self, polarity: Polarity) -> Iterator[tuple[int, str]]:
        return iter(list(enumerate(read_lines(self.view.path / memory_file(polarity)), 1)))


def _check_stream(view: RunView) -> None:
    identity = view.identity
    if identity["prompts"]["sha256"] != templates_hash():
        raise AuditFailed(f"{view.path}: was made with other prompt templates than this merit's; audit it with its own")
    if hashlib.sha256((view.path / STREAM).read_bytes()).hexdigest() != identity["stream_sha256"]:
        raise AuditFailed(f"{view.path / STREAM}: is not the stream that the manifest names; it was edited")


def _check_files(view: RunView) -> None:
    """Predictions and metrics follow from the turns."""
    expected = [prediction_line(turn) for turn in view.turns if turn.phase is Phase.ANSWER]
    path = view.path / PREDICTIONS
    for number, (line, wanted) in enumerate(zip(read_lines(path), expected, strict=False), 1):
        if line != wanted:
            raise AuditFailed(f"{path}, line {number}: is not the final SQL of that turn")
    if len(read_lines(path)) != len(expected):
        raise AuditFailed(f"{path}: {len(read_lines(path))} lines for {len(expected)} answered questions")
    if not (view.path / METRICS).is_file():
        raise AuditFailed(f"{view.path}: the run was not finished (no {METRICS}); run the same command again")
    found = metrics(view.turns, view.method)
    check_arithmetic(view.turns, found, view.method, view.identity["budget"])
    recorded = parse_json(read_text(view.path / METRICS), view.path / METRICS)
    for name in sorted({*found, *recorded}):
        if found.get(name) != recorded.get(name):
            says = f"{name} is {recorded.get(name)!r}, but the trajectories give {found.get(name)!r}"
            raise AuditFailed(f"{view.path / METRICS}: {says}")
