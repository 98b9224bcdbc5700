"""Opening the judge of a benchmark on disk."""

from pathlib import Path

from merit.data import Dataset
from merit.oracle.judge import Judge
from merit.oracle.reference import References
from merit.oracle.results import ResultStore
from merit.oracle.rule import BIRD, SPIDER
from merit.reading import read_records
from merit.sql import SQLiteSandbox
from merit.types import Limits, QuestionId

RULES = {"spider": SPIDER, "bird": BIRD, "bundled": SPIDER}


def open_judge(dataset: Dataset, protocol: str = "db", *, cache: Path | None, timeout_s: float = 30.0) -> Judge:
    """The judge of `dataset` under `protocol`; `cache` is the folder for reference results, None for memory only."""
    rule = RULES[dataset.layout.name]
    limits = Limits(timeout_s=timeout_s)
    files = dataset.files(protocol)
    store = ResultStore(cache)
    sandbox = SQLiteSandbox(frozen=True)
    references = References(read_references(dataset), files, sandbox, store, rule)
    return Judge(rule, references, sandbox, store, limits)


def read_references(dataset: Dataset) -> dict[QuestionId, str]:
    """The reference SQL of every question."""
    field = dataset.layout.reference_field
    records = read_records(dataset.questions_file, {field: str})
    return {question.id: record[field] for question, record in zip(dataset.questions, records, strict=True)}
