"""The shared first answers: one file that every method of a comparison starts from."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from merit.agent import FirstAnswer
from merit.data import Dataset, read_predictions
from merit.errors import InputError
from merit.prompts import Prompt, parse_sql
from merit.reading import (
    ANSWER_CHARACTERS,
    LINES_BYTES,
    check_fields,
    check_format,
    parse_json,
    read_json_lines,
    read_text,
    sendable,
    shown,
)
from merit.runs.token_counts import check_tokens, tokens_estimated
from merit.types import Completion, ModelIdentity, Question, QuestionId

FORMAT = 1
MOST_BYTES = LINES_BYTES // 2  # of a file of them: stream.json holds them all, with questions and schemas
_FIELDS = {
    "id": object,
    "db_id": str,
    "question": str,
    "sql": str,
    "reply": str,
    "prompt_tokens": int,
    "output_tokens": int,
}


def first_answer_line(question: Question, prompt: Prompt, completion: Completion, model: ModelIdentity) -> str:
    """A first answer as one line of JSON; it names its question, so that it cannot be taken for another's."""
    record = {
        "format": FORMAT,
        "id": question.id,
        "db_id": question.db_id,
        "question": question.text,
        "sql": parse_sql(completion.text),
        "reply": completion.text,
        "prompt_tokens": completion.prompt_tokens,
        "output_tokens": completion.output_tokens,
        **({"tokens_estimated": True} if completion.tokens_estimated else {}),
        "prompt_version": prompt.version,
        "model": model_label(model),
    }
    return json.dumps(record, ensure_ascii=False)


def model_label(model: ModelIdentity) -> str:
    """A model's name for people, with its revision where it has one."""
    return f"{model.name}@{model.revision}" if model.revision else model.name


def read_first_answers(path: Path, dataset: Dataset, protocol: str) -> dict[QuestionId, FirstAnswer]:
    """First answers by question: `merit predict`'s own file, or any prediction file that `merit score` reads."""
    text = read_text(path, MOST_BYTES)
    if not text.strip():
        raise InputError(f"{path}: the file is empty; remove it, and the first answers are asked for")
    if not is_ours(text):
        predictions = read_predictions(path, dataset.questions, dataset.absent(protocol))
        for identity, sql in predictions.items():
            _check_length(sql, f"{path}: the first answer to question {identity}")
        return {identity: FirstAnswer(sendable(sql), sendable(sql)) for identity, sql in predictions.items()}
    asked = {question.id: question for question in dataset.questions}
    first_answers: dict[QuestionId, FirstAnswer] = {}
    for number, record in read_json_lines(text, path):
        where = f"{path}, line {number}"
        check_first_answer(record, asked, where)
        _check_length(record["reply"], f"{where}: the field 'reply'")
        if record["id"] in first_answers:
            raise InputError(f"{where}: question {record['id']} was answered before; keep one line for each id")
        cost = (record["prompt_tokens"], record["output_tokens"])
        estimated = tokens_estimated(record, where)
        first_answers[record["id"]] = FirstAnswer(sendable(record["sql"]), sendable(record["reply"]), *cost, estimated)
    return first_answers


def _check_length(answer: str, what: str) -> None:
    if len(answer) > ANSWER_CHARACTERS:
        raise InputError(f"{what} has {len(answer)} characters; {ANSWER_CHARACTERS} are the most that merit keeps")


def check_first_answer(record: Any, asked: Mapping[QuestionId, Question], where: str) -> None:
    """Raise unless a line is a first answer to one of the questions asked."""
    check_fields(record, {"format": int, **_FIELDS}, where)
    check_format(record["format"], FORMAT, "first answers", where)
    check_tokens(record, where)
    question = asked.get(record["id"]) if isinstance(record["id"], int | str) else None
    if question is None:
        raise InputError(
            f"{where}: the dataset has no question with id {shown(record['id'])}; were these made for other data, or "
            "another split?"
        )
    for name, here in (("db_id", question.db_id), ("question", question.text)):
        if record[name] != here:
            raise InputError(
                f"{where}: the {name} of question {question.id} is {shown(record[name])} there and {shown(here)} in "
                "the dataset; these first answers were made for other data or another split: name it (--split, or "
                "split in Python), or make new ones in another file"
            )
    if record["sql"] != parse_sql(record["reply"]):
        raise InputError(f"{where}: the field 'sql' is not the SQL in the reply; it was edited")


def check_all_answered(
    questions: Sequence[Question], first_answers: Mapping[QuestionId, FirstAnswer], path: Path, command: str
) -> None:
    """Raise for questions without a first answer; `command` asks for them where the file is merit's own."""
    without = [question.id for question in questions if question.id not in first_answers]
    if without:
        way_out = "write them into it, or name a file that is not there, and they are asked for"
        if is_ours(read_text(path, MOST_BYTES)):
            way_out = (
                f"ask for them with `{command}`; runs that began from the file as it is cannot go on after that: a run "
                "to extend later begins from the first answers to all questions, from merit predict without --limit"
            )
        raise InputError(
            f"{path}: {len(without)} of {len(questions)} questions have no first answer (the first is {without[0]}); "
            f"{way_out}"
        )


def is_ours(text: str) -> bool:
    """Whether a text begins as a file of first answers that merit wrote."""
    first = text.lstrip("\ufeff \n").split("\n", 1)[0]
    try:
        record = parse_json(first, Path("first"))
    except InputError:
        return False
    return isinstance(record, dict) and "reply" in record and "format" in record
