"""What a share of votes is worth: fitting a calibration, using it, and its file."""

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making.commands import refusal
from merit.agent import METHODS, Attempt, RefusedStatement, confidence
from merit.agent.agreement import share_of_votes
from merit.agent.confidence import (
    Calibration,
    Knot,
    find_calibration,
    fit,
    isotonic,
    read_calibration,
    shipped_calibration,
)
from merit.agent.rules import cast_votes
from merit.errors import InputError
from merit.failure import classify
from merit.types import ModelIdentity, Status, Verdict

CALIBRATION = Calibration(
    ModelIdentity("qwen", "r1"),
    "merit-prompts-v3",
    "precedent",
    "684 questions of spider train (protocol suite, DISTINCT kept)",
    ("d" * 64,),
    684,
    2052,
    (Knot(0.2, 0.1), Knot(0.6, 0.5), Knot(1.0, 0.9)),
)
PARTS = st.integers(0, 6).map(lambda part: part / 6)


def written(folder: Path, record: object) -> Path:
    path = folder / "calibration.json"
    path.write_text(record if isinstance(record, str) else json.dumps(record))
    return path


# Isotonic regression


def nearest(values: list[float], weights: list[float]) -> list[float]:
    """By brute force: of all ways to cut the values into blocks whose means never decrease, the nearest to them."""
    best, least = [], float("inf")
    for cuts in itertools.product((False, True), repeat=len(values) - 1):
        edges = [0, *(i for i, cut in enumerate(cuts, 1) if cut), len(values)]
        fitted: list[float] = []
        for low, high in itertools.pairwise(edges):
            block = list(zip(values[low:high], weights[low:high], strict=True))
            mean = sum(value * weight for value, weight in block) / sum(weight for _, weight in block)
            fitted += [mean] * len(block)
        far = sum(w * (v - f) ** 2 for v, w, f in zip(values, weights, fitted, strict=True))
        if all(a <= b + 1e-12 for a, b in itertools.pairwise(fitted)) and far < least - 1e-12:
            best, least = fitted, far
    return best


@given(st.lists(st.tuples(PARTS, st.integers(1, 5)), min_size=1, max_size=8))
def test_isotonic_regression_is_the_nearest_sequence_that_never_decreases(points: list[tuple[float, int]]) -> None:
    values, weights = [value for value, _ in points], [float(weight) for _, weight in points]
    assert isotonic(values, weights) == pytest.approx(nearest(values, weights))


def test_what_increases_already_stays_as_it_is() -> None:
    assert isotonic([0.1, 0.4, 0.7], [1, 2, 3]) == [0.1, 0.4, 0.7]
    assert isotonic([0.5, 0.2], [3, 1]) == pytest.approx([0.425, 0.425])


# Fitting


def test_a_fit_by_hand() -> None:
    """Of a quarter 1 in 4, of a half 3 in 4, of all 2 in 4: the upper two violate the order and are pooled."""
    outcomes = [
        *((0.25, right) for right in (True, False, False, False)),
        *((0.5, right) for right in (True, True, True, False)),
        *((1.0, right) for right in (True, True, False, False)),
    ]
    # With one right and one wrong answer more in every bin: 2 of 6, then 4 of 6 and 3 of 6, together 7 of 12
    low, high = fit(outcomes)
    assert low == pytest.approx((0.25, 1 / 3))
    assert high == pytest.approx((0.75, 7 / 12))


@given(st.lists(st.tuples(PARTS, st.booleans()), min_size=1, max_size=60), st.randoms())
def test_a_fit_never_decreases_and_never_says_never_or_always(outcomes: list[tuple[float, bool]], draw: Any) -> None:
    knots = fit(outcomes)
    assert all(0 < knot.right < 1 for knot in knots)
    assert all(a.share < b.share and a.right < b.right for a, b in itertools.pairwise(knots))
    assert len(knots) <= 20
    draw.shuffle(outcomes)
    assert fit(outcomes) == knots  # whatever their order


def test_one_answer_alone_says_little() -> None:
    assert fit([(1.0, True)]) == (Knot(1.0, 2 / 3),)
    assert fit([(0.0, False)]) == (Knot(0.0, 1 / 3),)


def test_many_different_shares_give_few_knots() -> None:
    knots = fit([(i / 1000, i % 1000 < i) for i in range(1000)] + [(i / 1000, i > 500) for i in range(1000)])
    assert 1 < len(knots) <= 20


def test_nothing_cannot_be_fitted() -> None:
    with pytest.raises(InputError, match="there is no answer to fit a calibration on"):
        fit([])


# Using it


@pytest.mark.parametrize(("share", "right"), [(0.0, 0.1), (0.2, 0.1), (0.3, 0.2), (0.6, 0.5), (0.9, 0.8), (1.0, 0.9)])
def test_confidence_is_linear_between_knots_and_constant_outside(share: float, right: float) -> None:
    assert CALIBRATION.confidence(share) == pytest.approx(right)
    assert replace(CALIBRATION, knots=CALIBRATION.knots[:1]).confidence(share) == 0.1


