"""Answers that were paid for: kept, never asked for twice, handed on, merged and replayed."""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from making.clock import COMES_S
from making.disks import no_file_larger_than
from merit.errors import BudgetSpent, CacheUnusable, InputError, ModelFailed, NotRecorded
from merit.models import Allowance, AnswerStore, CachingCompleter, Prices, answer_key
from merit.models.answers import FILE
from merit.models.priority import PrioritySemaphore
from merit.models.replay import ReplayCompleter
from merit.types import Completer, Completion, ModelIdentity, Sampling

MODEL = ModelIdentity("openai:m", "1")
OTHER = ModelIdentity("openai:n")
GREEDY = Sampling()


class Model:
    """Answers when it is let, counts what it was asked, and fails as often as it is told to."""

    concurrency = 1
    recorded = False

    def __init__(self, *, failures: int = 0, tokens: int = 10, identity: ModelIdentity = MODEL) -> None:
        self.identity = identity
        self.asked: list[str] = []
        self.finished = 0
        self.closed = False
        self.gate = asyncio.Event()
        self.gate.set()
        self._failures = failures
        self._tokens = tokens

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:  # noqa: ARG002 - all are answered alike
        self.asked.append(prompt)
        await self.gate.wait()
        if self._failures:
            self._failures -= 1
            raise ModelFailed("the endpoint is down")
        self.finished += 1
        return Completion(f"answer {self.finished} to {prompt}", self._tokens - 3, 3)

    async def close(self) -> None:
        self.closed = True


class Queueing(Model):
    """Answers so many at a time."""

    def __init__(self, places: int) -> None:
        super().__init__()
        self.free = PrioritySemaphore(places)

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        async with self.free:
            await asyncio.sleep(0.001)
            return await super().complete(prompt, sampling)


def run(scene: Callable[[], Coroutine[None, None, None]]) -> None:
    asyncio.run(scene())


async def a_moment() -> None:
    """Long enough for everybody to have started."""
    for _ in range(5):
        await asyncio.sleep(0)


def fill(path: Path, model: ModelIdentity, *prompts: str, by: str = "") -> None:
    with closing(AnswerStore(path)) as store:
        for prompt in prompts:
            store.put(answer_key(model, prompt, GREEDY), model, Completion(f"{by}{prompt}!", 3, 2))


def contents(path: Path) -> list[tuple[bytes, ModelIdentity, Completion]]:
    with closing(AnswerStore.recording(path)) as store:
        return list(store.items())


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """As a user who may read this folder and write nothing into it."""
    root = os.geteuid() == 0
    if root:  # whom no mode stops, so it becomes somebody else
        for place in folder.parents:
            if "pytest-of-" in str(place):
                place.chmod(0o755)
    folder.chmod(0o555)
    if root:
        os.seteuid(65534)
    try:
        with pytest.raises(PermissionError):
            (folder / "new").touch()
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)


def everything_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def one_sentence(error: BaseException, *parts: str) -> None:
    """The error is a line that says each of these."""
    message = str(error)
    assert "\n" not in message
    for part in parts:
        assert part in message


# Keys: everything that decides an answer

SAMPLED = Sampling(temperature=0.5, max_tokens=100, seed=1)


@pytest.mark.parametrize(
    ("model", "prompt", "sampling"),
    [
        (ModelIdentity("openai:n", "1"), "p", SAMPLED),
        (ModelIdentity("openai:m", "2"), "p", SAMPLED),
        (ModelIdentity("openai:m1", ""), "p", SAMPLED),
        (MODEL, "p ", SAMPLED),
        (MODEL, "", SAMPLED),
        (MODEL, "p", replace(SAMPLED, temperature=0.6)),
        (MODEL, "p", replace(SAMPLED, max_tokens=101)),
        (MODEL, "p", replace(SAMPLED, seed=2)),
        (MODEL, "p", replace(SAMPLED, seed=0)),
        (MODEL, "p", replace(SAMPLED, seed=None)),
    ],
)
def test_whatever_decides_an_answer_makes_another_key(model: ModelIdentity, prompt: str, sampling: Sampling) -> None:
    assert answer_key(model, prompt, sampling) != answer_key(MODEL, "p", SAMPLED)


def test_keys_are_the_same_everywhere_and_for_ever() -> None:
    """Files are handed on: a key that changes would make every recording worthless."""
    assert answer_key(MODEL, "How many singers? ✓", GREEDY).hex() == "dcb187e375da1106f87347b75f991f7a"


def test_no_seed_is_not_the_seed_zero() -> None:
    assert answer_key(MODEL, "p", Sampling(seed=0)) != answer_key(MODEL, "p", Sampling())


@pytest.mark.parametrize("prompt", ["", "\0", "half a character \ud83d", "x" * 1_000_000])
def test_every_prompt_has_a_key(prompt: str) -> None:
    assert len(answer_key(MODEL, prompt, GREEDY)) == 16


def test_equal_samplings_have_equal_keys() -> None:
    assert Sampling(temperature=0) == Sampling(temperature=0.0)
    assert answer_key(MODEL, "p", Sampling(temperature=0)) == answer_key(MODEL, "p", Sampling(temperature=0.0))


# The store


def test_an_answer_is_kept_as_it_was(tmp_path: Path) -> None:
    key = answer_key(MODEL, "p", GREEDY)
    answer = Completion("SELECT '\0', 'très ✓ 😀'\r\n", 12, 34)
    with closing(AnswerStore(tmp_path / "deep" / "down" / "a.sqlite")) as store:
        assert store.get(key) is None
        store.put(key, MODEL, answer)
        assert store.get(key) == answer
        assert len(store) == 1
    assert contents(tmp_path / "deep" / "down" / "a.sqlite") == [(key, MODEL, answer)]


