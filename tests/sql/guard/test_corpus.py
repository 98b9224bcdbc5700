"""The published corpora on real engines: nothing hostile writes, nothing harmless is refused."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus import hostile
from making.clock import STALL_S
from making.readonly import CORPUS, DIALECTS, statements, target
from merit.sql.guard import refusal

LEAST_HOSTILE = {"postgresql": 120, "mysql": 80, "mariadb": 80, "duckdb": 60, "sqlite": 100}
SERVERS = ("sqlite", "postgresql", "mariadb", "duckdb")
WRITING = ("visit", "visited", "With_Tax", "tally")
ONLY_READING = ("current_setting", "pg_relation_filepath", "pg_stat_get_activity", "pg_stat_get_backend_activity")
CATALOGUE = {**dict.fromkeys(WRITING, True), **dict.fromkeys(ONLY_READING, False)}  # whether they are volatile
MARK = Path("/tmp/merit-corpus-out")  # what hostile statements try to write
# Statements that take time or space and write nothing are left to the engine's limits.
_SQLITE_LIMITS = {*hostile.BOMBS, *hostile.GROWTH, *hostile.SHAPES, *hostile.TEXTS}


@pytest.mark.parametrize("dialect", SERVERS)
def test_a_hostile_statement_is_refused_or_contained(dialect: str, tmp_path: Path) -> None:
    """What is not refused runs in a read-only transaction; tables, sequences, settings and files stay as they were."""
    with target(dialect, tmp_path) as database:
        before = database.state()
        for statement in statements("readonly", dialect):
            if refusal(statement, dialect, database.volatile) is None and statement not in _SQLITE_LIMITS:
                database.run(statement, True)
        assert database.state() == before
    assert not MARK.exists()
    assert not list(Path.cwd().glob("*merit-corpus*"))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_guard_alone_refuses_what_writes_or_reaches_out(dialect: str) -> None:
    """All but a few texts that only look hostile, or that only the server's catalogue tells apart."""
    passed = [text for text in statements("readonly", dialect) if refusal(text, dialect, CATALOGUE.get) is None]
    only_looks = {
        "SELECT E'\\'; DELETE FROM items; --'",  # one text
        "SELECT ('/etc/passwd')::text::pg_read_file",  # a type that does not exist
    }
    assert [text for text in passed if text not in only_looks and text not in _SQLITE_LIMITS] == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_hostile_statement_is_refused_in_a_sentence_and_in_time(dialect: str) -> None:
    for statement in statements("readonly", dialect):
        start = time.monotonic()
        error = refusal(statement, dialect)
        assert time.monotonic() - start < STALL_S, statement[:100]
        if error is not None:
            assert error.code == ""
            assert 10 < len(error.message) < 300
            assert error.message.isprintable()


@pytest.mark.parametrize("dialect", SERVERS)
def test_a_harmless_query_is_not_refused_and_runs(dialect: str, tmp_path: Path) -> None:
    with target(dialect, tmp_path) as database:
        refused = _refused(statements("harmless", dialect), dialect, database.volatile)
        assert refused == []
        answers = ((text, database.run(text, True)) for text in statements("harmless", dialect))
        assert [(text, answer) for text, answer in answers if answer] == []


def test_a_harmless_query_is_not_refused_for_mysql() -> None:
    assert _refused(statements("harmless", "mysql"), "mysql", lambda name: False if name == "with_tax" else None) == []


def _refused(texts: list[str], dialect: str, volatile: Callable[[str], bool | None]) -> list[tuple[str, str]]:
    errors = ((text, refusal(text, dialect, volatile)) for text in texts)
    return [(text, error.message) for text, error in errors if error is not None]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_corpora_are_large_and_without_repeats(dialect: str) -> None:
    hostile_texts, harmless = statements("readonly", dialect), statements("harmless", dialect)
    assert len(set(hostile_texts)) == len(hostile_texts) >= LEAST_HOSTILE[dialect]
    assert len(set(harmless)) == len(harmless) >= 150
    assert set(hostile_texts).isdisjoint(harmless)


@pytest.mark.parametrize("path", sorted((CORPUS / "readonly").glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_hostile_statement_says_what_it_tries_and_where_it_is_known_from(path: Path) -> None:
    for line in path.read_text("utf-8").splitlines():
        entry = json.loads(line)
        assert entry.keys() == {"statement", "tries", "source"}
        assert entry["tries"]
        assert entry["source"] == "merit" or entry["source"].startswith("https://")


def test_the_statements_of_the_sandbox_are_published_too() -> None:
    published = set(statements("readonly", "sqlite"))
    kept = [text for text in hostile.CORPUS if len(text) <= 20_000 and text.isprintable()]
    assert [text for text in kept if text not in published] == []


def test_the_numbers_in_the_documents_are_those_of_the_files() -> None:
    sizes = {path: len(path.read_text("utf-8").splitlines()) for path in CORPUS.glob("*/*.jsonl")}
    hostile_total = sum(size for path, size in sizes.items() if path.parent.name == "readonly")
    harmless_total = sum(size for path, size in sizes.items() if path.parent.name == "harmless")
    readme = (CORPUS / "README.md").read_text("utf-8")
    assert [path.name for path, size in sizes.items() if str(size) not in readme] == []
    for page in ("docs/explanation/read-only.md", "CHANGELOG.md"):
        text = (CORPUS.parent / page).read_text("utf-8")
        assert f"{hostile_total} " in text
        assert f"{harmless_total} " in text
