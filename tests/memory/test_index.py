"""The saved index is a shortcut: it stands for committed lines alone, and damage to it is noticed and mended."""

import hashlib
import json
import os
import pickle
import random
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from making.disks import no_file_larger_than, no_waiting
from making.memories import WordEncoder, make_cue, make_entry
from merit.errors import InputError, MemoryUnusable
from merit.memory import FileStore, Memory, Recall, RecallPolicy
from merit.types import FailureType, Polarity

ENTRIES = 30


def fill(folder: Path, word: str = "plain") -> Path:
    with Memory(folder, WordEncoder()) as memory:
        for i in range(ENTRIES):
            polarity = (Polarity.POSITIVE, Polarity.NEGATIVE)[i % 2]
            memory.commit(make_entry(i, polarity=polarity, question=f"how many {word} things {i}"))
    return folder


def recalled(folder: Path, encoder: WordEncoder | None = None, *, keep_index: bool = True) -> Recall:
    with Memory(folder, encoder or WordEncoder(), keep_index=keep_index) as memory:
        return memory.recall(make_cue(question="how many plain things 7", position=20), RecallPolicy())


def saved(folder: Path, pattern: str = "*") -> list[Path]:
    return sorted(path for path in (folder / "index").rglob(pattern) if path.is_file())


def assert_made_again(folder: Path) -> None:
    """The index as it lies there is not used: every text is encoded again, and then recall is right, and stays so."""
    expected = recalled(folder, keep_index=False)
    encoder = WordEncoder()
    assert recalled(folder, encoder) == expected
    assert len(set(encoder.encoded)) == ENTRIES + 1  # and the cue
    encoder = WordEncoder()
    assert recalled(folder, encoder) == expected
    assert len(set(encoder.encoded)) == 1  # the new index is used


