"""`merit data check`: what is wrong with a dataset is said before a model is asked about it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from making.benchmark import build
from making.commands import good, merit, refused

Records = list[dict[str, Any]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path / "data")


def change(root: Path, how: Callable[[Records], None]) -> None:
    records = json.loads((root / "dev.json").read_text())
    how(records)
    (root / "dev.json").write_text(json.dumps(records))


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("question", " ", "the field 'question' is empty; write the question, or take the entry out"),
        ("query", "", "the field 'query' is empty; write the reference SQL, or take the entry out"),
        ("query", "the secret answer", "the field 'query' is not SQL; write the reference SQL, or take the entry out"),
        ("query", "SELECT (secret", "the field 'query' is not SQL; write the reference SQL, or take the entry out"),
    ],
)
def test_an_entry_without_a_question_or_a_reference_does_not_pass(
    root: Path, field: str, value: str, says: str
) -> None:
    change(root, lambda records: records[2].update({field: value}))
    assert refused("data", "check", "spider", "--data", root) == f"{root / 'dev.json'}, entry 2: {says}"
    assert "secret" not in merit("data", "check", "spider", "--data", root).output


def test_a_reference_that_fails_on_its_database_is_named_and_passes(root: Path) -> None:
    """Spider's own training split has three of them."""
    change(root, lambda records: records[2].update(query="SELECT secret FROM item"))
    says = f"{root / 'dev.json'}, entry 2: the field 'query' cannot be run on shop"
    shown = good("data", "check", "spider", "--data", root).output
    assert f"reference     {says}" in shown
    assert "secret" not in shown
    found = json.loads(good("data", "check", "spider", "--data", root, "--json").output)["datasets"]
    assert [part["faulty_references"] for part in found] == [[says], []]


def test_a_file_that_two_splits_share_is_damaged_once(root: Path) -> None:
    database = root / "database" / "shop" / "shop.sqlite"
    database.write_bytes(b"")
    assert refused("data", "check", "spider", "--data", root) == (
        f"{database}: damaged or without tables; fetch the dataset again"
    )
