"""Very long answers: what merit accepts it can read again, and what it could not read again it refuses to write."""

import asyncio
import json
from pathlib import Path

import pytest

import merit.runs.folder
import merit.runs.questions
import merit.stream.predict
from making.benchmark import FickleModel
from making.commands import good
from making.runs import Bench, caching, files_of, make_bench
from merit.audit import audit_run
from merit.benchmark import Benchmark
from merit.errors import InputError, ModelFailed, RunUnusable
from merit.prompts import SPIDER, initial
from merit.reading import ANSWER_CHARACTERS, DOCUMENT_BYTES
from merit.runs import read_run
from merit.stream.first_answers import first_answer_line, read_first_answers
from merit.stream.predict import predict_all
from merit.types import Completion, Sampling

TAGS = len("<answer></answer>")


class LongModel(FickleModel):
    """Answers of so many characters, each of which takes six bytes in JSON."""

    def __init__(self, characters: int) -> None:
        super().__init__(salt=str(characters))
        self._characters = characters

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        short = await super().complete(prompt, sampling)
        sql = f"SELECT {len(self.prompts)} -- ".ljust(self._characters - TAGS, "\1")
        return Completion(f"<answer>{sql}</answer>", short.prompt_tokens, short.output_tokens)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


def test_an_answer_that_is_too_long_ends_the_run_which_can_still_be_read(bench: Bench, tmp_path: Path) -> None:
    """Nine million characters an answer made a run of which nothing could be read."""
    model = LongModel(9 << 20)
    with pytest.raises(ModelFailed, match=r"fickle: an answer of 9437184 characters, and 1048576 are the most"):
        bench.run(tmp_path / "run", "iterative", model=model, limit=1)
    assert len(model.prompts) == 1  # no more are paid for
    assert read_run(tmp_path / "run").turns == []


def test_an_answer_that_is_too_long_is_counted_and_not_kept() -> None:
    model = caching(LongModel(ANSWER_CHARACTERS + 1))

    async def ask() -> None:
        await model.complete("QUESTION:\nHow many items are there?\n", Sampling())

    for asked in (1, 2):
        with pytest.raises(ModelFailed):
            asyncio.run(ask())
        assert model.sent.calls == asked


def test_the_longest_answers_are_read_again(bench: Bench, tmp_path: Path) -> None:
    """The longest first answers to six questions: more than a document may have, in file, stream and trajectories."""
    with bench.data_spec.open(keep_results=False) as benchmark:
        dataset = benchmark.dataset
    sql = "SELECT 1 -- ".ljust(ANSWER_CHARACTERS - TAGS, "\1")
    lines = [
        first_answer_line(
            question,
            initial(SPIDER, question, ""),
            Completion(f"<answer>{sql}</answer>" if question.id in range(6) else "", 1, 1),
            FickleModel().identity,
        )
        for question in dataset.questions
    ]
    bench.initial.write_text("".join(f"{line}\n" for line in lines))
    assert bench.initial.stat().st_size > DOCUMENT_BYTES
    run = tmp_path / "run"
    assert audit_run(bench.run(run, "zero_shot")).questions == 12
    for name in ("stream.json", "trajectories.jsonl"):
        assert (run / name).stat().st_size > DOCUMENT_BYTES
    for _ in range(2):  # the second reads what the first wrote
        good("label", run, "--out", tmp_path / "labels.csv", "--write-only")
    good("score", "spider", "--data", bench.root, "--pred", run / "predictions.jsonl", "--no-cache")


@pytest.mark.parametrize("own", [True, False])
def test_a_first_answer_that_is_too_long_is_refused(bench: Bench, tmp_path: Path, own: bool) -> None:
    record = {"id": 0, "sql": "x" * (ANSWER_CHARACTERS + 1)}
    if own:
        with bench.data_spec.open(keep_results=False) as benchmark:
            question = benchmark.dataset.questions[0]
        completion = Completion("x" * (ANSWER_CHARACTERS + 1), 1, 1)
        record = json.loads(
            first_answer_line(question, initial(SPIDER, question, ""), completion, FickleModel().identity)
        )
    bench.initial.write_text(json.dumps(record))
    with pytest.raises(InputError, match=r"initial\.jsonl.* has 1048577 characters; 1048576 are the most"):
        bench.run(tmp_path / "run", limit=1)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("limit", ["DOCUMENT_BYTES", "LINES_BYTES"])
def test_a_turn_that_could_not_be_read_again_is_not_written(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """With smaller limits: that of a line, and that of a file, which has room for a few bytes more."""
    run = tmp_path / "run"
    bench.run(run, "iterative", limit=3)
    before = files_of(run)
    room = 100 if limit == "DOCUMENT_BYTES" else len(before["trajectories.jsonl"]) + 100
    monkeypatch.setattr(merit.runs.folder, limit, room)
    with pytest.raises(
        RunUnusable, match=r"would make it longer than merit reads again .* everything before it is kept"
    ):
        bench.run(run, "iterative")
    del before["metrics.json"]
    assert files_of(run) == before
    assert len(read_run(run).turns) == 3


def test_a_stream_that_could_not_be_read_again_is_not_begun(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merit.runs.questions, "LINES_BYTES", 1000)
    with pytest.raises(InputError, match=r"stream\.json: questions and first answers have more than"):
        bench.run(tmp_path / "run", "zero_shot")
    assert not (tmp_path / "run").exists()


def test_first_answers_that_could_not_be_read_again_are_not_written(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merit.stream.predict, "MOST_BYTES", 1500)
    out = tmp_path / "first.jsonl"
    with bench.data_spec.open(keep_results=False) as benchmark:
        dataset = benchmark.dataset
    with pytest.raises(RunUnusable, match=r"first\.jsonl: the next answer would make it longer than .* so far is kept"):
        asyncio.run(predict_all(Benchmark(dataset), dataset.questions, FickleModel(), Sampling(), out))
    assert 0 < out.stat().st_size <= 1500
    assert 0 < len(read_first_answers(out, dataset, "db")) < 12
