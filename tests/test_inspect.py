"""A real evaluation with Inspect over the bundled benchmark: its scores are the verdicts of `merit score`.

Inspect brings a hundred packages, so it is not installed with `dev`: `pip install -e '.[inspect]' pytest` runs these.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="Inspect is not installed: pip install '.[inspect]'")

from inspect_ai import Task, eval  # noqa: A004
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

from making.live import COUNT, PAID, make_shop
from merit.benchmark import DataSpec
from merit.inspect_solver import repair
from merit.inspect_tasks import open_benchmark, samples, sql_judge, sql_target, text_to_sql
from merit.scoring import score
from merit.types import QuestionId

pytestmark = pytest.mark.filterwarnings("ignore")  # Inspect leaves streams open
_LIMIT = 24


def model_saying(answer: Any) -> Any:
    """A mock model that answers by its prompt."""

    def output(messages: Any, *_: Any) -> ModelOutput:
        said = ModelOutput.from_content("mockllm/model", answer(messages[-1].text))
        said.usage = ModelUsage(input_tokens=10, output_tokens=5)  # else it would fetch a tokenizer to count them
        return said

    return get_model("mockllm/model", custom_outputs=output)


def run(task: Any, model: Any, folder: Path, **options: Any) -> EvalLog:
    (log,) = eval(task, model=model, log_dir=str(folder / "logs"), display="none", **options)
    assert log.status == "success", log.error
    assert log.samples is not None
    return log


@pytest.fixture
def predictions(bundled_cache: Path, monkeypatch: pytest.MonkeyPatch) -> dict[QuestionId, str]:
    """An answer to each of some questions: right, wrong, failing, cut off, or none."""
    monkeypatch.setenv("MERIT_CACHE", str(bundled_cache))
    with DataSpec("bundled", None).open(bundled_cache) as benchmark:
        questions = benchmark.dataset.questions[:_LIMIT]
        field = benchmark.dataset.layout.reference_field
        records = json.loads(benchmark.dataset.questions_file.read_text())[:_LIMIT]
        right = {question.id: record[field] for question, record in zip(questions, records, strict=True)}
    others = ["SELECT 1", "SELECT nothing FROM nowhere", "", "DROP TABLE x"]
    return {
        question.id: right[question.id] if number % 2 else others[number // 2 % len(others)]
        for number, question in enumerate(questions)
    }


def test_the_scorer_gives_the_verdicts_of_merit_score(predictions: dict[QuestionId, str], tmp_path: Path) -> None:
    with open_benchmark() as benchmark:
        asked = {sample.input: sample.id for sample in samples(benchmark)}
        verdicts = score(
            benchmark.dataset, benchmark.protocol, benchmark.distinct, predictions, benchmark.judge.judge, partial=True
        ).verdicts
    model = model_saying(lambda prompt: f"Here it is: <answer>{predictions[asked[prompt]]}</answer>")
    log = run(text_to_sql(), model, tmp_path, limit=_LIMIT)
    assert log.samples is not None
    found = {str(sample.id): sample.scores["sql_judge"] for sample in log.samples if sample.scores}
    assert {identity: (one.metadata or {})["status"] for identity, one in found.items()} == {
        str(question.id): verdict.status.value for question, verdict in verdicts.items()
    }
    assert sum(one.value == "C" for one in found.values()) == _LIMIT // 2
    assert len({(one.metadata or {})["status"] for one in found.values()}) >= 3
    assert all(sample.target == "" for sample in log.samples), "no log holds a reference"


def test_the_solver_repairs_what_the_model_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    database = str(make_shop(tmp_path / "shop.sqlite"))
    wrong = "SELECT count(*) FROM order WHERE state = 'paid'"
    model = model_saying(lambda prompt: wrong if prompt == "How many are paid?" else f"<answer>{PAID}</answer>")
    sample = Sample("How many are paid?", id=1, target="SELECT 2", metadata={"database": database})
    task = Task(MemoryDataset([sample]), solver=[generate(), repair()], scorer=sql_target())
    log = run(task, model, tmp_path)
    assert log.samples is not None
    (done,) = log.samples
    assert done.scores is not None
    assert done.scores["sql_target"].value == "C"
    assert re.sub(r"\s+", " ", str(done.scores["sql_target"].answer)).lower() == PAID.lower()
    assert (done.metadata["merit"]["status"], done.metadata["merit"]["written"]) == ("answered", wrong)
    assert "SELECT 2" not in json.dumps(
        [event.model_dump(mode="json") for event in done.events if event.event == "model"]
    )


def test_a_memory_is_recalled_and_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from making.live import ToldModel
    from merit.live import connect

    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    database = str(make_shop(tmp_path / "shop.sqlite"))
    with connect(database, model=ToldModel(COUNT), folder=tmp_path / "own") as agent:
        agent.confirm(agent.ask("How many orders are there?").id, author="ada")
    before = {path: path.read_bytes() for path in (tmp_path / "own").rglob("*") if path.is_file()}
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return f"<answer>{COUNT}</answer>"

    sample = Sample("How many orders do we have?", id=1, target=COUNT, metadata={"database": database})
    task = Task(MemoryDataset([sample]), solver=repair(memory=str(tmp_path / "own")), scorer=sql_target())
    run(task, model_saying(answer), tmp_path)
    assert any("How many orders are there?" in prompt for prompt in prompts)
    assert {path: path.read_bytes() for path in (tmp_path / "own").rglob("*") if path.is_file()} == before


def test_a_sample_without_a_database_is_refused(tmp_path: Path) -> None:
    task = Task(MemoryDataset([Sample("x", id=1, target="SELECT 1")]), solver=generate(), scorer=sql_target())
    (log,) = eval(task, model=model_saying(lambda _: COUNT), log_dir=str(tmp_path), display="none")
    assert log.status == "error"
    assert log.error is not None
    assert "it is not said which database it is about" in log.error.message


def test_the_scorer_says_which_sample_it_does_not_know(
    bundled_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(bundled_cache))
    task = Task(MemoryDataset([Sample("x", id="nothing")]), solver=generate(), scorer=sql_judge())
    (log,) = eval(task, model=model_saying(lambda _: COUNT), log_dir=str(tmp_path), display="none")
    assert log.error is not None
    assert "has no question of this id" in log.error.message
