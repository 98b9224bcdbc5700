"""Predictions as people have them: JSON lines, plain text, or BIRD's own JSON."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from merit.errors import InputError
from merit.reading import check_fields, parse_json, read_json_lines, read_text, shown
from merit.types import Question, QuestionId

_MOST_DIGITS = 19
_BIRD_MARK = "\t----- bird -----\t"


def read_predictions(path: Path, questions: Sequence[Question], absent: Mapping[str, int]) -> dict[QuestionId, str]:
    """The SQL for each question id that `path` answers."""
    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path}: the file is empty")
    if not text.lstrip().startswith("{"):
        if text.lstrip().startswith("["):
            raise InputError(f"{path}: a JSON list; write one object with id and sql a line instead")
        return _plain(text, path, questions, absent)
    known = {question.id for question in questions}
    if '"sql"' not in text.lstrip().split("\n", 1)[0] and _BIRD_MARK.strip() in text:
        return _bird(text, path, known)
    return _json_lines(text, path, known)


def _json_lines(text: str, path: Path, known: set[QuestionId]) -> dict[QuestionId, str]:
    predictions: dict[QuestionId, str] = {}
    for number, record in read_json_lines(text, path):
        where = f"{path}, line {number}"
        check_fields(record, {"id": object, "sql": str}, where)
        identity = record["id"]
        if isinstance(identity, str) and identity not in known:
            identity = _number(identity)
        if isinstance(identity, bool) or not isinstance(identity, int | str) or identity not in known:
            raise InputError(f"{where}: the dataset has no question with id {shown(record['id'])}")
        if identity in predictions:
            raise InputError(f"{where}: question {identity} was predicted before; keep one line for each id")
        predictions[identity] = record["sql"]
    return predictions


def _plain(text: str, path: Path, questions: Sequence[Question], absent: Mapping[str, int]) -> dict[QuestionId, str]:
    lines = text.removesuffix("\n").split("\n")
    usable = [question for question in questions if question.db_id not in absent]
    for asked in (questions, usable):
        if len(lines) == len(asked):
            return {question.id: line.rstrip("\r") for question, line in zip(asked, lines, strict=True)}
    expected = f"{len(questions)}" if len(usable) == len(questions) else f"{len(questions)} (or {len(usable)}, "
    expected += "" if len(usable) == len(questions) else "without those whose database is absent)"
    raise InputError(f"{path}: {len(lines)} lines for {expected} questions; write one SQL a line in question order")


def _bird(text: str, path: Path, known: set[QuestionId]) -> dict[QuestionId, str]:
    predictions: dict[QuestionId, str] = {}
    for key, value in parse_json(text, path).items():
        identity = _number(key)
        if identity not in known:
            raise InputError(f"{path}: the dataset has no question with id {shown(key)}")
        # The official evaluator runs a blank for an answer that is no text.
        predictions[identity] = value.split(_BIRD_MARK)[0] if isinstance(value, str) else " "
    return predictions


def _number(text: str) -> QuestionId:
    """An id that is written as a text and may be a number."""
    return int(text) if text.isdecimal() and len(text) < _MOST_DIGITS else text
