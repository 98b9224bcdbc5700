"""stream.json: the questions of a run, with what every method gets to start with, so that a run explains itself."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from merit.agent import FirstAnswer, Task
from merit.data import Dataset
from merit.errors import InputError, RunUnusable
from merit.prompts import LiveContext
from merit.prompts.tables import create_tables
from merit.reading import LINES_BYTES, MIB, check_fields, check_format, parse_json, read_text, shown
from merit.runs.paths import STREAM
from merit.runs.token_counts import check_tokens, tokens_estimated, without_default
from merit.types import Column, Question, QuestionId, Schema, Table

FORMAT = 1
_QUESTION: dict[str, type] = {"db_id": str, "text": str, "difficulty": str, "draft": dict}
_DRAFT: dict[str, type] = {"sql": str, "reply": str, "prompt_tokens": int, "output_tokens": int}


@dataclass(frozen=True, slots=True)
class StreamQuestion:
    """A question with what every method gets to start with."""

    question: Question
    schema: str
    first_answer: FirstAnswer
    tables: Schema | None = None  # what the schema's text says, as grounding looks it up; None in earlier runs
    live: LiveContext | None = None  # where prompts of the family for live use are asked

    def task(self, position: int, reads_from: int) -> Task:
        """The question at its place in a stream; entries of positions before `reads_from` may be recalled."""
        return Task(
            question=self.question,
            schema=self.schema,
            position=position,
            first_answer=self.first_answer,
            reads_from=reads_from,
            tables=self.tables,
            live=self.live,
        )


Questions = Mapping[QuestionId, StreamQuestion]  # in the dataset's order


def stream_questions(
    dataset: Dataset,
    usable: Sequence[Question],
    first_answers: Mapping[QuestionId, FirstAnswer],
    live: Mapping[QuestionId, LiveContext] = MappingProxyType({}),
) -> dict[QuestionId, StreamQuestion]:
    """The questions that take part, as every method gets them."""
    none = FirstAnswer("", "")  # for questions beyond the part of the stream that is run
    questions = {}
    for question in usable:
        tables = dataset.schemas[question.db_id]
        first_answer = first_answers.get(question.id, none)
        questions[question.id] = StreamQuestion(question, tables.text(), first_answer, tables, live.get(question.id))
    return questions


def stream_text(questions: Questions) -> str:
    """stream.json: questions, schemas and first answers."""
    schemas = {asked.question.db_id: asked.schema for asked in questions.values()}
    records = [_question_record(asked) for asked in questions.values()]
    tables = {asked.question.db_id: _tables_record(asked.tables) for asked in questions.values() if asked.tables}
    live = {asked.question.db_id: asked.live.tables for asked in questions.values() if asked.live}
    optional = {name: value for name, value in (("tables", tables), ("live", live)) if value}
    body = {"format": FORMAT, "schemas": schemas, **optional, "questions": records}
    text = json.dumps(body, ensure_ascii=False, indent=1) + "\n"
    if len(text.encode()) > LINES_BYTES:
        raise InputError(
            f"{STREAM}: questions and first answers have more than the {LINES_BYTES // MIB} MiB that merit reads "
            "again; shorten the first answers"
        )
    return text


def stream_hash(text: str) -> str:
    """What a manifest says of stream.json."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_stream(run: Path, expected_sha256: str | None = None) -> dict[QuestionId, StreamQuestion]:
    """The questions of a run; where a hash is expected, stream.json must have it."""
    path = run / STREAM
    text = read_text(path, LINES_BYTES)
    if expected_sha256 is not None and stream_hash(text) != expected_sha256:
        raise RunUnusable(f"{path}: is not the stream that the manifest names; it was edited")
    return _decode(parse_json(text, path, most=LINES_BYTES), str(path))


def _decode(record: Any, where: str) -> dict[QuestionId, StreamQuestion]:
    questions: dict[QuestionId, StreamQuestion] = {}
    try:
        check_format(record["format"], FORMAT, "a stream", where)
        tables = {db_id: _tables(db_id, item, where) for db_id, item in record.get("tables", {}).items()}
        for item in record["questions"]:
            fields = dict(item)
            check_fields(fields, _QUESTION, where)
            about = f"{where}: question {shown(fields['id'])}"
            if not isinstance(fields["evidence"], str | None) or type(fields["id"]) not in (int, str):
                raise InputError(f"{about}: 'id' or 'evidence' cannot be what it is")
            first_answer = _first_answer(fields.pop("draft"), where, about)
            db_id = fields["db_id"]
            live = _live(fields.pop("mentions", None), record.get("live"), tables.get(db_id), db_id, about)
            question = Question(**fields)
            check_fields(record["schemas"], {question.db_id: str}, f"{where}, schemas")
            if question.id in questions:
                raise InputError(f"{about} is there twice")
            schema, here = record["schemas"][question.db_id], tables.get(question.db_id)
            if here is not None and here.text() != schema:
                raise InputError(f"{where}: schema and tables of {shown(question.db_id)} do not say the same")
            questions[question.id] = StreamQuestion(question, schema, first_answer, here, live)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{where}: not the stream of a run ({shown(repr(error))})") from None
    return questions


def _question_record(asked: StreamQuestion) -> dict[str, Any]:
    mentions = {"mentions": list(asked.live.mentions)} if asked.live and asked.live.mentions else {}
    return {**asdict(asked.question), **mentions, "draft": without_default(asdict(asked.first_answer))}


def _live(mentions: Any, shown: Any, schema: Schema | None, db_id: str, about: str) -> LiveContext | None:
    if shown is None and mentions is None:
        return None
    lines = mentions or []
    if not isinstance(shown, dict) or not isinstance(shown.get(db_id), str) or schema is None:
        raise InputError(f"{about}: what was shown of its database is not there")
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise InputError(f"{about}: the field 'mentions' should be a list of texts")
    return LiveContext(shown[db_id], create_tables(schema), tuple(lines))


def _tables_record(schema: Schema) -> list[dict[str, Any]]:
    """A schema's tables as plain values; what is not so is left out."""
    return [
        {
            "name": table.name,
            **({"view": True} if table.view else {}),
            **({"comment": table.comment} if table.comment else {}),
            **({"rows": table.rows} if table.rows is not None else {}),
            "columns": [
                {"name": column.name, "type": column.type}
                | ({"primary_key": True} if column.primary_key else {})
                | ({"foreign_keys": list(column.foreign_keys)} if column.foreign_keys else {})
                | ({"comment": column.comment} if column.comment else {})
                for column in table.columns
            ],
        }
        for table in schema.tables
    ]


def _tables(db_id: str, record: Any, where: str) -> Schema:
    tables = []
    for table in record:
        check_fields(table, {"name": str, "columns": list}, f"{where}, tables")
        columns = tuple(_column(column, f"{where}, tables") for column in table["columns"])
        rows = table.get("rows")
        comment = str(table.get("comment", ""))
        known = rows if isinstance(rows, int) else None
        tables.append(Table(table["name"], columns, table.get("view") is True, comment, known))
    return Schema(db_id, tuple(tables))


def _column(record: Any, where: str) -> Column:
    check_fields(record, {"name": str, "type": str}, where)
    foreign_keys = tuple(str(target) for target in record.get("foreign_keys", ()))
    return Column(
        record["name"], record["type"], record.get("primary_key") is True, foreign_keys, str(record.get("comment", ""))
    )


def _first_answer(record: dict[str, Any], where: str, about: str) -> FirstAnswer:
    check_fields(record, _DRAFT, where)
    tokens_estimated(record, where)
    check_tokens(record, about)
    return FirstAnswer(**record)
