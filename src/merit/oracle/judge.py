"""The judge: is this SQL right? An agent gets only its verdicts, through the Protocol `Oracle`."""

import threading
import time
from collections import Counter
from collections.abc import Iterable

from merit.errors import InputError, ReferenceFailed, check_type
from merit.oracle.compare import ComparisonTimeout
from merit.oracle.reference import Expected, Reference, References
from merit.oracle.results import ResultStore
from merit.oracle.rule import JudgingRule
from merit.oracle.text import same_statement
from merit.sql import SQLiteSandbox, executed, failed
from merit.types import (
    Cause,
    Error,
    Limits,
    Question,
    QuestionId,
    Result,
    Rows,
    Status,
    Timeout,
    Verdict,
)

_CORRECT = Verdict(Status.CORRECT)
_MISMATCH = Verdict(Status.DENOTATION_MISMATCH)
_VERDICTS_KEPT = 100_000


class Judge:
    """Judges by one benchmark's rule, over one or many databases a question. Safe to use from many threads."""

    def __init__(
        self, rule: JudgingRule, references: References, sandbox: SQLiteSandbox, store: ResultStore, limits: Limits
    ) -> None:
        self._rule = rule
        self._references = references
        self._sandbox = sandbox
        self._store = store
        self._limits = limits
        self.statements = 0  # of predictions, run on databases
        self._lock = threading.Lock()
        self._verdicts: dict[tuple[int, str], Verdict] = {}
        self._kills = Counter(store.kills())
        self._new_kills: Counter[str] = Counter()
        self._closed = False

    def judge(self, question: Question, sql: str) -> Verdict:
        """Whether `sql` answers `question`; a text that did not time out is never run twice for one reference."""
        self._check(question, sql)
        reference = self._references.of(question)
        if len(sql) > self._limits.sql_bytes:  # too long even to rewrite
            return _too_long(sql)
        text = self._rule.rewrite(sql)
        key = (id(reference), text)
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._judge(reference, text)
            if len(self._verdicts) >= _VERDICTS_KEPT:
                self._verdicts.clear()
            if verdict.status is not Status.TIMEOUT:  # the machine may have been busy; the next try may succeed
                self._verdicts[key] = verdict
        return verdict

    def execute(self, question: Question, sql: str) -> Verdict:
        """Whether `sql` runs on the question's own database; the reference is not used."""
        self._check(question, sql)
        database, rule = self._references.database(question), self._rule
        if len(sql) > self._limits.sql_bytes:
            return _too_long(sql)
        self.statements += 1
        result = self._sandbox.execute(database, rule.rewrite(sql), self._limits, lossy=rule.lossy)
        return executed(result, database)

    def is_steady(self, question: Question, sql: str) -> bool:
        """Whether no row that `sql` returns from the question's own database depends on the clock or on chance."""
        database, rule = self._references.database(question), self._rule
        result = self._sandbox.execute(database, rule.rewrite(sql), self._limits, lossy=rule.lossy)
        return not isinstance(result, Rows) or result.steady

    def unjudgeable(self, questions: Iterable[Question]) -> dict[QuestionId, str]:
        """Questions whose own reference fails, with the reason; computes every reference on the way."""
        failing = {}
        for question in questions:
            try:
                self._references.of(question)
            except ReferenceFailed as error:
                failing[question.id] = str(error)
        return failing

    def close(self) -> None:
        """Save the kill counts, and close sandbox and store."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._store.add_kills(self._new_kills)
            self._new_kills.clear()
        self._sandbox.close()
        self._store.close()

    def _check(self, question: object, sql: object) -> None:
        if self._closed:
            raise InputError("this judge is closed; open the benchmark again")
        check_type("question", question, Question, "a merit.Question, one of benchmark.dataset.questions")
        check_type("sql", sql, str, "SQL as a text")

    def _judge(self, reference: Reference, sql: str) -> Verdict:
        if reference.steady and same_statement(sql, reference.sql):
            return _CORRECT  # the same statement on the same databases
        original, *suite = reference.expected
        left = [original, *sorted(suite, key=self._kills_first)]
        while left:
            trials = [expected.trial(self._limits) for expected in left]
            differing = self._sandbox.first_difference(
                trials, sql, distinct=self._rule.unique_rows, lossy=self._rule.lossy
            )
            self.statements += len(left) if differing is None else differing[0] + 1
            if differing is None:
                break
            number, result = differing
            verdict = self._compare(reference, left[number], result)
            if verdict is not None and left[number] is original:
                return verdict
            if verdict is not None:
                # Status and error come from the original database alone: a suite database only ever turns right into
                # wrong, so a verdict does not depend on the order in which they are tried.
                self._note_kill(left[number].content)
                return _MISMATCH
            left = left[number + 1 :]
        return _CORRECT

    def _compare(self, reference: Reference, expected: Expected, result: Result) -> Verdict | None:
        """The verdict on a result whose rows are not exactly the reference's; None where they count as right."""
        timeout_s = self._limits.timeout_s
        if isinstance(result, Error):
            return failed(result, expected.database)
        if isinstance(result, Rows):
            if result.truncated:
                return _MISMATCH
            try:
                deadline = time.monotonic() + timeout_s
                return None if self._rule.same(reference.sql, expected.rows, result.rows, deadline) else _MISMATCH
            except ComparisonTimeout:
                result = Timeout(timeout_s)
        return Verdict(Status.TIMEOUT, result.message, Cause.TIMEOUT)

    def _kills_first(self, expected: Expected) -> int:
        return -self._kills[expected.content]

    def _note_kill(self, content: str) -> None:
        with self._lock:
            self._kills[content] += 1
            self._new_kills[content] += 1


def _too_long(sql: str) -> Verdict:
    return Verdict(Status.EXECUTION_ERROR, f"statement too long: {len(sql)} characters", Cause.TOO_LARGE)
