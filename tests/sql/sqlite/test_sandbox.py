"""What the sandbox promises: rows, a failure with its cause, or a timeout, and an untouched database."""

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from making.clock import COMES_S, STALL_S
from merit.sql import SQLiteSandbox
from merit.sql.process import Child
from merit.sql.sqlite import worker as worker_module
from merit.types import Cause, Error, Limits, Rows, Timeout

LIMITS = Limits(timeout_s=60.0)


@pytest.fixture(scope="module", params=[True, False], ids=["frozen", "live"])
def shared(request: pytest.FixtureRequest) -> Iterator[SQLiteSandbox]:
    """Its process is started once for all tests, and again after each that ends it."""
    made = SQLiteSandbox(frozen=request.param)
    yield made
    made.close()


@pytest.fixture
def sandbox(shared: SQLiteSandbox, database: Path) -> SQLiteSandbox:
    shared.execute(database, "SELECT 1", LIMITS)  # its process is there
    return shared


def rows(result: object) -> list[tuple[object, ...]]:
    assert isinstance(result, Rows), result
    return list(result.rows)


def cause(result: object) -> Cause:
    assert isinstance(result, Error), result
    return result.cause


def test_a_query_gives_columns_and_typed_rows(sandbox: SQLiteSandbox, database: Path) -> None:
    result = sandbox.execute(database, "SELECT id, name, x FROM t ORDER BY id", LIMITS)
    assert result == Rows(("id", "name", "x"), [(1, "one", 1.0), (2, "two", 2.5), (3, None, None)])


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT nope FROM t", "no such column: nope"),
        ("SELECT * FROM nope", "no such table: nope"),
        ("SELEC 1", 'near "SELEC": syntax error'),
        ("SELECT nope(1)", "no such function: nope"),
    ],
)
def test_the_database_speaks_for_itself(sandbox: SQLiteSandbox, database: Path, sql: str, message: str) -> None:
    assert sandbox.execute(database, sql, LIMITS) == Error(Cause.DBMS, message, "SQLITE_ERROR")


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT abs(-9223372036854775808)", "SQLITE_ERROR"),
        ("SELECT 1 LIMIT 'many'", "SQLITE_MISMATCH"),
        ("SELECT 'a' COLLATE nope = 'b'", "SQLITE_ERROR_MISSING_COLLSEQ"),
        ("SELECT zeroblob(2000000)", "SQLITE_TOOBIG"),
        ("DELETE FROM t", ""),  # refused before SQLite runs it
        ("SELECT 1; SELECT 2", ""),
        ("SELECT ?", ""),  # missing values are noticed outside SQLite
    ],
)
def test_an_error_carries_sqlites_own_code(sandbox: SQLiteSandbox, database: Path, sql: str, code: str) -> None:
    result = sandbox.execute(database, sql, LIMITS)
    assert isinstance(result, Error), result
    assert result.code == code, result


def test_a_file_that_is_no_database_has_a_code_too(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    path = tmp_path / "text.sqlite"
    path.write_text("This is not a database. " * 100)
    result = sandbox.execute(path, "SELECT 1", LIMITS)
    assert result == Error(Cause.DATABASE_UNREADABLE, "file is not a database", "SQLITE_NOTADB")


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO t VALUES (9, 'x', 1)",
        "UPDATE t SET x = 1",
        "DELETE FROM t RETURNING id",
        "WITH w AS (SELECT 1) DELETE FROM t",
        "REPLACE INTO t VALUES (1, 'x', 1)",
        "CREATE TABLE u (a)",
        "CREATE TEMP TABLE u (a)",
        "CREATE VIEW u AS SELECT 1",
        "DROP TABLE t",
        "ALTER TABLE t ADD COLUMN y",
        "EXPLAIN DELETE FROM t",
        "BEGIN",
        "SAVEPOINT s",
        "REINDEX",
        "ANALYZE",
        "VACUUM",
        "VACUUM INTO 'copy.sqlite'",
    ],
)
def test_a_write_is_told_by_its_cause(sandbox: SQLiteSandbox, database: Path, sql: str) -> None:
    assert sandbox.execute(database, sql, LIMITS) == Error(Cause.READ_ONLY, "attempt to write a readonly database")


