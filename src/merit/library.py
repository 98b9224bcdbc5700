"""What `import merit` offers besides its types: open a benchmark, score, run a method, repair questions of your own."""

import asyncio
import math
import shlex
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar
from uuid import uuid4

from merit import prompts
from merit.agent import (
    Agent,
    Episode,
    FirstAnswer,
    Method,
    RememberingOracle,
    Task,
    ThreadedOracle,
    Work,
    finalise,
    find_method,
    repair,
)
from merit.benchmark import DEFAULT_TIMEOUT_S, Benchmark, DataSpec
from merit.cache import cache_folder
from merit.data import Dataset
from merit.errors import DatabaseUnusable, InputError, MeritError, check_type
from merit.memory import FileStore, Memory, VolatileStore, curate, is_url, memory_folder, open_at, open_store
from merit.models import AnswerStore, CachingCompleter, check_encoder, open_completer, open_encoder
from merit.models.answers import FILE as ANSWERS
from merit.prompts import Family, parse_sql
from merit.runs import RunView, read_run
from merit.runs.paths import MANIFEST
from merit.scoring import Score
from merit.scoring import score as score_predictions
from merit.sql import SQLiteEngine, executed
from merit.stream import DEFAULT_BUDGET, RunSpec, Workshop, open_setup, predict_for_runs, run_stream, window
from merit.types import Completer, Distinct, Engine, Limits, Question, QuestionId, Regime, Sampling, Schema, Verdict

DEFAULT_ENCODER = "wordllama"
Paths = str | Path
T = TypeVar("T")


def load(name: str, root: Paths | None = None, split: str = "dev", *, label: str = "") -> Dataset:
    """Read a benchmark: "bundled", which comes with merit, or "spider" or "bird" from the folder `root`.

    `label` is what to call data of your own in one of those layouts.
    """
    return DataSpec(name, None if root is None else _path("root", root), split, label=label).open().dataset


def open_benchmark(
    name: str,
    root: Paths | None = None,
    *,
    split: str = "dev",
    protocol: str | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    label: str = "",
    distinct: Distinct | None = None,
) -> Benchmark:
    """A benchmark with its judge, to be used in a `with` block: `benchmark.judge.judge(question, sql)`.

    `distinct` is "kept" or "dropped" for Spider's rule. By default it is dropped, as leaderboards have it; for the
    bundled benchmark, and in every `RunSpec`, it is kept.
    """
    folder = None if root is None else _path("root", root)
    return DataSpec(name, folder, split, protocol, timeout_s, label, distinct).open()


def score(benchmark: Benchmark, predictions: Mapping[QuestionId, str], *, partial: bool = False) -> Score:
    """Judge predictions, one for each question; `partial` judges only the questions that have one."""
    check_type("benchmark", benchmark, Benchmark, "what merit.open_benchmark returns")
    return score_predictions(
        benchmark.dataset,
        benchmark.protocol,
        benchmark.distinct,
        predictions,
        benchmark.judge.judge,
        partial=partial,
    )


def run(spec: RunSpec, out: Paths, *, model: str, encoder: str = DEFAULT_ENCODER, concurrency: int = 32) -> RunView:
    """Run a method over a benchmark, or go on with it; first answers that are missing are asked for first."""
    check_type("spec", spec, RunSpec, "a merit.RunSpec")
    check_type("model", model, str, "the name of a model, such as 'openai:NAME'")
    check_type("encoder", encoder, str, "the name of an encoder, such as 'wordllama'")
    check_encoder(encoder)
    folder = _path("out", out)

    async def go() -> None:
        async with Workshop(model, encoder, cache_folder(), concurrency=concurrency) as shop:
            await predict_for_runs([spec], shop)
            await run_stream(open_setup(spec, shop), folder, ahead=window(shop.completer.concurrency, 1))

    _run(go())
    return read_run(folder)


