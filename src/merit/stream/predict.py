"""First answers, generated once, greedily, and kept in one file."""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from merit import prompts
from merit.data import Dataset
from merit.errors import InputError
from merit.models import Completer, Sampling
from merit.prompts import Family
from merit.reading import parse_json
from merit.stream.folder import read_lines
from merit.stream.initial import check_initial, initial_line, model_label
from merit.types import Question, QuestionId


async def predict_all(
    dataset: Dataset,
    questions: Sequence[Question],
    family: Family,
    completer: Completer,
    sampling: Sampling,
    path: Path,
    *,
    at_once: int = 64,
    on_answer: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Ask for the first answers that `path` does not have yet; returns how many were added, in question order."""
    asked = {question.id: question for question in dataset.questions}
    known = _known(path, asked, completer)
    todo = [question for question in questions if question.id not in known]
    places = asyncio.Semaphore(at_once)
    on_answer(len(known), len(known) + len(todo))

    async def answer(question: Question) -> str:
        prompt = prompts.initial(family, question, dataset.schemas[question.db_id].text())
        async with places:
            completion = await completer.complete(prompt.text, sampling)
        return initial_line(question, prompt, completion, completer.identity)

    tasks = [asyncio.create_task(answer(question)) for question in todo]
    try:
        with path.open("ab") as file:
            for done, task in enumerate(tasks, 1):
                file.write((await task + "\n").encode())
                file.flush()
                on_answer(len(known) + done, len(known) + len(todo))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return len(todo)


def _known(path: Path, asked: dict[QuestionId, Question], completer: Completer) -> set[QuestionId]:
    """Which questions a file that was begun has answers to; what is no such file is left as it is."""
    if not path.exists() or path.stat().st_size == 0:
        return set()
    lines = read_lines(path, torn=True)
    known: set[QuestionId] = set()
    for number, line in enumerate(lines, 1):
        where = f"{path}, line {number}"
        record = parse_json(line, path, number)
        check_initial(record, asked, where)
        if record.get("model") != model_label(completer.identity):
            mine = model_label(completer.identity)
            raise InputError(f"{where}: answered by {record.get('model')}, not by {mine}; choose another --out")
        known.add(record["id"])
    if not known:
        raise InputError(f"{path}: holds something else than first answers; choose another --out")
    os.truncate(path, sum(len(line.encode()) + 1 for line in lines))  # a line that was never finished
    return known
