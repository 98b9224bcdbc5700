"""Files of records: CSV, one JSON object a line, or one JSON list of objects."""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from merit.errors import InputError
from merit.formats.pair import Document
from merit.reading import LINE_BYTES, parse_json, read_json_lines, shown
from merit.spreadsheet import as_written, check_columns

_DELIMITERS = ",;\t"
_HEADER_CHARACTERS = 10_000  # names of columns are short
Record = Mapping[str, Any]  # by column or field, in lower case with _ between words


def records_of(document: Document) -> Iterator[tuple[str, Record]]:
    """Every record of a file, and where it stands."""
    start = document.text.lstrip()[:1]
    if start == "[":
        yield from _listed(document)
    elif start == "{":
        for number, value in read_json_lines(document.text, document.path):
            where = f"{document.path}, line {number}"
            yield where, _fields(value, where)
    else:
        yield from _rows(document)


def columns_of(document: Document) -> list[str]:
    """The columns that a CSV file begins with."""
    line = _first_line(document.text)
    return [_plain(name) for name in next(csv.reader([line], delimiter=_delimiter(line)), [])]


def _listed(document: Document) -> Iterator[tuple[str, Record]]:
    for number, value in enumerate(parse_json(document.text, document.path), 1):
        where = f"{document.path}, entry {number}"
        yield where, _fields(value, where)


def _fields(value: Any, where: str) -> Record:
    if not isinstance(value, dict):
        raise InputError(f"{where}: should be an object with fields, not {shown(value)}")
    check_columns([_plain(name) for name in value], where)  # `sql` and `SQL` are one
    return {_plain(name): field for name, field in value.items()}


def _rows(document: Document) -> Iterator[tuple[str, Record]]:
    columns: list[str] = []
    for line, row in _cells(document):
        where = f"{document.path}, line {line}"
        if columns:
            yield where, _row(row, columns, where)
        else:
            columns = _header(row, document.path)


def _cells(document: Document) -> list[tuple[int, list[str]]]:
    """The rows that are not empty, with the line that each begins on."""
    reader = csv.reader(io.StringIO(document.text, newline=""), delimiter=_delimiter(document.text), strict=True)
    usual = csv.field_size_limit(LINE_BYTES)  # the module's own: 128 KiB
    rows, line = [], 1
    try:
        for row in reader:
            if row:
                rows.append((line, row))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{document.path}, line {reader.line_num}: not valid CSV ({error})") from None
    finally:
        csv.field_size_limit(usual)
    return rows


def _header(row: list[str], path: Path) -> list[str]:
    columns = [_plain(name) for name in row]
    check_columns(columns, f"{path}, line 1")
    return columns


def _row(row: list[str], columns: list[str], where: str) -> Record:
    if len(row) > len(columns):
        raise InputError(f"{where}: has {len(row)} cells, but there are {len(columns)} columns; is a quote missing?")
    return {name: as_written(cell) for name, cell in zip(columns, row, strict=False)}


def _first_line(text: str) -> str:
    return next((line for line in text[:_HEADER_CHARACTERS].splitlines() if line.strip()), "")


def _delimiter(text: str) -> str:
    """What stands between cells, by the first line: names of columns hold none of the three."""
    return max(_DELIMITERS, key=_first_line(text).count)


def _plain(name: str) -> str:
    return "_".join(name.strip().casefold().replace("-", " ").split())
