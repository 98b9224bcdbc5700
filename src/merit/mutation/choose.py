"""Choosing the seeds of a test suite: the few fuzzed databases that together tell the most mutants apart."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing

from merit.bundled import SPARSE, DatabaseSource, Fuzzer, read_shapes
from merit.errors import InputError
from merit.mutation.check import check_reference, reversed_rows
from merit.mutation.mutate import mutants
from merit.mutation.trial import MutantBench, Overrun
from merit.mutation.workers import open_pool

CANDIDATES = range(1, 121)
SPARSE_CANDIDATES = SPARSE[:60]
# Two patients share the highest total (hospital_wards-39): no other candidate has that.
FOUND_BY_SEARCH: Mapping[str, tuple[int, ...]] = {"hospital_wards": (1167,)}
FEWEST = 6
MOST = 12
MOST_SPARSE = 2


def choose_all(sources: Sequence[DatabaseSource]) -> dict[str, tuple[int, ...]]:
    """The seeds of each database's suite."""
    with open_pool(len(sources)) as pool:
        return dict(zip([source.db_id for source in sources], pool.map(choose, sources), strict=True))


def choose(
    source: DatabaseSource, candidates: Sequence[int] = CANDIDATES, sparse: Sequence[int] = SPARSE_CANDIDATES
) -> tuple[int, ...]:
    """The seeds of one database's suite, by a greedy search; then those of sparse databases, for mutants still left."""
    fuzzer = Fuzzer(source)
    suite: dict[int, sqlite3.Connection] = {}
    with ExitStack() as stack:
        original = stack.enter_context(closing(source.original()))
        more = [*sparse, *FOUND_BY_SEARCH.get(source.db_id, ())]
        for seeds, most, fewest in ((candidates, MOST, FEWEST), (more, MOST_SPARSE, 0)):
            databases = {seed: stack.enter_context(closing(fuzzer.database(seed))) for seed in seeds}
            fair = [seed for seed in seeds if _fair(source, original, databases[seed])]
            if len(fair) < fewest:
                raise InputError(f"{source.db_id}: too few of {len(seeds)} databases leave every reference one answer")
            known = [original, *suite.values()]
            detected_by = list(_detected_by(source, known, [databases[seed] for seed in fair]))
            suite |= {fair[number]: databases[fair[number]] for number in greedy(detected_by, len(fair), most, fewest)}
    return tuple(sorted(suite))


def greedy(detected_by: Sequence[frozenset[int]], count: int, most: int = MOST, fewest: int = FEWEST) -> list[int]:
    """Numbers of databases that together detect the most mutants; `detected_by` has those that detect each mutant."""
    chosen: list[int] = []
    for wanted in (1, 2):  # detect each mutant once, then, while the suite is small, twice
        while len(chosen) < min(most if wanted == 1 else fewest, count):
            left = [databases for databases in detected_by if len(databases & {*chosen}) < wanted]
            gains = [
                0 if number in chosen else sum(number in databases for databases in left) for number in range(count)
            ]
            best = max(range(count), key=gains.__getitem__)
            if gains[best] == 0:
                break
            chosen.append(best)
    unused = (number for number in range(count) if number not in chosen)
    return chosen + [number for number, _ in zip(unused, range(fewest - len(chosen)), strict=False)]


def _fair(source: DatabaseSource, original: sqlite3.Connection, db: sqlite3.Connection) -> bool:
    """Whether every reference has one answer: a right query must not fail for the order of tied rows."""
    with (
        closing(reversed_rows(original, read_shapes(original))) as first,
        closing(reversed_rows(db, read_shapes(db))) as other,
    ):
        for written in source.questions:
            try:
                check_reference(written, [original, db], [first, other])
            except InputError:
                return False
    return True


def _detected_by(
    source: DatabaseSource, known: Sequence[sqlite3.Connection], databases: Sequence[sqlite3.Connection]
) -> Iterator[frozenset[int]]:
    """For each mutant that none of `known` detects, the original first of all: the numbers of the databases that do."""
    for written in source.questions:
        bench = MutantBench([*known, *databases], written.sql)
        for mutant in mutants(written.sql, known[0]):
            try:
                if bench.distinguishes(0, mutant) or bench.first(mutant, range(1, len(known))) is not None:
                    continue
            except (sqlite3.Error, Overrun):
                continue
            numbers = range(len(databases))
            yield frozenset(number for number in numbers if bench.first(mutant, [len(known) + number]) is not None)
