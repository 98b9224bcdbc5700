"""Opening the judge of a benchmark on disk."""

from pathlib import Path

from merit.data import Dataset
from merit.oracle.judge import Judge
from merit.oracle.reference import References
from merit.oracle.results import ResultStore
from merit.oracle.rule import rule_of
from merit.reading import read_records
from merit.sql import SQLiteSandbox
from merit.types import Distinct, Limits, QuestionId


def open_judge(
    dataset: Dataset,
    protocol: str = "db",
    distinct: Distinct | None = None,
    *,
    cache: Path | None,
    timeout_s: float = 30.0,
) -> Judge:
    """The judge of `dataset` under `protocol`; `cache` is the folder for reference results, None for memory only.

    `distinct` is what becomes of DISTINCT where the benchmark's rule has a choice, by default what the layout says.
    """
    rule = rule_of(dataset.layout, distinct)
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
