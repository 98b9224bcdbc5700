"""A benchmark to run on: which one, as people name it, and its questions with their judge, opened together."""

import logging
import math
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import NoneType
from typing import Self

from merit.bundled import open_dataset
from merit.cache import cache_folder
from merit.data import LAYOUTS, PROTOCOLS, Dataset, check_distinct
from merit.errors import InputError, check_type, counted
from merit.oracle import Judge, open_judge
from merit.prompts import VERSIONS, LiveContext, live_context, live_mentions
from merit.sql import SQLiteEngine, content_hash
from merit.types import Distinct, Question, QuestionId
from merit.values import ValueIndex, open_values

_log = logging.getLogger(__name__)
_MOST_NAMED = 5
_DIALECT = "sqlite"  # of every benchmark
DEFAULT_TIMEOUT_S = 30.0  # for one statement, as BIRD's official evaluator has it


@dataclass(frozen=True, slots=True)
class DataSpec:
    """A benchmark and how it is judged, as a user names it."""

    name: str
    root: Path | None  # None for the benchmark that comes with merit
    split: str = "dev"
    protocol: str | None = None  # the suite where there is one
    timeout_s: float = DEFAULT_TIMEOUT_S
    label: str = ""  # a name of its own
    distinct: Distinct | None = None  # what becomes of DISTINCT; None: as the benchmark's layout says
    prompts: str = "paper"  # what questions are asked with: the paper's prompts, or those for live use

    def __post_init__(self) -> None:
        check_type("name", self.name, str, "the name of a benchmark, such as 'bundled'")
        check_type("root", self.root, (Path, NoneType), "a folder as a pathlib.Path, or None")
        check_type("split", self.split, str, "the name of a split, such as 'dev'")
        check_type("label", self.label, str, "a name as a text")
        check_type("timeout_s", self.timeout_s, (int, float), "a number of seconds")
        if not 0 < self.timeout_s < math.inf:  # NaN is refused too
            raise InputError(f"timeout: {self.timeout_s!r} is not a number of seconds; use one above 0")
        if self.prompts not in VERSIONS:
            raise InputError(f"prompts: there are no {self.prompts!r}; use {' or '.join(VERSIONS)}")
        if self.protocol not in (None, *PROTOCOLS):
            raise InputError(f"protocol: there is no {self.protocol!r}; use {' or '.join(PROTOCOLS)}")
        if self.name in LAYOUTS:  # another name is refused when it is opened
            check_distinct(LAYOUTS[self.name], self.distinct)

    def for_runs(self) -> "DataSpec":
        """The same, with DISTINCT kept unless said otherwise: runs are compared with the paper's, which kept it."""
        if self.distinct is not None or self.name not in LAYOUTS or LAYOUTS[self.name].distinct is None:
            return self
        return replace(self, distinct=Distinct.KEPT)

    def open(self, cache: Path | None = None, *, keep_results: bool = True) -> "Benchmark":
        """Open it; `cache` holds the benchmark that comes with merit and, unless told otherwise, reference results."""
        folder = cache or cache_folder()
        dataset = open_dataset(self.name, self.root, self.split, folder, self.label)
        results = folder if keep_results else None
        return Benchmark(
            dataset, self.protocol, self.distinct, timeout_s=self.timeout_s, cache=results, prompts=self.prompts
        )


class Benchmark:
    """A dataset and its judge. What a run records of either, it asks here: nothing of it is given a second time."""

    def __init__(
        self,
        dataset: Dataset,
        protocol: str | None = None,
        distinct: Distinct | None = None,
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        cache: Path | None = None,
        prompts: str = "paper",
    ) -> None:
        """`cache` is the folder for reference results; without one they are kept in memory."""
        self.dataset = dataset
        self.protocol = protocol or ("suite" if dataset.suites else "db")
        self.distinct = distinct or dataset.layout.distinct
        self.timeout_s = timeout_s
        self.prompts = prompts
        self._cache = cache
        self._closed = False
        self._told_failing = False

    @cached_property
    def judge(self) -> Judge:
        """The judge under this protocol and time limit, opened when first needed."""
        if self._closed:
            raise InputError("this benchmark is closed; open it again")
        return open_judge(self.dataset, self.protocol, self.distinct, cache=self._cache, timeout_s=self.timeout_s)

    @cached_property
    def content_hash(self) -> str:
        """One hash over questions, schemas and databases, which takes long to compute."""
        return self.dataset.content_hash()

    def judged_by(self, protocol: str, distinct: Distinct | None, timeout_s: float) -> "Benchmark":
        """The same data, judged by a protocol and time limit that a run names."""
        other = Benchmark(
            self.dataset, protocol, distinct, timeout_s=timeout_s, cache=self._cache, prompts=self.prompts
        )
        other.__dict__["content_hash"] = self.content_hash  # of the same files: computed once
        return other

    @property
    def present_questions(self) -> list[Question]:
        """The questions whose database is there; a database without tables is refused before a model is asked."""
        absent = self.dataset.absent(self.protocol)
        self.dataset.check_tables()
        return [question for question in self.dataset.questions if question.db_id not in absent]

    def usable_questions(self) -> list[Question]:
        """The questions that can be judged: their database is there and their reference runs."""
        present = self.present_questions
        failing = self.judge.unjudgeable(present)
        usable = [question for question in present if question.id not in failing]
        if not usable:
            dataset = self.dataset
            raise InputError(f"{dataset.root}: none of the {len(dataset.questions)} questions can be judged here")
        if failing and not self._told_failing:
            self._told_failing = True
            ids = ", ".join(map(str, list(failing)[:_MOST_NAMED])) + (", ..." if len(failing) > _MOST_NAMED else "")
            _log.warning(
                "merit: %s: left out: %s whose reference cannot be run (%s); mend the questions file",
                self.dataset.root,
                counted(len(failing), "question"),
                ids,
            )
        return usable

    def live_context(self, questions: Iterable[Question]) -> dict[QuestionId, LiveContext]:
        """What the prompts for live use show of the databases."""
        shown: dict[QuestionId, LiveContext] = {}
        by_database: dict[str, tuple[LiveContext, ValueIndex]] = {}
        for question in questions:
            if question.db_id not in by_database:
                by_database[question.db_id] = self._live_database(question.db_id)
            context, values = by_database[question.db_id]
            shown[question.id] = replace(context, mentions=live_mentions(question, _DIALECT, values))
        return shown

    def _live_database(self, db_id: str) -> tuple[LiveContext, ValueIndex]:
        schema, database = self.dataset.schemas[db_id], self.dataset.databases[db_id][0]
        with closing(SQLiteEngine(database, frozen=True)) as engine:
            values = open_values(engine, schema, content_hash(database), self._cache)
        return live_context(schema, _DIALECT, values), values

    def close(self) -> None:
        """Give back what the judge holds, if it was needed."""
        self._closed = True
        if "judge" in self.__dict__:
            self.judge.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
