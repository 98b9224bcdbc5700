"""stream.json: the questions of a run, with what every method gets to start with, so that a run explains itself."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from merit.agent import FirstAnswer
from merit.data import Dataset
from merit.errors import InputError, RunUnusable
from merit.reading import LINES_BYTES, MIB, check_fields, check_format, parse_json, read_text, shown
from merit.runs.paths import STREAM
from merit.runs.tokens import check_tokens, tokens_estimated, without_default
from merit.types import Question, QuestionId

FORMAT = 1
_QUESTION: dict[str, type] = {"db_id": str, "text": str, "difficulty": str, "draft": dict}
_DRAFT: dict[str, type] = {"sql": str, "reply": str, "prompt_tokens": int, "output_tokens": int}


@dataclass(frozen=True, slots=True)
class StreamQuestion:
    """A question with what every method gets to start with."""

    question: Question
    schema: str
    first_answer: FirstAnswer


Questions = Mapping[QuestionId, StreamQuestion]  # in the dataset's order


def stream_questions(
    dataset: Dataset, usable: Sequence[Question], first_answers: Mapping[QuestionId, FirstAnswer]
) -> dict[QuestionId, StreamQuestion]:
    """The questions that take part, as every method gets them."""
    none = FirstAnswer("", "")  # for questions beyond the part of the stream that is run
    return {
        question.id: StreamQuestion(
            question, dataset.schemas[question.db_id].text(), first_answers.get(question.id, none)
        )
        for question in usable
    }


def stream_text(questions: Questions) -> str:
    """stream.json: questions, schemas and first answers."""
    schemas = {asked.question.db_id: asked.schema for asked in questions.values()}
    records = [
        {**asdict(asked.question), "draft": without_default(asdict(asked.first_answer))} for asked in questions.values()
    ]
    body = {"format": FORMAT, "schemas": schemas, "questions": records}
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
        for item in record["questions"]:
            fields = dict(item)
            check_fields(fields, _QUESTION, where)
            about = f"{where}: question {shown(fields['id'])}"
            if not isinstance(fields["evidence"], str | None) or type(fields["id"]) not in (int, str):
                raise InputError(f"{about}: 'id' or 'evidence' cannot be what it is")
            first_answer = _first_answer(fields.pop("draft"), where, about)
            question = Question(**fields)
            check_fields(record["schemas"], {question.db_id: str}, f"{where}, schemas")
            if question.id in questions:
                raise InputError(f"{about} is there twice")
            questions[question.id] = StreamQuestion(question, record["schemas"][question.db_id], first_answer)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{where}: not the stream of a run ({shown(repr(error))})") from None
    return questions


def _first_answer(record: dict[str, Any], where: str, about: str) -> FirstAnswer:
    check_fields(record, _DRAFT, where)
    tokens_estimated(record, where)
    check_tokens(record, about)
    return FirstAnswer(**record)
