"""Predictions in any of the usual formats: JSON lines, a JSON object, CSV, plain text, or a benchmark's own layout."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from merit.errors import InputError, counted
from merit.reading import DOCUMENT_BYTES, LINES_BYTES, check_fields, parse_json, read_json_lines, read_text, shown
from merit.spreadsheet import check_columns
from merit.types import Question, QuestionId

_BIRD_MARK = "\t----- bird -----\t"
_MOST_DIGITS = 18


class _Answer(NamedTuple):
    """One prediction as a file has it."""

    where: str
    question: object  # its id
    sql: str
    db_id: str | None  # where the file names one


def read_predictions(path: Path, questions: Sequence[Question], absent: Mapping[str, int]) -> dict[QuestionId, str]:
    """The SQL for each question id that `path` answers."""
    return parse_predictions(read_text(path, LINES_BYTES), path, questions, absent)  # a run's own have as many


def parse_predictions(
    text: str, path: Path, questions: Sequence[Question], absent: Mapping[str, int]
) -> dict[QuestionId, str]:
    """The same for a text that was read already; `path` names it in messages."""
    start = text.lstrip()
    if not start:
        raise InputError(f"{path}: the file is empty")
    if start.startswith("["):
        raise InputError(f"{path}: a JSON list; write {_form(questions)} instead")
    if start.startswith("{"):
        predictions = _collect(_json(text, path, _form(questions)), questions)
    elif _has_columns(start.split("\n", 1)[0]) or path.suffix.lower() == ".csv":
        predictions = _collect(_csv(text, path), questions)
    else:
        predictions = _collect(_plain(text, path, questions, absent), questions)
    if not predictions:
        raise InputError(f"{path}: holds no prediction; write {_form(questions)}")
    return predictions


def _collect(answers: Iterable[_Answer], questions: Sequence[Question]) -> dict[QuestionId, str]:
    """Predictions by question; an unknown question, a second answer to one, or another database is refused."""
    known = {question.id: question for question in questions}
    predictions: dict[QuestionId, str] = {}
    for answer in answers:
        question = _find(answer.question, known)
        if question is None:
            between = f"; its ids go from {shown(questions[0].id)} to {shown(questions[-1].id)}" if questions else ""
            raise InputError(
                f"{answer.where}: the dataset has no question with id {shown(answer.question)}{between}; "
                "are these the predictions for this dataset and split?"
            )
        if question.id in predictions:
            raise InputError(f"{answer.where}: question {question.id} was predicted before; keep one for each id")
        if answer.db_id is not None and answer.db_id != question.db_id:
            raise InputError(
                f"{answer.where}: names the database {shown(answer.db_id)}, but question {question.id} is on "
                f"{shown(question.db_id)}; are these the predictions for this dataset, in its order?"
            )
        predictions[question.id] = answer.sql
    return predictions


def _find(identity: object, known: Mapping[QuestionId, Question]) -> Question | None:
    """The question of an id, which may be a number that is written as a text."""
    if isinstance(identity, bool) or not isinstance(identity, int | str):
        return None
    if isinstance(identity, str) and identity not in known and identity.isdecimal() and len(identity) <= _MOST_DIGITS:
        identity = int(identity)
    return known.get(identity)


def _form(questions: Sequence[Question]) -> str:
    """What a file may look like, with an id that the dataset has."""
    example = json.dumps(questions[0].id if questions else 0, ensure_ascii=False)
    return f'one object a line, {{"id": {example}, "sql": "SELECT ..."}}'


# Of fields, in files of one line: there, an object could also be all answers by their ids.
_OTHER_NAMES = frozenset({"id", "sql", "question_id", "prediction", "pred_sql", "predicted_sql"})


def _json(text: str, path: Path, form: str) -> Iterator[_Answer]:
    first, _, rest = text.strip().partition("\n")
    try:
        record = json.loads(first) if len(first) <= DOCUMENT_BYTES else None
    except (ValueError, RecursionError):
        record = None  # an object over several lines, or one that is broken: both are read as a whole
    if isinstance(record, dict) and (rest or not _OTHER_NAMES.isdisjoint(record)):
        return _json_lines(text, path)
    return _by_id(parse_json(text, path), path, form)


def _json_lines(text: str, path: Path) -> Iterator[_Answer]:
    for number, record in read_json_lines(text, path):
        where = f"{path}, line {number}"
        check_fields(record, {"id": object, "sql": str}, where)
        db_id = record.get("db_id")
        yield _Answer(where, record["id"], record["sql"], db_id if isinstance(db_id, str) else None)


def _by_id(record: dict[str, Any], path: Path, form: str) -> Iterator[_Answer]:
    """One object with the SQL by question id: plain, or as BIRD writes it, with a mark and the database behind it."""
    if "sql" in record:
        raise InputError(f"{path}: one object over several lines; write each object on one line")
    bird_format = any(isinstance(value, str) and _BIRD_MARK in value for value in record.values())
    for key, value in record.items():
        where = f"{path}, {shown(key)}"
        if not isinstance(value, str):
            if not bird_format:
                raise InputError(f"{where}: expected the SQL as a text, not {shown(value)}; or write {form}")
            value = " "  # what BIRD's evaluator runs for an answer that is not a text
        sql, mark, db_id = value.partition(_BIRD_MARK)
        yield _Answer(where, key, sql, db_id if mark else None)


def _has_columns(line: str) -> bool:
    return {"id", "sql"} <= {name.strip(' "').lower() for name in line.split(",")}


def _csv(text: str, path: Path) -> Iterator[_Answer]:
    start = text.lstrip()
    if not _has_columns(start.split("\n", 1)[0]):
        raise InputError(f"{path}: the first line of a CSV file names its columns; write id,sql")
    blank = text[: -len(start)].count("\n")
    rows = csv.reader(StringIO(start, newline=""), strict=True, skipinitialspace=True)
    line = 0  # the last one before the row that is read
    try:
        names = [name.strip().lower() for name in next(rows)]
        check_columns(names, f"{path}, line {blank + 1}")
        line = rows.line_num
        for row in rows:
            where = f"{path}, line {blank + line + 1}"  # where it begins; an SQL may go over several lines
            line = rows.line_num
            if len(row) not in (0, len(names)):
                raise InputError(
                    f"{where}: {len(row)} columns where the first line names {len(names)}; put an SQL that has commas "
                    "or line ends into double quotes"
                )
            if row:
                fields = dict(zip(names, row, strict=True))
                yield _Answer(where, fields["id"].strip(), fields["sql"], fields.get("db_id"))
    except csv.Error as error:
        raise InputError(f"{path}, line {blank + line + 1}: not valid CSV ({error})") from None


def _plain(text: str, path: Path, questions: Sequence[Question], absent: Mapping[str, int]) -> Iterator[_Answer]:
    """One SQL a line, with or without a tab and its database behind it, as Spider's evaluator reads its files."""
    lines = text.removesuffix("\n").split("\n")
    usable = [question for question in questions if question.db_id not in absent]
    answered = next((listed for listed in (questions, usable) if len(listed) == len(lines)), None)
    if answered is None:
        expected = f"{len(questions)}" if len(usable) == len(questions) else f"{len(questions)} (or {len(usable)}, "
        expected += "" if len(usable) == len(questions) else "without those whose database is absent)"
        fences = ", without code fences (```)" if any(line.startswith("```") for line in lines) else ""
        raise InputError(
            f"{path}: {counted(len(lines), 'line')} for {expected} questions; write one SQL a line in question "
            f"order{fences}, or {_form(questions)}"
        )
    for number, (question, line) in enumerate(zip(answered, lines, strict=True), 1):
        sql, *columns = line.strip().split("\t")
        if columns and columns[0] != question.db_id:
            raise InputError(
                f"{path}, line {number}: {shown(columns[0])} follows the tab, but question {question.id} is on "
                f"{shown(question.db_id)}; write the SQL, a tab and the database, or an SQL without tabs"
            )
        yield _Answer(f"{path}, line {number}", question.id, sql, None)