@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH 'other.sqlite' AS o",
        "DETACH main",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA user_version = 7",
        "PRAGMA database_list",
        "SELECT * FROM pragma_database_list",
        "SELECT * FROM pragma_compile_options",
        "SELECT load_extension('x')",
        "SELECT readfile('/etc/passwd')",
    ],
)
def test_reaching_outside_is_refused(sandbox: SQLiteSandbox, database: Path, sql: str) -> None:
    result = sandbox.execute(database, sql, LIMITS)
    # A build without a function says so itself; none may run.
    assert cause(result) in (Cause.FORBIDDEN, Cause.DBMS), result
    assert not Path("copy.sqlite").exists()


def test_reading_the_schema_is_allowed(sandbox: SQLiteSandbox, database: Path) -> None:
    assert ("name",) in rows(sandbox.execute(database, "SELECT name FROM pragma_table_info('t')", LIMITS))
    assert len(rows(sandbox.execute(database, "PRAGMA table_info(t)", LIMITS))) == 3


def test_json_tables_can_be_read(sandbox: SQLiteSandbox, database: Path) -> None:
    assert rows(sandbox.execute(database, "SELECT value FROM json_each('[1, 2]')", LIMITS)) == [(1,), (2,)]
    assert (
        cause(sandbox.execute(database, "CREATE TABLE j AS SELECT * FROM json_each('[]')", LIMITS)) is Cause.READ_ONLY
    )


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "   ",
        ";",
        "-- nothing",
        "/* nothing */",
        "SELECT 1; SELECT 2",
        "SELECT 1;;",
        "SELECT 1; -- and\n;",  # what follows a comment is handed to us apart
        "SELECT 1;/**/;",
        "SELECT 1;\f;\f",
    ],
)
def test_exactly_one_statement(sandbox: SQLiteSandbox, database: Path, sql: str) -> None:
    assert cause(sandbox.execute(database, sql, LIMITS)) is Cause.STATEMENTS


def test_a_trailing_semicolon_and_comments_are_no_second_statement(sandbox: SQLiteSandbox, database: Path) -> None:
    assert rows(sandbox.execute(database, "-- first\nSELECT 1; -- last\n", LIMITS)) == [(1,)]
    assert rows(sandbox.execute(database, "-- first;\nSELECT ';;'; -- last;", LIMITS)) == [(";;",)]


@pytest.mark.parametrize("sql", ["SELECT '\0'", "\0", "SELECT '\ud800'"])
def test_text_no_database_can_read(sandbox: SQLiteSandbox, database: Path, sql: str) -> None:
    assert cause(sandbox.execute(database, sql, LIMITS)) is Cause.DBMS


def test_a_statement_too_long(sandbox: SQLiteSandbox, database: Path) -> None:
    long = f"SELECT {'1,' * 500_000}1"
    assert cause(sandbox.execute(database, long, LIMITS)) is Cause.TOO_LARGE


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c",
        "SELECT count(*) FROM n a, n b, n c",
        "SELECT * FROM n a, n b, n c ORDER BY random()",
    ],
)
def test_the_deadline_fires_in_native_code(sandbox: SQLiteSandbox, database: Path, sql: str) -> None:
    started = time.monotonic()
    result = sandbox.execute(database, sql, Limits(timeout_s=1.0))
    assert result == Timeout(1.0)
    assert time.monotonic() - started < 1.0 + STALL_S


def test_a_deadline_shorter_than_the_quick_lane(sandbox: SQLiteSandbox, database: Path) -> None:
    started = time.monotonic()
    assert sandbox.execute(database, "SELECT count(*) FROM n a, n b, n c", Limits(timeout_s=0.05)) == Timeout(0.05)
    assert time.monotonic() - started < 0.05 + STALL_S


def test_rows_beyond_the_limit_are_cut_off(sandbox: SQLiteSandbox, database: Path) -> None:
    result = sandbox.execute(database, "SELECT i FROM n ORDER BY i", replace(LIMITS, rows=10))
    assert isinstance(result, Rows)
    assert result.truncated
    assert result.rows == [(i,) for i in range(1, 11)]
    exact = sandbox.execute(database, "SELECT i FROM n WHERE i <= 10", replace(LIMITS, rows=10))
    assert isinstance(exact, Rows)
    assert not exact.truncated


