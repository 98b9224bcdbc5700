"""The rows of an answer: kept ones, or the statement run again; as JSON, CSV or Parquet."""

import io
from typing import Any

from fastapi.responses import Response

from merit.errors import Conflict
from merit.spreadsheet import csv_text
from merit.types import Rows, Value
from merit.web.authentication import Person, Reader, Served
from merit.web.records import rows_record
from merit.web.replies import JsonRouter, RefusedRequest
from merit.web.routes.answers import AnswerId
from merit.web.site import Site, agent_of
from merit.web.visibility import answer_for

router = JsonRouter(prefix="/api", tags=["answers"])
_LARGEST = 2**63  # of Parquet's integers


@router.get("/answers/{answer}/rows")
def rows(answer: AnswerId, site: Served, who: Reader) -> dict[str, Any]:
    """All rows of an answer."""
    found = rows_of(site, answer, who)
    kind = "no_rows" if not found.rows else "cut" if found.truncated else "rows"
    return {**rows_record(found), "found": kind}


@router.get("/answers/{answer}/rows.csv", response_class=Response)
def rows_csv(answer: AnswerId, site: Served, who: Reader) -> Response:
    """All rows as CSV, in which no cell is a formula."""
    found = rows_of(site, answer, who)
    text = csv_text([found.columns, *([_cell(value) for value in row] for row in found.rows)])
    return _download(text.encode("utf-8", "replace"), "text/csv; charset=utf-8", f"{answer}.csv")


@router.get("/answers/{answer}/rows.parquet", response_class=Response)
def rows_parquet(answer: AnswerId, site: Served, who: Reader) -> Response:
    """All rows as Parquet; a column of several kinds of values becomes texts."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise RefusedRequest(
            501, "Parquet needs the package pyarrow; run, in merit's own folder: pip install '.[parquet]'"
        ) from None
    found = rows_of(site, answer, who)
    columns = [[row[number] for row in found.rows] for number in range(len(found.columns))]
    table = pyarrow.table(list(map(_uniform, columns)), names=_distinct(found.columns))
    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out)
    return _download(out.getvalue(), "application/vnd.apache.parquet", f"{answer}.parquet")


def rows_of(site: Site, answer: str, who: Person) -> Rows:
    """The rows of an answer, run again where they are not at hand."""
    agent = agent_of(site)
    asked = answer_for(site, who, answer)
    if (kept := site.rows.find(asked.id)) is not None:
        return kept
    if not asked.status.ran:
        raise Conflict(f"{asked.id}: nothing ran, so there are no rows")
    if asked.database != agent.schema.db_id:
        raise Conflict(f"{asked.id}: is about the database {asked.database!r}, which this server does not read")
    result = agent.parts.engine.execute(asked.sql, agent.limits)
    if not isinstance(result, Rows):
        raise Conflict(f"{asked.id}: its statement fails now: {result.message}")
    site.rows.keep(asked.id, result)
    return result


def _download(content: bytes, kind: str, name: str) -> Response:
    """A file to save; its name is made of digits and letters, so that it can stand in a header."""
    return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="merit-{name}"'})


def _cell(value: Value) -> object:
    return value.hex() if isinstance(value, bytes) else value


def _uniform(column: list[Value]) -> list[Any]:
    """A column whose values are all of one kind; texts where they are not."""
    values = [value for value in column if value is not None]
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in column]
    if len(kinds) > 1 or any(isinstance(value, int) and not -_LARGEST <= value < _LARGEST for value in values):
        return [None if value is None else _text(value) for value in column]
    return [_text(value) if isinstance(value, str) else value for value in column]


def _text(value: Value) -> str:
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text.encode("utf-8", "replace").decode()  # half a character cannot be written


def _distinct(names: tuple[str, ...]) -> list[str]:
    """The names of columns, with a number behind those that come again."""
    found: dict[str, None] = {}
    numbers: dict[str, int] = {}  # the last one tried behind each name; those before it are taken
    for name in map(_text, names):
        number = numbers.get(name, 1)
        distinct = name if number == 1 else f"{name}_{number}"
        while distinct in found:
            number += 1
            distinct = f"{name}_{number}"
        numbers[name] = number
        found[distinct] = None
    return list(found)
