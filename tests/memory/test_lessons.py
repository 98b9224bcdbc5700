"""Entries with a lesson: kept, found and named by it; entries without one are what they always were."""

import json
from pathlib import Path

import pytest

from making.memories import WordEncoder, make_cue, make_entry, make_precedent
from merit.errors import InputError
from merit.memory import Memory, RecallPolicy, with_id
from merit.memory.format4 import entry_line, parse_entry


@pytest.mark.parametrize("make", [make_entry, make_precedent])
def test_a_lesson_comes_back_and_is_part_of_the_name(make: type, tmp_path: Path) -> None:
    plain, taught = with_id(make(1)), with_id(make(1, lesson="Mind the join."))
    assert plain.id != taught.id
    with Memory(tmp_path, WordEncoder()) as memory:
        memory.commit_all([plain, taught])
    with Memory(tmp_path, WordEncoder()) as memory:
        assert [memory.entry(entry.id).lesson for entry in (plain, taught)] == [None, "Mind the join."]
    lines = [json.loads(line) for line in (tmp_path / "memory.jsonl").read_text().splitlines()]
    assert ["lesson" in line for line in lines] == [False, True]


def test_a_repair_is_found_by_its_lesson(tmp_path: Path) -> None:
    with Memory(tmp_path, None) as memory:
        memory.commit_all([make_entry(1), make_entry(2, lesson="zebras count twice"), make_entry(3)])
        cue = make_cue(question="zebras", position=9)
        recalled = memory.recall(cue, RecallPolicy(positives=1, negatives=0, dense=False))
    assert [entry.lesson for entry in recalled.positives] == ["zebras count twice"]


@pytest.mark.parametrize("lesson", [None, 7, ["x"]])
def test_a_lesson_is_a_text(lesson: object) -> None:
    record = {**json.loads(entry_line(with_id(make_entry(1)))), "lesson": lesson}
    with pytest.raises(InputError, match="here: the field 'lesson' cannot be"):
        parse_entry(record, "here")
