"""Memories of format 3, three files: read as they are, turned into a log by the first write, and back again."""

import json
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from making.format3 import deletion_line, format3_files
from making.fuzzing import tries
from making.memories import WordEncoder, make_cue, make_entry, make_precedent
from merit.errors import InputError, MemoryUnusable
from merit.memory import Deletion, Entry, FileStore, Grade, Memory, RecallPolicy, curate, entries_in, with_id
from merit.memory.format3 import entry_line, file_name
from merit.types import FailureSubtype, FailureType, Polarity, Status

LOG, LOCK, ASIDE = "memory.jsonl", "memory.lock", "format-3"
NAMES = ["memory_negative.jsonl", "memory_positive.jsonl", "memory_precedent.jsonl"]
EVERYTHING = RecallPolicy(positives=9, negatives=9, precedents=9)

# As merit 0.1 wrote them.
REPAIR = (
    '{"after":"SELECT b1 FROM t","before":"SELECT a1 FROM t","db_error":null,"format":3,"grade":"confirmed",'
    '"id":"pos-45444c3e0344ea13","outcome":"CORRECT","outcome_error":null,"polarity":"positive","provenance":'
    '{"db_id":"shop","episode":"run:1","position":1,"question_id":1,"run":"run","step":1},"question":"question 1",'
    '"schema":"Database: shop","status":"DENOTATION_MISMATCH","subtype":"UNKNOWN","type":"RESULT_MISMATCH"}'
)
PRECEDENT = (
    '{"after":"SELECT b1 FROM t","before":"","db_error":null,"format":3,"grade":"confirmed",'
    '"id":"pre-78f3dfb8ccf60960","outcome":"CORRECT","outcome_error":null,"polarity":"precedent","provenance":'
    '{"db_id":"shop","episode":"run:1","position":1,"question_id":1,"run":"run","step":1},"question":"question 1",'
    '"schema":"Database: shop","status":"EXECUTED","subtype":"UNKNOWN","type":"UNKNOWN"}'
)
DELETION = '{"delete": "pos-45444c3e0344ea13", "format": 3, "reason": "wrong jöin"}'