def open_memory(folder: Paths, *, encoder: str | None = DEFAULT_ENCODER) -> Memory:
    """The memory in a folder, or at a URL such as postgresql://..., for recalling and committing, in a `with` block.

    A folder that is not there, or is empty, becomes a new memory. That of a run belongs to the run: it is opened for
    reading only.
    """
    check_type("encoder", encoder, (str, NoneType), "the name of an encoder, such as 'wordllama', or None")
    place, opened = _place("folder", folder), open_encoder(encoder) if encoder else None
    if isinstance(place, str):
        return open_at(place, opened, cache_folder())
    own = _memory_folder(place)
    return Memory(FileStore(own, writable=not _is_of_run(own)), opened)


def repair_questions(
    database: Paths,
    questions: Sequence[str | Question],
    *,
    model: str | Completer,
    method: str | Method = "merit",
    memory: Paths | None = None,
    encoder: str = DEFAULT_ENCODER,
    budget: int = DEFAULT_BUDGET,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> list[Episode]:
    """Answer questions over a SQLite file, without references: an answer that fails to run is repaired.

    Questions are answered in order, and each may recall what earlier ones left, here or before in the same `memory`.
    """
    asked = _checked_questions(questions)
    check_type("model", model, (str, Completer), "the name of a model, such as 'openai:NAME', or a merit.Completer")
    check_type("method", method, (str, Method), "the name of a method, such as 'merit', or a merit.Method")
    check_type("encoder", encoder, str, "the name of an encoder, such as 'wordllama'")
    check_encoder(encoder)
    if type(budget) is not int or budget < 0:
        raise InputError(f"budget: expected a number of repairs, 0 or more, not {budget!r}")
    if not isinstance(timeout_s, int | float) or not 0 < timeout_s < math.inf:
        raise InputError(f"timeout_s: expected a number of seconds above 0, not {timeout_s!r}")
    place = None if memory is None else _place("memory", memory)
    file, limits = _path("database", database), Limits(timeout_s=timeout_s)
    return _run(_repair_all(file, asked, model, method, place, encoder, budget, limits))


async def _repair_all(
    database: Path,
    questions: Sequence[str | Question],
    model: str | Completer,
    method: str | Method,
    place: Paths | None,
    encoder: str,
    budget: int,
    limits: Limits,
) -> list[Episode]:
    chosen = find_method(method) if isinstance(method, str) else method
    if chosen.demonstrations or not chosen.online:
        raise InputError(f"the method {chosen.name!r} needs a benchmark; use another one")
    if not database.is_file():
        why = "is a folder; name a SQLite file" if database.is_dir() else "there is no such database"
        raise InputError(f"{database}: {why}")
    place = _own_memory(place) if isinstance(place, Path) else place
    asked = [_question(question, number, database) for number, question in enumerate(questions)]
    run_name = f"library-{uuid4().hex[:12]}"
    with ExitStack() as stack:
        engine = stack.enter_context(closing(SQLiteEngine(database)))
        schema = _schema(engine, database)
        store = stack.enter_context(closing(open_store(place) if place is not None else VolatileStore()))
        first = curate.next_position(store)
        remembered = stack.enter_context(Memory(store, open_encoder(encoder) if chosen.encodes else None))
        opened = open_completer(model) if isinstance(model, str) else model
        answers_file = cache_folder() / ANSWERS if isinstance(model, str) and not opened.recorded else None
        completer = CachingCompleter(opened, AnswerStore(answers_file))
        work, family = Work(), Family("own", evidence=any(question.evidence for question in asked))
        oracle = RememberingOracle(ThreadedOracle(_ExecutionJudge(engine, database, limits).judge), {}, work)
        agent = Agent(chosen, budget, family, completer, oracle, remembered, Regime.DBMS_ONLY, work=work)
        episodes = []
        try:
            for position, question in enumerate(asked, first):
                task = await _task(agent, question, schema, position)
                episodes.append(await repair(agent, task))
                entry = finalise(episodes[-1], chosen, run_name, Regime.DBMS_ONLY)
                if entry is not None:
                    remembered.commit(entry)
        finally:
            await completer.close()
    return episodes


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Do the work to its end; an error of merit's own reaches a program without the frames of the event loop."""
    if _loop_is_running():
        work.close()
        raise InputError(
            "an event loop runs here already, as in a notebook: call this in a thread, such as "
            "`await asyncio.to_thread(merit.repair_questions, ...)`"
        )
    try:
        return asyncio.run(work)
    except MeritError as error:
        raise error.with_traceback(None)  # noqa: B904 - the same error, so nothing is chained


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _checked_questions(questions: Iterable[str | Question]) -> list[str | Question]:
    """The questions as a list; refuses what would be asked for nothing, or fail deep inside."""
    if isinstance(questions, str | Question):
        raise InputError("questions: one text was given; give a list of questions, such as [question]")
    check_type("questions", questions, Iterable, "a list of questions")
    listed = list(questions)
    for number, question in enumerate(listed):
        if not isinstance(question, str | Question) or (isinstance(question, str) and not question.strip()):
            raise InputError(f"questions, item {number}: expected a text or a merit.Question, not {question!r}")
    return listed


def _memory_folder(folder: Path) -> Path:
    """A folder that holds a memory, or may become one: other files are never mixed with its own."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; name the folder of a memory")
    own = memory_folder(folder) if folder.is_dir() else folder
    files = {path.name for path in own.iterdir()} if own.is_dir() else set()
    if files and not any(name.startswith("memory") and name.endswith(".jsonl") for name in files):
        raise InputError(f"{folder}: holds {min(files)} and no memory; name a memory's folder, or a new one")
    return own


def _own_memory(folder: Path) -> Path:
    """A folder with a memory to add to; that of a run is refused, because its audit would no longer hold."""
    own = _memory_folder(folder)
    if _is_of_run(own):
        raise InputError(
            f"{folder}: this memory belongs to a run and is not changed; copy it with `merit memory copy "
            f"{shlex.quote(str(folder))} NEW`, and give NEW"
        )
    return own


def _is_of_run(memory: Path) -> bool:
    return (memory.parent / MANIFEST).is_file()


def _schema(engine: Engine, database: Path) -> Schema:
    """The schema of a database; a file without tables is refused, since nothing could be asked about it."""
    schema = engine.schema()
    if not schema.tables:
        raise DatabaseUnusable(f"{database}: has no tables to ask about; name a SQLite file that has some")
    return replace(schema, db_id=database.stem)


class _ExecutionJudge:
    """Judges by execution alone."""

    def __init__(self, engine: Engine, database: Path, limits: Limits) -> None:
        self._engine = engine
        self._database = database
        self._limits = limits

    def judge(self, _question: Question, sql: str) -> Verdict:
        """Whether `sql` ran, and if not, how it failed."""
        return executed(self._engine.execute(sql, self._limits), self._database)


async def _task(agent: Agent, question: Question, tables: Schema, position: int) -> Task:
    """A question with its first answer."""
    schema = tables.text()
    prompt = prompts.initial(agent.family, question, schema)
    reply = await agent.completer.complete(prompt.text, Sampling())
    first_answer = FirstAnswer(
        parse_sql(reply.text), reply.text, reply.prompt_tokens, reply.output_tokens, reply.tokens_estimated
    )
    return Task(question, schema, position, first_answer, position, tables)


def _question(question: str | Question, number: int, database: Path) -> Question:
    if isinstance(question, Question):
        return question
    return Question(f"{uuid4().hex[:8]}-{number}", database.stem, question)


def _place(argument: str, place: object) -> Paths:
    return place if isinstance(place, str) and is_url(place) else _path(argument, place)


def _path(argument: str, path: object) -> Path:
    check_type(argument, path, (str, Path), "a path")
    return Path(str(path))
