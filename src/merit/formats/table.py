"""Question-SQL pairs as CSV or as JSON, under the names that people and benchmarks use (Spider, BIRD)."""

import json
from collections.abc import Iterable, Iterator, Sequence

from merit.errors import InputError
from merit.formats.pair import Document, FoundPairs, Pair, SkippedPair, found, pair_of
from merit.formats.records import Record, records_of
from merit.spreadsheet import csv_text

# In this order; the first that holds a text counts: Spider has the SQL in `query`, and in `sql` what it parsed of it.
QUESTIONS = ("question", "nl", "nl_question", "nl_query", "natural_language_question", "natural_language", "utterance")
STATEMENTS = ("sql", "sql_query", "query", "gold_sql", "sql_statement", "statement")
_COLUMNS = ("question", "sql", "author", "time")


def read_table(documents: Sequence[Document]) -> FoundPairs:
    """The pairs of files of records."""
    return found(item for document in documents for item in _items(document))


def _items(document: Document) -> Iterator[Pair | SkippedPair]:
    for number, (where, record) in enumerate(records_of(document)):
        if number == 0 and not has_names(record):
            raise lacking(record, document)
        yield pair_of(
            _first(record, QUESTIONS),
            _first(record, STATEMENTS),
            where,
            author=record.get("author"),
            time=record.get("time"),
            database=record.get("db_id"),
        )


def has_names(names: Iterable[str]) -> bool:
    """Whether some name is that of a question and some that of SQL."""
    given = set(names)
    return bool(given & set(QUESTIONS)) and bool(given & set(STATEMENTS))


def lacking(names: Iterable[str], document: Document) -> InputError:
    """What to say about columns or fields of which none has the question, or none the SQL."""
    given = list(names)
    what, name = ("SQL", STATEMENTS[0]) if set(given) & set(QUESTIONS) else ("question", QUESTIONS[0])
    shown = ", ".join(given[:10]) or "none"
    return InputError(f"{document.path}: no column or field has the {what}; call one {name!r} (it has {shown})")


def _first(record: Record, names: Sequence[str]) -> object:
    given = [record[name] for name in names if record.get(name) not in (None, "")]
    return next((value for value in given if isinstance(value, str)), given[0] if given else None)


def write_csv(pairs: Sequence[Pair]) -> dict[str, str]:
    """Pairs as CSV in which no cell is a formula."""
    return {"": csv_text([_COLUMNS, *(tuple(_values(pair).values()) for pair in pairs)])}


def write_lines(pairs: Sequence[Pair]) -> dict[str, str]:
    """Pairs as JSON, one object a line."""
    return {"": "".join(f"{json.dumps(_values(pair), ensure_ascii=False)}\n" for pair in pairs)}


def _values(pair: Pair) -> dict[str, str]:
    return {name: getattr(pair, name) for name in _COLUMNS}