def lay_out(folder: Path, changes: Sequence[Entry | Deletion]) -> dict[str, str]:
    """Write a folder as merit 0.1 would have."""
    texts = dict.fromkeys(NAMES, "")
    pools = {change.id: change.polarity for change in changes if not isinstance(change, Deletion)}
    for change in changes:
        line = deletion_line(change) if isinstance(change, Deletion) else entry_line(change)
        texts[file_name(pools[change.id])] += f"{line}\n"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / LOCK).touch()
    return texts


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A memory of format 3: two repairs, a failed direction, a precedent, and one repair that is deleted."""
    made: list[Entry] = [make_entry(1), make_entry(2, polarity=Polarity.NEGATIVE), make_precedent(3), make_entry(4)]
    entries = [with_id(entry) for entry in made]
    lay_out(tmp_path / "memory", [*entries, Deletion(entries[3].id, "wrong")])
    return tmp_path / "memory"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def live(folder: Path) -> list[str]:
    return sorted(one.entry.question for one in entries_in(folder) if one.deleted is None)


# Lines.


def test_lines_of_format_3_are_read_and_written_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "memory_positive.jsonl").write_text(f"{REPAIR}\n{DELETION}\n")
    (tmp_path / "memory_precedent.jsonl").write_text(f"{PRECEDENT}\n")
    first, second = entries_in(tmp_path)
    assert first.entry == with_id(make_entry(1))
    assert first.deleted == "wrong jöin"
    assert second.entry == with_id(make_precedent(1, observed=Status.EXECUTED))
    before = files(tmp_path)
    with closing(FileStore(tmp_path)) as store:
        store.append([with_id(make_entry(9))])
    after = format3_files(tmp_path)
    assert after["memory_precedent.jsonl"].encode() == before["memory_precedent.jsonl"]
    assert after["memory_positive.jsonl"].encode().startswith(before["memory_positive.jsonl"])


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NAME = TEXT | st.none()
QUESTION_ID = st.integers(0, 50) | TEXT
SOURCE = {
    "run": TEXT,
    "db_id": TEXT,
    "position": st.integers(-(2**40), 2**40),
    "step": st.integers(0, 9),
    "episode": TEXT,
}
REPAIRS = st.builds(
    make_entry,
    polarity=st.sampled_from([Polarity.POSITIVE, Polarity.NEGATIVE]),
    question=TEXT,
    schema=TEXT,
    before=TEXT,
    status=st.sampled_from(Status),
    db_error=NAME,
    type=st.sampled_from(FailureType),
    subtype=st.sampled_from(FailureSubtype),
    after=TEXT,
    outcome=st.sampled_from(Status),
    outcome_error=NAME,
    grade=st.sampled_from(Grade),
    question_id=QUESTION_ID,
    **SOURCE,
)
PRECEDENTS = st.builds(
    make_precedent,
    question=TEXT,
    schema=TEXT,
    sql=TEXT,
    observed=st.sampled_from(Status),
    outcome=st.sampled_from(Status),
    grade=st.sampled_from(Grade),
    question_id=QUESTION_ID,
    **SOURCE,
)


@st.composite
def logs(draw: st.DrawFn) -> list[Entry | Deletion]:
    """Entries of every kind in any order, some of them deleted later."""
    made = {entry.id: entry for entry in map(with_id, draw(st.lists(REPAIRS | PRECEDENTS, max_size=8)))}
    changes: list[Entry | Deletion] = []
    for entry in made.values():
        changes.append(entry)
        known = [change for change in changes if not isinstance(change, Deletion)]
        if draw(st.booleans()):
            changes.append(Deletion(draw(st.sampled_from(known)).id, draw(TEXT)))
    return changes


@settings(max_examples=tries(10))
@given(logs())
def test_there_and_back_again_byte_for_byte(changes: list[Entry | Deletion]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log, older = Path(folder, "log"), Path(folder, "older")
        texts = lay_out(older, changes)
        with closing(FileStore(log)) as store:
            for change in changes:
                store.append([change])
            assert [change for _, change in store.since(0)] == changes
        assert format3_files(log) == format3_files(older) == texts
        contents = [sorted(entries_in(path), key=lambda one: one.entry.id) for path in (log, older)]
        assert contents[0] == contents[1]
        with closing(FileStore(older)) as store:
            last = store.append([])
            store.append([with_id(make_entry(99_999))], expected=last)
            store.append([Deletion(with_id(make_entry(99_999)).id, "it only turned it into a log")])
        assert (older / LOG).exists()
        assert {name: text.splitlines() for name, text in format3_files(older).items() if "positive" not in name} == {
            name: text.splitlines() for name, text in texts.items() if "positive" not in name
        }
        assert format3_files(older)["memory_positive.jsonl"].startswith(texts["memory_positive.jsonl"])


# Reading.


def test_an_older_memory_is_read_listed_and_recalled_from_as_it_is(older: Path) -> None:
    before = files(older)
    assert live(older) == ["question 1", "question 2", "question 3"]
    with closing(FileStore(older, writable=False)) as store:
        assert curate.stats(store)["entries"] == 3
        assert curate.find(store, "pos-4544").entry == with_id(make_entry(1))
        assert [number for number, _ in store.since(0)] == [1, 2, 3, 4, 5]
    with Memory(older, WordEncoder(), keep_index=False) as memory:
        found = memory.recall(make_cue(), EVERYTHING)
        assert [pool.stored for pool in found.pools] == [1, 1, 1]
    assert files(older) == before


def test_an_older_memory_and_its_log_recall_the_same(older: Path) -> None:
    with Memory(older, WordEncoder()) as memory:
        expected = memory.recall(make_cue(), EVERYTHING)
        memory.delete(memory.commit(make_entry(50)).id, "it only turned it into a log")
        again = memory.recall(make_cue(), EVERYTHING)
    assert again == expected
    assert (older / LOG).exists()
    with Memory(older, WordEncoder()) as memory:
        assert memory.recall(make_cue(), EVERYTHING) == expected


def test_an_index_made_before_the_conversion_is_used_after_it(older: Path) -> None:
    with Memory(older, WordEncoder()):
        pass
    assert not (older / LOG).exists()
    encoder = WordEncoder()
    with Memory(older, encoder) as memory:
        assert encoder.encoded == []
        memory.commit(make_entry(50))
        assert len(encoder.encoded) == 1
    encoder = WordEncoder()
    with Memory(older, encoder):
        assert encoder.encoded == []


def test_a_memory_of_two_files_opens_too(older: Path) -> None:
    """Before precedents there were two files."""
    (older / "memory_precedent.jsonl").unlink()
    assert live(older) == ["question 1", "question 2"]
    with Memory(older, WordEncoder()) as memory:
        memory.commit(make_precedent(7))
    assert live(older) == ["question 1", "question 2", "question 7"]


# Conversion.


def test_the_first_write_turns_it_into_a_log_and_says_so(older: Path, caplog: pytest.LogCaptureFixture) -> None:
    before = {name: (older / name).read_bytes() for name in NAMES}
    with caplog.at_level(logging.WARNING), Memory(older, WordEncoder(), keep_index=False) as memory:
        assert not (older / LOG).exists()
        memory.commit(make_entry(9))
        memory.commit(make_entry(10))
    assert [record.getMessage() for record in caplog.records] == [
        f"{older}: turned into memory format 4; its files of format 3 are in {older / ASIDE}"
    ]
    assert sorted(files(older)) == sorted([LOCK, LOG, *(f"{ASIDE}/{name}" for name in NAMES)])
    assert {name: (older / ASIDE / name).read_bytes() for name in NAMES} == before
    assert live(older) == sorted(f"question {number}" for number in (1, 2, 3, 9, 10))
    numbers = [json.loads(line)["sequence"] for line in (older / LOG).read_text().splitlines()]
    assert numbers == list(range(1, 8))


def test_curation_turns_it_into_a_log(older: Path) -> None:
    with closing(FileStore(older)) as store:
        curate.delete(store, "pos-4544", "wrong")
    assert (older / LOG).exists()
    assert live(older) == ["question 2", "question 3"]


def test_a_memory_that_is_open_goes_on_when_another_process_converts(older: Path) -> None:
    with Memory(older, WordEncoder()) as one, Memory(older, WordEncoder()) as other:
        learned = one.commit(make_entry(9))
        assert learned.id in {entry.id for entry in other.recall(make_cue(), EVERYTHING).positives}
        assert len(other) == 4
        other.commit(make_entry(10))
        assert len(one.recall(make_cue(), EVERYTHING).positives) == 3
    assert len(live(older)) == 5


STEPS: dict[str, tuple[str, str]] = {
    "while the log is written": ("merit.files.os", "fsync"),
    "before the log has its name": ("merit.memory.store", "sync_folder"),
    "before the old files are put aside": ("merit.memory.store", "_put_aside"),
    "before the change is written": ("merit.memory.store", "write_all"),
}


class Died(BaseException):
    """Stands in for a process that ends here."""


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_at_any_step_loses_nothing(older: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = live(older)
    store = FileStore(older)

    def dies(*_: object) -> None:
        raise Died

    with monkeypatch.context() as patch:
        patch.setattr(".".join(STEPS[step]), dies)
        with pytest.raises(Died):
            store.append([with_id(make_entry(9))])
    store.close()
    assert live(older) == expected
    with Memory(older, WordEncoder()) as memory:
        memory.commit(make_entry(9))
    assert live(older) == sorted([*expected, "question 9"])
    assert sorted(path.name for path in (older / ASIDE).iterdir()) == NAMES
    assert not (older / f"{LOG}.part").exists()


@pytest.mark.parametrize("moved", [1, 2])
def test_a_crash_between_two_moves_loses_nothing(older: Path, moved: int) -> None:
    expected, names = live(older), sorted(NAMES)
    shutil.copytree(older, older.parent / "copy")
    with closing(FileStore(older.parent / "copy")) as store:
        store.append([with_id(make_entry(9))])
    shutil.copy(older.parent / "copy" / LOG, older / LOG)
    (older / ASIDE).mkdir()
    for name in names[:moved]:
        (older / name).rename(older / ASIDE / name)
    assert live(older) == sorted([*expected, "question 9"])
    with Memory(older, WordEncoder()) as memory:
        memory.commit(make_entry(10))
    assert sorted(path.name for path in (older / ASIDE).iterdir()) == names
    assert live(older) == sorted([*expected, "question 9", "question 10"])


def test_a_full_disk_leaves_the_older_memory_as_it_is(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(older)
    with Memory(older, WordEncoder(), keep_index=False) as memory:

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr("merit.files.os.fsync", full)
            with pytest.raises(MemoryUnusable, match="No space left on device"):
                memory.commit(make_entry(9))
        assert files(older) == before
        memory.commit(make_entry(9))
    assert len(live(older)) == 4


def test_files_of_format_3_that_are_not_in_the_log_are_refused(older: Path) -> None:
    """An older merit wrote beside the log: neither of the two is the whole memory."""
    with Memory(older, WordEncoder(), keep_index=False) as memory:
        memory.commit(make_entry(9))
    (older / "memory_positive.jsonl").write_text(entry_line(with_id(make_entry(77))) + "\n")
    before = files(older)
    for use in (lambda: entries_in(older), lambda: Memory(older, WordEncoder())):
        with pytest.raises(InputError, match=r"move memory_positive.jsonl elsewhere and add it with `merit memory imp"):
            use()
    assert files(older) == before
    (older / "memory_positive.jsonl").rename(older.parent / "more.jsonl")
    with closing(FileStore(older)) as store:
        assert curate.import_entries(store, older.parent / "more.jsonl") == (1, 0, 0)


def test_an_older_memory_that_changes_under_an_open_one_is_noticed(older: Path) -> None:
    with Memory(older, WordEncoder()) as memory:
        with (older / "memory_positive.jsonl").open("a") as file:
            file.write(entry_line(with_id(make_entry(77))) + "\n")
        with pytest.raises(MemoryUnusable, match="changed by something other than merit; open this memory again"):
            memory.commit(make_entry(9))
    assert len(live(older)) == 4
    assert not (older / LOG).exists()


# Damage.


def change_field(name: str, value: object) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        lines = path.read_text().splitlines(keepends=True)
        path.write_text(json.dumps({**json.loads(lines[0]), name: value}) + "\n" + "".join(lines[1:]))

    return change


def cut_middle(path: Path) -> None:
    first, *rest = path.read_text().splitlines(keepends=True)
    path.write_text(first[:-20] + "\n" + "".join(rest))


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("memory_positive.jsonl", cut_middle, "line 1: damaged"),
        ("memory_positive.jsonl", change_field("format", 2), "line 1: memory format 2, where format 3 is expected"),
        ("memory_positive.jsonl", change_field("polarity", "negative"), "line 1: a negative entry in the wrong file"),
        ("memory_positive.jsonl", change_field("polarity", "x"), "line 1: 'x' is not a valid Polarity"),
        ("memory_positive.jsonl", change_field("author", "x"), "the field 'author' does not belong to memory format 3"),
        ("memory_positive.jsonl", change_field("delete", 7), "line 1: a deletion names an id and a reason"),
        ("memory_precedent.jsonl", change_field("before", "x"), "the field 'before' of a precedent cannot be 'x'"),
        ("memory_precedent.jsonl", change_field("type", "SYNTAX"), "the field 'type' of a precedent cannot be"),
        ("memory_precedent.jsonl", change_field("db_error", "x"), "the field 'db_error' of a precedent cannot be 'x'"),
    ],
)
def test_damage_is_refused_with_file_and_line(
    older: Path, name: str, damage: Callable[[Path], None], message: str
) -> None:
    damage(older / name)
    before = files(older)
    for use in (lambda: entries_in(older), lambda: Memory(older, WordEncoder()), lambda: FileStore(older)):
        with pytest.raises(InputError, match=message) as error:
            use()
        assert str(error.value).startswith(f"{older / name}")
    assert files(older) == before


def test_a_line_that_was_never_finished_is_left_out(older: Path) -> None:
    with (older / "memory_positive.jsonl").open("a") as file:
        file.write(entry_line(with_id(make_entry(77)))[:-30])
    assert len(live(older)) == 3
    with Memory(older, WordEncoder()) as memory:
        memory.commit(make_entry(9))
    assert len(live(older)) == 4


def test_a_deletion_counts_for_earlier_lines_of_its_own_file_alone(older: Path) -> None:
    identity = with_id(make_entry(1)).id
    for name, text in (
        ("memory_negative.jsonl", (older / "memory_negative.jsonl").read_text() + DELETION + "\n"),
        ("memory_positive.jsonl", DELETION + "\n" + (older / "memory_positive.jsonl").read_text()),
    ):
        (older / name).write_text(text)
    assert identity in {one.entry.id for one in entries_in(older) if one.deleted is None}
    with Memory(older, WordEncoder()) as memory:
        memory.commit(make_entry(9))
    assert identity in {one.entry.id for one in entries_in(older) if one.deleted is None}


@pytest.mark.parametrize("name", [*NAMES, ASIDE])
def test_conversion_writes_through_no_link(older: Path, name: str) -> None:
    path, elsewhere = older / name, older.parent / "elsewhere"
    if name == ASIDE:
        elsewhere.mkdir()
    else:
        path.rename(elsewhere)
    path.symlink_to(elsewhere)
    with closing(FileStore(older)) as store, pytest.raises(InputError, match="a link"):
        store.append([with_id(make_entry(9))])
    assert path.is_symlink()
    assert not (older / ASIDE).is_dir() or list(elsewhere.iterdir()) == []
    assert len(live(older)) == 3


def test_a_pipe_in_the_place_of_a_file_is_refused(older: Path) -> None:
    (older / "memory_negative.jsonl").unlink()
    os.mkfifo(older / "memory_negative.jsonl")
    for use in (lambda: entries_in(older), lambda: FileStore(older)):
        with pytest.raises(InputError, match=r"memory_negative.jsonl: not a regular file"):
            use()


def test_an_export_of_an_older_memory_is_in_either_format(older: Path, tmp_path: Path) -> None:
    made: list[Entry] = []
    for version in (3, 4):
        path = tmp_path / f"{version}.jsonl"
        with closing(FileStore(older, writable=False)) as store, closing(FileStore(tmp_path / str(version))) as other:
            assert curate.export(store, path, version) == 3
            assert curate.import_entries(other, path) == (3, 0, 0)
            made += [one.entry for one in entries_in(tmp_path / str(version))]
        records: list[dict[str, Any]] = [json.loads(line) for line in path.read_text().splitlines()]
        assert {record["format"] for record in records} == {version}
    assert made[:3] == made[3:]