def test_a_refused_commit_leaves_nothing_in_the_saved_index(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        first = memory.commit(make_entry(1))
        size = (tmp_path / "memory.jsonl").stat().st_size
        with no_file_larger_than(size + 100), pytest.raises(MemoryUnusable, match="nothing was added"):
            memory.commit(make_entry(2, type=FailureType.SYNTAX))
        second = memory.commit(make_entry(3))
    with Memory(tmp_path, WordEncoder()) as memory:
        assert len(memory) == 2
        gone, kept = (memory.commit(make_entry(i, type=FailureType.SYNTAX)) for i in (4, 5))
        memory.delete(gone.id, "wrong")
        live = {entry.id for entry in memory.recall(make_cue(), RecallPolicy(positives=9)).positives}
        assert live == {first.id, second.id, kept.id}
    with Memory(tmp_path, WordEncoder()) as memory:
        assert len(memory) == 3
        assert {entry.id for entry in memory.recall(make_cue(), RecallPolicy(positives=9)).positives} == live


def test_a_full_disk_for_the_index_refuses_no_commit(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    memory = Memory(tmp_path, WordEncoder(384))
    for i in range(64):
        memory.commit(make_entry(i))
    with no_file_larger_than(60_000):
        memory.commit(make_entry(64))
        expected = memory.recall(make_cue(), RecallPolicy())
        memory.close()
    assert "was not saved" in caplog.text
    with Memory(tmp_path, WordEncoder(384)) as again:
        assert len(again) == 65
        assert again.recall(make_cue(), RecallPolicy()) == expected


def test_the_index_covers_what_was_committed_and_not_what_was_edited_meanwhile(tmp_path: Path) -> None:
    with Memory(tmp_path, WordEncoder()) as memory:
        for i in range(ENTRIES):
            memory.commit(make_entry(i))
        path = tmp_path / "memory.jsonl"
        path.write_text(path.read_text().replace("question 7", "QUESTION 9"))
    assert_made_again(tmp_path)


def test_a_saved_index_is_used(tmp_path: Path) -> None:
    encoder = WordEncoder()
    assert recalled(fill(tmp_path), encoder) == recalled(tmp_path, keep_index=False)
    assert len(set(encoder.encoded)) == 1


def vectors_of(path: Path) -> np.ndarray:
    return np.fromfile(path, np.float32).reshape(-1, 16)


def with_rows(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        change(vectors_of(path)).astype(np.float32).tofile(path)

    return damage


def with_number(value: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(rows: np.ndarray) -> np.ndarray:
        rows[3, 5] = value
        return rows

    return change


@pytest.mark.parametrize(
    "damage",
    [
        with_rows(np.zeros_like),
        with_rows(lambda rows: rows[[1, 0, *range(2, len(rows))]]),
        with_rows(with_number(float("nan"))),
        with_rows(with_number(float("inf"))),
        with_rows(with_number(0.25)),
        with_rows(lambda rows: rows[:-60]),
        lambda path: os.truncate(path, path.stat().st_size // 2 - 3),
        lambda path: path.write_bytes(b""),
        Path.unlink,
    ],
    ids=["zeroed", "swapped", "nan", "inf", "one number", "fewer rows", "cut in a row", "empty", "missing"],
)
def test_damaged_vectors_are_made_again(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    damage(saved(fill(tmp_path), "*.f32")[0])
    assert_made_again(tmp_path)


class Trap:
    """Unpickled, it would leave a trace."""

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, ("unpickled",)


@pytest.mark.parametrize("content", [b"", b"junk", b"{}", b"[]", b"7", b"[" * 100_000, pickle.dumps(Trap())])
def test_any_file_of_the_index_replaced_by_something_else(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = fill(tmp_path / "whole")
    for number in range(len(saved(whole))):
        folder = tmp_path / str(number)
        shutil.copytree(whole, folder)
        saved(folder)[number].write_bytes(content)
        assert_made_again(folder)
    assert not (tmp_path / "unpickled").exists()


def test_any_byte_of_any_file_of_the_index_that_changed_is_noticed(tmp_path: Path) -> None:
    whole = fill(tmp_path / "whole")
    for number, path in enumerate(saved(whole)):
        used = ENTRIES // 2 * 64 if path.suffix == ".f32" else path.stat().st_size
        for place in range(0, used, max(1, used // 6)):
            folder = tmp_path / f"{number}-{place}"
            shutil.copytree(whole, folder)
            data = bytearray(saved(folder)[number].read_bytes())
            data[place] ^= 1
            saved(folder)[number].write_bytes(data)
            assert_made_again(folder)


def test_an_index_of_other_entries_of_the_same_length_is_not_used(tmp_path: Path) -> None:
    one, other = fill(tmp_path / "one", "plain"), fill(tmp_path / "other", "green")
    assert (one / "memory.jsonl").stat().st_size == (other / "memory.jsonl").stat().st_size
    shutil.rmtree(one / "index")
    shutil.copytree(other / "index", one / "index")
    assert_made_again(one)


def edits(header: dict[str, object]) -> list[dict[str, object]]:
    """Every value of a header changed by hand, one at a time, and left out."""
    numbers = [{**header, name: 3} for name in header]
    return [*numbers, *({other: header[other] for other in header if other != name} for name in header), {}]


def test_metadata_edited_by_hand(tmp_path: Path) -> None:
    whole = fill(tmp_path / "whole")
    header = json.loads((whole / "index" / "index.json").read_text())
    for number, edited in enumerate(edits(header)):
        folder = tmp_path / str(number)
        shutil.copytree(whole, folder)
        (folder / "index" / "index.json").write_text(json.dumps(edited))
        assert_made_again(folder)


def test_a_pipe_in_the_place_of_any_file_of_the_index(tmp_path: Path) -> None:
    whole = fill(tmp_path / "whole")
    for number in range(len(saved(whole))):
        folder = tmp_path / str(number)
        shutil.copytree(whole, folder)
        path = saved(folder)[number]
        path.unlink()
        os.mkfifo(path)
        with no_waiting():
            assert_made_again(folder)


@pytest.mark.parametrize("name", ["vectors-*", "generation-*"])
def test_a_pipe_in_the_place_of_a_folder_of_the_index(tmp_path: Path, name: str) -> None:
    folder = fill(tmp_path / "memory")
    (path,) = (folder / "index").glob(name)
    shutil.rmtree(path)
    os.mkfifo(path)
    with no_waiting():
        assert_made_again(folder)
    assert not path.is_fifo()


def test_a_pipe_in_the_place_of_the_index_is_purged(tmp_path: Path) -> None:
    folder = fill(tmp_path / "memory")
    shutil.rmtree(folder / "index")
    os.mkfifo(folder / "index")
    with no_waiting(), closing(FileStore(folder)) as store:
        store.erase([next(iter(store.since(0)))[1].id])
    assert not (folder / "index").exists()


def move_out(path: Path, outside: Path) -> None:
    """Put a link in the place of a file or folder."""
    outside.parent.mkdir(exist_ok=True)
    shutil.move(path, outside)
    path.symlink_to(outside)


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("pattern", ["index.json", "columns.bin", "*.f32", "vectors-*", "generation-*"])
def test_a_link_in_the_index_is_neither_read_nor_written_through(tmp_path: Path, pattern: str) -> None:
    folder, outside = fill(tmp_path / "memory"), tmp_path / "outside"
    move_out(sorted((folder / "index").rglob(pattern))[0], outside / "kept")
    before = content(outside)
    if pattern == "*.f32":  # longer than what the index knows of it
        (outside / "kept").write_bytes(before[outside / "kept"] + b"precious" * 500)
        before = content(outside)
    assert_made_again(folder)
    with Memory(folder, WordEncoder()) as memory:
        memory.commit(make_entry(ENTRIES))
    assert content(outside) == before
    assert not any(path.is_symlink() for path in (folder / "index").rglob("*"))


def test_a_link_in_the_place_of_the_index_is_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder, outside = tmp_path / "memory", tmp_path / "outside"
    for name in ("generation-000000000000", "vectors-mine"):
        (outside / name).mkdir(parents=True)
        (outside / name / "thesis").write_text("mine")
    folder.mkdir()
    (folder / "index").symlink_to(outside)
    before = content(outside)
    with Memory(folder, WordEncoder()) as memory:
        memory.commit(make_entry(1))
    assert "index: a link; put the file or folder itself in its place, or remove it" in caplog.text
    assert content(outside) == before


def test_an_index_behind_a_link_is_not_used(tmp_path: Path) -> None:
    folder = fill(tmp_path / "memory")
    move_out(folder / "index", tmp_path / "outside")
    encoder = WordEncoder()
    assert recalled(folder, encoder) == recalled(folder, keep_index=False)
    assert len(set(encoder.encoded)) == ENTRIES + 1


def test_vectors_cut_short_while_they_are_in_use(tmp_path: Path) -> None:
    expected = recalled(fill(tmp_path))
    child = os.fork()
    if child == 0:  # a mapped file that lost its end kills the process that looks at it
        with Memory(tmp_path, WordEncoder()) as memory:
            for path in saved(tmp_path, "*.f32"):
                os.truncate(path, 0)
            cue = make_cue(question="how many plain things 7", position=20)
            os._exit(0 if memory.recall(cue, RecallPolicy()) == expected else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert_made_again(tmp_path)


ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    7,
    2**70,
    1.5,
    float("inf"),
    "",
    "x",
    "../..",
    "vectors-000000000000",
    [],
    [[]],
    [1, 2],
    {},
]


def forged(value: Any, generator: random.Random) -> Any:
    """A value with something odd in one place of it."""
    if isinstance(value, dict) and value and generator.random() < 0.85:
        name = generator.choice(list(value))
        return {**value, name: forged(value[name], generator)}
    if isinstance(value, list) and value and generator.random() < 0.85:
        at = generator.randrange(len(value))
        return [*value[:at], forged(value[at], generator), *value[at + 1 :]]
    return generator.choice(ODD)


def test_an_index_forged_with_its_hashes_breaks_neither_the_process_nor_the_causal_rule(tmp_path: Path) -> None:
    whole, generator = fill(tmp_path / "whole"), random.Random(5)
    answered = 0
    for number in range(80):
        folder = tmp_path / str(number)
        shutil.copytree(whole, folder)
        path = folder / "index" / "index.json"
        header = json.loads(path.read_text())
        del header["sha256"]
        if number % 2:
            name = generator.choice(list(header))
            header[name] = forged(header[name], generator)
        else:
            columns = folder / "index" / header["generation"] / "columns.bin"
            data = bytearray(columns.read_bytes())
            for _ in range(3):
                data[generator.randrange(len(data))] = generator.randrange(256)
            columns.write_bytes(data)
            header["columns"] = hashlib.sha256(data).hexdigest()
        path.write_text(json.dumps({**header, "sha256": hashlib.sha256(json.dumps(header).encode()).hexdigest()}))
        with suppress(InputError, MemoryUnusable):  # a row that contradicts its entry
            found = recalled(folder)
            assert all(match.entry.provenance.position < 20 for pool in found.pools for match in pool.matches)
            answered += 1
    assert answered > 40  # of the others most are made again
