"""Several processes at one memory: the lock is held for an append, and every index follows the log."""

import json
import logging
import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from making.disks import no_file_larger_than
from making.memories import WordEncoder, make_cue, make_entry, make_precedent
from merit.errors import InputError, MemoryChanged, MemoryUnusable
from merit.live.record import history
from merit.memory import (
    Deletion,
    Entry,
    FileStore,
    Memory,
    RecallPolicy,
    VolatileStore,
    curate,
    entries_in,
    lock,
    with_id,
)
from merit.types import Polarity
from merit.web import private

LOG = "memory.jsonl"
EVERYTHING = RecallPolicy(positives=100, negatives=100, precedents=100)


def in_children(*tasks: Callable[[], object]) -> None:
    """Do all of it at the same time, each task in a process of its own."""
    children = []
    for task in tasks:
        child = os.fork()
        if child == 0:
            try:
                task()
                os._exit(0)
            except BaseException:
                os._exit(1)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * len(children)


def recalled(memory: Memory) -> set[str]:
    found = memory.recall(make_cue(), EVERYTHING)
    return {match.entry.id for pool in found.pools for match in pool.matches}


def test_a_memory_recalls_what_another_one_has_committed(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as one, Memory(tmp_path, WordEncoder()) as other:
        first = one.commit(make_entry(1))
        assert recalled(other) == {first.id}
        second = other.commit(make_precedent(2))
        assert recalled(one) == {first.id, second.id}
        one.delete(first.id, "wrong")
        assert recalled(other) == {second.id}
        with pytest.raises(InputError, match="is deleted already"):
            other.delete(first.id, "again")
        assert len(one) == len(other) == 1


def test_refresh_takes_in_what_is_new_and_encodes_it_once(tmp_path: Path) -> None:
    encoder = WordEncoder()
    with Memory(tmp_path, WordEncoder()) as writer, Memory(tmp_path, encoder) as follower:
        writer.commit_all(make_entry(i) for i in range(300))
        assert len(follower) == 0
        follower.refresh()
        assert len(follower) == 300
        assert len(encoder.encoded) == 300
        follower.refresh()
        recalled(follower)
        assert len(encoder.encoded) == 302  # and the cue, in two wordings


def test_where_nothing_is_new_a_refresh_opens_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit(make_entry(1))

        def opened(_: Path) -> None:
            raise AssertionError("opened")

        monkeypatch.setattr("merit.memory.log.open_file", opened)
        for _ in range(3):
            memory.refresh()


def test_the_same_lesson_of_two_processes_is_kept_once(tmp_path: Path) -> None:
    def learn() -> None:
        with Memory(tmp_path, WordEncoder()) as memory:
            for number in range(25):
                memory.commit(make_entry(number))

    in_children(learn, learn, learn)
    assert sorted(one.entry.question for one in entries_in(tmp_path)) == sorted(f"question {i}" for i in range(25))
    with Memory(tmp_path, WordEncoder()) as memory:
        assert len(memory) == 25


def test_processes_that_write_and_delete_at_once_lose_nothing(tmp_path: Path) -> None:
    def work(first: int) -> Callable[[], None]:
        def task() -> None:
            with Memory(tmp_path, WordEncoder()) as memory:
                made = [memory.commit(make_entry(number)) for number in range(first, first + 20)]
                for entry in made[::4]:
                    memory.delete(entry.id, "x")
                memory.commit_all(make_precedent(number) for number in range(first, first + 5))

        return task

    in_children(*(work(1000 * number) for number in range(4)))
    with closing(FileStore(tmp_path)) as store:
        assert [number for number, _ in store.since(0)] == list(range(1, 4 * (20 + 5 + 5) + 1))
    listed = entries_in(tmp_path)
    assert (len(listed), sum(one.deleted is not None for one in listed)) == (100, 20)
    with Memory(tmp_path, WordEncoder()) as memory:
        assert len(memory) == 80


def test_curation_gives_way_to_other_writers(tmp_path: Path) -> None:
    """Between looking and writing another process commits: it is looked at again, and nothing is doubled."""
    first, second, third = (with_id(make_entry(number)) for number in range(3))
    with closing(VolatileStore()) as store:
        store.append([first])
        append = store.append
        done: list[int] = []

        def overtaken(changes: list[Entry | Deletion], *, expected: int | None = None) -> int:
            if not done:
                done.append(append([second]))
            return append(changes, expected=expected)

        store.append = overtaken  # type: ignore[assignment,method-assign]
        path = tmp_path / "file.jsonl"
        with closing(VolatileStore()) as other:
            other.append([second, third])
            curate.export(other, path)
        assert curate.import_entries(store, path) == (1, 1, 0)
        assert [change for _, change in store.since(0)] == [first, second, third]


def test_a_writer_waits_for_an_append_and_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merit.memory.lock._WAIT_S", 0.1)
    with closing(FileStore(tmp_path)) as one, closing(FileStore(tmp_path)) as other:
        one.append([with_id(make_entry(1))])
        assert one._lock is not None
        with one._lock:
            started = time.monotonic()
            with pytest.raises(MemoryUnusable, match="another process is writing this memory; wait for it or stop it"):
                other.append([with_id(make_entry(2))])
            assert time.monotonic() - started >= 0.1
            assert len(list(other.since(0))) == 1  # reading is free
        assert other.append([with_id(make_entry(2))]) == 2


def test_a_disk_that_stands_still_for_ten_seconds_refuses_nobody() -> None:
    assert min(lock._WAIT_S, history._WAIT_S, private._WAIT_S) > 10


def test_an_exclusive_memory_keeps_others_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merit.memory.lock._WAIT_S", 0.05)
    with Memory(FileStore(tmp_path, exclusive=True), WordEncoder()) as memory:
        memory.commit(make_entry(1))
        with pytest.raises(MemoryUnusable, match="another process is writing this memory"):
            Memory(tmp_path, WordEncoder())
        memory.commit(make_entry(2))
        assert len(entries_in(tmp_path)) == 2
    Memory(tmp_path, WordEncoder()).close()


def test_an_append_that_died_half_way_is_cut_off_by_the_next_writer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """All of an append or nothing of it, also where some of its lines are whole."""
    made = [with_id(make_entry(number)) for number in range(5)]
    with closing(FileStore(tmp_path)) as store:
        store.append(made[:1])
        whole = (tmp_path / LOG).read_bytes()
        store.append(made[1:4])
        lines = (tmp_path / LOG).read_bytes().splitlines(keepends=True)
        for cut in (b"".join(lines[:2]), b"".join(lines[:3]), b"".join(lines[:3]) + lines[3][:-9]):
            (tmp_path / LOG).write_bytes(cut)
            with closing(FileStore(tmp_path, writable=False)) as fresh:
                assert [change for _, change in fresh.since(0)] == made[:1]
            with caplog.at_level(logging.WARNING), closing(FileStore(tmp_path)) as again:
                assert "never finished" in caplog.text
                assert (tmp_path / LOG).read_bytes() == whole
                assert again.append([]) == 1
            caplog.clear()
        with pytest.raises(MemoryUnusable, match="changed by something other than merit"):
            store.since(0)


def test_a_reader_sees_an_append_whole_or_not_at_all(tmp_path: Path) -> None:
    """Its lines are written one after the other, slowly."""
    made = [with_id(make_entry(number)) for number in range(4)]
    with closing(FileStore(tmp_path / "source")) as source:
        source.append(made)
    lines = (tmp_path / "source" / LOG).read_bytes().splitlines(keepends=True)
    with closing(FileStore(tmp_path / "slow")) as reader, (tmp_path / "slow" / LOG).open("ab", buffering=0) as file:
        for line in lines[:-1]:
            file.write(line[:50])
            assert list(reader.since(0)) == []
            file.write(line[50:])
            assert list(reader.since(0)) == []
        file.write(lines[-1])
        assert [change for _, change in reader.since(0)] == made


def test_a_log_that_was_exchanged_under_a_memory_is_noticed(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit(make_entry(1))
        other = (tmp_path / LOG).read_text().replace("question 1", "question 2")
        (tmp_path / LOG).unlink()
        (tmp_path / LOG).write_text(other)
        with pytest.raises(MemoryUnusable, match="changed by something other than merit; open this memory again"):
            memory.recall(make_cue(), RecallPolicy())
        with pytest.raises(MemoryUnusable, match="changed by something other than merit"):
            memory.commit(make_entry(3))
    assert (tmp_path / LOG).read_text() == other


def test_a_log_that_was_cut_and_has_grown_again_is_noticed(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit_all([make_entry(1), make_entry(2)])
        path = tmp_path / LOG
        os.truncate(path, 0)
        with pytest.raises(MemoryUnusable, match="changed by something other than merit"):
            memory.refresh()
        path.write_text(json.dumps({"format": 4}) * 200 + "\n")
        with pytest.raises(MemoryUnusable, match="changed by something other than merit"):
            memory.refresh()


def test_a_full_disk_adds_nothing_for_any_process(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as one, Memory(tmp_path, WordEncoder()) as other:
        kept = one.commit(make_entry(1))
        size = (tmp_path / LOG).stat().st_size
        with no_file_larger_than(size + 100), pytest.raises(MemoryUnusable, match="nothing was added"):
            one.commit_all([make_entry(2), make_entry(3)])
        assert (tmp_path / LOG).stat().st_size == size
        later = other.commit(make_entry(4))
        assert recalled(one) == recalled(other) == {kept.id, later.id}


def test_two_memories_that_close_leave_an_index_that_is_used(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as one:
        with Memory(tmp_path, WordEncoder()) as other:
            for number in range(20):
                (one, other)[number % 2].commit(make_entry(number))
        one.commit(make_entry(20))
        expected = recalled(one)
    encoder = WordEncoder()
    with Memory(tmp_path, encoder) as memory:
        assert recalled(memory) == expected
        assert len(encoder.encoded) == 2  # the cue alone, in two wordings


def test_an_older_index_is_brought_up_to_the_log(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as one, Memory(tmp_path, WordEncoder()) as other:
        one.commit_all(make_entry(number) for number in range(10))
        one.close()
        other.commit_all(make_precedent(number) for number in range(5))
        expected = recalled(other)
        other._saved = True  # its index is not kept
    encoder = WordEncoder()
    with Memory(tmp_path, encoder) as memory:
        assert len(encoder.encoded) == 5
        assert recalled(memory) == expected


def write_until_killed(folder: Path, first: int, acknowledge: int) -> None:
    memory = Memory(folder, WordEncoder())
    for number in range(first, first + 100_000, 2):
        made = memory.commit_all(
            [make_entry(number, polarity=Polarity.NEGATIVE, schema="x" * 20_000), make_entry(number + 1)]
        )
        os.write(acknowledge, "".join(f"{entry.id}\n" for entry in made).encode())


def test_two_writers_killed_at_any_moment_leave_everything_acknowledged(tmp_path: Path) -> None:
    """Kill -9 at random moments while two processes write: appends are whole, and the follower sees all of them."""
    generator = random.Random(5)
    acknowledged: set[str] = set()
    with Memory(tmp_path, None) as follower:
        for kill in range(25):
            receiving, sending = os.pipe()
            children = []
            for number in range(2):
                child = os.fork()
                if child == 0:
                    write_until_killed(tmp_path, (2 * kill + number) * 1_000_000, sending)
                children.append(child)
            os.close(sending)
            first = os.read(receiving, 42).decode()
            time.sleep(generator.random() * 0.03)
            for child in children:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            with os.fdopen(receiving) as pipe:
                acknowledged.update((first + pipe.read()).split("\n")[:-1])
            follower.refresh()
            assert all(identity in follower._index for identity in acknowledged if len(identity) == 20)
            assert len(follower) % 2 == 0
    assert len(acknowledged) >= 50


def test_the_expected_number_is_that_of_the_log(tmp_path: Path) -> None:
    with closing(FileStore(tmp_path)) as one, closing(FileStore(tmp_path)) as other:
        one.append([with_id(make_entry(1))], expected=0)
        with pytest.raises(MemoryChanged, match="another process changed this memory first; try again"):
            other.append([with_id(make_entry(2))], expected=0)
