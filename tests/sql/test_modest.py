"""What may be prepared inside our own process."""

import pytest

from corpus.hostile import copies
from merit.sql.modest import is_modest

BLOWN_UP = "SELECT count(x) FROM " + "(SELECT x+x+x+x+x+x x FROM " * 8 + "(SELECT i x FROM n)" + ")" * 8


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "SELECT name FROM singer WHERE singer_id NOT IN (SELECT singer_id FROM concert WHERE year > 2014)",
        "SELECT a FROM b INTERSECT SELECT a FROM c EXCEPT SELECT a FROM d",
        "WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM a JOIN b ON a.x = b.x",
        "SELECT avg(n) FROM (SELECT count(*) AS n FROM orders JOIN customers USING (customer_id) GROUP BY city)",
        f"SELECT {', '.join(f'column_{i}' for i in range(200))} FROM wide",
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
        copies(16, 2).replace(" AS (", " AS /* */ ("),
        BLOWN_UP,
        f"SELECT ', f AS (1, f AS (1', count(*) FROM ({BLOWN_UP})",
        "SELECT " + "1, " * 2_000 + "1",
    ],
)
def test_what_could_grow_beyond_measure_is_not(sql: str) -> None:
    assert not is_modest(sql)
