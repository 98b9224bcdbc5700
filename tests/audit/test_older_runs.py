"""Runs of merit 0.1, whose memories are of format 3: shown, reported and audited as strictly as those of today."""

import random
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from making.benchmark import FickleModel
from making.format3 import format3_files
from making.memories import WordEncoder
from making.runs import Bench, files_of, make_bench
from merit.audit import audit_run
from merit.cli.main import cli
from merit.errors import AuditFailed, MeritError, RunUnusable
from merit.memory import entries_in
from merit.memory.format3 import FILE_NAMES
from merit.report import build, open_runs
from merit.runs import read_run

METHODS = ["merit", "precedent"]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def honest(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs whose memory is laid out as merit 0.1 did."""
    runs = tmp_path_factory.mktemp("older")
    for method in METHODS:
        run = bench.run(runs / method, method, model=FickleModel(luck=4)).path
        texts = format3_files(run / "memory")
        (run / "memory" / "memory.jsonl").unlink()
        for name, text in texts.items():
            (run / "memory" / name).write_text(text, encoding="utf-8")
    return runs


@pytest.fixture(params=METHODS)
def run(request: pytest.FixtureRequest, honest: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(honest / request.param, tmp_path / "run"))


def test_it_is_audited_shown_listed_and_reported(run: Path, bench: Bench) -> None:
    before = files_of(run)
    report = audit_run(read_run(run), encoder=WordEncoder())
    assert report.ranked
    assert report.entries == len(entries_in(run / "memory")) > 3
    question = next(turn.episode.task.question.id for turn in read_run(run).turns if turn.recalls)
    for arguments in (["show", run, question], ["memory", "list", run], ["memory", "stats", run]):
        result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
    views, refused = open_runs([run])
    assert not refused
    (table,) = (table for table in build(views, refused=refused).tables if table.id == "memory")
    assert table.rows
    assert files_of(run) == before


def test_any_byte_of_its_memory_that_changed_is_noticed(run: Path) -> None:
    draw, tried = random.Random(1), 0
    for name in FILE_NAMES:
        path = run / "memory" / name
        whole = path.read_bytes()
        for _ in range(12 if whole else 0):
            data = bytearray(whole)
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(7)
            path.write_bytes(data)
            with pytest.raises(MeritError, match=name):
                audit_run(read_run(run), encoder=WordEncoder())
            tried += 1
        path.write_bytes(whole)
    assert tried >= 12


def test_lines_too_many_and_too_few_are_noticed(run: Path) -> None:
    path = next(path for name in FILE_NAMES if (path := run / "memory" / name).stat().st_size)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[-1]]))
    with pytest.raises(AuditFailed, match=f"{path.name}: has a line that belongs to no turn"):
        audit_run(read_run(run))
    path.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(AuditFailed, match=f"{path.name}: has no line for the entry"):
        audit_run(read_run(run))
    path.unlink()
    with pytest.raises(AuditFailed, match=f"{path.name}: is missing, and with it the entry"):
        audit_run(read_run(run))


def test_files_of_both_formats_are_not_one_memory(run: Path) -> None:
    (run / "memory" / "memory.jsonl").touch()
    with pytest.raises(AuditFailed, match="memory.jsonl: has no line for the entry"):
        audit_run(read_run(run))


def test_what_people_did_to_it_since_is_noticed(run: Path) -> None:
    first = entries_in(run / "memory")[0].entry.id
    result = CliRunner().invoke(cli, ["memory", "delete", str(run), first, "--reason", "x"])
    assert "this is the memory of a run, whose audit will no longer hold" in result.stderr
    assert (run / "memory" / "memory.jsonl").exists()
    with pytest.raises(AuditFailed):
        audit_run(read_run(run))


def test_only_merit_of_its_time_goes_on_with_it(run: Path, bench: Bench) -> None:
    before = files_of(run)
    method = read_run(run).method.name
    with pytest.raises(RunUnusable, match="is of an earlier merit, which alone can go on with it"):
        bench.run(run, method, model=FickleModel(luck=4))
    assert files_of(run) == before
