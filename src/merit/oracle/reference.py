"""Reference queries of one benchmark and what they return on each of their databases."""

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from merit.errors import DatabaseUnusable, ReferenceFailed
from merit.files import without_tables
from merit.oracle.results import ResultStore
from merit.oracle.rule import JudgingRule
from merit.sql import SQLITE_VERSION, SQLiteSandbox, Trial, decode, digest, encode
from merit.types import Error, Limits, Question, QuestionId, Result, Row, Rows, Timeout
from merit.types.engine import MIB

# References are trusted; these limits only catch accidents.
_REFERENCE_LIMITS = Limits(
    timeout_s=600.0, rows=10_000_000, result_bytes=2048 * MIB, cell_bytes=16 * MIB, sql_bytes=1_000_000
)


@dataclass(slots=True)
class Expected:
    """What the reference returns on one database."""

    database: Path
    content: str  # the database's content hash
    count: int  # of rows
    encoded: bytes
    _rows: list[Row] | None = None
    _trial: Trial | None = None

    @property
    def rows(self) -> list[Row]:
        """The rows, decoded when first needed: most right answers are recognised by their bytes."""
        if self._rows is None:
            self._rows = decode(self.encoded)
        return self._rows

    def trial(self, limits: Limits) -> Trial:
        """The rows a prediction must return here, and limits beyond which it is known to differ."""
        if self._trial is None:
            size = len(self.encoded)
            bound = replace(
                limits,
                rows=self.count + 1,
                result_bytes=limits.result_bytes + 40 * size,  # see `held_bytes` in merit.sql.sqlite.connection
                cell_bytes=max(limits.cell_bytes, size),
            )
            self._trial = Trial(self.database, bound, digest(self.encoded))
        return self._trial


@dataclass(slots=True)
class Reference:
    """One reference query, ready to compare with: the original database first, the rest of its suite after it."""

    sql: str
    steady: bool  # whether two runs must give the same rows
    expected: list[Expected]


class References:
    """Computes and stores the results of references; distinct questions with the same reference share it."""

    def __init__(
        self,
        queries: Mapping[QuestionId, str],
        suites: Mapping[str, Sequence[Path]],
        sandbox: SQLiteSandbox,
        store: ResultStore,
        rule: JudgingRule,
    ) -> None:
        """`suites` lists each database's files, original first."""
        self._queries = queries
        self._suites = suites
        self._sandbox = sandbox
        self._store = store
        self._rule = rule
        self._salt = f"{rule.name}\0{SQLITE_VERSION}\0"
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], Reference] = {}
        self._hashes = store.content_hashes(path for files in suites.values() for path in files)

    def of(self, question: Question) -> Reference:
        """The reference of a question."""
        if question.db_id not in self._suites:
            raise DatabaseUnusable(f"question {question.id}: there is no database {question.db_id!r}")
        if question.id not in self._queries:
            raise ReferenceFailed(f"question {question.id}: the dataset has no reference for it")
        key = (question.db_id, self._queries[question.id])
        reference = self._known.get(key)
        if reference is None:
            computed = self._compute(question, key[1])  # perhaps in two threads at once, with the same result
            with self._lock:
                reference = self._known.setdefault(key, computed)
        return reference

    def database(self, question: Question) -> Path:
        """The question's own database."""
        if question.db_id not in self._suites:
            raise DatabaseUnusable(f"question {question.id}: there is no database {question.db_id!r}")
        return self._suites[question.db_id][0]

    def _compute(self, question: Question, query: str) -> Reference:
        sql = self._rule.rewrite(query)
        key = hashlib.sha256(f"{self._salt}{sql}".encode("utf-8", "surrogatepass")).digest()[:16]
        files = {self._hashes[file]: file for file in self._suites[question.db_id]}
        results = self._store.fetch(key)  # only steady results are stored
        missing = {content: file for content, file in files.items() if content not in results}
        fresh = self._run(question, list(missing.values()), sql) if missing else []
        stored = {
            content: (len(result.rows), encode(result.rows)) for content, result in zip(missing, fresh, strict=True)
        }
        steady = all(result.steady for result in fresh)
        if stored and steady:
            self._store.keep(key, stored)
        results.update(stored)
        expected = [Expected(file, content, *results[content]) for content, file in files.items()]
        return Reference(sql, steady, expected)

    def _run(self, question: Question, files: Sequence[Path], sql: str) -> list[Rows]:
        rule = self._rule
        results = self._sandbox.execute_each(files, sql, _REFERENCE_LIMITS, distinct=rule.unique_rows, lossy=rule.lossy)
        return [self._checked(question, file, result) for file, result in zip(files, results, strict=False)]

    def _checked(self, question: Question, file: Path, result: Result) -> Rows:
        if isinstance(result, Rows) and not result.truncated:
            return result
        if isinstance(result, Error) and result.cause.environmental:
            raise DatabaseUnusable(f"{file}: {result.message}")
        if without_tables(file):
            raise ReferenceFailed(f"question {question.id}: its database {file} has no tables; fetch it again")
        # The database's message would reveal parts of the reference, so it is left out.
        why = "takes too long" if isinstance(result, Timeout) else "fails"
        raise ReferenceFailed(f"question {question.id}: its reference SQL {why} on {file}")
