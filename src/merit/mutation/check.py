"""Whether the benchmark that comes with merit is sound, and how many wrong answers its test suites detect."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

from merit.bundled import DIFFICULTIES, SPARSE, DatabaseSource, Fuzzer, TableShape, WrittenQuestion, read_shapes
from merit.errors import InputError
from merit.mutation.mutate import mutants
from merit.mutation.trial import MutantBench, Overrun, run
from merit.mutation.workers import count_question, new_counter, open_pool
from merit.oracle.rule import SPIDER_KEPT

SMALLEST_SUITE = 6
FEWEST_MUTANTS = 20
LEAST_LIKE = 0.5
LEAST_KILLED = 0.95
_LOOK_S = 0.2  # between two looks at how far the workers are
WITNESSES = (*range(1_000_000, 1_000_064), *SPARSE[-20:])  # seeds that suites are never chosen from


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of checking one database."""

    database: str
    tables: int
    rows: int
    questions: int
    difficulty: dict[str, int]
    like: int  # questions that reword or neighbour an earlier one
    suite: int  # databases beside the original
    mutants: int = 0  # that run
    differing: int = 0  # that some database, of the suite or not, tells from their reference
    killed_by_original: int = 0
    killed: int = 0  # by the original or the suite

    @property
    def kill_rate(self) -> float:
        """How many mutants that differ in meaning the suite tells from their reference."""
        return self.killed / self.differing if self.differing else 1.0


def check(
    sources: Sequence[DatabaseSource], *, quick: bool = False, on_progress: Callable[[int], object] = lambda _: None
) -> dict[str, Any]:
    """Check all of it, in as many processes as there are cores; InputError with the first thing that is wrong.

    `on_progress` is told several times a second how many questions are done.
    """
    finished = new_counter()
    pool = open_pool(len(sources), finished)
    try:
        running = [pool.submit(check_database, source, quick=quick, on_question=count_question) for source in sources]
        left = set(running)
        while left:
            done, left = wait(left, _LOOK_S, FIRST_COMPLETED)
            for future in done:
                future.result()  # raises what is wrong
            on_progress(finished.value)
        findings = [future.result() for future in running]
    finally:
        pool.shutdown(cancel_futures=True)
    return summary(findings, quick=quick)


def summary(findings: Sequence[Finding], *, quick: bool = False) -> dict[str, Any]:
    """All findings as plain values, with their sums; InputError where a sum is too small."""
    sums: Counter[str] = Counter()
    levels: Counter[str] = Counter()
    for finding in findings:
        record = asdict(finding)
        levels.update(record.pop("difficulty"))
        sums.update({name: value for name, value in record.items() if isinstance(value, int)})
    total = Finding("overall", difficulty={level: levels[level] for level in DIFFICULTIES}, **sums)
    if total.like < LEAST_LIKE * total.questions:
        raise InputError(
            f"{total.like} of {total.questions} questions reword or neighbour another one; at least half should"
        )
    if not quick and total.kill_rate < LEAST_KILLED:
        raise InputError(
            f"the suites tell {100 * total.kill_rate:.2f}% of the mutants that differ in meaning, fewer than "
            f"{100 * LEAST_KILLED:.0f}%; choose their seeds again with python -m merit.mutation"
        )
    return {
        "databases": [_record(finding, quick) for finding in findings],
        "overall": _record(total, quick),
    }


def check_database(
    source: DatabaseSource,
    *,
    quick: bool = False,
    sample: slice = slice(None),
    on_question: Callable[[], object] = lambda: None,
) -> Finding:
    """Check one database, its suite, and the questions of `sample`; `on_question` is called after each."""
    if len(source.seeds) < SMALLEST_SUITE:
        raise InputError(
            f"{source.db_id}: a suite of {len(source.seeds)} databases in suite.json, at least {SMALLEST_SUITE} are "
            f"wanted; choose them with python -m merit.mutation {source.db_id}"
        )
    fuzzer = Fuzzer(source)
    with ExitStack() as stack:
        own = [source.original(), *(fuzzer.database(seed) for seed in source.seeds)]
        witnesses = [] if quick else [fuzzer.database(seed) for seed in WITNESSES]
        for db in own + witnesses:
            stack.enter_context(closing(db))
        shapes = read_shapes(own[0])
        reversed_ = [stack.enter_context(closing(reversed_rows(db, shapes))) for db in own]
        for db, name in zip(own, ["the original", *(f"seed {seed}" for seed in source.seeds)], strict=True):
            _check_keys(db, source.db_id, name)
        counts: Counter[str] = Counter()
        for written in source.questions[sample]:
            check_reference(written, own, reversed_)
            if not quick:
                counts.update(_try_mutants(written, own, witnesses))
            on_question()
        return Finding(
            source.db_id,
            tables=len(shapes),
            rows=sum(own[0].execute(f'SELECT count(*) FROM "{shape.name}"').fetchone()[0] for shape in shapes),
            questions=len(source.questions),
            difficulty=dict(Counter(written.difficulty for written in source.questions)),
            like=sum(written.like is not None for written in source.questions),
            suite=len(source.seeds),
            **counts,
        )


