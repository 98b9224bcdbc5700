"""Where tests find data: a small example always, the real benchmarks through MERIT_DATA."""

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

from making.clock import STILL_S, TRIES, StandingStill
from making.workers import KeptWorkers
from merit.bundled import built
from merit.bundled import library as example
from merit.data import Dataset, load

# Shared machines stall at times; a slow example is no failure.
settings.register_profile("merit", deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("merit")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Names of tests are the same in every process, also where a parameter holds a name like merit_guard_PID."""
    own = rf"(?<=_){os.getpid()}\b"  # the same digits within another number are no name
    return re.sub(own, "PID", val) if isinstance(val, str) and re.search(own, val) else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A `timed` test, whose subject are short times, is tried again where it fails and the machine stood still."""
    if item.get_closest_marker("timed") is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for _ in range(TRIES):
        with StandingStill() as still:
            reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if still.longest_s < STILL_S or not any(report.failed for report in reports):
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def benchmark_data() -> Path | None:
    given = os.environ.get("MERIT_DATA")
    root = Path(given) if given else Path(__file__).parents[2] / "shared" / "data"
    return root if root.is_dir() else None


@pytest.fixture(scope="session")
def real_data() -> Path:
    root = benchmark_data()
    if root is None:
        pytest.skip("the benchmarks are not here: set MERIT_DATA to the folder that holds spider/ and bird/")
    return root


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new folder for each test, numbered here: pytest's own numbering reads a folder with thousands of others."""
    folder = tmp_path_factory.mktemp("caches")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def cache_of_its_own(monkeypatch: pytest.MonkeyPatch, caches: Iterator[Path]) -> None:
    folder = next(caches)
    folder.mkdir()
    monkeypatch.setenv("MERIT_CACHE", str(folder))


@pytest.fixture(scope="session")
def workers() -> Iterator[KeptWorkers]:
    kept = KeptWorkers()
    yield kept
    kept.close()


@pytest.fixture(autouse=True)
def kept_workers(workers: KeptWorkers) -> Iterator[None]:
    """Processes that run statements go from test to test."""
    with workers.used():
        yield


@pytest.fixture(scope="session")
def bundled_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that holds the bundled benchmark, built once (it takes seconds) for all processes of this test session."""
    base = tmp_path_factory.getbasetemp()
    cache = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "bundled-cache"
    built(cache)
    return cache


@pytest.fixture
def bundled_benchmark(cache_of_its_own: None, bundled_cache: Path) -> Path:
    """The bundled benchmark, in the cache of this test as if a command before had built it. It is not to be changed."""
    home = built(bundled_cache)
    link = Path(os.environ["MERIT_CACHE"]) / home.relative_to(bundled_cache)
    link.parent.mkdir()
    link.symlink_to(home)
    return link


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The example benchmark, built anew."""
    folder = tmp_path / "example"
    folder.mkdir()
    example.build(folder)
    return folder


@pytest.fixture
def library(root: Path) -> Dataset:
    return load("spider", root)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database of two small tables, one with text that is not UTF-8 and one with a larger table."""
    path = tmp_path / "small.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, x REAL);
            INSERT INTO t VALUES (1, 'one', 1.0), (2, 'two', 2.5), (3, NULL, NULL);
            CREATE TABLE odd (word TEXT);
            INSERT INTO odd VALUES (CAST(x'666ffc6f' AS TEXT)), ('plain');
            CREATE TABLE n (i INTEGER);
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 5000) INSERT INTO n SELECT i FROM c;
            CREATE INDEX names ON t (name);
            CREATE VIEW v AS SELECT name FROM t;
            """
        )
    return path
