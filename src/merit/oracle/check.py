"""Whether references can be run at all, without running them and without telling what they say."""

from dataclasses import dataclass

from merit.data import Dataset
from merit.oracle.open import read_references
from merit.oracle.rule import rule_of
from merit.sql import SQLiteSandbox
from merit.types import Error, Limits, Rows

_PREPARE = Limits(timeout_s=5.0)  # for compiling one statement, which takes milliseconds
_NOT_SQL = ("syntax error", "incomplete input", "unrecognized token")  # in SQLite's messages


@dataclass(frozen=True, slots=True)
class FaultyReference:
    """A question whose reference cannot be run."""

    where: str  # file, entry and field
    why: str
    unusable: bool  # empty, or not SQL: official data has neither, but some references that fail on their database


def faulty_references(dataset: Dataset, sandbox: SQLiteSandbox) -> list[FaultyReference]:
    """Every reference that is empty, or that SQLite cannot compile on its database, if that is there."""
    rule, references = rule_of(dataset.layout, None), read_references(dataset)
    faulty = []
    for number, question in enumerate(dataset.questions):
        where = f"{dataset.questions_file}, entry {number}: the field {dataset.layout.reference_field!r}"
        files = dataset.databases.get(question.db_id)
        if not references[question.id].strip():
            faulty.append(FaultyReference(where, "is empty", True))
        elif files:
            result = sandbox.execute(files[0], f"EXPLAIN {rule.rewrite(references[question.id])}", _PREPARE)
            if isinstance(result, Error) and any(words in result.message for words in _NOT_SQL):
                faulty.append(FaultyReference(where, "is not SQL", True))
            elif not isinstance(result, Rows):
                faulty.append(FaultyReference(where, f"cannot be run on {question.db_id}", False))
    return faulty