def check_reference(
    written: WrittenQuestion, own: Sequence[sqlite3.Connection], turned: Sequence[sqlite3.Connection]
) -> None:
    """Raise unless a reference runs everywhere, finds rows in the original, and is the same however rows are stored."""
    reference = SPIDER_KEPT.rewrite(written.sql)
    for number, (db, other) in enumerate(zip(own, turned, strict=True)):
        where = "the original" if number == 0 else f"database {number} of its suite"
        try:
            rows, again = run(db, reference, None), run(other, reference, None)
        except (sqlite3.Error, Overrun):
            raise InputError(f"{written.id}: its reference does not run on {where}") from None
        if number == 0 and not rows:
            raise InputError(f"{written.id}: its reference returns no rows on the original; ask for something there is")
        if not SPIDER_KEPT.same(reference, rows, again, inf):
            raise InputError(
                f"{written.id}: what its reference returns on {where} depends on how rows are stored; break ties in "
                "ORDER BY, and select nothing that GROUP BY leaves open"
            )


def reversed_rows(db: sqlite3.Connection, shapes: Iterable[TableShape]) -> sqlite3.Connection:
    """The same rows stored the other way round, without keys or indexes."""
    other = sqlite3.connect(":memory:")
    for shape in shapes:
        columns = ", ".join(f'"{name}" {declared}' for name, declared in shape.types.items())
        other.execute(f'CREATE TABLE "{shape.name}" ({columns})')
        backwards = ", ".join(f"{column} DESC" for column in range(1, len(shape.types) + 1))
        rows = db.execute(f'SELECT * FROM "{shape.name}" ORDER BY {backwards}')
        other.executemany(f'INSERT INTO "{shape.name}" VALUES ({", ".join("?" * len(shape.types))})', rows)
    return other


def _try_mutants(
    written: WrittenQuestion, own: Sequence[sqlite3.Connection], witnesses: Sequence[sqlite3.Connection]
) -> dict[str, int]:
    bench = MutantBench([*own, *witnesses], written.sql)
    counts: Counter[str] = Counter()
    for mutant in mutants(written.sql, own[0]):
        try:
            by_original = bench.distinguishes(0, mutant)
        except (sqlite3.Error, Overrun):
            continue  # a mutant that does not run tells nothing about a suite
        detected_by = 0 if by_original else bench.first(mutant, range(1, len(own) + len(witnesses)))
        counts["mutants"] += 1
        counts["differing"] += detected_by is not None
        counts["killed_by_original"] += by_original
        counts["killed"] += detected_by is not None and detected_by < len(own)
    if counts["mutants"] < FEWEST_MUTANTS:
        raise InputError(f"{written.id}: only {counts['mutants']} mutants that run, {FEWEST_MUTANTS} are wanted")
    return dict(counts)


def _check_keys(db: sqlite3.Connection, db_id: str, name: str) -> None:
    for table, row, parent, _ in db.execute("PRAGMA foreign_key_check"):
        raise InputError(f"{db_id}, {name}: row {row} of {table} refers to a row of {parent} that is not there")
    if db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
        raise InputError(f"{db_id}, {name}: SQLite finds a row that breaks a constraint")


def _record(finding: Finding, quick: bool) -> dict[str, Any]:
    record = asdict(finding)
    if quick:
        return {name: value for name, value in record.items() if name not in _OF_MUTANTS}
    return {**record, "kill_rate": round(finding.kill_rate, 4)}


_OF_MUTANTS = ("mutants", "differing", "killed_by_original", "killed")
