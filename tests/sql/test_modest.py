"""What may be prepared inside our own process."""

import pytest

from corpus.hostile import copies
from merit.sql.modest import is_modest


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "SELECT * FROM a WHERE b LIKE '%with%'",
        "WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM a JOIN b ON a.x = b.x",
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c",
        "with ranked as materialized (select x, rank() over (order by y) r from t) select * from ranked where ranked.r = 1",
        copies(7, 2),
    ],
)
def test_ordinary_statements_are_modest(sql: str) -> None:
    assert is_modest(sql)


@pytest.mark.parametrize(
    "sql",
    [
        copies(16, 2),
        copies(8, 9),
        copies(16, 2).replace("c5", '"c5"'),
        copies(16, 2).replace("c5", "[c5]"),
        copies(16, 2).lower(),
        copies(16, 2).replace(" AS (", " AS /* */ ("),
        copies(16, 2).replace(" AS (", " AS --\n("),
        copies(16, 2).replace(" AS (", " AS NOT MATERIALIZED ("),
        "SELECT " + "1, " * 20_000 + "1",
    ],
)
def test_what_could_grow_beyond_measure_is_not(sql: str) -> None:
    assert not is_modest(sql)
