"""Entries on disk: durable when acknowledged, repaired after a crash, refused when damaged."""

import json
import logging
import os
import random
import signal
import stat
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from making.disks import no_file_larger_than
from making.fuzzing import tries
from making.memories import WordEncoder, make_cue, make_entry, make_precedent
from merit.errors import EncoderFailed, InputError, MemoryUnusable
from merit.memory import Change, Deletion, Entry, FileStore, Memory, RecallPolicy, with_id
from merit.memory.format4 import entry_line, log_line
from merit.types import Polarity, Status


def write(folder: Path, *entries: Entry) -> list[Entry]:
    committed = [with_id(entry) for entry in entries]
    with closing(FileStore(folder)) as store:
        for entry in committed:
            store.append([entry])
    return committed


def contents(folder: Path) -> list[Change]:
    with closing(FileStore(folder, writable=False)) as store:
        return [change for _, change in store.since(0)]


def test_one_line_a_change_with_format_sequence_and_kind(tmp_path: Path) -> None:
    made = [with_id(make_entry(1)), with_id(make_entry(2, polarity=Polarity.NEGATIVE)), with_id(make_precedent(3))]
    with closing(FileStore(tmp_path)) as store:
        store.append(made)
        store.append([Deletion(made[0].id, "wrong")])
    records = [json.loads(line) for line in (tmp_path / "memory.jsonl").read_text().splitlines()]
    assert [list(record)[:5] for record in records] == [["format", "sequence", "more", "kind", "id"]] * 4
    assert {record["format"] for record in records} == {4}
    assert [record["sequence"] for record in records] == [1, 2, 3, 4]
    assert [record["more"] for record in records] == [2, 1, 0, 0]  # lines of the same append that follow
    assert [record["kind"] for record in records] == ["repair", "repair", "precedent", "deletion"]
    assert set(records[2]) - set(list(records[2])[:5]) == {
        *("question", "schema", "sql", "observed", "outcome", "grade", "provenance"),
    }
    room = {"author", "time", "schema_fingerprint", "dialect"}
    assert set(records[0]["provenance"]) == {*room, "run", "question_id", "db_id", "position", "step", "episode"}
    assert contents(tmp_path) == [*made, Deletion(made[0].id, "wrong")]


def test_a_repair_is_positive_or_negative() -> None:
    with pytest.raises(ValueError, match="positive or negative, not precedent"):
        make_entry(1, polarity=Polarity.PRECEDENT)


def test_entries_come_back_as_they_went_in(tmp_path: Path) -> None:
    odd = make_entry(1, question='naïve \n\t"quoted" \u2028 \ud800 ;', before="SELECT '\\'", question_id="a/b")
    assert write(tmp_path, odd) == contents(tmp_path)


def test_ids_follow_from_what_an_entry_says(tmp_path: Path) -> None:
    one = with_id(make_entry(1))
    assert one.id == with_id(make_entry(1, run="another", position=99, episode="e")).id
    assert one.id != with_id(make_entry(1, after="SELECT 3")).id
    assert one.id != with_id(make_entry(1, question_id=7)).id
    later = {"author": "a person", "time": "2027-01-31T12:00:00Z", "schema_fingerprint": "f", "dialect": "sqlite"}
    assert one.id == with_id(make_entry(1, **later)).id
    assert entry_line(one) == entry_line(with_id(make_entry(1)))


