"""Nothing a model can write may hang, bloat, escape or change anything."""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from corpus.hostile import BOMBS, CORPUS, GROWTH, OUTSIDE, WRITES
from making.clock import COMES_S, STALL_S
from merit.sql import SQLiteSandbox
from merit.types import Cause, Error, Limits, Rows, Timeout

DEADLINE_S = 1.0
BOMB_DEADLINE_S = 0.5  # for what never ends by itself
MIB = 1024 * 1024
SMALL = [sql for sql in CORPUS if sql not in {*BOMBS, *GROWTH}]
LINUX = sys.platform == "linux"  # memory is measured in /proc


def peak_bytes(process: int | str = "self") -> int:
    """The most memory a process has held since the last reset."""
    status = Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SQLiteSandbox]:
    made = SQLiteSandbox(frozen=True)
    yield made
    made.close()


def check_harmless(sandbox: SQLiteSandbox, database: Path, sql: str, work: Path) -> None:
    """A statement is answered in time, and leaves database and folders as they were."""
    deadline_s = BOMB_DEADLINE_S if sql in BOMBS else DEADLINE_S
    before = hashlib.sha256(database.read_bytes()).hexdigest()
    sandbox.execute(database, "SELECT 1", Limits())  # starting a process is not the statement's time
    started = time.monotonic()
    result = sandbox.execute(database, sql, Limits(timeout_s=deadline_s), lossy=True)
    assert time.monotonic() - started < deadline_s + STALL_S, sql
    assert isinstance(result, Rows | Error | Timeout), sql
    if isinstance(result, Error):
        assert not result.cause.environmental, (sql, result)
        assert result.message, sql
    del result  # or it is held beside that of another statement, and counts as growth
    assert hashlib.sha256(database.read_bytes()).hexdigest() == before, sql
    assert list(work.iterdir()) == [], sql
    assert sorted(path.name for path in work.parent.iterdir()) == ["small.sqlite", "work"], sql


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, where nothing may appear."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("sql", SMALL, ids=[f"{i}-{sql[:30]!r}" for i, sql in enumerate(SMALL)])
def test_hostile_statement(sandbox: SQLiteSandbox, database: Path, sql: str, work: Path) -> None:
    check_harmless(sandbox, database, sql, work)


@pytest.mark.parametrize("statements", [BOMBS, GROWTH], ids=["bombs", "growth"])
def test_what_grows_is_harmless_and_bloats_no_process(database: Path, statements: list[str], work: Path) -> None:
    """Over all of these statements, this process and its children each grow by less than 200 MB."""
    with closing(SQLiteSandbox(frozen=True)) as sandbox:
        sandbox.execute(database, "SELECT 1", Limits())
        if LINUX:
            Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        before = peak_bytes() if LINUX else 0
        largest_child = 0
        for sql in statements:
            check_harmless(sandbox, database, sql, work)
            living = [worker.pid for worker in sandbox._idle if worker.pid] if LINUX else []
            largest_child = max([largest_child, *map(peak_bytes, living)])
        if LINUX:
            grown = peak_bytes() - before
            assert grown < 200 * MIB, f"grew by {grown / MIB:.0f} MiB"
            assert 0 < largest_child < 200 * MIB, f"a child held {largest_child / MIB:.0f} MiB"


def test_the_corpus_is_large_enough() -> None:
    assert len(set(CORPUS)) >= 60


@pytest.mark.parametrize("sql", WRITES)
def test_no_write_is_taken_for_a_query(sandbox: SQLiteSandbox, database: Path, sql: str) -> None:
    result = sandbox.execute(database, sql, Limits())
    assert isinstance(result, Error)
    # COMMIT and VACUUM outside a transaction fail before they are asked for permission.
    assert result.cause in (Cause.READ_ONLY, Cause.FORBIDDEN, Cause.DBMS)


@pytest.mark.parametrize("sql", OUTSIDE)
def test_nothing_reaches_outside(sandbox: SQLiteSandbox, database: Path, sql: str) -> None:
    result = sandbox.execute(database, sql, Limits())
    assert isinstance(result, Error)
    assert result.cause in (Cause.FORBIDDEN, Cause.READ_ONLY, Cause.DBMS)


def test_a_message_that_repeats_a_huge_value_is_cut(sandbox: SQLiteSandbox, database: Path) -> None:
    result = sandbox.execute(database, "SELECT json_extract('{}', printf('%.*c', 900000, 'x'))", Limits())
    assert isinstance(result, Error)
    assert result.message.startswith("bad JSON path: 'xxx")
    assert len(result.message) < 11_000


def test_a_message_that_was_cut_names_the_same_failure(sandbox: SQLiteSandbox, database: Path) -> None:
    result = sandbox.execute(database, f"SELECT 1 AS a '{'x' * 50_000}'", Limits())
    assert isinstance(result, Error)
    assert result.message.endswith("syntax error")
    assert len(result.message) < 11_000


def test_no_process_outlives_its_sandbox(database: Path) -> None:
    sandbox = SQLiteSandbox(frozen=True)
    sandbox.execute(database, "SELECT length(zeroblob(100000))", Limits())
    (worker,) = sandbox._idle
    pid = worker.pid
    assert pid is not None
    sandbox.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


ORPHAN = """
import sys
from pathlib import Path
from merit.sql import SQLiteSandbox
from merit.types import Limits
sandbox = SQLiteSandbox(frozen=True)
sandbox.execute(Path(sys.argv[1]), "SELECT length(zeroblob(100000))", Limits())
print(sandbox._idle[0].pid, flush=True)
sandbox.execute(Path(sys.argv[1]), "SELECT printf('%.*c', 2147483647, 'x') FROM n", Limits(timeout_s=1.0))
"""


def test_a_child_whose_parent_was_killed_ends_by_itself(database: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", ORPHAN, str(database)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    time.sleep(0.5)  # now in the middle of what cannot be interrupted
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + COMES_S
    while time.monotonic() < deadline and Path(f"/proc/{child}").exists():
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()
