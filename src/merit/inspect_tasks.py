"""merit's judge as a scorer for evaluations with Inspect, and its benchmarks as tasks.

References stay in the judge: a sample's target is empty, so that no log holds one.
"""

import asyncio
import atexit
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState, generate

from merit.benchmark import DEFAULT_TIMEOUT_S, Benchmark, DataSpec
from merit.errors import InputError
from merit.inspect_solver import DATABASE, QUESTION, repair
from merit.oracle import TargetJudge
from merit.prompts import family_named, initial, parse_sql
from merit.types import Distinct, Question, Verdict


def open_benchmark(
    benchmark: str = "bundled",
    data: str = "",
    split: str = "dev",
    protocol: str | None = None,
    distinct: str | None = None,
    timeout: float = DEFAULT_TIMEOUT_S,
) -> Benchmark:
    """A benchmark as `merit score` names it; `data` is its folder."""
    chosen = Distinct(distinct) if distinct else None
    return DataSpec(benchmark, Path(data) if data else None, split, protocol, timeout, distinct=chosen).open()


def samples(benchmark: Benchmark) -> MemoryDataset:
    """The questions of a benchmark, each with merit's first prompt as its input; without any reference."""
    dataset = benchmark.dataset
    family = family_named(dataset.layout.name)
    found = [
        Sample(
            id=question.id,
            input=initial(family, question, dataset.schemas[question.db_id].text()).text,
            metadata={
                QUESTION: question.text if not question.evidence else f"{question.text}\n{question.evidence}",
                DATABASE: str(dataset.databases[question.db_id][0]),
                "db_id": question.db_id,
            },
        )
        for question in benchmark.present_questions
    ]
    return MemoryDataset(found, name=f"{dataset.title} {dataset.split}")


@scorer(metrics=[accuracy(), stderr()])
def sql_judge(
    benchmark: str = "bundled",
    data: str = "",
    split: str = "dev",
    protocol: str | None = None,
    distinct: str | None = None,
    timeout: float = DEFAULT_TIMEOUT_S,
) -> Scorer:
    """The verdict of `merit score` on the SQL in a reply; a sample's id is that of its question in the benchmark."""
    opened = open_benchmark(benchmark, data, split, protocol, distinct, timeout)
    atexit.register(opened.close)
    questions: dict[object, Question] = {question.id: question for question in opened.dataset.questions}

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the judge has the reference
        question = questions.get(state.sample_id)
        if question is None:
            raise InputError(f"sample {state.sample_id}: the benchmark {benchmark} has no question of this id")
        sql = parse_sql(state.output.completion)
        return _score(sql, await asyncio.to_thread(opened.judge.judge, question, sql))

    return score


@scorer(metrics=[accuracy(), stderr()])
def sql_target(database: str = "", rule: str = "bird", timeout: float = DEFAULT_TIMEOUT_S) -> Scorer:
    """Whether the SQL in a reply has the same result as the SQL that is the sample's target, on a SQLite database.

    `database` is its path, else the sample's metadata has it under "database"; `rule` is that of spider or bird.
    """
    judge = TargetJudge(rule, timeout_s=timeout)
    atexit.register(judge.close)

    async def score(state: TaskState, target: Target) -> Score:
        path = database or state.metadata.get(DATABASE)
        if not isinstance(path, str) or not path:
            where = "give sql_target(database=...), or metadata['database'] of the sample"
            raise InputError(f"sample {state.sample_id}: it is not said which database it is about; {where}")
        sql = parse_sql(state.output.completion)
        return _score(sql, await asyncio.to_thread(judge.judge, sql, target.text, Path(path)))

    return score


def _score(sql: str, verdict: Verdict) -> Score:
    explanation = verdict.status.value + (f": {verdict.error}" if verdict.error else "")
    return Score(
        value=CORRECT if verdict.correct else INCORRECT,
        answer=sql,
        explanation=explanation,
        metadata={"status": verdict.status.value, "error": verdict.error},
    )


@task
def text_to_sql(
    benchmark: str = "bundled",
    data: str = "",
    split: str = "dev",
    protocol: str | None = None,
    repaired: bool = False,
    candidates: int = 8,
) -> Task:
    """A benchmark of merit: the model's first answers, or with `repaired` what merit makes of them."""
    solvers = [generate(), repair(candidates=candidates)] if repaired else [generate()]
    with open_benchmark(benchmark, data, split, protocol) as opened:
        questions = samples(opened)
    return Task(questions, solver=solvers, scorer=sql_judge(benchmark, data, split, protocol))
