"""The same verdicts as the official evaluators, question by question, on published predictions."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from merit.data import load
from merit.oracle import open_judge
from merit.types import Distinct, Status

SPIDER = ["dail_gpt4", "codes_7b", "gpt4_zeroshot", "dinsql_gpt4"]
BIRD = ["chatgpt_kg", "codes_7b_evidence"]
COLUMNS = {
    "official_db": ("db", Distinct.DROPPED),
    "official_suite": ("suite", Distinct.DROPPED),
    "official_db_distinct": ("db", Distinct.KEPT),
    "official_suite_distinct": ("suite", Distinct.KEPT),
}
CASES = [
    *[("spider", name, *judged, field) for field, judged in COLUMNS.items() for name in SPIDER],
    *[("bird", name, "db", None, "official") for name in BIRD],
]


@pytest.fixture(scope="module")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parity")


def predictions(real_data: Path, dataset: str, name: str) -> list[dict[str, Any]]:
    text = (real_data / "predictions" / dataset / f"{name}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(("name", "predicted", "protocol", "distinct", "field"), CASES)
def test_every_verdict_is_the_official_one(
    real_data: Path,
    shared_cache: Path,
    name: str,
    predicted: str,
    protocol: str,
    distinct: Distinct | None,
    field: str,
) -> None:
    dataset = load(name, real_data / name)
    questions = {question.id: question for question in dataset.questions}
    entries = predictions(real_data, name, predicted)
    assert len(entries) in (972, 303)
    with closing(open_judge(dataset, protocol, distinct, cache=shared_cache)) as judge:
        verdicts = {entry["id"]: judge.judge(questions[entry["id"]], entry["sql"]) for entry in entries}
    assert [entry["id"] for entry in entries if verdicts[entry["id"]].correct != entry[field]] == []
    # A statement that fails fails with SQLite's own words.
    failed = [entry for entry in entries if verdicts[entry["id"]].status is Status.EXECUTION_ERROR]
    assert [verdicts[entry["id"]].error for entry in failed] == [entry["error"] for entry in failed]
