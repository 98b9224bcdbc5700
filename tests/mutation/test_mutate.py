"""Mutants: every kind of mistake is made, each text is different, and all of them run."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from merit.mutation import mutants
from merit.mutation.mutate import MOST


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.executescript(
            """CREATE TABLE shop (shop_id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, opened DATE);
            CREATE TABLE item (item_id INTEGER PRIMARY KEY, shop_id INTEGER REFERENCES shop, name TEXT, price REAL, cost REAL);
            """
        )
        yield opened


JOIN = "SELECT s.name FROM shop AS s JOIN item AS i ON i.shop_id = s.shop_id"


@pytest.mark.parametrize(
    ("sql", "mutant"),
    [
        ("SELECT name FROM item WHERE price > 3", "SELECT name FROM item WHERE price >= 3"),
        ("SELECT name FROM item WHERE price > 3", "SELECT name FROM item WHERE price < 3"),
        ("SELECT name FROM item WHERE price > 3", "SELECT name FROM item WHERE price > 4"),
        ("SELECT name FROM item WHERE price > 3", "SELECT name FROM item WHERE price > 2"),
        ("SELECT name FROM item WHERE price > 3", "SELECT name FROM item WHERE cost > 3"),
        ("SELECT name FROM item WHERE price > 3", "SELECT name FROM item"),
        ("SELECT name FROM item WHERE price > 3 AND cost < 2", "SELECT name FROM item WHERE price > 3 OR cost < 2"),
        ("SELECT name FROM item WHERE price > 3 AND cost < 2", "SELECT name FROM item WHERE cost < 2"),
        ("SELECT name FROM shop WHERE city = 'Oslo'", "SELECT name FROM shop WHERE city = 'OSLO'"),
        ("SELECT name FROM shop WHERE city = 'Oslo'", "SELECT name FROM shop WHERE city <> 'Oslo'"),
        ("SELECT name FROM shop WHERE city <> 'Oslo'", "SELECT name FROM shop WHERE (city <> 'Oslo' OR city IS NULL)"),
        ("SELECT name FROM shop WHERE city IS NULL", "SELECT name FROM shop WHERE NOT city IS NULL"),
        ("SELECT name FROM shop WHERE city LIKE '%os%'", "SELECT name FROM shop WHERE city LIKE 'os%'"),
        ("SELECT name FROM shop WHERE opened < '2024-03-01'", "SELECT name FROM shop WHERE opened < '2024-02-29'"),
        ("SELECT name FROM shop WHERE city IN ('a', 'b')", "SELECT name FROM shop WHERE city IN ('a')"),
        ("SELECT name FROM shop WHERE city IN ('a', 'b')", "SELECT name FROM shop WHERE NOT city IN ('a', 'b')"),
        ("SELECT name FROM item WHERE cost BETWEEN 1 AND 2", "SELECT name FROM item WHERE (cost > 1 AND cost <= 2)"),
        (JOIN, JOIN.replace("JOIN", "LEFT JOIN")),
        (JOIN, "SELECT s.name FROM shop AS s"),
        (JOIN, JOIN.replace("i.shop_id = s", "i.item_id = s")),
        ("SELECT COUNT(*) FROM shop", "SELECT COUNT(shop.city) FROM shop"),
        ("SELECT COUNT(city) FROM shop", "SELECT COUNT(*) FROM shop"),
        ("SELECT COUNT(*) FROM shop", "SELECT COUNT(*) FROM item"),
        ("SELECT SUM(price) FROM item", "SELECT AVG(price) FROM item"),
        ("SELECT AVG(price) FROM item", "SELECT AVG(COALESCE(price, 0)) FROM item"),
        ("SELECT MAX(price) FROM item", "SELECT MIN(price) FROM item"),
        (
            "SELECT city, name, COUNT(*) FROM shop GROUP BY city, name",
            "SELECT city, name, COUNT(*) FROM shop GROUP BY city",
        ),
        (
            "SELECT city FROM shop GROUP BY city HAVING COUNT(*) > 2",
            "SELECT city FROM shop GROUP BY city HAVING COUNT(*) >= 2",
        ),
        ("SELECT city FROM shop GROUP BY city HAVING COUNT(*) > 2", "SELECT city FROM shop GROUP BY city"),
        ("SELECT name FROM item ORDER BY price DESC LIMIT 3", "SELECT name FROM item ORDER BY price ASC LIMIT 3"),
        ("SELECT name FROM item ORDER BY price DESC LIMIT 3", "SELECT name FROM item ORDER BY price DESC LIMIT 4"),
        ("SELECT name FROM item ORDER BY price DESC LIMIT 3", "SELECT name FROM item LIMIT 3"),
        ("SELECT name FROM shop UNION SELECT name FROM item", "SELECT name FROM shop UNION ALL SELECT name FROM item"),
        ("SELECT name FROM shop UNION SELECT name FROM item", "SELECT name FROM shop INTERSECT SELECT name FROM item"),
        ("SELECT name FROM shop EXCEPT SELECT name FROM item", "SELECT name FROM item EXCEPT SELECT name FROM shop"),
        ("SELECT name FROM shop EXCEPT SELECT name FROM item", "SELECT name FROM shop"),
        (
            "SELECT name FROM shop AS s WHERE EXISTS(SELECT 1 FROM item AS i WHERE i.shop_id = s.shop_id)",
            "SELECT name FROM shop AS s WHERE NOT EXISTS(SELECT 1 FROM item AS i WHERE i.shop_id = s.shop_id)",
        ),
        (
            "SELECT name FROM shop WHERE shop_id NOT IN (SELECT shop_id FROM item)",
            "SELECT name FROM shop WHERE shop_id IN (SELECT shop_id FROM item)",
        ),
        (
            "SELECT name FROM item WHERE price > (SELECT AVG(price) FROM item)",
            "SELECT name FROM item WHERE price > (SELECT MAX(price) FROM item)",
        ),
        ("SELECT DISTINCT city FROM shop", "SELECT city FROM shop"),
        ("SELECT city FROM shop", "SELECT DISTINCT city FROM shop"),
        ("SELECT COUNT(DISTINCT city) FROM shop", "SELECT COUNT(city) FROM shop"),
        ("SELECT COUNT(DISTINCT city) FROM shop", "SELECT COUNT(*) FROM shop"),
        ("SELECT COUNT(city) FROM shop", "SELECT COUNT(DISTINCT city) FROM shop"),
        ("SELECT COUNT(*) FROM shop", "SELECT COUNT(DISTINCT shop.city) FROM shop"),
        (
            "SELECT s.name FROM shop AS s WHERE EXISTS(SELECT 1 FROM item AS i WHERE i.shop_id = s.shop_id)",
            "SELECT s.name FROM shop AS s JOIN item AS i ON (i.shop_id = s.shop_id) WHERE TRUE",
        ),
        (
            "SELECT name FROM shop WHERE city = 'a' AND shop_id IN (SELECT shop_id FROM item WHERE cost > 1)",
            "SELECT shop.name FROM shop JOIN item ON (item.cost > 1) AND shop.shop_id = item.shop_id "
            "WHERE shop.city = 'a' AND TRUE",
        ),
        ("SELECT name FROM shop WHERE LOWER(TRIM(city)) = 'a'", "SELECT name FROM shop WHERE LOWER(city) = 'a'"),
        ("SELECT name FROM shop WHERE LOWER(TRIM(city)) = 'a'", "SELECT name FROM shop WHERE TRIM(city) = 'a'"),
        ("SELECT name FROM shop WHERE LOWER(TRIM(city)) = 'a'", "SELECT name FROM shop WHERE LOWER(RTRIM(city)) = 'a'"),
        ("SELECT name FROM shop WHERE LOWER(TRIM(city)) = 'a'", "SELECT name FROM shop WHERE LOWER(LTRIM(city)) = 'a'"),
        (
            "SELECT name FROM shop WHERE DATE(opened) = '2024-01-01'",
            "SELECT name FROM shop WHERE opened = '2024-01-01'",
        ),
        ("SELECT name FROM item WHERE price < 40", "SELECT name FROM item WHERE (price < 40 OR price IS NULL)"),
        ("SELECT name FROM item WHERE price < cost", "SELECT name FROM item WHERE (price < cost OR cost IS NULL)"),
        ("SELECT name FROM item WHERE price <> cost", "SELECT name FROM item WHERE NOT (price IS cost)"),
        (
            "SELECT name FROM shop WHERE LOWER(city) = LOWER(name)",
            "SELECT name FROM shop WHERE LOWER(city) IS LOWER(name)",
        ),
        ("SELECT name FROM shop WHERE opened < '2024-03-01'", "SELECT name FROM shop WHERE opened <= '2024-02-29'"),
        ("SELECT name FROM item WHERE cost BETWEEN 1 AND 2", "SELECT name FROM item WHERE (cost > 1 AND cost < 2)"),
        ("SELECT AVG(price) FROM item", "SELECT (SUM(price) / COUNT(price)) FROM item"),
        ("SELECT AVG(price) FROM item", "SELECT (SUM(1.0 * price) / COUNT(*)) FROM item"),
        ("SELECT AVG(price) FROM item", "SELECT ROUND(AVG(price)) FROM item"),
        ("SELECT name FROM item WHERE price > 3", "SELECT name FROM item WHERE price > 3 LIMIT 1"),
    ],
)
def test_a_mistake_that_is_made(db: sqlite3.Connection, sql: str, mutant: str) -> None:
    assert mutant in mutants(sql, db)


QUERIES = [
    "SELECT COUNT(*) FROM shop",
    "SELECT DISTINCT city FROM shop",
    f"{JOIN} WHERE i.price * 2 > 7 GROUP BY s.shop_id, s.name HAVING SUM(i.cost) > 4 ORDER BY COUNT(*) DESC, s.name LIMIT 2",
    "WITH dear AS (SELECT shop_id FROM item WHERE price > 9) SELECT name FROM shop WHERE shop_id IN (SELECT shop_id FROM dear)",
    "SELECT CASE WHEN price > 2 THEN 'dear' ELSE 'cheap' END, ROUND(cost, 1) FROM item",
]


@pytest.mark.parametrize("sql", QUERIES)
def test_mutants_are_many_different_and_run(db: sqlite3.Connection, sql: str) -> None:
    found = mutants(sql, db)
    assert 20 <= len(found) <= MOST
    assert len({*found}) == len(found)
    assert sql not in found
    for mutant in found:
        db.execute(mutant).fetchall()


def test_the_same_each_time(db: sqlite3.Connection) -> None:
    assert mutants(QUERIES[2], db) == mutants(QUERIES[2], db)


@pytest.mark.parametrize(
    ("sql", "mutant"),
    [
        ("SELECT COUNT(*) FROM shop", "SELECT DISTINCT COUNT(*) FROM shop"),
        (
            "SELECT name FROM shop WHERE shop_id IN (SELECT shop_id FROM item)",
            "SELECT name FROM shop WHERE shop_id IN (SELECT DISTINCT shop_id FROM item)",
        ),
    ],
)
def test_where_repeated_rows_mean_nothing_distinct_is_left_alone(db: sqlite3.Connection, sql: str, mutant: str) -> None:
    assert mutant not in mutants(sql, db)