def test_it_is_used_only_for_its_own_model_and_prompts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert find_calibration("qwen", "merit-prompts-v3", CALIBRATION) is CALIBRATION
    assert find_calibration("qwen2", "merit-prompts-v3", CALIBRATION) is None
    assert find_calibration("qwen", "merit-live-v1", CALIBRATION) is None
    monkeypatch.setattr(confidence, "SHIPPED", "none.json")
    assert shipped_calibration() is None
    assert find_calibration("qwen", "merit-prompts-v3") is None
    monkeypatch.setattr(confidence, "files", lambda _: tmp_path)
    monkeypatch.setattr(confidence, "SHIPPED", written(tmp_path, CALIBRATION.record()).name)
    assert find_calibration("qwen", "merit-prompts-v3") == CALIBRATION
    assert find_calibration("qwen", "merit-live-v1") is None


def test_a_share_counts_what_failed_and_weighs_what_was_grounded() -> None:
    refused = Verdict(Status.EXECUTION_ERROR, "no such column: x")
    as_written = RefusedStatement("SELECT x", refused, classify(refused), ())

    def attempt(letter: str) -> Attempt:
        """`-` failed; a capital letter is a candidate that had to be grounded."""
        verdict = refused if letter == "-" else Verdict(Status.EXECUTED, result=letter.lower())
        return Attempt("SELECT 1", "", 0, 0, verdict, None, written=as_written if letter.isupper() else None)

    def share(letters: str) -> float:
        return share_of_votes(
            cast_votes(replace(METHODS["resample"], grounded_vote=0.5), [attempt(one) for one in letters])
        )

    assert share("aba-") == 0.5
    assert share("-") == 0.0
    assert share("aAb") == pytest.approx(1.5 / 2.5)


# Its file


def test_there_and_back_again(tmp_path: Path) -> None:
    assert read_calibration(written(tmp_path, CALIBRATION.record())) == CALIBRATION
    nameless = replace(CALIBRATION, model=ModelIdentity("qwen"))
    assert read_calibration(written(tmp_path, nameless.record())) == nameless


def test_it_says_what_it_was_fitted_on() -> None:
    assert CALIBRATION.about == (
        "684 questions of spider train (protocol suite, DISTINCT kept), model qwen (r1), prompts merit-prompts-v3, "
        "method precedent"
    )


BAD = [
    ("format", 2, "a calibration of format 2, and this merit"),
    ("model", "qwen", "the field 'model' should be an object, not 'qwen'"),
    ("model", {"name": "qwen"}, "the field 'model': the field 'revision' is missing"),
    ("model", {"name": "", "revision": ""}, "the field 'model.name' should be one printable line"),
    ("prompts", 3, "the field 'prompts' should be a text, not 3"),
    ("method", "", "the field 'method' should be one printable line of at most 1000 characters, not ''"),
    ("data", "a\nb", "the field 'data' should be one printable line"),
    ("data", "a" * 2000, "the field 'data' should be one printable line"),
    ("data_sha256", [3], "the field 'data_sha256' should be a list of texts, not of 3"),
    ("questions", 0, "the field 'questions' should be a number from 1 on, not 0"),
    ("answers", True, "the field 'answers' should be a whole number, not true"),
    ("knots", [], "the field 'knots' should have 1 to 1000 pairs, not 0"),
    ("knots", [0.5], "knot 1 should be a pair of numbers from 0 to 1, not 0.5"),
    ("knots", [[0.5, 1.5]], "knot 1 should be a pair of numbers from 0 to 1, not [0.5, 1.5]"),
    ("knots", [[0.5, True]], "knot 1 should be a pair of numbers from 0 to 1, not [0.5, True]"),
    ("knots", [[0.5, 0.5], [0.5, 0.6]], "knot 2 should have a larger share of votes than the one before it"),
    ("knots", [[0.5, 0.5], [0.6, 0.4]], "knot 2 should not be right less often than the one before it"),
]


@pytest.mark.parametrize(("field", "value", "why"), BAD)
def test_every_field_of_a_file_is_checked(tmp_path: Path, field: str, value: object, why: str) -> None:
    path = written(tmp_path, {**CALIBRATION.record(), field: value})
    said = refusal(lambda: read_calibration(path))
    assert said is not None
    assert said.startswith(f"{path}: {why}")


@pytest.mark.parametrize("field", CALIBRATION.record())
def test_no_field_may_be_missing(tmp_path: Path, field: str) -> None:
    record = {name: value for name, value in CALIBRATION.record().items() if name != field}
    path = written(tmp_path, record)
    assert refusal(lambda: read_calibration(path)) == f"{path}: the field {field!r} is missing"


@pytest.mark.parametrize("text", ["", "[]", '{"knots": NaN}', "7", "no json"])
def test_what_is_no_calibration_is_refused(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    assert str(refusal(lambda: read_calibration(path))).startswith(str(path))
    assert refusal(lambda: read_calibration(tmp_path / "none.json")) == f"{tmp_path / 'none.json'}: no such file"
