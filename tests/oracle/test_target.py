"""A judge whose references come with the predictions: the verdicts of the benchmarks' own judge."""

from contextlib import closing
from pathlib import Path

import pytest

from making.live import COUNT, PAID, make_shop
from merit.errors import InputError, ReferenceFailed
from merit.oracle import TargetJudge
from merit.types import Status

ROWS = "SELECT state FROM orders"


@pytest.mark.parametrize(
    ("rule", "sql", "reference", "status"),
    [
        ("bird", COUNT, "SELECT 3", Status.CORRECT),
        ("bird", PAID, COUNT, Status.DENOTATION_MISMATCH),
        ("bird", "SELECT nowhere", COUNT, Status.EXECUTION_ERROR),
        ("bird", "DROP TABLE orders", COUNT, Status.EXECUTION_ERROR),
        ("bird", "SELECT DISTINCT state FROM orders", ROWS, Status.CORRECT),
        ("spider", "SELECT 'paid' UNION SELECT 'open'", ROWS, Status.DENOTATION_MISMATCH),
        ("spider", f"{ROWS} ORDER BY id DESC", f"{ROWS} ORDER BY id", Status.CORRECT),
        (
            "spider",
            "SELECT id FROM orders ORDER BY id DESC",
            "SELECT id FROM orders ORDER BY id",
            Status.DENOTATION_MISMATCH,
        ),
    ],
)
def test_two_statements_are_compared_by_a_rule(
    tmp_path: Path, rule: str, sql: str, reference: str, status: Status
) -> None:
    with closing(TargetJudge(rule)) as judge:
        database = make_shop(tmp_path / "shop.sqlite")
        assert judge.judge(sql, reference, database).status is status
        assert judge.judge(reference, reference, database).correct


def test_what_cannot_be_judged_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no 'exact'; use spider or bird"):
        TargetJudge("exact")
    with closing(TargetJudge()) as judge:
        with pytest.raises(InputError, match="no such file"):
            judge.judge(COUNT, COUNT, tmp_path / "nothing.sqlite")
        with pytest.raises(ReferenceFailed, match="its reference SQL fails"):
            judge.judge(COUNT, "SELECT nowhere", make_shop(tmp_path / "shop.sqlite"))