@settings(max_examples=50)
@given(st.text(st.characters()), st.integers(0, 2**40), st.integers(0, 2**40))
def test_any_text_is_kept_lone_surrogates_replaced(text: str, prompt_tokens: int, output_tokens: int) -> None:
    with closing(AnswerStore(None)) as store:
        answer = Completion(text, prompt_tokens, output_tokens)
        store.put(b"key", MODEL, answer)
        assert store.get(b"key") == answer
        assert answer.text == "".join("?" if "\ud800" <= c <= "\udfff" else c for c in text)


def test_the_first_answer_stays(tmp_path: Path) -> None:
    with closing(AnswerStore(tmp_path / "a.sqlite")) as store:
        store.put(b"key", MODEL, Completion("first", 1, 1))
        store.put(b"key", MODEL, Completion("second", 2, 2))
        assert store.get(b"key") == Completion("first", 1, 1)


def test_a_store_knows_whose_answers_it_has(tmp_path: Path) -> None:
    fill(tmp_path / "a.sqlite", MODEL, "p", "q")
    fill(tmp_path / "a.sqlite", OTHER, "p")
    fill(tmp_path / "a.sqlite", replace(MODEL, revision="2"), "p", "q", "r")
    with closing(AnswerStore(tmp_path / "a.sqlite")) as store:
        assert store.models() == [(MODEL, 2), (ModelIdentity("openai:m", "2"), 3), (OTHER, 1)]
        assert len(store) == 6
        assert store.get(answer_key(OTHER, "p", GREEDY)) == Completion("p!", 3, 2)


def test_a_file_holds_no_prompt(tmp_path: Path) -> None:
    prompt = "a question about some company's salaries"
    with closing(AnswerStore(tmp_path / "a.sqlite")) as store:
        store.put(answer_key(MODEL, prompt, GREEDY), MODEL, Completion("SELECT 1", 1, 1))
        assert not any(b"salaries" in file.read_bytes() for file in tmp_path.iterdir())
    assert b"SELECT 1" in (tmp_path / "a.sqlite").read_bytes()
    assert b"salaries" not in (tmp_path / "a.sqlite").read_bytes()


def test_two_threads_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    failed: list[BaseException] = []

    def write(model: ModelIdentity) -> None:
        try:
            fill(path, model, *(f"p{i}" for i in range(100)))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(model,)) for model in (MODEL, OTHER)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with closing(AnswerStore(path)) as store:
        assert store.models() == [(MODEL, 100), (OTHER, 100)]


def test_two_processes_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    script = """
import sys
from pathlib import Path
from merit.models.answers import AnswerStore
from merit.types import Completion
from merit.types import ModelIdentity
me = ModelIdentity(sys.argv[2])
store = AnswerStore(Path(sys.argv[1]))
for i in range(60):
    store.put(f"{me.name} {i}".encode(), me, Completion(f"{i}", i, 1))
    store.put(f"both {i}".encode(), me, Completion(f"{i}", i, 1))
store.close()
"""
    writers = [subprocess.Popen([sys.executable, "-c", script, str(path), name]) for name in ("a", "b")]
    assert [writer.wait(timeout=COMES_S) for writer in writers] == [0, 0]
    found = contents(path)
    assert len(found) == 180
    assert all(answer == Completion(key.decode().split()[1], answer.prompt_tokens, 1) for key, _, answer in found)


# Paths and files that will not do


@pytest.mark.parametrize("content", [b"no database " * 500, b"SQLite format 3\0" + random.Random(1).randbytes(8000)])
def test_a_damaged_file_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.sqlite"
    path.write_bytes(content)
    with pytest.raises(CacheUnusable) as caught:
        AnswerStore(path)
    one_sentence(caught.value, str(path), "damaged", "restore it from a copy, or move it away")
    assert path.read_bytes() == content


def damage_inside(path: Path) -> bytes:
    """Overwrite everything but the first page, which says what tables there are."""
    content = path.read_bytes()
    damaged = content[:4096] + random.Random(1).randbytes(len(content) - 4096)
    path.write_bytes(damaged)
    return damaged


def test_damage_inside_is_found_when_read_and_nothing_is_deleted(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    fill(path, MODEL, *(f"p{i}" for i in range(50)))
    damaged = damage_inside(path)
    with closing(AnswerStore(path)) as store:
        with pytest.raises(CacheUnusable) as caught:
            store.get(answer_key(MODEL, "p1", GREEDY))
        one_sentence(caught.value, str(path), "cannot be read")
        with pytest.raises(CacheUnusable) as caught:
            store.put(b"new", MODEL, Completion("x", 1, 1))
        one_sentence(caught.value, str(path), "cannot be kept")
    assert path.read_bytes() == damaged


def test_a_recording_that_is_damaged_inside_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    fill(path, MODEL, *(f"p{i}" for i in range(50)))
    damaged = damage_inside(path)
    with closing(AnswerStore(path)) as store, pytest.raises(CacheUnusable, match="a.sqlite"):
        ReplayCompleter(store)
    with pytest.raises(InputError) as caught:
        AnswerStore.recording(path)
    one_sentence(caught.value, f"{path}: not a file of recorded answers")
    assert path.read_bytes() == damaged


def test_merging_a_file_that_is_damaged_inside_is_refused(tmp_path: Path) -> None:
    fill(tmp_path / "theirs.sqlite", MODEL, *(f"p{i}" for i in range(50)))
    damage_inside(tmp_path / "theirs.sqlite")
    with closing(AnswerStore(tmp_path / "ours.sqlite")) as store:
        with pytest.raises(InputError, match="theirs.sqlite: not a file of recorded answers"):
            store.merge(tmp_path / "theirs.sqlite")
        assert len(store) == 0


def test_merging_a_file_that_is_damaged_at_its_end_takes_over_nothing(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.sqlite"
    with closing(AnswerStore(theirs)) as store:
        for i in range(200):
            store.put(b"%03d" % i, MODEL, Completion(f"{i}" * 500, 1, 1))
    content = theirs.read_bytes()
    theirs.write_bytes(content[:-4096] + random.Random(1).randbytes(4096))
    with closing(AnswerStore(tmp_path / "ours.sqlite")) as store:
        store.put(b"ours", OTHER, Completion("x", 1, 1))
        with pytest.raises(InputError) as caught:
            store.merge(theirs)
        one_sentence(caught.value, f"{theirs}: not a file of recorded answers, or damaged", "get it anew")
        assert store.models() == [(OTHER, 1)]


def test_a_database_that_is_no_recording_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "singers.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE singer (name TEXT)")
        db.commit()
    before = path.read_bytes()
    with pytest.raises(InputError, match="singers.sqlite: not a file of recorded answers"):
        AnswerStore.recording(path)
    assert everything_in(tmp_path) == {path.name: before}


def test_a_database_with_another_table_of_that_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "quiz.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE answer (question INT, letter TEXT)")
        db.commit()
    with pytest.raises(InputError, match="quiz.sqlite: not a file of recorded answers"):
        AnswerStore.recording(path)