def test_bytes_beyond_the_limit_are_cut_off(sandbox: SQLiteSandbox, database: Path) -> None:
    result = sandbox.execute(database, "SELECT hex(zeroblob(8000)) FROM n", Limits(result_bytes=20_000_000))
    assert isinstance(result, Rows)
    assert result.truncated
    assert 500 < len(result.rows) < 2_000


def test_a_cell_beyond_the_limit_is_refused(sandbox: SQLiteSandbox, database: Path) -> None:
    fits = sandbox.execute(database, "SELECT length(hex(zeroblob(100000)))", LIMITS)
    assert rows(fits) == [(200_000,)]  # too long for the quick lane only
    assert cause(sandbox.execute(database, "SELECT zeroblob(2000000)", LIMITS)) is Cause.TOO_LARGE


def test_quick_caps_never_change_an_answer(sandbox: SQLiteSandbox, database: Path) -> None:
    assert rows(sandbox.execute(database, "SELECT length(printf('%.*c', 100000, 'a'))", LIMITS)) == [(100_000,)]
    like = f"SELECT '{'a' * 2000}' LIKE '{'a' * 1000}%'"
    assert rows(sandbox.execute(database, like, LIMITS)) == [(1,)]
    (array,) = rows(sandbox.execute(database, "SELECT length(json_group_array(i)) FROM n", LIMITS))
    assert array == (23_894,)


def test_distinct_rows_are_kept_once_however_many_there_are(sandbox: SQLiteSandbox, database: Path) -> None:
    limits = replace(LIMITS, rows=3)
    result = sandbox.execute(database, "SELECT i % 3 FROM n", limits, distinct=True)
    assert isinstance(result, Rows)
    assert (sorted(result.rows), result.truncated) == ([(0,), (1,), (2,)], False)
    more = sandbox.execute(database, "SELECT i % 4 FROM n", limits, distinct=True)
    assert isinstance(more, Rows)
    assert more.truncated


def test_text_that_is_not_utf8(sandbox: SQLiteSandbox, database: Path) -> None:
    sql = "SELECT word FROM odd ORDER BY rowid"
    assert rows(sandbox.execute(database, sql, LIMITS, lossy=True)) == [("foo",), ("plain",)]
    assert cause(sandbox.execute(database, sql, LIMITS)) is Cause.DBMS
    assert rows(sandbox.execute(database, "SELECT name FROM t WHERE id = 1", LIMITS)) == [("one",)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT n FROM q",
        "SELECT n FROM Q0 AS x",
        'SELECT n FROM "Q0" WHERE n IN q0',
        "WITH q1 AS (SELECT n FROM q0) SELECT n FROM q1, (SELECT 1 FROM q)",
        "SELECT n FROM v",
    ],
)
def test_text_that_is_not_utf8_in_a_table_of_any_name(sandbox: SQLiteSandbox, tmp_path: Path, sql: str) -> None:
    """Such a query is run again inside another one, whose own name must mean no table."""
    path = tmp_path / "names.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        for name in ("q", "q0"):
            connection.execute(f"CREATE TABLE {name} (n)")
            connection.execute(f"INSERT INTO {name} VALUES (CAST(x'61ff62' AS TEXT))")
        connection.execute("CREATE VIEW v AS SELECT n FROM q0 WHERE n IN q")
        connection.commit()
    assert rows(sandbox.execute(path, sql, LIMITS, lossy=True)) == [("ab",)]


def test_a_missing_database_is_not_made(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    path = tmp_path / "nowhere.sqlite"
    assert cause(sandbox.execute(path, "SELECT 1", LIMITS)) is Cause.DATABASE_MISSING
    assert cause(sandbox.execute(path, f"SELECT {'1 + ' * 10_000}1", LIMITS)) is Cause.DATABASE_MISSING
    assert not path.exists()


def test_a_damaged_database(sandbox: SQLiteSandbox, tmp_path: Path, database: Path) -> None:
    junk = tmp_path / "junk.sqlite"
    junk.write_bytes(b"not a database" * 1000)
    assert cause(sandbox.execute(junk, "SELECT 1", LIMITS)) is Cause.DATABASE_UNREADABLE
    cut = tmp_path / "cut.sqlite"
    cut.write_bytes(database.read_bytes()[:5000])
    assert cause(sandbox.execute(cut, "SELECT sum(i) FROM n", LIMITS)) is Cause.DATABASE_UNREADABLE


def test_an_engine_that_dies_is_an_answer_too(sandbox: SQLiteSandbox, database: Path) -> None:
    def kill() -> None:
        (worker,) = sandbox._busy
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)

    sandbox.execute(database, "SELECT 1", LIMITS)
    threading.Timer(0.3, kill).start()
    assert cause(sandbox.execute(database, "SELECT count(*) FROM n a, n b, n c", LIMITS)) is Cause.CRASHED
    assert rows(sandbox.execute(database, "SELECT length(zeroblob(100000))", LIMITS)) == [(100_000,)]


