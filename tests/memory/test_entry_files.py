"""Memory folders from strangers: whatever lies in the place of an entry file, it is one sentence and nothing is lost."""

import json
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from making.disks import no_waiting
from making.memories import WordEncoder, make_cue, make_entry
from merit.errors import InputError, MemoryUnusable, MeritError
from merit.memory import Deletion, FileStore, Memory, RecallPolicy, curate, entries_in, with_id
from merit.types import Polarity

FILE = "memory.jsonl"


def fill(folder: Path, count: int = 3) -> list[str]:
    with Memory(folder, WordEncoder()) as memory:
        return [memory.commit(make_entry(i)).id for i in range(count)]


def refused(folder: Path) -> list[str]:
    """What is said by opening a memory and by reading it; both refuse."""
    said = []
    for use in (lambda: Memory(folder, WordEncoder()).close(), lambda: list(entries_in(folder))):
        with no_waiting(), pytest.raises(MeritError) as error:
            use()
        said.append(str(error.value))
    return said


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("put", [pipe, folder_instead, device])
def test_something_else_in_the_place_of_the_log(tmp_path: Path, put: Callable[[Path], None]) -> None:
    fill(tmp_path)
    put(tmp_path / FILE)
    assert all(FILE in said for said in refused(tmp_path))


def test_a_pipe_in_the_place_of_the_lock(tmp_path: Path) -> None:
    fill(tmp_path)
    pipe(tmp_path / "memory.lock")
    with no_waiting(), pytest.raises(InputError, match=r"memory.lock: not a regular file"):
        Memory(tmp_path, WordEncoder())


def test_a_link_that_leads_elsewhere_is_not_written_through(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("no newline at the end")
    folder = tmp_path / "memory"
    fill(folder)
    (folder / FILE).unlink()
    (folder / FILE).symlink_to(precious)
    with pytest.raises(InputError, match="a link"):
        Memory(folder, WordEncoder())
    assert precious.read_text() == "no newline at the end"


def test_links_in_the_index_are_not_written_through(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    folder = tmp_path / "memory"
    fill(folder)
    (place,) = (folder / "index").glob("vectors-*")
    (place / "negative-RESULT_MISMATCH-confirmed.f32").symlink_to(precious)
    (folder / "index" / "index.json.part").symlink_to(precious)
    with Memory(folder, WordEncoder()) as memory:
        memory.commit(make_entry(9, polarity=Polarity.NEGATIVE))
    assert precious.read_text() == "mine"
    again = WordEncoder()
    with Memory(folder, again):
        assert again.encoded == []


DEEP: Any = "x"
for _ in range(400):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question": DEEP}, "the field 'question' cannot be a list"),
        ({"question": {"a": 1}}, "the field 'question' cannot be an object"),
        ({"polarity": "x" * 100_000}, "is not a valid Polarity"),
        ({"x" * 100_000: 1}, "does not belong to memory format 4"),
        ({"format": "x" * 100_000}, "this merit reads 4"),
        ({"format": DEEP}, "memory format a list, this merit reads 4"),
        ({"id": "pos-\x1b[2J"}, r"the field 'id' cannot be 'pos-\x1b[2J'"),
        ({"sequence": DEEP}, "the field 'sequence' cannot be a list"),
        ({"kind": DEEP}, "every change has a kind and an id, both text"),
        ({"kind": "x" * 100_000}, "is unknown to this merit"),
        ({"kind": "deletion"}, "the field 'reason' is missing"),
    ],
)
def test_fields_of_any_type_size_and_depth(tmp_path: Path, change: dict[str, object], message: str) -> None:
    fill(tmp_path, 1)
    path = tmp_path / FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}) + "\n")
    for said in refused(tmp_path):
        assert said.startswith(f"{path}, line 1")
        assert message in said
        assert len(said) < 400 + len(str(path))
        assert said.isprintable()


def doubled(line: str) -> str:
    """An entry that shows one grade, and would be read with another."""
    return line.replace('"grade":"confirmed"', '"grade":"unverified","grade":"confirmed"')


def test_a_field_that_is_there_twice_is_told_by_every_reader(tmp_path: Path) -> None:
    fill(tmp_path, 1)
    path = tmp_path / FILE
    path.write_text(doubled(path.read_text()))
    assert all("damaged; restore" in said and "(the key 'grade' is there twice)" in said for said in refused(tmp_path))


def test_an_import_with_a_field_that_is_there_twice_changes_nothing(tmp_path: Path) -> None:
    fill(tmp_path / "theirs")
    file = tmp_path / "file.jsonl"
    with closing(FileStore(tmp_path / "theirs")) as theirs, closing(FileStore(tmp_path / "ours")) as ours:
        curate.export(theirs, file)
        *whole, last = file.read_text().splitlines()
        file.write_text("\n".join([*whole, doubled(last)]))
        with pytest.raises(InputError, match=r"line 3: not valid JSON \(the key 'grade' is there twice\)"):
            curate.import_entries(ours, file)
        assert list(ours.since(0)) == []


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**400])
def test_an_id_of_a_question_that_could_not_be_read_again_is_not_written(tmp_path: Path, number: int) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        with pytest.raises(InputError, match="the field 'question_id' cannot be"):
            memory.commit(make_entry(1, question_id=number))
        memory.commit(make_entry(1, question_id=2**63 - 1))
    assert len(entries_in(tmp_path)) == 1


