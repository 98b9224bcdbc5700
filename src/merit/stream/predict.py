"""First answers, generated once, greedily, and kept in one file."""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from merit import prompts
from merit.benchmark import Benchmark
from merit.errors import InputError, RunUnusable
from merit.files import open_regular, take_lock, unfinished_path, write_all
from merit.prompts import VERSIONS, family_named
from merit.reading import parse_json
from merit.runs import beginnings
from merit.runs.text import read_lines
from merit.stream.first_answers import FORMAT, MOST_BYTES, check_first_answer, first_answer_line, is_ours, model_label
from merit.stream.spec import RunSpec
from merit.stream.workshop import Workshop
from merit.types import Completer, Question, QuestionId, Sampling

_BEGINNING = f'{{"format": {FORMAT}, "id": '.encode()  # of every line


async def predict_all(
    benchmark: Benchmark,
    questions: Sequence[Question],
    completer: Completer,
    sampling: Sampling,
    path: Path,
    *,
    at_once: int = 64,
    on_answer: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Ask for the first answers that `path` does not have yet; returns how many were added, in question order."""
    dataset = benchmark.dataset
    asked = {question.id: question for question in dataset.questions}
    family = family_named(dataset.layout.name, VERSIONS[benchmark.prompts])
    live = benchmark.live_context(questions) if family.live else {}
    under_way = asyncio.Semaphore(at_once)

    async def answer(question: Question) -> str:
        prompt = prompts.initial(family, question, dataset.schemas[question.db_id].text(), live=live.get(question.id))
        async with under_way:
            completion = await completer.complete(prompt.text, sampling)
        return first_answer_line(question, prompt, completion, completer.identity)

    with _locked(path) as file:
        known = _known(path, asked, completer)
        todo = [question for question in questions if question.id not in known]
        on_answer(len(known), len(known) + len(todo))
        tasks = [asyncio.create_task(answer(question)) for question in todo]
        try:
            for done, task in enumerate(tasks, 1):
                _append(file, (await task + "\n").encode(), path)
                on_answer(len(known) + done, len(known) + len(todo))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    return len(todo)


async def predict_for_runs(
    specs: Iterable[RunSpec], shop: Workshop, on_answer: Callable[[int, int], None] = lambda _done, _total: None
) -> None:
    """Ask for the first answers of runs, for every file of them that does not exist; a file belongs to one dataset."""
    by_file: dict[Path, list[RunSpec]] = {}
    for spec in specs:
        by_file.setdefault(spec.initial, []).append(spec)
    for initial, runs in by_file.items():
        if initial.exists():
            continue
        benchmark = shop.benchmark(runs[0].data)
        unfinished = unfinished_path(initial)
        initial.parent.mkdir(parents=True, exist_ok=True)
        await predict_all(
            benchmark,
            beginnings(benchmark.usable_questions(), ((spec.seed, spec.limit) for spec in runs)),
            shop.completer,
            shop.sampling,
            unfinished,
            at_once=2 * shop.concurrency,
            on_answer=on_answer,
        )
        unfinished.replace(initial)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """A file open for appending, by one process at a time; a new file that is empty after a failure is removed."""
    there = path.exists()
    try:
        file = open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); choose another place") from None
    try:
        if not take_lock(file) or not _is_still_at(file, path):
            raise RunUnusable(f"{path}: another process writes first answers there; wait for it or stop it")
        try:
            yield file
        except BaseException:
            if not there and not os.fstat(file).st_size:
                path.unlink(missing_ok=True)
            raise
    finally:
        os.close(file)


def _is_still_at(file: int, path: Path) -> bool:
    """Whether an open file was not renamed meanwhile, as a process does that has just finished it."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _append(file: int, data: bytes, path: Path) -> None:
    if os.fstat(file).st_size + len(data) > MOST_BYTES:
        raise RunUnusable(
            f"{path}: the next answer would make it longer than the {MOST_BYTES >> 20} MiB that merit reads again; "
            "every answer so far is kept: ask fewer questions, or a model that answers more briefly"
        )
    try:
        write_all(file, data)
    except OSError as error:
        raise RunUnusable(
            f"{path}: cannot be written ({error.strerror}); every answer so far is kept: make room, then run the same "
            "command again"
        ) from error


def _known(path: Path, asked: dict[QuestionId, Question], completer: Completer) -> set[QuestionId]:
    """Which questions a file that was begun has answers to; any other file is refused unchanged."""
    if path.stat().st_size == 0:
        return set()
    lines = read_lines(path, torn=True)
    if lines and not is_ours(lines[0]) and not _is_damaged(lines[0]):
        raise _not_ours(path)
    known: set[QuestionId] = set()
    for number, line in enumerate(lines, 1):
        where = f"{path}, line {number}"
        record = parse_json(line, path, number)
        check_first_answer(record, asked, where)
        if record.get("model") != model_label(completer.identity):
            model = model_label(completer.identity)
            raise InputError(f"{where}: answered by {record.get('model')}, not by {model}; choose another place")
        known.add(record["id"])
    if not known and not _torn(path):
        raise _not_ours(path)
    os.truncate(path, sum(len(line.encode()) + 1 for line in lines))  # cut off an unfinished last line
    return known


def _is_damaged(line: str) -> bool:
    """Whether a line begins as one of ours and is not JSON: then its own fault is said."""
    try:
        parse_json(line, Path("first"))
    except InputError:
        return line.startswith(_BEGINNING.decode())
    return False


def _not_ours(path: Path) -> InputError:
    return InputError(
        f"{path}: is not a file of first answers that merit wrote, and was left alone; choose another place"
    )


def _torn(path: Path) -> bool:
    """Whether the file holds only the first bytes of a first line."""
    with path.open("rb") as file:
        there = file.read(len(_BEGINNING))
    return _BEGINNING.startswith(there)