def test_many_threads_share_a_sandbox(sandbox: SQLiteSandbox, database: Path) -> None:
    wrong: list[object] = []

    def work(number: int) -> None:
        for i in range(50):
            result = sandbox.execute(database, f"SELECT count(*) + {number * i} FROM n", LIMITS)
            if result != Rows((f"count(*) + {number * i}",), [(5000 + number * i,)]):
                wrong.append(result)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_one_slow_statement_does_not_interrupt_its_neighbours(sandbox: SQLiteSandbox, database: Path) -> None:
    slow = threading.Thread(
        target=sandbox.execute, args=(database, "SELECT count(*) FROM n a, n b, n c", Limits(timeout_s=1.5))
    )
    slow.start()
    while slow.is_alive():
        assert rows(sandbox.execute(database, "SELECT count(*) FROM t", LIMITS)) == [(3,)]
    slow.join()


def test_a_fork_starts_anew(sandbox: SQLiteSandbox, database: Path) -> None:
    sandbox.execute(database, "SELECT 1", LIMITS)
    child = os.fork()
    if child == 0:  # the deadline must fire here too, although the parent's watchdog thread is gone
        result = sandbox.execute(database, "SELECT count(*) FROM n a, n b, n c", Limits(timeout_s=0.1))
        os._exit(0 if isinstance(result, Timeout) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_live_database_is_read_as_it_changes(database: Path) -> None:
    sandbox = SQLiteSandbox()
    assert rows(sandbox.execute(database, "SELECT count(*) FROM t", LIMITS)) == [(3,)]
    writer = sqlite3.connect(database)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("INSERT INTO t VALUES (4, 'four', 4)")
    writer.commit()
    assert rows(sandbox.execute(database, "SELECT count(*) FROM t", LIMITS)) == [(4,)]
    writer.close()
    sandbox.close()


def test_a_database_with_its_writers_log_beside_it_is_read_through_it(database: Path) -> None:
    writer = sqlite3.connect(database)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("INSERT INTO t VALUES (4, 'four', 4)")
    writer.commit()
    sandbox = SQLiteSandbox(frozen=True)
    assert rows(sandbox.execute(database, "SELECT count(*) FROM t", LIMITS)) == [(4,)]
    sandbox.close()
    writer.close()


def test_nothing_that_was_tried_changed_the_database(sandbox: SQLiteSandbox, database: Path) -> None:
    before = hashlib.sha256(database.read_bytes()).hexdigest()
    for sql in ("DELETE FROM t", "DROP TABLE n", "PRAGMA writable_schema = 1", "VACUUM", "SELECT * FROM n"):
        sandbox.execute(database, sql, LIMITS)
    assert hashlib.sha256(database.read_bytes()).hexdigest() == before


def test_a_fork_shares_no_child_with_its_parent(sandbox: SQLiteSandbox, database: Path) -> None:
    """Both ask a child process; each must get its own answer."""
    assert rows(sandbox.execute(database, "SELECT length(zeroblob(100000))", LIMITS)) == [(100_000,)]
    fork = os.fork()
    if fork == 0:
        same = all(
            sandbox.execute(database, f"SELECT length(zeroblob(100000)) + {i}", LIMITS)
            == Rows((f"length(zeroblob(100000)) + {i}",), [(100_000 + i,)])
            for i in range(50)
        )
        sandbox.close()
        os._exit(0 if same else 1)
    for i in range(50, 100):
        assert rows(sandbox.execute(database, f"SELECT length(zeroblob(100000)) + {i}", LIMITS)) == [(100_000 + i,)]
    assert os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]) == 0