def test_a_line_that_is_too_long_to_be_an_entry(tmp_path: Path) -> None:
    fill(tmp_path)
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'"' + b"x" * (17 << 20))
    for end in (b"", b'"\n'):
        with (tmp_path / FILE).open("ab") as file:
            file.write(end)
        size = (tmp_path / FILE).stat().st_size
        assert all("longer than 16 MiB" in said for said in refused(tmp_path))
        assert (tmp_path / FILE).stat().st_size == size  # not taken for a torn tail


def test_an_entry_that_would_be_too_long_is_not_written(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        with pytest.raises(InputError, match="longer than 16 MiB; nothing was written"):
            memory.commit(make_entry(1, schema="x" * (17 << 20)))
        kept = memory.commit(make_entry(2))
        assert memory.recall(make_cue(), RecallPolicy()).positives == [kept]


def test_a_last_line_of_a_newer_version_without_its_newline_is_not_cut_off(tmp_path: Path) -> None:
    fill(tmp_path)
    with (tmp_path / FILE).open("a") as file:
        file.write('{"format": 5, "new": true}')
    assert all("line 4: memory format 5" in said for said in refused(tmp_path))
    assert '"new": true' in (tmp_path / FILE).read_text()


def test_a_deletion_counts_for_earlier_lines_alone(tmp_path: Path) -> None:
    later = with_id(make_entry(1))
    with closing(FileStore(tmp_path)) as store:
        store.append([Deletion(later.id, "too early")])
        store.append([later])
    assert [one.deleted for one in entries_in(tmp_path)] == [None]
    with Memory(tmp_path, WordEncoder()) as memory:
        assert len(memory) == 1


@pytest.mark.parametrize(
    "moved",
    [lambda lines: [lines[1], lines[0], lines[2]], lambda lines: [*lines, lines[2]]],
    ids=["swapped", "doubled"],
)
def test_lines_that_were_moved_are_told_by_every_reader(
    tmp_path: Path, moved: Callable[[list[str]], list[str]]
) -> None:
    fill(tmp_path)
    lines = (tmp_path / FILE).read_text().splitlines(keepends=True)
    (tmp_path / FILE).write_text("".join(moved(lines)))
    assert all("sequence number" in said and "restore the file" in said for said in refused(tmp_path))


def test_a_line_can_be_taken_out_by_hand(tmp_path: Path) -> None:
    """As the advice says for a damaged one: the others keep their numbers."""
    first, second, third = fill(tmp_path)
    lines = (tmp_path / FILE).read_text().splitlines(keepends=True)
    (tmp_path / FILE).write_text(lines[0] + lines[2])
    with Memory(tmp_path, WordEncoder()) as memory:
        assert (memory.entry(first).id, memory.entry(third).id) == (first, third)
        again = memory.commit(make_entry(1))
    assert again.id == second
    with closing(FileStore(tmp_path, writable=False)) as store:
        assert [number for number, _ in store.since(0)] == [1, 3, 4]


def test_an_id_that_is_there_twice_is_told_by_every_reader(tmp_path: Path) -> None:
    fill(tmp_path, 1)
    line = (tmp_path / FILE).read_text()
    (tmp_path / FILE).write_text(line + line.replace('"sequence":1', '"sequence":2'))
    assert all("is there twice; remove one of the lines" in said for said in refused(tmp_path))


def test_a_write_that_cannot_be_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError(5, "Input/output error")

    memory = Memory(tmp_path, WordEncoder())
    kept = memory.commit(make_entry(1))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        patch.setattr(os, "ftruncate", fails)
        with pytest.raises(MemoryUnusable, match="nor cut back"):
            memory.commit(make_entry(2))
    with pytest.raises(MemoryUnusable, match="open this memory again"):
        memory.commit(make_entry(3))
    memory.close()
    with Memory(tmp_path, WordEncoder()) as again:
        assert again.entry(kept.id) == kept


def test_what_an_index_says_of_an_entry_must_be_what_the_entry_says(tmp_path: Path) -> None:
    """However the index came about: a row that contradicts its entry is not recalled."""
    first, _, _ = fill(tmp_path)
    with Memory(tmp_path, WordEncoder()) as memory:
        segment, row = memory._index.row_of(first)
        segment._positions[row] = -5
        with pytest.raises(MemoryUnusable, match="not the entry that the index names; delete .*index"):
            memory.entry(first)


def test_reading_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(MemoryUnusable):
        FileStore(tmp_path, writable=False)
    assert list(tmp_path.iterdir()) == []
