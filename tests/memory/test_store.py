"""Entries on disk: durable when acknowledged, repaired after a crash, refused when damaged."""

import json
import logging
import os
import random
import resource
import signal
import stat
import time
from pathlib import Path

import pytest

from making.memories import WordEncoder, make_cue, make_entry
from merit.errors import EncoderFailed, InputError, MemoryUnusable
from merit.memory import Entry, Memory, MemoryStore, RecallPolicy, Tombstone, with_id
from merit.types import Polarity

POSITIVE = Polarity.POSITIVE


def write(folder: Path, *entries: Entry) -> list[Entry]:
    store = MemoryStore(folder)
    committed = [with_id(entry) for entry in entries]
    for entry in committed:
        store.append(entry.polarity, entry)
    store.close()
    return committed


def contents(folder: Path, polarity: Polarity = POSITIVE) -> list[Entry | Tombstone]:
    return [line.content for line in MemoryStore(folder, writable=False).lines(polarity)]


def test_one_line_an_entry_in_two_files(tmp_path: Path) -> None:
    positive, negative = write(tmp_path, make_entry(1), make_entry(2, polarity=Polarity.NEGATIVE))
    assert contents(tmp_path) == [positive]
    assert contents(tmp_path, Polarity.NEGATIVE) == [negative]
    record = json.loads((tmp_path / "memory_positive.jsonl").read_text())
    assert record["format"] == 3
    assert set(record["provenance"]) == {"run", "question_id", "db_id", "position", "step", "episode"}


def test_entries_come_back_as_they_went_in(tmp_path: Path) -> None:
    odd = make_entry(1, question='naïve \n\t"quoted" \u2028 \ud800 ;', before="SELECT '\\'", question_id="a/b")
    assert write(tmp_path, odd) == contents(tmp_path)


def test_ids_follow_from_what_an_entry_says(tmp_path: Path) -> None:
    one = with_id(make_entry(1))
    assert one.id == with_id(make_entry(1, run="another", position=99, episode="e")).id
    assert one.id != with_id(make_entry(1, after="SELECT 3")).id
    assert one.id != with_id(make_entry(1, question_id=7)).id
    assert one.id.startswith("pos-")
    assert one.to_line() == with_id(make_entry(1)).to_line()


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_line_cut_short_at_any_byte_is_repaired_with_a_notice(
    tmp_path: Path, cut: int, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = write(tmp_path, make_entry(1), make_entry(2))
    path = tmp_path / "memory_positive.jsonl"
    data = path.read_bytes()
    length = len(second.to_line().encode()) + 1
    path.write_bytes(data[: len(data) - max(1, cut * length // 40)])
    assert contents(tmp_path) == [first]  # a reader passes over it
    with caplog.at_level(logging.WARNING):
        third = write(tmp_path, make_entry(3))[0]
    assert "never finished" in caplog.text
    assert contents(tmp_path) == [first, third]


def test_a_damaged_middle_is_refused_with_file_and_line(tmp_path: Path) -> None:
    write(tmp_path, *(make_entry(i) for i in range(3)))
    path = tmp_path / "memory_positive.jsonl"
    lines = path.read_text().split("\n")
    lines[1] = lines[1][:-20]
    path.write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"memory_positive.jsonl, line 2: damaged"):
        Memory(tmp_path, WordEncoder())


def test_damage_is_seen_through_a_saved_index(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        for i in range(3):
            memory.commit(make_entry(i))
    path = tmp_path / "memory_positive.jsonl"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] = 0
    path.write_bytes(data)
    with pytest.raises(InputError, match="line 2: damaged"):
        Memory(tmp_path, WordEncoder())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 4}, "memory format 4, this merit reads 3; it was written by a newer merit"),
        ({"format": None}, "it is not a memory entry"),
        ({"provenance": None}, "provenance: missing; every entry says where it comes from"),
        ({"provenance": {"run": "r"}}, "provenance: the field 'db_id' is missing"),
        ({"polarity": "neutral"}, "'neutral' is not a valid Polarity"),
        ({"question": 3}, "the field 'question' cannot be 3"),
        ({"reference_sql": "SELECT 1"}, "the field 'reference_sql' does not belong to memory format 3"),
    ],
)
def test_a_record_that_is_no_entry_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    write(tmp_path, make_entry(1))
    path = tmp_path / "memory_positive.jsonl"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}) + "\n")
    with pytest.raises(InputError, match=f"memory_positive.jsonl, line 1.*{message}"):
        Memory(tmp_path, WordEncoder())
    assert path.exists()


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit(make_entry(1))
        with pytest.raises(MemoryUnusable, match="another process is writing this memory"):
            Memory(tmp_path, WordEncoder())
        assert len(contents(tmp_path)) == 1  # reading is free
    Memory(tmp_path, WordEncoder()).close()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MemoryUnusable, match="cannot be written"):
        Memory(tmp_path / "file" / "memory", WordEncoder())
    with pytest.raises(MemoryUnusable, match="there is no memory here"):
        MemoryStore(tmp_path / "nowhere", writable=False)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become another user")