def test_a_locked_database_is_waited_for_until_the_deadline(database: Path) -> None:
    sandbox = SQLiteSandbox()
    writer = sqlite3.connect(database, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    started = time.monotonic()
    assert sandbox.execute(database, "SELECT count(*) FROM t", Limits(timeout_s=0.5)) == Timeout(0.5)
    assert time.monotonic() - started < 0.5 + STALL_S
    writer.execute("COMMIT")
    writer.close()
    assert rows(sandbox.execute(database, "SELECT count(*) FROM t", LIMITS)) == [(3,)]
    sandbox.close()


def test_a_live_database_that_was_replaced_is_another_one(database: Path, tmp_path: Path) -> None:
    sandbox = SQLiteSandbox()
    assert rows(sandbox.execute(database, "SELECT count(*) FROM t", LIMITS)) == [(3,)]
    other = tmp_path / "other.sqlite"
    db = sqlite3.connect(other)
    db.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1);")
    db.close()
    other.replace(database)
    assert rows(sandbox.execute(database, "SELECT count(*) FROM t", LIMITS)) == [(1,)]
    database.unlink()
    assert cause(sandbox.execute(database, "SELECT count(*) FROM t", LIMITS)) is Cause.DATABASE_MISSING
    sandbox.close()


def test_a_live_database_that_was_copied_over_is_another_one(tmp_path: Path) -> None:
    database = filled(tmp_path / "live.sqlite", 300)
    other = filled(tmp_path / "other.sqlite", 200).read_bytes()  # made alike: its header counts as many changes
    sandbox = SQLiteSandbox()
    sql = "SELECT sum(a), sum(length(b)) FROM t"
    assert rows(sandbox.execute(database, sql, LIMITS)) == [(300 * 100, 100_000)]
    status = database.stat()
    assert status.st_size == len(other)
    with database.open("r+b") as file:
        file.write(other)
    os.utime(database, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert rows(sandbox.execute(database, sql, LIMITS)) == [(200 * 100, 100_000)]
    sandbox.close()


def filled(path: Path, value: int) -> Path:
    """A database of many pages that all hold a value."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (a, b)")
        db.executemany("INSERT INTO t VALUES (?, ?)", [(value, "x" * 1000)] * 100)
        db.commit()
    return path


def test_connections_to_a_file_that_changes_are_not_gathered(database: Path) -> None:
    sandbox = SQLiteSandbox()
    sandbox.execute(database, "SELECT 1", LIMITS)
    (worker,) = sandbox._idle
    for number in range(5):
        with closing(sqlite3.connect(database)) as db:
            db.execute("INSERT INTO t (id) VALUES (?)", (100 + number,))
            db.commit()
        assert rows(sandbox.execute(database, "SELECT count(*) FROM t", LIMITS)) == [(4 + number,)]
    opened = [file.readlink() for file in Path(f"/proc/{worker.pid}/fd").iterdir() if file.is_symlink()]
    assert opened.count(database.resolve()) == 1
    sandbox.close()


def test_the_databases_own_virtual_tables_can_be_read(sandbox: SQLiteSandbox, tmp_path: Path) -> None:
    path = tmp_path / "search.sqlite"
    db = sqlite3.connect(path)
    try:
        db.executescript(
            "CREATE VIRTUAL TABLE notes USING fts5(body); INSERT INTO notes VALUES ('find me'), ('not that');"
        )
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no full-text search")
    finally:
        db.close()
    assert rows(sandbox.execute(path, "SELECT body FROM notes WHERE notes MATCH 'find'", LIMITS)) == [("find me",)]
    assert cause(sandbox.execute(path, "INSERT INTO notes VALUES ('x')", LIMITS)) is Cause.READ_ONLY


def test_a_path_that_is_not_utf8(sandbox: SQLiteSandbox, database: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(database.parent) + b"/odd\xff?%.sqlite"))
    database.rename(odd)
    assert rows(sandbox.execute(odd, "SELECT count(*) FROM t", LIMITS)) == [(3,)]


def test_a_parameter_is_not_several_statements(sandbox: SQLiteSandbox, database: Path) -> None:
    assert cause(sandbox.execute(database, "SELECT ?", LIMITS)) is Cause.DBMS


def test_interrupted_by_the_user_nothing_keeps_running(database: Path) -> None:
    """Ctrl-C while a child works: the interrupt gets through, and the child is gone."""
    sandbox = SQLiteSandbox(frozen=True)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it

    def interrupt() -> None:
        while not any(worker.pid for worker in sandbox._busy):
            time.sleep(0.01)
        time.sleep(0.3)  # so that it waits for the statement, as a rule
        os.kill(os.getpid(), signal.SIGINT)

    try:
        with pytest.raises(KeyboardInterrupt):
            threading.Thread(target=interrupt).start()
            sandbox.execute(database, "SELECT count(*) FROM n a, n b, n c", Limits(timeout_s=300.0))
    finally:
        signal.signal(signal.SIGINT, before)
    assert sandbox._busy == set()
    assert sandbox._idle == []
    assert rows(sandbox.execute(database, "SELECT count(*) FROM t", LIMITS)) == [(3,)]
    sandbox.close()


def test_closed_while_a_worker_starts_it_runs_nothing(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else Ctrl-C would wait for a statement that begins after it."""
    starting, closed = threading.Event(), threading.Event()
    results: list[object] = []

    def started(*given: Any) -> Child:
        starting.set()
        assert closed.wait(COMES_S)
        return Child(*given)

    monkeypatch.setattr(worker_module, "Child", started)
    sandbox = SQLiteSandbox()
    endless = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c"
    asking = threading.Thread(
        target=lambda: results.append(sandbox.execute(database, endless, Limits(timeout_s=2 * STALL_S)))
    )
    asking.start()
    assert starting.wait(COMES_S)
    sandbox.close()
    closed.set()
    asking.join(STALL_S)
    assert not asking.is_alive()
    assert cause(results[0]) is Cause.CRASHED
    assert cause(sandbox.execute(database, "SELECT 1", LIMITS)) is Cause.CRASHED  # nor does anything begin later


def test_more_databases_than_connections_kept(tmp_path: Path) -> None:
    sandbox = SQLiteSandbox(frozen=True)
    paths = [tmp_path / f"{i}.sqlite" for i in range(300)]
    for path in paths:
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE t (a)")
        db.close()
    for _ in range(2):
        for path in paths:
            assert rows(sandbox.execute(path, "SELECT count(*) FROM t", LIMITS)) == [(0,)]
    (worker,) = sandbox._idle
    assert len(list(Path(f"/proc/{worker.pid}/fd").iterdir())) < 270
    sandbox.close()


BUSY_PARENT = """
import sys, threading
from pathlib import Path
from merit.sql import SQLiteSandbox
from merit.types import Limits

sandbox, database = SQLiteSandbox(), Path(sys.argv[1])
sandbox.execute(database, "SELECT 1", Limits())
print(sandbox._idle[0].pid, flush=True)
endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
sandbox.execute(database, endless, Limits(timeout_s=300.0))
"""


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_worker_ends_with_a_parent_that_is_killed(database: Path) -> None:
    command = [sys.executable, "-c", BUSY_PARENT, str(database)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        time.sleep(0.5)  # the statement has begun
        assert is_running(worker)
        parent.kill()
    until = time.monotonic() + COMES_S
    while is_running(worker) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_running(worker)


@pytest.mark.parametrize(("kind", "most"), [("RLIMIT_FSIZE", 100_000), ("RLIMIT_AS", 1 << 30), ("RLIMIT_CORE", 0)])
def test_limits_that_a_user_set_are_kept(database: Path, kind: str, most: int) -> None:
    """A process may lower a hard limit, and not raise it."""
    program = f"""if True:
        import resource
        from pathlib import Path
        from merit.sql import SQLiteSandbox
        from merit.types import Limits
        resource.setrlimit(resource.{kind}, ({most}, {most}))
        print(SQLiteSandbox().execute(Path({str(database)!r}), "SELECT 1", Limits(timeout_s=60)).rows)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=COMES_S)
    assert (done.stdout, done.stderr) == ("[(1,)]\n", "")


def test_a_worker_outlives_the_thread_that_started_it(database: Path) -> None:
    with closing(SQLiteSandbox()) as sandbox:
        first = threading.Thread(target=sandbox.execute, args=(database, "SELECT 1", LIMITS))
        first.start()
        first.join()
        (worker,) = sandbox._idle
        pid = worker.pid
        time.sleep(0.2)
        assert rows(sandbox.execute(database, "SELECT 2", LIMITS)) == [(2,)]
        assert worker.pid == pid
