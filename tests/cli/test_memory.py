"""Looking after a memory from the command line."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from making.memories import WordEncoder, make_cue, make_entry
from merit.cli.main import cli
from merit.errors import InputError, MemoryUnusable
from merit.memory import Grade, Memory, RecallPolicy
from merit.types import FailureType, Polarity, Status


def merit(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["memory", *map(str, arguments)], catch_exceptions=True, env={"COLUMNS": "200"})


def output(*arguments: object) -> str:
    done = merit(*arguments)
    assert done.exit_code == 0, done
    return done.output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Memory(tmp_path / "memory", WordEncoder()) as memory:
        memory.commit(make_entry(1, question="how many [singers]?"))
        memory.commit(make_entry(2, type=FailureType.SYNTAX, db_id="zoo"))
        memory.commit(make_entry(3, polarity=Polarity.NEGATIVE))
    return tmp_path / "memory"


def ids(folder: Path, *options: object) -> list[str]:
    return [json.loads(line)["id"] for line in output("list", folder, "--json", *options).splitlines()]


def test_list_filters(folder: Path) -> None:
    assert len(ids(folder)) == 3
    assert len(ids(folder, "--polarity", "negative")) == 1
    assert len(ids(folder, "--type", "syntax")) == 1
    assert len(ids(folder, "--db", "zoo")) == 1
    assert "how many [singers]?" in output("list", folder)


def test_show_by_the_beginning_of_an_id(folder: Path) -> None:
    first = ids(folder)[0]
    shown = output("show", folder, first[:9])
    assert first in shown
    assert "SELECT a1 FROM t" in shown
    assert "question 1, position 1, step 1" in shown
    ambiguous = merit("show", folder, "pos")
    assert isinstance(ambiguous.exception, InputError)
    assert "2 entries begin with 'pos'" in str(ambiguous.exception)


def test_delete_keeps_the_reason_and_reaches_recall(folder: Path) -> None:
    first = ids(folder)[0]
    output("delete", folder, first, "--reason", "wrong join")
    assert first not in ids(folder)
    assert ids(folder, "--deleted") == [first]
    assert "wrong join" in output("show", folder, first)
    assert "deleted already (wrong join)" in str(merit("delete", folder, first, "--reason", "again").exception)
    with Memory(folder, WordEncoder()) as memory:
        assert first not in {entry.id for entry in memory.recall(make_cue(), RecallPolicy()).positives}


def test_a_confirmed_entry_leaves_quarantine(folder: Path) -> None:
    policy = RecallPolicy(positives=0, negatives=0, precedents=4, least_grade=Grade.AGREED)
    with Memory(folder, WordEncoder()) as memory:
        known = {"polarity": Polarity.PRECEDENT, "before": "", "type": FailureType.UNKNOWN}
        old = memory.commit(make_entry(7, grade=Grade.EXECUTED, outcome=Status.EXECUTED, **known)).id
        assert memory.recall(make_cue(), policy).precedents == []
    said = output("confirm", folder, old[:12])
    (new,) = ids(folder, "--polarity", "precedent")
    assert said == f"confirmed {old} as {new}\n"
    assert ids(folder, "--deleted") == [old]
    assert f"confirmed as {new}" in output("show", folder, old)
    assert "precedent, confirmed" in output("show", folder, new)
    assert "CORRECT" in output("show", folder, new)
    with Memory(folder, WordEncoder()) as memory:
        assert [entry.id for entry in memory.recall(make_cue(), policy).precedents] == [new]
        assert memory.entry(new).provenance == memory.entry(old).provenance


def test_an_entry_is_confirmed_as_one_that_is_there(folder: Path) -> None:
    with Memory(folder, WordEncoder()) as memory:
        old = memory.commit(make_entry(1, question="how many [singers]?", grade=Grade.AGREED)).id
        new = memory.commit(make_entry(1, question="how many [singers]?")).id
    assert output("confirm", folder, old) == f"confirmed {old} as {new}\n"
    assert len(ids(folder)) == 3
    with Memory(folder, WordEncoder()) as memory:
        assert len(memory) == 3


def test_what_cannot_be_confirmed_is_one_sentence(folder: Path) -> None:
    with Memory(folder, WordEncoder()) as memory:
        sure = memory.commit(make_entry(1, question="how many [singers]?")).id
        gone = memory.commit(make_entry(8, grade=Grade.AGREED)).id
        unsure = memory.commit(make_entry(1, question="how many [singers]?", grade=Grade.AGREED)).id
    (negative,) = ids(folder, "--polarity", "negative")
    output("delete", folder, gone, "--reason", "wrong")
    before = (folder / "memory_positive.jsonl").read_bytes()
    for identity, said in (
        ("pos-nowhere", "there is no entry 'pos-nowhere'; merit memory list shows all ids"),
        (sure, f"{sure} is confirmed already"),
        (negative, f"{negative} is a direction seen to fail; only a right answer can be confirmed"),
        (gone, f"{gone} is deleted already (wrong)"),
    ):
        refused = merit("confirm", folder, identity)
        assert isinstance(refused.exception, InputError)
        assert refused.exit_code == 1
        assert str(refused.exception) == f"{folder}: {said}"
    assert (folder / "memory_positive.jsonl").read_bytes() == before
    output("delete", folder, sure, "--reason", "no")  # what a person took out does not come back by another way
    assert f"{sure} is deleted already (no)" in str(merit("confirm", folder, unsure).exception)


def test_export_and_import_carry_a_memory_over(folder: Path, tmp_path: Path) -> None:
    output("delete", folder, ids(folder)[0], "--reason", "x")
    file, other = tmp_path / "all.jsonl", tmp_path / "other"
    assert "2 entries written" in output("export", folder, "--out", file)
    assert "2 entries imported, 0 were there" in output("import", other, file)
    assert "0 entries imported, 2 were there" in output("import", other, file)
    assert ids(other) == ids(folder)


def edited(file: Path, change: dict[str, object]) -> None:
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], json.dumps({**json.loads(lines[1]), **change}), *lines[2:]]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"after": "SELECT 9"}, "line 2: the id .* does not follow from the entry"),
        ({"format": 9}, "line 2: memory format 9"),
        ({"provenance": {}}, "line 2, provenance: the field 'db_id' is missing"),
    ],
)
def test_a_bad_import_imports_nothing(folder: Path, tmp_path: Path, change: dict[str, object], message: str) -> None:
    file, other = tmp_path / "all.jsonl", tmp_path / "other"
    output("export", folder, "--out", file)
    edited(file, change)
    with pytest.raises(InputError, match=message):
        raise merit("import", other, file).exception or AssertionError
    assert (other / "memory_positive.jsonl").read_text() == ""


def test_an_id_under_which_something_else_is_known(folder: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "all.jsonl", tmp_path / "other"
    output("export", folder, "--out", file)
    output("import", other, file)
    path = other / "memory_positive.jsonl"
    path.write_text(path.read_text().replace("SELECT b1", "SELECT edited"))
    assert "another entry has the id" in str(merit("import", other, file).exception)


def test_an_export_never_writes_over_a_memory(folder: Path) -> None:
    before = (folder / "memory_positive.jsonl").read_text()
    for target in (folder / "memory_positive.jsonl", folder / "x.jsonl", folder):
        assert isinstance(merit("export", folder, "--out", target).exception, InputError)
    assert (folder / "memory_positive.jsonl").read_text() == before


def test_stats_count(folder: Path) -> None:
    output("delete", folder, ids(folder)[0], "--reason", "x")
    counted = json.loads(output("stats", folder, "--json"))
    assert (counted["entries"], counted["deleted"]) == (2, 1)
    assert counted["by_type"] == {"RESULT_MISMATCH": 1, "SYNTAX": 1}
    assert "2 entries, 1 deleted" in output("stats", folder)


def test_precedents_are_listed_and_shown_as_answers(folder: Path, tmp_path: Path) -> None:
    with Memory(folder, WordEncoder()) as memory:
        kept = memory.commit(make_entry(7, polarity=Polarity.PRECEDENT, before="", type=FailureType.UNKNOWN))
    assert ids(folder, "--polarity", "precedent") == [kept.id]
    assert kept.id in output("list", folder, "--polarity", "precedent")
    assert kept.id not in ids(folder, "--polarity", "positive")
    shown = output("show", folder, kept.id)
    assert "precedent, confirmed" in shown
    assert "SELECT b7 FROM t" in shown
    assert "UNKNOWN" not in shown  # an answer has no failure
    counted = json.loads(output("stats", folder, "--json"))
    assert counted["by_polarity"] == {"negative": 1, "positive": 2, "precedent": 1}
    assert counted["bytes"] == sum(len(path.read_bytes()) for path in folder.glob("memory_*.jsonl"))
    assert kept.id in output("delete", folder, kept.id, "--reason", "x")
    assert ids(folder, "--polarity", "precedent", "--deleted") == [kept.id]
    file = tmp_path / "all.jsonl"
    output("export", folder, "--out", file)
    assert kept.id not in file.read_text()


def test_a_folder_without_a_memory(tmp_path: Path) -> None:
    assert isinstance(merit("list", tmp_path).exception, MemoryUnusable)
    assert isinstance(merit("stats", tmp_path / "nowhere").exception, MemoryUnusable)


def test_a_running_memory_cannot_be_edited(folder: Path) -> None:
    first = ids(folder)[0]
    with Memory(folder, WordEncoder()) as memory:
        refused = merit("delete", folder, first, "--reason", "x")
        assert isinstance(refused.exception, MemoryUnusable)
        assert len(memory) == 3