def test_ids_are_those_of_format_3() -> None:
    """They are in run files and reports of earlier versions."""
    assert with_id(make_entry(1)).id == "pos-45444c3e0344ea13"
    assert with_id(make_entry(1, polarity=Polarity.NEGATIVE)).id == "neg-7fab22581d880870"
    assert with_id(make_precedent(1)).id == "pre-5a30f6b3bb165f29"
    confirmed = make_precedent(1, observed=Status.EXECUTED)  # confirmed by a person
    assert with_id(confirmed).id == "pre-78f3dfb8ccf60960"


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_line_cut_short_at_any_byte_is_repaired_with_a_notice(
    tmp_path: Path, cut: int, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = write(tmp_path, make_entry(1), make_entry(2))
    path = tmp_path / "memory.jsonl"
    data = path.read_bytes()
    length = len(log_line(second, 2))
    path.write_bytes(data[: len(data) - max(1, cut * length // 40)])
    assert contents(tmp_path) == [first]  # a reader passes over it
    with caplog.at_level(logging.WARNING):
        third = write(tmp_path, make_entry(3))[0]
    assert "never finished" in caplog.text
    assert contents(tmp_path) == [first, third]


def test_a_damaged_middle_is_refused_with_file_and_line(tmp_path: Path) -> None:
    write(tmp_path, *(make_entry(i) for i in range(3)))
    path = tmp_path / "memory.jsonl"
    lines = path.read_text().split("\n")
    lines[1] = lines[1][:-20]
    path.write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"memory.jsonl, line 2: damaged"):
        Memory(tmp_path, WordEncoder())


def test_damage_is_seen_through_a_saved_index(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        for i in range(3):
            memory.commit(make_entry(i))
    path = tmp_path / "memory.jsonl"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] = 0
    path.write_bytes(data)
    with pytest.raises(InputError, match="line 2: damaged"):
        Memory(tmp_path, WordEncoder())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 5}, "memory format 5, this merit reads 4; it was written by a newer merit"),
        ({"format": None}, "it is not a line of a memory"),
        ({"kind": "confirmation"}, "the kind 'confirmation' is unknown to this merit; update it"),
        ({"sequence": 0}, "the field 'sequence' cannot be 0"),
        ({"sequence": True}, "the field 'sequence' cannot be True"),
        ({"more": -1}, "the field 'more' cannot be -1"),
        ({"polarity": "precedent"}, "the polarity of a repair is positive or negative, not precedent"),
        ({"provenance": None}, "provenance: missing; every entry says where it comes from"),
        ({"provenance": {"run": "r"}}, "provenance: the field 'author' is missing"),
        ({"polarity": "neutral"}, "'neutral' is not a valid Polarity"),
        ({"question": 3}, "the field 'question' cannot be 3"),
        ({"reference_sql": "SELECT 1"}, "the field 'reference_sql' does not belong to memory format 4"),
    ],
)
def test_a_record_that_is_no_entry_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    write(tmp_path, make_entry(1))
    path = tmp_path / "memory.jsonl"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}) + "\n")
    with pytest.raises(InputError, match=f"memory.jsonl, line 1.*{message}"):
        Memory(tmp_path, WordEncoder())
    assert path.exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MemoryUnusable, match="cannot be written"):
        Memory(tmp_path / "file" / "memory", WordEncoder())
    with pytest.raises(MemoryUnusable, match="there is no memory here"):
        FileStore(tmp_path / "nowhere", writable=False)


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
    memory = Memory(tmp_path, WordEncoder())
    kept = memory.commit(make_entry(1))
    size = (tmp_path / "memory.jsonl").stat().st_size
    with no_file_larger_than(size + 100), pytest.raises(MemoryUnusable, match="nothing was added"):
        memory.commit(make_entry(2))  # there is room for a part of the line
    assert (tmp_path / "memory.jsonl").stat().st_size == size
    later = memory.commit(make_entry(3))
    assert {entry.id for entry in memory.recall(make_cue(), RecallPolicy()).positives} == {kept.id, later.id}
    memory.close()
    assert contents(tmp_path) == [kept, later]


class Broken(WordEncoder):
    """An encoder of somebody else's that goes wrong in one of several ways."""

    def __init__(self, value: float = 1.0, dimension: int = 16) -> None:
        super().__init__()
        self._row = [value] * dimension

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.array([self._row for _ in texts], np.float32)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Broken(float("nan")), "not a number; nothing was kept"),
        (Broken(dimension=3), r"shape \(1, 3\), expected \(1, 16\)"),
    ],
)
def test_an_encoder_that_returns_nonsense_leaves_nothing_behind(tmp_path: Path, broken: Broken, message: str) -> None:
    with Memory(tmp_path, broken) as memory:
        with pytest.raises(EncoderFailed, match=message):
            memory.commit(make_entry(1))
        with pytest.raises(EncoderFailed, match=message):
            memory.recall(make_cue(), RecallPolicy())
    assert contents(tmp_path) == []


def test_a_commit_that_is_interrupted_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Memory(tmp_path, WordEncoder())
    kept = memory.commit(make_entry(1))

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            memory.commit(make_entry(2))
    with pytest.raises(MemoryUnusable, match="interrupted"):
        memory.commit(make_entry(3))
    memory.close()
    with Memory(tmp_path, WordEncoder()) as again:
        later = again.commit(make_entry(2))
    assert contents(tmp_path) == [kept, later]
    with Memory(tmp_path, WordEncoder()) as again:
        assert len(again) == 2


def test_a_last_line_without_its_newline_is_kept(tmp_path: Path) -> None:
    first, second = write(tmp_path, make_entry(1), make_entry(2))
    path = tmp_path / "memory.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    third = write(tmp_path, make_entry(3))[0]
    assert contents(tmp_path) == [first, second, third]


