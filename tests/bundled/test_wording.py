"""What a question says in words counts: an answer that leaves it out is wrong on some database of the suite."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from merit.bundled import open_dataset, read_sources
from merit.oracle import Judge, open_judge
from merit.types import Question, Status

REFERENCES = {written.id: written.sql for source in read_sources() for written in source.questions}
TIED = ["botanic_garden-37", "claims_office-35", "county_archive-35", "hospital_wards-39", "language_school-32"]
BEDS = "FROM beds AS b JOIN wards AS w ON w.ward_id = b.ward_id JOIN stays AS y ON y.bed_id = b.bed_id WHERE"
ONE_SIDED = {"TRIM(": ["(", "LTRIM(", "RTRIM("], "LOWER(": ["("]}


@pytest.fixture(scope="module")
def asked(bundled_cache: Path) -> Iterator[tuple[Judge, dict[str, Question]]]:
    dataset = open_dataset("bundled", None, "dev", bundled_cache)
    with closing(open_judge(dataset, "suite", cache=None)) as judge:
        yield judge, {str(question.id): question for question in dataset.questions}


def untidy_answers() -> Iterator[tuple[str, str]]:
    """Each reference that ignores spaces or case, without one of these functions."""
    for id_, sql in REFERENCES.items():
        for function, instead in ONE_SIDED.items():
            for place in re.finditer(re.escape(function), sql):
                for other in instead:
                    yield id_, f"{sql[: place.start()]}{other}{sql[place.end() :]}"


def test_spaces_and_case_are_asked_for_in_ten_questions() -> None:
    """A test of the next one: it would pass with no question at all."""
    assert len({id_ for id_, _ in untidy_answers()}) == 10


@pytest.mark.parametrize(("id_", "sql"), list(untidy_answers()))
def test_spaces_and_case(asked: tuple[Judge, dict[str, Question]], id_: str, sql: str) -> None:
    judge, questions = asked
    assert judge.judge(questions[id_], sql).status is Status.DENOTATION_MISMATCH


@pytest.mark.parametrize("id_", TIED)
def test_all_of_those_that_share_the_top(asked: tuple[Judge, dict[str, Question]], id_: str) -> None:
    judge, questions = asked
    assert judge.judge(questions[id_], f"{REFERENCES[id_]} LIMIT 1").status is Status.DENOTATION_MISMATCH


@pytest.mark.parametrize(
    ("id_", "sql", "right"),
    [
        ("film_festival-25", "SELECT FullName FROM Person WHERE TRIM(Country) LIKE 'norway'", True),
        ("film_festival-25", "SELECT FullName FROM Person WHERE Country LIKE 'norway'", False),
        (
            "hospital_wards-40",
            f"SELECT w.ward_code, b.bed_label {BEDS} b.status = 'available' AND y.discharged_on IS NULL",
            False,
        ),
        (
            "hospital_wards-40",
            f"SELECT DISTINCT w.ward_code, b.bed_label {BEDS} b.status = 'available' AND y.discharged_on IS NULL",
            True,
        ),
        ("bike_share-16", REFERENCES["bike_share-16"].replace("< '2026-01-01'", "<= '2025-12-31'"), False),
        ("language_school-37", REFERENCES["language_school-37"].replace(" AND r.points IS NOT NULL", ""), False),
        ("language_school-31", REFERENCES["language_school-31"].replace(" AND r.points IS NOT NULL", ""), False),
        ("wind_farm-26", REFERENCES["wind_farm-26"].replace(" AND r.energy_kwh IS NOT NULL", ""), False),
        ("wind_farm-40", REFERENCES["wind_farm-40"].replace("<= 30", "< 30"), False),
        ("wind_farm-40", REFERENCES["wind_farm-40"].replace("DATE(b.start_ts)", "b.start_ts"), False),
    ],
)
def test_an_answer(asked: tuple[Judge, dict[str, Question]], id_: str, sql: str, right: bool) -> None:
    judge, questions = asked
    assert sql != REFERENCES[id_]
    assert judge.judge(questions[id_], sql).correct is right
