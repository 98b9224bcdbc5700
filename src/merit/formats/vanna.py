"""Vanna's training data: the columns `question`, `content` and `training_data_type` of `vn.get_training_data()`.

Vanna has no file of its own for it; people save the data frame as CSV or JSON. Its web API wraps the records in a text.
https://github.com/vanna-ai/vanna/blob/v0.7.9/src/vanna/chromadb/chromadb_vector.py
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from merit.errors import InputError
from merit.formats.pair import Document, FoundPairs, Pair, SkippedPair, found, pair_of
from merit.formats.records import Record, records_of
from merit.reading import shown

KIND = "training_data_type"
_OTHER_KINDS = {
    "ddl": "a CREATE TABLE statement; merit reads the database's own schema",
    "documentation": "documentation; write it under [rules] or [glossary] in merit.toml",
}


def read_vanna(documents: Sequence[Document]) -> FoundPairs:
    """The question-SQL pairs of training data."""
    return found(item for document in documents for item in _items(document))


def _items(document: Document) -> Iterator[Pair | SkippedPair]:
    for where, record in _records(document):
        kind = record.get(KIND)
        if kind is None:
            raise InputError(f"{where}: has no {KIND!r}; save what vn.get_training_data() returns, as CSV or JSON")
        if kind == "sql":
            yield pair_of(record.get("question"), record.get("content"), where)
        else:
            yield SkippedPair(where, _OTHER_KINDS.get(str(kind), f"of the unknown type {shown(kind)}"))


def _records(document: Document) -> Iterator[tuple[str, Record]]:
    for where, record in records_of(document):
        wrapped = record.get("df")
        if isinstance(wrapped, str):  # what /api/v0/get_training_data sends
            yield from records_of(replace(document, text=wrapped))
        else:
            yield where, record


def write_vanna(pairs: Sequence[Pair]) -> dict[str, str]:
    """Pairs as a JSON list of records, as `DataFrame.to_json(orient="records")` has them."""
    records = [{"question": pair.question, "content": pair.sql, KIND: "sql"} for pair in pairs]
    return {"": json.dumps(records, ensure_ascii=False, indent=1) + "\n"}