def test_numbers_that_do_not_fit_are_refused_before_they_are_written(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        with pytest.raises(InputError, match="the field 'position' cannot be"):
            memory.commit(make_entry(1, position=2**63))
        memory.commit(make_entry(2))
    assert len(contents(tmp_path)) == 1


def test_what_is_no_character_becomes_a_question_mark(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        assert memory.commit(make_entry(1, question="a\ud800b")).question == "a?b"


def test_opened_without_an_encoder_it_keeps_the_vectors(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit(make_entry(1))
    with Memory(tmp_path, None) as memory:
        memory.commit(make_entry(2))
    again = WordEncoder()
    with Memory(tmp_path, again):
        assert len(again.encoded) == 1  # only the new one


def test_a_closed_memory_says_so(tmp_path: Path) -> None:
    memory = Memory(tmp_path, WordEncoder())
    memory.close()
    memory.close()
    for use in (lambda: memory.commit(make_entry(1)), lambda: memory.recall(make_cue(), RecallPolicy())):
        with pytest.raises(MemoryUnusable, match="this memory is closed"):
            use()


def test_an_index_that_cannot_be_saved_is_only_a_pity(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    memory = Memory(tmp_path, WordEncoder())
    memory.commit(make_entry(1))
    (tmp_path / "index" / "index.json.part").mkdir(parents=True)
    with caplog.at_level(logging.WARNING):
        memory.close()
    assert "was not saved" in caplog.text
    with Memory(tmp_path, WordEncoder()) as again:
        assert len(again) == 1


def test_many_threads_read_and_one_writes(tmp_path: Path) -> None:
    wrong: list[BaseException] = []
    with Memory(tmp_path, WordEncoder()) as memory:
        first = memory.commit(make_entry(0))

        def read() -> None:
            try:
                for _ in range(60):
                    assert memory.recall(make_cue(), RecallPolicy()).positives
                    assert memory.entry(first.id) == first
                    assert len(memory) > 0
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=read) for _ in range(6)]
        for thread in threads:
            thread.start()
        for i in range(1, 40):
            memory.commit(make_entry(i))
        for thread in threads:
            thread.join()
    assert wrong == []


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


def test_the_same_lesson_is_kept_once(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        entry = memory.commit(make_entry(1))
        assert memory.commit(make_entry(1)) == entry
        assert memory.commit(make_entry(1, run="another", position=5)) == entry  # what it says decides
    assert contents(tmp_path) == [entry]


def test_equal_changes_of_several_questions_are_kept_apart(tmp_path: Path) -> None:
    """The paper's memory is a union: nothing is merged, and no count decides what is positive."""
    same = {"before": "SELECT 1", "after": "SELECT 2"}
    negative = make_entry(3, polarity=Polarity.NEGATIVE, **same)
    with Memory(tmp_path, WordEncoder()) as memory:
        kept = [memory.commit(entry) for entry in (make_entry(1, **same), make_entry(2, **same), negative)]
    assert contents(tmp_path) == kept
    assert [entry.provenance.question_id for entry in kept] == [1, 2, 3]


def test_another_entry_under_a_known_id_is_refused(tmp_path: Path) -> None:
    (entry,) = write(tmp_path, make_entry(1))
    path = tmp_path / "memory.jsonl"
    path.write_text(path.read_text().replace("SELECT b1", "SELECT edited"))
    with Memory(tmp_path, WordEncoder()) as memory:
        with pytest.raises(
            InputError, match=f"entry {entry.id}: another entry has this id already; nothing was written"
        ):
            memory.commit(make_entry(1))
        assert len(memory) == 1


def test_an_id_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    write(tmp_path, make_entry(1), make_entry(2), make_entry(1))
    with pytest.raises(InputError, match="is there twice"):
        Memory(tmp_path, WordEncoder())


KILLS = tries(40)


def write_until_killed(folder: Path, first: int, acknowledge: int) -> None:
    """What the child does: commit, and say so, as fast as it can."""
    memory = Memory(folder, WordEncoder())
    for number in range(first, first + 100_000):
        polarity = (Polarity.POSITIVE, Polarity.NEGATIVE)[number % 2]
        entry = memory.commit(make_entry(number, polarity=polarity, schema="x" * 20_000))
        os.write(acknowledge, f"{entry.id}\n".encode())


def test_killed_at_any_moment_it_opens_again_with_everything_acknowledged(tmp_path: Path) -> None:
    """Kill -9 at random moments of writing; every reopening is clean and nothing acknowledged is missing."""
    generator = random.Random(3)
    acknowledged: set[str] = set()
    for kill in range(KILLS):
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
            assert all(identity in reopened._index for identity in acknowledged)
    assert len(acknowledged) >= KILLS