def test_a_place_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "a.sqlite", Path("/proc/nowhere/a.sqlite")):
        with pytest.raises(CacheUnusable) as caught:
            AnswerStore(path)
        one_sentence(caught.value, str(path.parent), "cannot keep a cache here", "another folder")
    (tmp_path / "folder.sqlite").mkdir()
    with pytest.raises(CacheUnusable, match=r"folder.sqlite: is not a file; move it away"):
        AnswerStore(tmp_path / "folder.sqlite")


def test_a_read_only_place_is_named(tmp_path: Path) -> None:
    with read_only(tmp_path), pytest.raises(CacheUnusable) as caught:
        AnswerStore(tmp_path / "a.sqlite")
    one_sentence(caught.value, str(tmp_path), "cannot keep a cache here")
    assert list(tmp_path.iterdir()) == []


def test_a_recording_on_a_read_only_place_is_replayed(tmp_path: Path) -> None:
    fill(tmp_path / "a.sqlite", MODEL, "p")
    before = everything_in(tmp_path)

    async def scene() -> None:
        replay = ReplayCompleter(AnswerStore.recording(tmp_path / "a.sqlite"))
        assert (await replay.complete("p", GREEDY)).text == "p!"
        await replay.close()

    with read_only(tmp_path):
        run(scene)
    assert everything_in(tmp_path) == before


