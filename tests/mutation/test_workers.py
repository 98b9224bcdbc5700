"""Workers count what they finish, and do not outlive the process that started them."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from making.clock import COMES_S
from merit.bundled import DatabaseSource, WrittenQuestion
from merit.mutation import check

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
PARENT = f"""
import os
from merit.mutation.workers import open_pool
pool = open_pool(1)
print(pool.submit(os.getpid).result(), flush=True)
pool.submit(exec, "import sqlite3; sqlite3.connect(':memory:').execute('{ENDLESS}')").result()
"""


@pytest.mark.parametrize("killed", [True, False], ids=["killed", "Ctrl-C"])
def test_workers_end_with_their_parent_in_the_middle_of_a_query(killed: bool) -> None:
    pipe, none = subprocess.PIPE, subprocess.DEVNULL
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=pipe, stderr=none, text=True, start_new_session=True
    )
    assert parent.stdout is not None
    worker = Path(f"/proc/{parent.stdout.readline().strip()}")
    assert worker.exists()
    time.sleep(0.5)  # now the query runs
    parent.kill() if killed else os.killpg(parent.pid, signal.SIGINT)
    parent.wait(COMES_S)
    parent.stdout.close()
    deadline = time.monotonic() + COMES_S
    while worker.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not worker.exists()


def test_progress_moves_by_question(tmp_path: Path) -> None:
    (tmp_path / "schema.sql").write_text("CREATE TABLE frog (frog_id INTEGER PRIMARY KEY, size INTEGER);")
    (tmp_path / "rows.sql").write_text("INSERT INTO frog VALUES (1, 3), (2, 4), (3, 4), (4, 9);")
    question = WrittenQuestion("pond-01", "Which?", "SELECT frog_id FROM frog WHERE size > 3", "easy", None)
    questions = (question, replace(question, id="pond-02", like="pond-01"))
    told: list[int] = []
    check([DatabaseSource(tmp_path, questions, tuple(range(1, 7)))], quick=True, on_progress=told.append)
    assert told[-1] == 2
    assert told == sorted(told)