def test_a_read_only_folder(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    write(folder, make_entry(1))
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR | stat.S_IROTH | stat.S_IXOTH)
    for parent in (tmp_path, *tmp_path.parents):
        if parent != Path("/") and parent.owner() == "root" and parent.name.startswith("pytest"):
            parent.chmod(0o755)
    tmp_path.chmod(0o755)
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        try:
            Memory(folder, WordEncoder())
        except MemoryUnusable:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """A limit on file sizes stands in for the disk: writing beyond it fails as on a full one."""
    memory = Memory(tmp_path, WordEncoder())
    kept = memory.commit(make_entry(1))
    size = (tmp_path / "memory_positive.jsonl").stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, before[1]))  # room for a part of the next line
    try:
        with pytest.raises(MemoryUnusable, match="memory_positive.jsonl: the entry was not kept"):
            memory.commit(make_entry(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert (tmp_path / "memory_positive.jsonl").stat().st_size == size
    later = memory.commit(make_entry(3))
    assert {entry.id for entry in memory.recall(make_cue(), RecallPolicy()).positives} == {kept.id, later.id}
    memory.close()
    assert contents(tmp_path) == [kept, later]


class Broken(WordEncoder):
    def encode(self, texts):  # type: ignore[no-untyped-def]
        from merit.models import unit_vectors

        return unit_vectors([[float("nan")] * 16 for _ in texts], texts, self.identity)


def test_an_encoder_that_returns_nonsense_leaves_nothing_behind(tmp_path: Path) -> None:
    memory = Memory(tmp_path, Broken())
    with pytest.raises(EncoderFailed, match="not a number; nothing was kept"):
        memory.commit(make_entry(1))
    memory.close()
    assert contents(tmp_path) == []


def test_another_encoder_has_its_own_vectors(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder(16)) as memory:
        for i in range(5):
            memory.commit(make_entry(i))
    other = WordEncoder(32)
    with Memory(tmp_path, other) as memory:
        assert len(other.encoded) == 5  # built anew
        recalled = memory.recall(make_cue(), RecallPolicy())
    assert len(recalled.positives) == 3
    again = WordEncoder(32)
    with Memory(tmp_path, again) as memory:
        assert again.encoded == []  # kept now


def test_an_index_that_looks_wrong_is_built_anew(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        for i in range(5):
            memory.commit(make_entry(i))
        expected = memory.recall(make_cue(), RecallPolicy())
    for path in (tmp_path / "index").rglob("*.npz"):
        path.write_bytes(b"junk")
    with Memory(tmp_path, WordEncoder()) as memory:
        assert memory.recall(make_cue(), RecallPolicy()) == expected
    (tmp_path / "index" / "index.json").write_text("{")
    with Memory(tmp_path, WordEncoder()) as memory:
        assert memory.recall(make_cue(), RecallPolicy()) == expected


def test_committing_the_same_entry_again_is_harmless_another_under_its_id_is_not(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        entry = memory.commit(make_entry(1))
        assert memory.commit(make_entry(1)) == entry
        with pytest.raises(InputError, match=f"entry {entry.id}: another entry has this id already"):
            memory.commit(make_entry(1, position=5))
    assert contents(tmp_path) == [entry]


def test_an_id_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    write(tmp_path, make_entry(1), make_entry(1))
    with pytest.raises(InputError, match="is there twice"):
        Memory(tmp_path, WordEncoder())


def write_until_killed(folder: Path, first: int, acknowledge: int) -> None:
    """What the child does: commit, and say so, as fast as it can."""
    memory = Memory(folder, WordEncoder())
    for number in range(first, first + 100_000):
        polarity = (Polarity.POSITIVE, Polarity.NEGATIVE)[number % 2]
        entry = memory.commit(make_entry(number, polarity=polarity, schema="x" * 20_000))
        os.write(acknowledge, f"{entry.id}\n".encode())


def test_killed_at_any_moment_it_opens_again_with_everything_acknowledged(tmp_path: Path) -> None:
    """Kill -9 at 200 random moments of writing; every reopening is clean and nothing acknowledged is missing."""
    generator = random.Random(3)
    acknowledged: set[str] = set()
    for kill in range(200):
        receiving, sending = os.pipe()
        child = os.fork()
        if child == 0:
            write_until_killed(tmp_path, kill * 1_000_000, sending)
        os.close(sending)
        first = os.read(receiving, 21).decode()  # one id and its newline: it is writing
        time.sleep(generator.random() * 0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(receiving) as pipe:
            acknowledged.update((first + pipe.read()).split("\n")[:-1])
        with Memory(tmp_path, WordEncoder()) as reopened:
            assert acknowledged <= set(reopened._places)
    assert len(acknowledged) >= 200
