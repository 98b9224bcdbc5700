"""What statements give on a database now: each run once, several at a time, and no rows kept."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from merit.sql import canonical, executed
from merit.sql.pool import MOST_SESSIONS
from merit.types import Engine, Limits, Rows


@dataclass(frozen=True, slots=True)
class StatementResult:
    """A statement's rows as a digest, whatever their order; or why there are none."""

    digest: str | None
    error: str | None = None
    comparable: bool = True  # False: there were more rows than the limit, or others when it ran again


class StatementResults:
    """Runs statements on one database; two texts that an engine certainly reads the same are run once."""

    def __init__(self, engine: Engine, limits: Limits, database: str) -> None:
        self._engine = engine
        self._limits = limits
        self._database = database
        self._known: dict[str, StatementResult] = {}
        self._again: set[str] = set()  # those that were run twice

    def form(self, sql: str) -> str:
        """The form in which two statements are compared."""
        return canonical(sql, self._engine.dialect)

    def of(self, sql: str) -> StatementResult:
        """What a statement gives."""
        form = self.form(sql)
        if form not in self._known:
            self._known[form] = self._result(sql)
        return self._known[form]

    def run(self, statements: Iterable[str], done: Callable[[int, int], object] | None = None) -> None:
        """Run those that were not run yet; `done` hears how many are, and of how many."""
        waiting = {form: sql for sql in statements if (form := self.form(sql)) not in self._known}
        for number, (form, result) in enumerate(self._each(waiting), 1):
            self._known[form] = result
            if done is not None:
                done(number, len(waiting))

    def run_again(self, statements: Iterable[str]) -> None:
        """Run statements a second time: what depends on chance is not comparable. No engine tells it by itself."""
        waiting = {form: sql for sql in statements if (form := self.form(sql)) not in self._again}
        for form, result in self._each(waiting):
            self._again.add(form)
            if result.digest != self._known[form].digest:
                self._known[form] = replace(self._known[form], comparable=False)

    def _each(self, statements: Mapping[str, str]) -> Iterator[tuple[str, StatementResult]]:
        pool = ThreadPoolExecutor(MOST_SESSIONS)
        try:
            yield from zip(statements, pool.map(self._result, statements.values()), strict=True)
        finally:
            pool.shutdown(cancel_futures=True)

    def _result(self, sql: str) -> StatementResult:
        result = self._engine.execute(sql, self._limits)
        verdict = executed(result, self._database)  # raises where the database is out of reach
        comparable = isinstance(result, Rows) and not result.truncated
        return StatementResult(verdict.result, verdict.error, comparable)
