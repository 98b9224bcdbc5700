"""First answers in one file: through kills, full disks and two who write at the same time."""

import asyncio
from pathlib import Path

import pytest

from making.benchmark import ITEMS, FickleModel, build
from making.disks import no_file_larger_than, no_waiting, put_in_the_way
from merit.benchmark import Benchmark
from merit.data import Dataset, load
from merit.errors import InputError, RunUnusable
from merit.files import take_lock
from merit.stream.predict import predict_all
from merit.types import Completion, Sampling


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return load("spider", build(tmp_path / "data"))


async def predict(dataset: Dataset, path: Path, model: FickleModel | None = None) -> int:
    return await predict_all(Benchmark(dataset), dataset.questions, model or FickleModel(), Sampling(), path)


@pytest.mark.parametrize("left", [1, 10, 19, 20, 40, 200])
def test_a_kill_in_the_very_first_line_loses_nothing(dataset: Dataset, tmp_path: Path, left: int) -> None:
    out = tmp_path / "initial.jsonl"
    assert asyncio.run(predict(dataset, out)) == len(ITEMS)
    whole = out.read_bytes()
    assert b"\n" not in whole[:left]
    out.write_bytes(whole[:left])
    assert asyncio.run(predict(dataset, out)) == len(ITEMS)
    assert out.read_bytes() == whole


def test_a_line_of_somebody_else_is_no_torn_line(dataset: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "mine.json"
    for content in (b'{"format": 2, "id": 0, "db', b'{"id": 0, "sql": "SELECT 1"}', b'[{"format": 1, "id": 0'):
        out.write_bytes(content)
        with pytest.raises(
            InputError, match="mine.json: is not a file of first answers that merit wrote, and was left"
        ):
            asyncio.run(predict(dataset, out))
        assert out.read_bytes() == content


class Waiting(FickleModel):
    """Answers when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        await self.gate.wait()
        return await super().complete(prompt, sampling)


def test_a_file_is_written_by_one_at_a_time(dataset: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "initial.jsonl"

    async def scene() -> None:
        model = Waiting()
        first = asyncio.create_task(predict(dataset, out, model))
        await asyncio.sleep(0)
        with pytest.raises(RunUnusable) as caught:
            await predict(dataset, out)
        assert str(caught.value) == f"{out}: another process writes first answers there; wait for it or stop it"
        model.gate.set()
        assert await first == len(ITEMS)
        assert await predict(dataset, out) == 0  # the first one is done

    asyncio.run(scene())
    assert len(out.read_text().splitlines()) == len(ITEMS)


def test_a_file_that_another_process_finishes_just_now_is_left_to_it(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, finished = tmp_path / "initial.jsonl.part", tmp_path / "initial.jsonl"

    def lock_too_late(file: int) -> bool:
        out.replace(finished)
        return take_lock(file)

    monkeypatch.setattr("merit.stream.predict.take_lock", lock_too_late)
    with pytest.raises(RunUnusable, match="another process writes first answers there"):
        asyncio.run(predict(dataset, out))
    assert not out.exists()


@pytest.mark.parametrize("room", [100, 1000])
def test_a_full_disk_is_named_and_nothing_is_lost(dataset: Dataset, tmp_path: Path, room: int) -> None:
    out = tmp_path / "initial.jsonl"
    with no_file_larger_than(room), pytest.raises(RunUnusable) as caught:
        asyncio.run(predict(dataset, out))
    assert str(caught.value) == (
        f"{out}: cannot be written (File too large); every answer so far is kept: make room, then run the same "
        "command again"
    )
    begun = out.read_bytes()
    asyncio.run(predict(dataset, out))
    assert out.read_bytes().startswith(begun)
    assert len(out.read_text().splitlines()) == len(ITEMS)


def test_a_file_that_cannot_be_opened_is_named(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere/initial.jsonl: cannot be written \(No such file or directory\)"):
        asyncio.run(predict(dataset, tmp_path / "nowhere" / "initial.jsonl"))


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_first_answers_go_through_no_link_and_wait_for_no_pipe(dataset: Dataset, tmp_path: Path, kind: str) -> None:
    path, other = tmp_path / "initial.jsonl", tmp_path / "other"
    put_in_the_way(path, kind, other)
    says = r"initial.jsonl: cannot be written \(a link or a pipe, not a regular file\); choose another place"
    with no_waiting(), pytest.raises(InputError, match=says):
        asyncio.run(predict(dataset, path))
    assert not other.exists()
