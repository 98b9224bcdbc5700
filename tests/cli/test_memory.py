"""Looking after a memory from the command line."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from making.clock import COMES_S
from making.disks import no_waiting
from making.memories import WordEncoder, make_cue, make_entry, make_precedent
from merit.cli.main import cli
from merit.errors import InputError, MemoryUnusable
from merit.memory import FileStore, Grade, Memory, RecallPolicy
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
    return [json.loads(line)["id"] for line in merit("list", folder, "--json", *options).stdout.splitlines()]


def test_list_filters(folder: Path) -> None:
    assert len(ids(folder)) == 3
    assert len(ids(folder, "--polarity", "negative")) == 1
    assert len(ids(folder, "--type", "syntax")) == 1
    assert len(ids(folder, "--db", "zoo")) == 1
    assert "how many [singers]?" in output("list", folder)
    assert merit("list", folder, "--db", "nowhere").stderr == "merit: no entry matches\n"


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
        unsure = make_precedent(7, grade=Grade.EXECUTED, observed=Status.EXECUTED, outcome=Status.EXECUTED)
        old = memory.commit(unsure).id
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
    before = (folder / "memory.jsonl").read_bytes()
    for identity, said in (
        ("pos-nowhere", f"there is no entry 'pos-nowhere'; `merit memory list {folder}` shows all ids"),
        (sure, f"{sure} is confirmed already"),
        (negative, f"{negative} is a direction seen to fail; only a right answer can be confirmed"),
        (gone, f"{gone} is deleted already (wrong)"),
    ):
        refused = merit("confirm", folder, identity)
        assert isinstance(refused.exception, InputError)
        assert refused.exit_code == 1
        assert str(refused.exception) == f"{folder}: {said}"
    assert (folder / "memory.jsonl").read_bytes() == before
    output("delete", folder, sure, "--reason", "no")  # what a person took out does not come back by another way
    assert f"{sure} is deleted already (no)" in str(merit("confirm", folder, unsure).exception)


def test_export_and_import_carry_a_memory_over(folder: Path, tmp_path: Path) -> None:
    output("delete", folder, ids(folder)[0], "--reason", "x")
    file, other = tmp_path / "all.jsonl", tmp_path / "other"
    assert "2 entries written" in output("export", folder, "--out", file)
    assert "2 entries imported, 0 were there" in output("import", other, file)
    assert "0 entries imported, 2 were there" in output("import", other, file)
    assert ids(other) == ids(folder)
    gone = ids(other)[0]
    output("delete", other, gone, "--reason", "x")
    said = "0 entries imported, 1 was there already, 1 was deleted here and stays deleted\n"
    assert output("import", other, file) == said
    assert json.loads(output("import", other, file, "--json")) == {"imported": 0, "known": 1, "deleted": 1}
    assert ids(other, "--deleted") == [gone]


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_deletion_needs_a_reason(folder: Path, reason: str) -> None:
    first = ids(folder)[0]
    refused = merit("delete", folder, first, "--reason", reason)
    assert str(refused.exception) == f"{folder}: a deletion needs a reason; say why in --reason"
    assert first in ids(folder)


def test_a_file_of_something_else_is_not_imported(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "initial.jsonl"
    file.write_text('{"format": 1, "id": 0, "sql": "SELECT 1"}\n')
    said = f"{file}, line 1: is not an entry of a memory; give a file that `merit memory export` wrote"
    assert str(merit("import", folder, file).exception) == said


def test_a_folder_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    said = f"{tmp_path / 'no'}: there is no memory here (the folder does not exist)"
    assert str(merit("stats", tmp_path / "no").exception) == said


def edited(file: Path, change: dict[str, object]) -> None:
    lines = file.read_text().splitlines()
    file.write_text("\n".join([lines[0], json.dumps({**json.loads(lines[1]), **change}), *lines[2:]]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"after": "SELECT 9"}, "line 2: the id .* does not follow from the entry"),
        ({"format": 9}, "line 2: memory format 9"),
        ({"provenance": {}}, "line 2, provenance: the field 'author' is missing"),
    ],
)
def test_a_bad_import_imports_nothing(folder: Path, tmp_path: Path, change: dict[str, object], message: str) -> None:
    file, other = tmp_path / "all.jsonl", tmp_path / "other"
    output("export", folder, "--out", file)
    edited(file, change)
    with pytest.raises(InputError, match=message):
        raise merit("import", other, file).exception or AssertionError
    assert (other / "memory.jsonl").read_text() == ""


def test_an_id_under_which_something_else_is_known(folder: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "all.jsonl", tmp_path / "other"
    output("export", folder, "--out", file)
    output("import", other, file)
    path = other / "memory.jsonl"
    path.write_text(path.read_text().replace("SELECT b1", "SELECT edited"))
    assert "another entry has the id" in str(merit("import", other, file).exception)


def test_an_export_never_writes_over_a_memory(folder: Path) -> None:
    before = (folder / "memory.jsonl").read_text()
    for target in (folder / "memory.jsonl", folder / "x.jsonl", folder):
        assert isinstance(merit("export", folder, "--out", target).exception, InputError)
    assert (folder / "memory.jsonl").read_text() == before


def test_stats_count(folder: Path) -> None:
    output("delete", folder, ids(folder)[0], "--reason", "x")
    counted = json.loads(output("stats", folder, "--json"))
    assert (counted["entries"], counted["deleted"]) == (2, 1)
    assert counted["by_type"] == {"RESULT_MISMATCH": 1, "SYNTAX": 1}
    assert "2 entries, 1 deleted" in output("stats", folder)


def test_precedents_are_listed_and_shown_as_answers(folder: Path, tmp_path: Path) -> None:
    with Memory(folder, WordEncoder()) as memory:
        kept = memory.commit(make_precedent(7))
    assert ids(folder, "--polarity", "precedent") == [kept.id]
    assert kept.id in output("list", folder, "--polarity", "precedent")
    assert kept.id not in ids(folder, "--polarity", "positive")
    shown = output("show", folder, kept.id)
    assert "precedent, confirmed" in shown
    assert "SELECT b7 FROM t" in shown
    assert "UNKNOWN" not in shown  # an answer has no failure
    counted = json.loads(output("stats", folder, "--json"))
    assert counted["by_polarity"] == {"negative": 1, "positive": 2, "precedent": 1}
    assert counted["bytes"] == len((folder / "memory.jsonl").read_bytes())
    assert kept.id in output("delete", folder, kept.id, "--reason", "x")
    assert ids(folder, "--polarity", "precedent", "--deleted") == [kept.id]
    file = tmp_path / "all.jsonl"
    output("export", folder, "--out", file)
    assert kept.id not in file.read_text()


def test_a_folder_without_a_memory(tmp_path: Path) -> None:
    assert isinstance(merit("list", tmp_path).exception, MemoryUnusable)
    assert isinstance(merit("stats", tmp_path / "nowhere").exception, MemoryUnusable)


def test_what_is_deleted_is_not_recalled_by_a_memory_that_is_open(folder: Path) -> None:
    with Memory(folder, WordEncoder()) as memory:
        before = memory.recall(make_cue(), RecallPolicy()).positives
        output("delete", folder, before[0].id, "--reason", "x")
        assert memory.recall(make_cue(), RecallPolicy()).positives == before[1:]
        assert len(memory) == 2


def test_a_memory_that_a_run_keeps_to_itself_cannot_be_edited(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merit.memory.lock._WAIT_S", 0.05)
    first = ids(folder)[0]
    with Memory(FileStore(folder, exclusive=True), WordEncoder()) as memory:
        refused = merit("delete", folder, first, "--reason", "x")
        assert isinstance(refused.exception, MemoryUnusable)
        assert "another process is writing this memory" in str(refused.exception)
        assert len(memory) == len(ids(folder)) == 3  # reading is free
        memory.delete(first, "x")
    assert len(ids(folder)) == 2


def test_an_export_in_format_3_can_be_imported(folder: Path, tmp_path: Path) -> None:
    with Memory(folder, WordEncoder()) as memory:
        memory.commit(make_precedent(7))
    output("export", folder, "--out", tmp_path / "old.jsonl", "--format", "3")
    output("export", folder, "--out", tmp_path / "new.jsonl")
    records = [json.loads(line) for line in (tmp_path / "old.jsonl").read_text().splitlines()]
    assert {record["format"] for record in records} == {3}
    assert [record["polarity"] for record in records] == ["positive", "positive", "negative", "precedent"]
    for name in ("old", "new"):
        assert "4 entries imported" in output("import", tmp_path / name, tmp_path / f"{name}.jsonl")
        assert ids(tmp_path / name) == ids(folder)


HOSTILE = "caf\u00e9 \x1b[2J\x9b1m \u202e\r\nid\tx :heart:"
ASCII = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    with Memory(tmp_path / "memory", WordEncoder()) as memory:
        memory.commit(make_entry(1, question=HOSTILE * 5, db_id=HOSTILE, run=HOSTILE, after=HOSTILE))
        memory.commit(make_entry(2, question="\u5927" * 100, db_id="d" * 40))
    return tmp_path / "memory"


def in_a_process(folder: Path, *arguments: str, **environment: str) -> bytes:
    command = [sys.executable, "-m", "merit", "memory", arguments[0], str(folder), *arguments[1:]]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, timeout=COMES_S)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize("command", ["list", "show", "stats"])
def test_what_is_in_an_entry_is_shown_and_never_obeyed(hostile: Path, command: str, encoding: str) -> None:
    identity = [ids(hostile)[0]] if command == "show" else []
    done = CliRunner(charset=encoding).invoke(cli, ["memory", command, str(hostile), *identity])
    assert done.exception is None
    printed = done.stdout
    assert all(character.isprintable() or character in "\n\t" for character in printed)
    assert r"\x1b[2J\x9b1m \u202e\x0d" in printed
    assert (r"caf\xe9" if encoding == "ascii" else "caf\u00e9") in printed
    assert ":heart:" in printed
    assert command != "show" or all(line.startswith("  ") for line in printed.splitlines()[1:])


def test_piped_lists_have_one_whole_line_for_each_entry(hostile: Path) -> None:
    lines = in_a_process(hostile, "list", **ASCII).decode("ascii").splitlines()
    assert [line.split("\t")[0] for line in lines] == ids(hostile)
    assert lines[1].endswith("\t" + r"\u5927" * 100)
    assert all(line.count("\t") == 4 for line in lines)
    records = in_a_process(hostile, "list", "--json", **ASCII).decode("ascii").splitlines()
    assert json.loads(records[0])["question"] == HOSTILE * 5


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_a_list_fits_into_a_terminal(hostile: Path, encoding: str) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "merit", "memory", "list", str(hostile)]
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen(command, stdout=theirs, env={**environment, "PYTHONIOENCODING": encoding}) as process:
        assert process.wait(COMES_S) == 0
    os.close(theirs)
    lines = os.read(ours, 100_000).decode(encoding).split("\r\n")[:-1]
    os.close(ours)
    assert [line.split()[0] for line in lines] == ["id", *ids(hostile)]
    assert all(len(line) <= 80 and line.isprintable() for line in lines)
    assert max(len(line) + line.count("\u5927") for line in lines) <= 80  # these take two columns each
    assert lines[1].endswith("...")


def test_a_run_folder_stands_for_its_memory(folder: Path, tmp_path: Path) -> None:
    run = folder.parent
    first, second, _ = ids(folder)
    assert ids(run) == ids(folder)
    assert first in output("show", run, first)
    assert output("stats", run) == output("stats", folder)
    output("delete", run, first, "--reason", "x")
    assert ids(folder, "--deleted") == [first]
    assert "2 entries" in output("export", run, "--out", tmp_path / "all.jsonl")
    assert "0 entries imported, 2 were there" in output("import", run, tmp_path / "all.jsonl")
    assert not (run / "memory.jsonl").exists()
    assert f"{second} is confirmed already" in str(merit("confirm", run, second).exception)


def test_every_result_can_be_had_as_json(folder: Path, tmp_path: Path) -> None:
    with Memory(folder, WordEncoder()) as memory:
        old = memory.commit(make_entry(9, grade=Grade.AGREED)).id
    known = ids(folder)
    confirmed = json.loads(output("confirm", folder, old, "--json"))
    (new,) = set(ids(folder)) - set(known)
    assert confirmed == {"confirmed": old, "as": new}
    first = ids(folder)[0]
    assert json.loads(output("delete", folder, first, "--reason", "x", "--json")) == {"deleted": first}
    assert json.loads(output("export", folder, "--out", tmp_path / "all.jsonl", "--json")) == {"exported": 3}
    imported = json.loads(output("import", tmp_path / "other", tmp_path / "all.jsonl", "--json"))
    assert imported == {"imported": 3, "known": 0, "deleted": 0}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"[" * 100_000, "line 1: not valid JSON"),
        (b'{"format": 3, "question": ' + b"[" * 900 + b"]" * 900 + b"}", "line 1: the field 'after' is missing"),
        (b'{"kind": "repair", "format": ' + b"[" * 900 + b"]" * 900 + b"}", "line 1: memory format a list"),
        (b"\xff\xfe", "line 1: not valid JSON"),
        (b"9" * 10_000, "line 1: not valid JSON"),
        (b'{"format": 3, "' + b"x" * 100_000 + b'": 1}', "line 1: the field 'after' is missing"),
        (b"x" * (17 << 20), "line 1: longer than 16 MiB"),
    ],
    ids=["deep", "deep field", "deep format", "not text", "digits", "long name", "long line"],
)
def test_an_import_of_a_strangers_lines_is_refused_in_a_sentence(
    folder: Path, tmp_path: Path, line: bytes, message: str
) -> None:
    before = (folder / "memory.jsonl").read_bytes()
    (tmp_path / "file.jsonl").write_bytes(line + b"\n")
    refused = merit("import", folder, tmp_path / "file.jsonl").exception
    assert isinstance(refused, InputError)
    assert message in str(refused)
    assert len(str(refused)) < 500
    assert (folder / "memory.jsonl").read_bytes() == before


def test_an_import_from_a_pipe_or_device_is_refused(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for file in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with no_waiting():
            refused = merit("import", folder, file).exception
        assert isinstance(refused, InputError)
        assert str(refused).startswith(f"{file}: not a regular file")
    assert "cannot be read (No such file" in str(merit("import", folder, tmp_path / "nowhere").exception)


def test_an_export_replaces_no_device(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert isinstance(merit("export", folder, "--out", tmp_path / "pipe").exception, InputError)
    assert (tmp_path / "pipe").is_fifo()
    refused = merit("export", folder, "--out", tmp_path / "nowhere" / "file").exception
    assert isinstance(refused, InputError)


def test_an_export_writes_through_no_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "out.jsonl.part").symlink_to("victim")
    (tmp_path / "out.jsonl").symlink_to("victim")
    assert "3 entries written" in output("export", folder, "--out", tmp_path / "out.jsonl", "--replace")
    assert (tmp_path / "victim").read_text() == "mine"
    assert not (tmp_path / "out.jsonl").is_symlink()
    assert not os.path.lexists(tmp_path / "out.jsonl.part")


def test_a_reason_of_any_bytes_is_kept(folder: Path) -> None:
    first = ids(folder)[0]
    output("delete", folder, first, "--reason", "odd \udcff")
    assert "odd ?" in output("show", folder, first)