def test_a_recording_on_a_read_only_place_is_merged(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    fill(tmp_path / "theirs" / "a.sqlite", MODEL, "p")
    with closing(AnswerStore(tmp_path / "ours.sqlite")) as store, read_only(tmp_path / "theirs"):
        assert store.merge(tmp_path / "theirs" / "a.sqlite") == 1


def test_a_recording_in_a_folder_that_is_closed_is_named(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    fill(closed / "a.sqlite", MODEL, "p")
    closed.chmod(0o600)
    try:
        with read_only(tmp_path), pytest.raises(InputError, match="a.sqlite"):
            AnswerStore.recording(closed / "a.sqlite")
    finally:
        closed.chmod(0o755)


def test_a_recording_is_only_read(tmp_path: Path) -> None:
    fill(tmp_path / "a.sqlite", MODEL, "p")
    before = everything_in(tmp_path)
    with closing(AnswerStore.recording(tmp_path / "a.sqlite")) as store:
        assert store.path == tmp_path / "a.sqlite"
        assert store.models() == [(MODEL, 1)]
        with pytest.raises(CacheUnusable) as caught:
            store.put(b"new", MODEL, Completion("x", 1, 1))
        one_sentence(caught.value, "a.sqlite: answers cannot be kept")
        assert len(store) == len(list(store.items())) == 1
        assert everything_in(tmp_path) == before  # no files beside it, not even meanwhile
    assert everything_in(tmp_path) == before


@pytest.mark.parametrize("name", ["a b.sqlite", "50%25.sqlite", "a?mode=rwc.sqlite", "a#b.sqlite", "été ✓"])
def test_a_recording_may_have_any_name(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / name, MODEL, "p")
    assert len(contents(tmp_path / name)) == 1
    monkeypatch.chdir(tmp_path)
    assert len(contents(Path(name))) == 1
    assert list(everything_in(tmp_path)) == [name]


def test_a_recording_that_somebody_is_writing_is_read_as_it_is(tmp_path: Path) -> None:
    with closing(AnswerStore(tmp_path / "a.sqlite")) as store:
        store.put(answer_key(MODEL, "p", GREEDY), MODEL, Completion("p!", 3, 2))
        with closing(AnswerStore.recording(tmp_path / "a.sqlite")) as recording:
            assert recording.get(answer_key(MODEL, "p", GREEDY)) == Completion("p!", 3, 2)
            store.put(b"new", MODEL, Completion("x", 1, 1))
            assert recording.get(b"new") == Completion("x", 1, 1)
        store.put(b"newer", MODEL, Completion("x", 1, 1))
    assert len(contents(tmp_path / "a.sqlite")) == 3


def copied_while_written(tmp_path: Path) -> Path:
    """A folder with a recording and its -wal file, but not the -shm file, as copying and crashes leave it."""
    folder = tmp_path / "copy"
    folder.mkdir()
    with closing(AnswerStore(tmp_path / "a.sqlite")) as store:
        store.put(b"key", MODEL, Completion("x", 1, 1))
        for name in ("a.sqlite", "a.sqlite-wal"):
            (folder / name).write_bytes((tmp_path / name).read_bytes())
    return folder


def test_a_recording_that_was_copied_while_written_is_whole(tmp_path: Path) -> None:
    folder = copied_while_written(tmp_path)
    with closing(AnswerStore.recording(folder / "a.sqlite")) as store:
        assert store.get(b"key") == Completion("x", 1, 1)


def test_a_full_place_loses_no_answer_that_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    fill(path, MODEL, "p")
    with closing(AnswerStore(path)) as store:
        with no_file_larger_than(16_384), pytest.raises(CacheUnusable) as caught:
            store.put(b"long", MODEL, Completion("x" * 100_000, 1, 1))
        one_sentence(caught.value, str(path), "answers cannot be kept", "look at the disk, then run the same again")
        assert store.get(b"long") is None
        assert store.get(answer_key(MODEL, "p", GREEDY)) == Completion("p!", 3, 2)
        store.put(b"long", MODEL, Completion("x" * 100_000, 1, 1))  # there is room again
    assert len(contents(path)) == 2


def test_an_answer_kept_after_a_failure_still_has_its_model(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with closing(AnswerStore(path)) as store:
        with no_file_larger_than(65_536), pytest.raises(CacheUnusable):
            store.put(b"first", MODEL, Completion("x" * 100_000, 1, 1))
        store.put(b"second", MODEL, Completion("SELECT 1", 1, 1))
        assert store.get(b"second") == Completion("SELECT 1", 1, 1)
    assert contents(path) == [(b"second", MODEL, Completion("SELECT 1", 1, 1))]


# Merging


def test_merging_takes_over_what_is_new(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.sqlite", tmp_path / "theirs.sqlite"
    fill(ours, OTHER, "p", by="our ")
    fill(ours, MODEL, "p", "q", by="our ")
    fill(theirs, MODEL, "q", "r", "s", by="their ")
    fill(theirs, ModelIdentity("third"), "p", by="their ")
    before = contents(theirs)
    with closing(AnswerStore(ours)) as store:
        assert store.merge(theirs) == 3
        assert store.merge(theirs) == 0
        assert store.models() == [(MODEL, 4), (OTHER, 1), (ModelIdentity("third"), 1)]
    found = {(model.name, answer.text) for _, model, answer in contents(ours)}
    assert found == {
        ("openai:n", "our p!"),
        ("openai:m", "our p!"),
        ("openai:m", "our q!"),
        ("openai:m", "their r!"),
        ("openai:m", "their s!"),
        ("third", "their p!"),
    }
    assert contents(theirs) == before


def test_merging_in_either_order_keeps_the_same_questions(tmp_path: Path) -> None:
    for name in ("a", "b"):
        fill(tmp_path / f"{name}1.sqlite", MODEL, "p", "q")
        fill(tmp_path / f"{name}2.sqlite", OTHER, "p", "r")
    with closing(AnswerStore(tmp_path / "a1.sqlite")) as first, closing(AnswerStore(tmp_path / "b2.sqlite")) as second:
        assert first.merge(tmp_path / "a2.sqlite") == 2
        assert second.merge(tmp_path / "b1.sqlite") == 2
        assert list(first.items()) == list(second.items())


def test_merging_a_file_into_itself_changes_nothing(tmp_path: Path) -> None:
    fill(tmp_path / "a.sqlite", MODEL, "p", "q")
    before = contents(tmp_path / "a.sqlite")
    with closing(AnswerStore(tmp_path / "a.sqlite")) as store:
        assert store.merge(tmp_path / "a.sqlite") == 0
    assert contents(tmp_path / "a.sqlite") == before


def test_merging_what_is_no_file_of_answers_is_refused(tmp_path: Path) -> None:
    fill(tmp_path / "a.sqlite", MODEL, "p")
    (tmp_path / "torn").write_bytes(b"no database " * 500)
    with closing(AnswerStore(tmp_path / "a.sqlite")) as store:
        with pytest.raises(InputError, match="nowhere: no such file"):
            store.merge(tmp_path / "nowhere")
        with pytest.raises(InputError, match="torn: not a file of recorded answers"):
            store.merge(tmp_path / "torn")
        assert store.models() == [(MODEL, 1)]
    assert not (tmp_path / "nowhere").exists()


def test_merging_into_a_full_place_is_one_sentence(tmp_path: Path) -> None:
    fill(tmp_path / "theirs.sqlite", MODEL, *(f"p{i}" + "x" * 5000 for i in range(50)))
    with closing(AnswerStore(tmp_path / "ours.sqlite")) as store:
        with no_file_larger_than(65_536), pytest.raises(CacheUnusable) as caught:
            store.merge(tmp_path / "theirs.sqlite")
        one_sentence(caught.value, "ours.sqlite: answers cannot be kept")
        assert len(store) == 0
        assert store.merge(tmp_path / "theirs.sqlite") == 50  # there is room again
        assert store.models() == [(MODEL, 50)]


# Asked once


def test_the_same_prompt_is_asked_once_even_at_the_same_time() -> None:
    async def scene() -> None:
        model = Model()
        once = CachingCompleter(model, AnswerStore(None))
        assert once.identity == MODEL
        model.gate.clear()
        waiting = [asyncio.create_task(once.complete("p", GREEDY)) for _ in range(50)]
        await a_moment()
        assert model.asked == ["p"]
        model.gate.set()
        answers = await asyncio.gather(*waiting)
        assert set(answers) == {Completion("answer 1 to p", 7, 3)}
        assert await once.complete("p", GREEDY) == answers[0]
        assert model.asked == ["p"]
        assert (once.sent.calls, once.sent.prompt_tokens, once.sent.output_tokens) == (1, 7, 3)
        assert once.sent.tokens == 10
        assert once.sent.reused == 1
        await once.close()
        assert model.closed

    run(scene)


def test_what_differs_is_asked_side_by_side() -> None:
    async def scene() -> None:
        model = Model()
        once = CachingCompleter(model, AnswerStore(None))
        model.gate.clear()
        asked = [("p", GREEDY), ("q", GREEDY), ("p", Sampling(temperature=1.0, seed=1)), ("p", Sampling(max_tokens=1))]
        waiting = [asyncio.create_task(once.complete(*one)) for one in asked]
        await a_moment()
        assert len(model.asked) == 4
        model.gate.set()
        assert len({answer.text for answer in await asyncio.gather(*waiting)}) == 4
        await once.close()

    run(scene)


def test_answers_survive_reopening(tmp_path: Path) -> None:
    async def scene() -> None:
        first, second = Model(), Model()
        once = CachingCompleter(first, AnswerStore(tmp_path / "a.sqlite"))
        answers = await asyncio.gather(*(once.complete(f"p{i}", GREEDY) for i in range(20)))
        await once.close()
        again = CachingCompleter(second, AnswerStore(tmp_path / "a.sqlite"))
        assert await asyncio.gather(*(again.complete(f"p{i}", GREEDY) for i in range(20))) == answers
        assert second.asked == []
        assert (again.sent.calls, again.sent.tokens, again.sent.reused) == (0, 0, 20)
        await again.close()

    run(scene)


@pytest.mark.parametrize("uses", [1, 2, 7, 16])
def test_whoever_is_killed_has_kept_all_that_was_used(tmp_path: Path, uses: int) -> None:
    """It kills itself with so many answers handed out: those are kept, and of the others only calls under way are lost."""
    script = f"""
import asyncio, os, signal, sys
from pathlib import Path
from merit.models import AnswerStore, CachingCompleter
from merit.types import Completion, ModelIdentity, Sampling
from merit.models.priority import PrioritySemaphore

class Model:
    concurrency = 1
    recorded = False

    identity, free = ModelIdentity("openai:m"), PrioritySemaphore(3)

    async def complete(self, prompt, sampling):
        async with self.free:
            print("asked", prompt, flush=True)
            await asyncio.sleep(0)
            return Completion(prompt + "!", 3, 2)

async def use(once, prompt):
    await once.complete(prompt, Sampling())
    used.append(prompt)
    print("used", prompt, flush=True)
    if len(used) == {uses}:
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    once = CachingCompleter(Model(), AnswerStore(Path(sys.argv[1])))
    await asyncio.gather(*(use(once, f"p{{i}}") for i in range(20)))

used = []
asyncio.run(main())
"""
    path = tmp_path / "a.sqlite"
    killed = subprocess.run(
        [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True, timeout=COMES_S
    )
    assert killed.returncode == -signal.SIGKILL
    said = [line.split() for line in killed.stdout.splitlines()]
    asked, used = ([prompt for what, prompt in said if what == which] for which in ("asked", "used"))
    assert len(used) == uses
    kept = {answer.text.rstrip("!") for _, _, answer in contents(path)}
    assert set(used) <= kept
    assert len(set(asked) - kept) <= 3


def test_another_model_gets_none_of_them(tmp_path: Path) -> None:
    async def scene() -> None:
        for number, identity in enumerate([MODEL, OTHER, replace(MODEL, revision="2")], 1):
            model = Model(identity=identity)
            once = CachingCompleter(model, AnswerStore(tmp_path / "a.sqlite"))
            await once.complete("p", GREEDY)
            assert model.asked == ["p"]
            await once.close()
            assert len(contents(tmp_path / "a.sqlite")) == number

    run(scene)


def test_two_who_share_a_file_use_one_answer(tmp_path: Path) -> None:
    """As two processes do: both ask, the first answer stays, and both go on with it."""

    async def scene() -> None:
        models = [Model(), Model()]
        models[1].finished = 5  # so that its answer is another one
        both = [CachingCompleter(model, AnswerStore(tmp_path / "a.sqlite")) for model in models]
        found = await asyncio.gather(*(once.complete("p", GREEDY) for once in both))
        assert [len(model.asked) for model in models] == [1, 1]
        assert [answer.text for answer in found] == ["answer 1 to p"] * 2
        assert [once.sent.calls for once in both] == [1, 1]
        for once in both:
            await once.close()

    run(scene)


def test_who_stops_waiting_stops_neither_the_question_nor_the_others(tmp_path: Path) -> None:
    async def scene() -> None:
        model = Model()
        once = CachingCompleter(model, AnswerStore(tmp_path / "a.sqlite"))
        model.gate.clear()
        impatient, patient = (asyncio.create_task(once.complete("p", GREEDY)) for _ in range(2))
        alone = asyncio.create_task(once.complete("q", GREEDY))
        await a_moment()
        impatient.cancel()
        alone.cancel()
        await a_moment()
        assert impatient.cancelled()
        assert alone.cancelled()
        model.gate.set()
        assert (await patient).text.endswith("to p")
        await a_moment()
        assert (await once.complete("q", GREEDY)).text.endswith("to q")
        assert model.asked == ["p", "q"]  # what nobody waited for was kept all the same
        await once.close()

    run(scene)
    assert len(contents(tmp_path / "a.sqlite")) == 2


def test_a_failure_reaches_everybody_and_is_not_remembered() -> None:
    async def scene() -> None:
        model = Model(failures=1)
        once = CachingCompleter(model, AnswerStore(None))
        model.gate.clear()
        waiting = [asyncio.create_task(once.complete("p", GREEDY)) for _ in range(50)]
        await a_moment()
        model.gate.set()
        found = await asyncio.gather(*waiting, return_exceptions=True)
        assert [str(one) for one in found] == ["the endpoint is down"] * 50
        assert all(isinstance(one, ModelFailed) for one in found)
        assert once.sent.calls == 0
        assert (await once.complete("p", GREEDY)).text == "answer 1 to p"
        assert model.asked == ["p", "p"]
        await once.close()

    run(scene)


def test_a_failure_that_nobody_waits_for_disturbs_nobody() -> None:
    async def scene() -> None:
        noticed: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: noticed.append(context))
        model = Model(failures=1)
        once = CachingCompleter(model, AnswerStore(None))
        model.gate.clear()
        waiting = asyncio.create_task(once.complete("p", GREEDY))
        await a_moment()
        waiting.cancel()
        await a_moment()
        model.gate.set()
        await a_moment()
        await once.close()
        assert noticed == []

    run(scene)


def test_closing_stops_what_is_under_way() -> None:
    async def scene() -> None:
        model = Model()
        once = CachingCompleter(model, AnswerStore(None))
        model.gate.clear()
        waiting = asyncio.create_task(once.complete("p", GREEDY))
        await a_moment()
        await once.close()
        assert model.closed
        assert model.finished == 0
        with pytest.raises(asyncio.CancelledError):
            await waiting

    run(scene)


def test_the_allowance_ends_a_run_and_keeps_everything(tmp_path: Path) -> None:
    async def scene() -> None:
        model = Model(tokens=10)
        once = CachingCompleter(model, AnswerStore(tmp_path / "a.sqlite"), Allowance(max_tokens=25))
        for prompt in ("p", "q", "r"):  # the one that passes the limit is paid for, so it is kept
            await once.complete(prompt, GREEDY)
        for _ in range(2):
            with pytest.raises(BudgetSpent) as caught:
                await once.complete("s", GREEDY)
            one_sentence(caught.value, "30 tokens were used of the 25 allowed", "every answer is kept", "allow more")
        assert (await once.complete("q", GREEDY)).text == "answer 2 to q"  # what is known costs nothing
        assert model.asked == ["p", "q", "r"]
        await once.close()
        again = CachingCompleter(model, AnswerStore(tmp_path / "a.sqlite"), Allowance(max_tokens=10))
        for prompt in ("p", "q", "r", "s"):
            await again.complete(prompt, GREEDY)
        assert model.asked == ["p", "q", "r", "s"]
        await again.close()

    run(scene)
    assert len(contents(tmp_path / "a.sqlite")) == 4


def test_the_allowance_is_overstepped_by_no_more_than_what_is_under_way() -> None:
    """However many calls wait for a place."""

    async def scene() -> None:
        model = Queueing(3)
        once = CachingCompleter(model, AnswerStore(None), Allowance(max_tokens=25))
        calls = [once.complete(f"p{i}", GREEDY) for i in range(50)]
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert 3 <= len(model.asked) <= 5  # the third goes beyond it, and two more may be under way by then
        assert [type(one) for one in found].count(BudgetSpent) == 50 - len(model.asked)
        assert once.sent.tokens == 10 * len(model.asked)
        for _ in range(3):  # every place was given back
            await asyncio.wait_for(model.free.__aenter__(), 1.0)
        await once.close()

    run(scene)


def test_money_ends_a_run_as_tokens_do(tmp_path: Path) -> None:
    """7 prompt and 3 output tokens a call: 2.5 + 1.5 = 4 a call, of 10."""

    async def scene() -> None:
        model = Model(tokens=10)
        fill(tmp_path / "a.sqlite", MODEL, "known")
        allowance = Allowance(max_cost=10.0, prices=Prices(2.5e6 / 7, 0.5e6))
        once = CachingCompleter(model, AnswerStore(tmp_path / "a.sqlite"), allowance)
        for prompt in ("known", "p", "q", "p", "r"):  # what is there already costs nothing
            await once.complete(prompt, GREEDY)
        with pytest.raises(BudgetSpent) as caught:
            await once.complete("s", GREEDY)
        one_sentence(caught.value, "12.0000 was spent of the 10 allowed, for 30 tokens", "every answer is kept")
        assert model.asked == ["p", "q", "r"]
        assert (await once.complete("r", GREEDY)).text == "answer 3 to r"
        await once.close()

    run(scene)


def test_a_limit_on_the_cost_needs_prices() -> None:
    with pytest.raises(InputError, match="a limit on the cost needs prices"):
        Allowance(max_cost=1.0)


def test_each_share_counts_what_was_asked_on_its_behalf() -> None:
    async def scene() -> None:
        model = Model(tokens=10)
        once = CachingCompleter(model, AnswerStore(None), Allowance(prices=Prices(1.0, 2.0)))
        one, other = once.for_run(), once.for_run()
        await one.complete("p", GREEDY)
        await one.prefetching.complete("q", GREEDY)
        await other.complete("p", GREEDY)
        assert (one.sent.calls, one.sent.wasted, other.sent.calls, other.sent.reused) == (2, 1, 0, 1)
        await other.complete("q", GREEDY)  # asked for early by one, needed by another: not wasted
        assert (one.sent.wasted, other.sent.calls, other.sent.reused) == (0, 0, 2)
        await other.complete("r", GREEDY)
        assert (once.sent.calls, once.sent.tokens, once.sent.reused) == (3, 30, 2)
        assert one.account()["cost"] == pytest.approx(2 * (7 * 1.0 + 3 * 2.0) / 1e6)
        assert other.account()["cost"] == pytest.approx((7 * 1.0 + 3 * 2.0) / 1e6)
        await once.close()

    run(scene)


def test_nothing_is_asked_where_nothing_is_allowed() -> None:
    async def scene() -> None:
        model = Model()
        once = CachingCompleter(model, AnswerStore(None), Allowance(max_tokens=0))
        with pytest.raises(BudgetSpent):
            await once.complete("p", GREEDY)
        assert model.asked == []
        await once.close()

    run(scene)


def test_an_answer_that_cannot_be_kept_is_reported_to_everybody(tmp_path: Path) -> None:
    async def scene() -> None:
        once = CachingCompleter(Model(), AnswerStore(tmp_path / "a.sqlite"))
        with no_file_larger_than(4096):
            found = await asyncio.gather(*(once.complete("p", GREEDY) for _ in range(3)), return_exceptions=True)
        assert all(isinstance(one, CacheUnusable) for one in found)
        assert (await once.complete("p", GREEDY)).text == "answer 2 to p"
        await once.close()

    run(scene)


# Asked early


def test_an_answer_asked_for_early_is_wasted_until_somebody_needs_it() -> None:
    async def scene() -> None:
        model = Model()
        once = CachingCompleter(model, AnswerStore(None))
        assert once.prefetching.identity == MODEL
        early = [await once.prefetching.complete(prompt, GREEDY) for prompt in ("p", "q", "p")]
        assert early[0] == early[2] == Completion("answer 1 to p", 7, 3)
        assert (once.sent.calls, once.sent.tokens, once.sent.reused, once.sent.wasted) == (2, 20, 0, 2)
        assert await once.complete("p", GREEDY) == early[0]
        assert (once.sent.calls, once.sent.reused, once.sent.wasted) == (2, 1, 1)
        await once.complete("p", GREEDY)
        await once.prefetching.complete("p", GREEDY)
        assert once.sent.wasted == 1  # q
        await once.complete("q", Sampling(seed=1))  # another question
        assert (once.sent.calls, once.sent.wasted) == (3, 1)
        await once.complete("q", GREEDY)
        assert (once.sent.calls, once.sent.wasted) == (3, 0)
        assert model.asked == ["p", "q", "q"]
        await once.close()

    run(scene)


def test_early_and_in_time_are_one_question() -> None:
    async def scene() -> None:
        for early_first in (True, False):
            model = Model()
            once = CachingCompleter(model, AnswerStore(None))
            model.gate.clear()
            order: list[Completer] = [once.prefetching, once] if early_first else [once, once.prefetching]
            waiting = [asyncio.create_task(one.complete("p", GREEDY)) for one in order]
            await a_moment()
            model.gate.set()
            first, second = await asyncio.gather(*waiting)
            assert first == second
            assert model.asked == ["p"]
            assert (once.sent.calls, once.sent.wasted) == (1, 0)
            await once.close()

    run(scene)


def test_looking_ahead_at_what_is_known_wastes_nothing(tmp_path: Path) -> None:
    fill(tmp_path / "a.sqlite", MODEL, "p")

    async def scene() -> None:
        model = Model()
        once = CachingCompleter(model, AnswerStore(tmp_path / "a.sqlite"))
        assert (await once.prefetching.complete("p", GREEDY)).text == "p!"
        assert model.asked == []
        assert (once.sent.calls, once.sent.reused, once.sent.wasted) == (0, 0, 0)
        await once.close()

    run(scene)


def test_who_stops_looking_ahead_leaves_an_answer_that_is_wasted_until_needed() -> None:
    async def scene() -> None:
        model = Model()
        once = CachingCompleter(model, AnswerStore(None))
        model.gate.clear()
        ahead = asyncio.create_task(once.prefetching.complete("p", GREEDY))
        await a_moment()
        ahead.cancel()
        await a_moment()
        model.gate.set()
        await a_moment()
        assert (once.sent.calls, once.sent.wasted) == (1, 1)
        await once.complete("p", GREEDY)
        assert (once.sent.calls, once.sent.wasted) == (1, 0)
        await once.close()

    run(scene)


def test_closing_those_who_look_ahead_closes_nothing() -> None:
    async def scene() -> None:
        model = Model()
        once = CachingCompleter(model, AnswerStore(None))
        await once.prefetching.close()
        assert not model.closed
        await once.complete("p", GREEDY)
        await once.close()
        assert model.closed

    run(scene)


def test_the_allowance_holds_for_those_who_look_ahead() -> None:
    async def scene() -> None:
        model = Model(tokens=10)
        once = CachingCompleter(model, AnswerStore(None), Allowance(max_tokens=5))
        await once.prefetching.complete("p", GREEDY)
        for ask in (once.prefetching.complete, once.complete):
            with pytest.raises(BudgetSpent):
                await ask("q", GREEDY)
        assert model.asked == ["p"]
        await once.close()

    run(scene)


def test_no_answer_is_no_wasted_answer() -> None:
    async def scene() -> None:
        once = CachingCompleter(Model(failures=1), AnswerStore(None))
        with pytest.raises(ModelFailed):
            await once.prefetching.complete("p", GREEDY)
        assert (once.sent.calls, once.sent.wasted) == (0, 0)
        await once.close()

    run(scene)


def test_an_answer_that_came_at_the_second_try_is_not_wasted_once_needed() -> None:
    async def scene() -> None:
        once = CachingCompleter(Model(failures=1), AnswerStore(None))
        with pytest.raises(ModelFailed):
            await once.prefetching.complete("p", GREEDY)
        await once.prefetching.complete("p", GREEDY)
        await once.complete("p", GREEDY)
        assert (once.sent.calls, once.sent.wasted) == (1, 0)
        await once.close()

    run(scene)


# Replay


def test_a_recording_answers_what_was_recorded_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    fill(path, MODEL, "p")
    before = everything_in(tmp_path)

    async def scene() -> None:
        replay = ReplayCompleter(AnswerStore.recording(path))
        assert replay.identity == MODEL
        assert await replay.complete("p", GREEDY) == Completion("p!", 3, 2)
        for prompt, sampling in [("a secret prompt", GREEDY), ("p", Sampling(seed=1)), ("p", Sampling(max_tokens=5))]:
            with pytest.raises(NotRecorded) as caught:
                await replay.complete(prompt, sampling)
            key = answer_key(MODEL, prompt, sampling).hex()
            one_sentence(caught.value, str(path), "openai:m", f"to the prompt {key[:12]};", "ask a live model")
            assert "secret" not in str(caught.value)
        assert everything_in(tmp_path) == before
        await replay.close()

    run(scene)
    assert everything_in(tmp_path) == before


def test_a_replayed_run_is_the_recorded_models_run(tmp_path: Path) -> None:
    """A recording behind CachingCompleter fills a run's own file with the same answers."""
    fill(tmp_path / "recording.sqlite", MODEL, "p", "q")

    async def scene() -> None:
        replay = ReplayCompleter(AnswerStore.recording(tmp_path / "recording.sqlite"))
        once = CachingCompleter(replay, AnswerStore(tmp_path / "run.sqlite"))
        for prompt in ("p", "q", "p"):
            await once.complete(prompt, GREEDY)
        with pytest.raises(NotRecorded):
            await once.complete("r", GREEDY)
        await once.close()

    run(scene)
    assert contents(tmp_path / "run.sqlite") == contents(tmp_path / "recording.sqlite")


def test_several_models_need_a_name(tmp_path: Path) -> None:
    fill(tmp_path / "a.sqlite", MODEL, "p")
    fill(tmp_path / "a.sqlite", OTHER, "p", by="other ")
    for name in ("", "openai:x", "openai", "openai:m@", "openai:m@2", "@1"):
        with pytest.raises(InputError) as caught:
            ReplayCompleter(AnswerStore.recording(tmp_path / "a.sqlite"), name)
        one_sentence(
            caught.value,
            "a.sqlite: name the model to replay as replay:FILE#MODEL",
            "recorded are: openai:m@1, openai:n",
        )
    with closing(AnswerStore.recording(tmp_path / "a.sqlite")) as store:
        assert ReplayCompleter(store, "openai:m").identity == MODEL
        assert asyncio.run(ReplayCompleter(store, "openai:n").complete("p", GREEDY)).text == "other p!"


def test_one_model_may_be_named_but_not_misnamed(tmp_path: Path) -> None:
    fill(tmp_path / "a.sqlite", MODEL, "p")
    with closing(AnswerStore(tmp_path / "a.sqlite")) as store:
        assert ReplayCompleter(store, "openai:m").identity == MODEL
        with pytest.raises(InputError, match="recorded are: openai:m@1$"):
            ReplayCompleter(store, "openai:n")


def test_an_empty_recording_says_so(tmp_path: Path) -> None:
    fill(tmp_path / "a.sqlite", MODEL)
    with closing(AnswerStore(tmp_path / "a.sqlite")) as store, pytest.raises(InputError, match="recorded are: none"):
        ReplayCompleter(store)


def test_two_revisions_of_a_model_can_be_told_apart(tmp_path: Path) -> None:
    fill(tmp_path / "a.sqlite", ModelIdentity("openai:m", "q4_k_m"), "p")
    fill(tmp_path / "a.sqlite", ModelIdentity("openai:m", "f16"), "p")
    for name in ("", "openai:m"):
        with pytest.raises(InputError) as caught:
            ReplayCompleter(AnswerStore.recording(tmp_path / "a.sqlite"), name)
        one_sentence(caught.value, "recorded are: openai:m@f16, openai:m@q4_k_m")
    with closing(AnswerStore.recording(tmp_path / "a.sqlite")) as store:
        for revision in ("q4_k_m", "f16"):
            replay = ReplayCompleter(store, f"openai:m@{revision}")
            assert replay.identity == ModelIdentity("openai:m", revision)
            assert asyncio.run(replay.complete("p", GREEDY)).text == "p!"


OLD = """
CREATE TABLE answer (key BLOB PRIMARY KEY, model INT NOT NULL, text TEXT NOT NULL, prompt_tokens INT NOT NULL,
    output_tokens INT NOT NULL) WITHOUT ROWID;
CREATE TABLE model (id INTEGER PRIMARY KEY, name TEXT NOT NULL, revision TEXT NOT NULL, UNIQUE (name, revision));
INSERT INTO model VALUES (1, 'm', 'r');
INSERT INTO answer VALUES (x'01', 1, 'SELECT 1', 5, 2), (x'02', 1, 'SELECT 1', 6, 2), (x'03', 1, 'SELECT 3', 7, 2);
"""


def test_a_file_of_the_first_format_is_read_merged_and_taken_over(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "answers-v1.sqlite")) as db:
        db.executescript(OLD)
    expected = [
        (b"\x01", ModelIdentity("m", "r"), Completion("SELECT 1", 5, 2)),
        (b"\x02", ModelIdentity("m", "r"), Completion("SELECT 1", 6, 2)),
        (b"\x03", ModelIdentity("m", "r"), Completion("SELECT 3", 7, 2)),
    ]
    with closing(AnswerStore.recording(tmp_path / "answers-v1.sqlite")) as old:
        assert list(old.items()) == expected
        assert old.get(b"\x03") == Completion("SELECT 3", 7, 2)
    with closing(AnswerStore(tmp_path / FILE)) as store:
        assert list(store.items()) == expected
    with closing(AnswerStore(tmp_path / FILE)) as store:
        assert len(store) == 3


def test_a_text_is_kept_once(tmp_path: Path) -> None:
    with closing(AnswerStore(tmp_path / FILE)) as store:
        for i in range(100):
            store.put(bytes([i]), MODEL, Completion("SELECT " + "x" * 10_000, i, 1))
        assert store.get(bytes([7])) == Completion("SELECT " + "x" * 10_000, 7, 1)
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        assert db.execute("SELECT count(*) FROM said").fetchone() == (1,)


def test_an_answer_without_its_text_is_told(tmp_path: Path) -> None:
    with closing(AnswerStore(tmp_path / FILE)) as store:
        store.put(b"a", MODEL, Completion("SELECT 1", 1, 1))
    with closing(sqlite3.connect(tmp_path / FILE)) as db, db:
        db.execute("DELETE FROM said")
    with (
        closing(AnswerStore(tmp_path / FILE)) as store,
        pytest.raises(CacheUnusable, match="the text of the answer 61 is gone"),
    ):
        store.get(b"a")
