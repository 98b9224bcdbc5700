"""Judging by a reference that comes with each prediction, as evaluations of other frameworks bring it."""

import threading
from pathlib import Path

from merit.data import LAYOUTS
from merit.errors import InputError
from merit.oracle.judge import Judge
from merit.oracle.reference import References
from merit.oracle.results import ResultStore
from merit.oracle.rule import rule_of
from merit.sql import SQLiteSandbox
from merit.types import Limits, Question, Verdict

RULES = ("spider", "bird")


class TargetJudge:
    """Says whether two statements have the same result on a SQLite database, by a benchmark's rule. Thread-safe."""

    def __init__(self, rule: str = "bird", *, timeout_s: float = 30.0) -> None:
        """Spider's rule looks at repeated rows, and at their order where the reference has one; BIRD's does not."""
        if rule not in RULES:
            raise InputError(f"rule: there is no {rule!r}; use {' or '.join(RULES)}")
        self._rule = rule_of(LAYOUTS[rule])
        self._limits = Limits(timeout_s=timeout_s)
        self._sandbox = SQLiteSandbox(frozen=True)
        self._store = ResultStore(None)
        self._lock = threading.Lock()
        self._judges: dict[tuple[Path, str], Judge] = {}

    def judge(self, sql: str, reference: str, database: Path) -> Verdict:
        """The verdict on a statement; the reference runs once a database."""
        key = (database, reference)
        with self._lock:
            judge = self._judges.get(key) or self._judges.setdefault(key, self._judge(*key))
        return judge.judge(Question(database.name, database.name, ""), sql)

    def close(self) -> None:
        """End the processes that run statements."""
        self._sandbox.close()
        self._store.close()

    def _judge(self, database: Path, reference: str) -> Judge:
        if not database.is_file():
            raise InputError(f"{database}: no such file; name the SQLite database that the sample is about")
        files = {database.name: (database,)}
        references = References({database.name: reference}, files, self._sandbox, self._store, self._rule)
        return Judge(self._rule, references, self._sandbox, self._store, self._limits)
