"""A dataset opened with its judge: what a run records of them is what it was judged with."""

import asyncio
import math
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from making.benchmark import ITEMS
from making.commands import refused
from making.memories import WordEncoder
from making.runs import Bench, caching, make_bench
from merit.benchmark import Benchmark, DataSpec
from merit.data import load
from merit.errors import DatabaseUnusable, InputError
from merit.models import CachingEncoder
from merit.models.scripted import ScriptedCompleter, ScriptedReply
from merit.runs import read_run
from merit.stream import OwnParts, RunSpec, open_setup, run_stream
from merit.types import Status

ENDLESS = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


@pytest.mark.parametrize("timeout_s", [0.25, 0.5])
def test_a_run_records_the_time_limit_it_was_judged_with(bench: Bench, tmp_path: Path, timeout_s: float) -> None:
    data = DataSpec("spider", bench.root, timeout_s=timeout_s)
    model = ScriptedCompleter([ScriptedReply((), f"<answer>{ENDLESS}</answer>")])
    with OwnParts(caching(model), CachingEncoder(WordEncoder(), None)) as parts:
        setup = open_setup(RunSpec(data, bench.initial, "iterative", limit=3, budget=1), parts)
        asyncio.run(run_stream(setup, tmp_path / "run"))
    view = read_run(tmp_path / "run")
    late = [a.verdict for turn in view.turns for a in turn.episode.attempts if a.verdict.status is Status.TIMEOUT]
    assert view.identity.timeout_s == timeout_s
    assert late
    assert all(f"{timeout_s:g} s" in str(verdict.error) for verdict in late)


def test_the_protocol_is_the_suite_where_there_is_one(bench: Bench) -> None:
    assert DataSpec("spider", bench.root).open().protocol == "db"
    suite = bench.root / "test_suite" / "shop"
    suite.mkdir(parents=True)
    (suite / "shop.sqlite").write_bytes((bench.root / "database" / "shop" / "shop.sqlite").read_bytes())
    assert DataSpec("spider", bench.root).open().protocol == "suite"
    assert DataSpec("spider", bench.root, protocol="db").open().protocol == "db"


def test_questions_without_a_database_or_with_a_failing_reference_are_not_usable(bench: Bench) -> None:
    with Benchmark(load("spider", bench.root)) as benchmark:
        assert len(benchmark.usable_questions()) == len(benchmark.present_questions) == len(ITEMS)
    text = (bench.root / "dev.json").read_text()
    (bench.root / "dev.json").write_text(text.replace(ITEMS[0].reference, "SELECT nothing"))
    (bench.root / "database" / "school" / "school.sqlite").unlink()
    with Benchmark(load("spider", bench.root)) as benchmark:
        assert {question.db_id for question in benchmark.present_questions} == {"shop"}
        assert len(benchmark.usable_questions()) == len(benchmark.present_questions) - 1


@pytest.mark.parametrize("content", ["", "CREATE TABLE t (a); DROP TABLE t;"])
def test_a_database_without_tables_is_refused_before_a_model_is_asked(
    bench: Bench, tmp_path: Path, content: str
) -> None:
    database = bench.root / "database" / "shop" / "shop.sqlite"
    database.unlink()
    with closing(sqlite3.connect(database)) as db:
        db.executescript(content)
    says = f"{database}: has no tables; fetch it again, or remove it to leave its questions out"
    spider = ("spider", "--data", bench.root, "--model", "scripted:nowhere.jsonl")
    assert refused("predict", *spider, "--out", tmp_path / "first.jsonl") == says
    with Benchmark(load("spider", bench.root)) as benchmark, pytest.raises(DatabaseUnusable, match="has no tables"):
        benchmark.usable_questions()
    assert refused("data", "check", "spider", "--data", bench.root).startswith(
        f"{database}: damaged or without tables; "
    )


def test_the_same_data_can_be_judged_by_another_limit(bench: Bench) -> None:
    benchmark = Benchmark(load("spider", bench.root))
    content = benchmark.content_hash
    with benchmark.judged_by("db", None, 0.25) as other:
        assert (other.protocol, other.timeout_s, other.content_hash) == ("db", 0.25, content)
        verdict = other.judge.judge(other.dataset.questions[0], ENDLESS)
    assert verdict.status is Status.TIMEOUT
    assert "0.25 s" in str(verdict.error)


def test_reading_values_for_live_prompts_leaves_no_file_in_the_data(bench: Bench) -> None:
    database = bench.root / "database" / "shop" / "shop.sqlite"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    files = sorted(bench.root.rglob("*"))
    with Benchmark(load("spider", bench.root), prompts="live") as benchmark:
        assert benchmark.live_context(benchmark.dataset.questions)
        assert sorted(bench.root.rglob("*")) == files


@pytest.mark.parametrize("timeout_s", [0.0, -1.0, math.nan, math.inf])
def test_a_time_limit_is_a_number_of_seconds(timeout_s: float) -> None:
    with pytest.raises(InputError, match="is not a number of seconds; use one above 0"):
        DataSpec("spider", None, timeout_s=timeout_s)


def test_runs_over_one_description_share_one_benchmark(bench: Bench) -> None:
    with OwnParts(caching(ScriptedCompleter([])), CachingEncoder(WordEncoder(), None)) as parts:
        setups = [open_setup(bench.spec(method), parts) for method in ("iterative", "merit")]
        assert setups[0].benchmark is setups[1].benchmark
        assert setups[0].encoder is None
        assert setups[1].encoder is parts.encoder


def test_a_method_that_encodes_needs_an_encoder(bench: Bench) -> None:
    with (
        OwnParts(caching(ScriptedCompleter([]))) as parts,
        pytest.raises(InputError, match="recalls by similarity; give it an encoder"),
    ):
        open_setup(bench.spec("merit"), parts)
