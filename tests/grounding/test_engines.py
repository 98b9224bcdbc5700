"""Grounding on real engines: what PostgreSQL, MariaDB, DuckDB and SQLite refuse, and what they then answer."""

from collections.abc import Iterator
from datetime import date

import pytest

from making.engines import ENGINES, EngineTrial
from merit.grounding import Grounded, GroundingRule, ground
from merit.types import DIALECTS, Column, Schema, Status, Table, Verdict

SETUP = """
    CREATE TABLE customers (customer_id BIGINT, name VARCHAR(20), joined DATE, active BOOLEAN, card VARCHAR(9));
    CREATE TABLE purchases (purchase_id BIGINT, customer_id BIGINT, amount DOUBLE PRECISION, card_number BIGINT);
    CREATE TABLE item (id BIGINT, purchase_id BIGINT, label VARCHAR(20));
    INSERT INTO customers VALUES (1, 'Ann', '2023-02-01', TRUE, '77'), (2, 'Bob', '2024-03-15', FALSE, '88');
    INSERT INTO purchases VALUES (10, 1, 2.25, 77), (11, 1, 4.5, 77), (12, 2, 9.125, 88);
    INSERT INTO item VALUES (5, 10, 'pen'), (6, 12, 'ink')
"""
SCHEMA = Schema(
    "shop",
    (
        Table(
            "customers",
            (
                Column("customer_id", "bigint"),
                Column("name", "varchar(20)"),
                Column("joined", "date"),
                Column("active", "boolean"),
                Column("card", "varchar(9)"),
            ),
        ),
        Table(
            "purchases",
            (
                Column("purchase_id", "bigint"),
                Column("customer_id", "bigint"),
                Column("amount", "double precision"),
                Column("card_number", "bigint"),
            ),
        ),
        Table("item", (Column("id", "bigint"), Column("purchase_id", "bigint"), Column("label", "varchar(20)"))),
        Table("Region", (Column("regionId", "bigint"), Column("Title", "text"))),
    ),
)
ALL = tuple(ENGINES)


@pytest.fixture(scope="module", params=ENGINES)
def trial(request: pytest.FixtureRequest) -> Iterator[EngineTrial]:
    with ENGINES[request.param]() as engine:
        for statement in SETUP.split(";"):
            assert engine.run(statement) == [] or engine.dialect == "duckdb"
        quote = "`" if engine.dialect == "mariadb" else '"'
        engine.run(f"CREATE TABLE {quote}Region{quote} ({quote}regionId{quote} BIGINT, {quote}Title{quote} VARCHAR(9))")
        engine.run(f"INSERT INTO {quote}Region{quote} VALUES (3, 'North')")
        yield engine


def refused(trial: EngineTrial, sql: str, rules: frozenset[GroundingRule]) -> Grounded | None:
    message = trial.run(sql)
    assert isinstance(message, str), (trial.dialect, sql, message, "should be refused")
    return ground(sql, SCHEMA, trial.dialect, Verdict(Status.EXECUTION_ERROR, message), rules)


FUNCTION, QUOTES, TYPE = GroundingRule.FUNCTION, GroundingRule.QUOTES, GroundingRule.TYPE
AGGREGATE, ALIAS, NAMED = GroundingRule.AGGREGATE, GroundingRule.ALIAS, GroundingRule.NAMED_JOIN
SYNTAX = GroundingRule.SYNTAX
NO_MARIADB = ("sqlite", "postgresql", "duckdb")
# The rule, the engines that refuse the query, the query, and what it means.
EXAMPLES = [
    (FUNCTION, ("sqlite", "postgresql"), "SELECT name FROM customers WHERE YEAR(joined) = 2024", [("Bob",)]),
    (FUNCTION, ("sqlite",), "SELECT name FROM customers WHERE EXTRACT(YEAR FROM joined) = 2024", [("Bob",)]),
    (FUNCTION, ("sqlite", "mariadb"), "SELECT name FROM customers WHERE name ILIKE 'BO%'", [("Bob",)]),
    (FUNCTION, NO_MARIADB, "SELECT DATEDIFF('2024-03-20', joined) FROM customers WHERE customer_id = 2", [(5,)]),
    (FUNCTION, ("postgresql",), "SELECT name FROM `customers` WHERE customer_id = 2", [("Bob",)]),
    (FUNCTION, ALL, "SELECT TOP 1 name FROM customers ORDER BY name DESC", [("Bob",)]),
    (FUNCTION, ("postgresql", "duckdb"), "SELECT name FROM customers ORDER BY name LIMIT 1, 1", [("Bob",)]),
    (FUNCTION, ("sqlite",), "SELECT name FROM customers ORDER BY name FETCH FIRST 1 ROWS ONLY", [("Ann",)]),
    (FUNCTION, ("sqlite", "mariadb"), "SELECT customer_id::text FROM customers WHERE name = 'Bob'", [("2",)]),
    (FUNCTION, ("postgresql",), "SELECT IFNULL(name, 'x') FROM customers WHERE customer_id = 2", [("Bob",)]),
    (FUNCTION, ("postgresql",), "SELECT IF(active, 'y', 'n') FROM customers WHERE customer_id = 2", [("n",)]),
    (FUNCTION, ("postgresql", "mariadb"), "SELECT STRFTIME('%Y-%m', joined) FROM customers LIMIT 1", [("2023-02",)]),
    (FUNCTION, NO_MARIADB, "SELECT DATE_FORMAT(joined, '%Y-%m') FROM customers LIMIT 1", [("2023-02",)]),
    (FUNCTION, ("sqlite", "duckdb"), "SELECT TO_CHAR(joined, 'YYYY-MM') FROM customers LIMIT 1", [("2023-02",)]),
    (FUNCTION, ALL, "SELECT ISNULL(name, 'x') FROM customers WHERE customer_id = 2", [("Bob",)]),
    (FUNCTION, ("sqlite",), "SELECT LEFT(name, 2) || RIGHT(name, 1) FROM customers LIMIT 1", [("Ann",)]),
    (FUNCTION, ("sqlite", "postgresql", "mariadb"), "SELECT LEN(name) FROM customers LIMIT 1", [(3,)]),
    (FUNCTION, NO_MARIADB, "SELECT SQL_CALC_FOUND_ROWS name FROM customers LIMIT 1", [("Ann",)]),
    (FUNCTION, ("sqlite",), "SELECT SUBSTRING(name FROM 1 FOR 2) FROM customers LIMIT 1", [("An",)]),
    (FUNCTION, ("sqlite",), "SELECT POSITION('n' IN name) FROM customers LIMIT 1", [(2,)]),
    (FUNCTION, ("mariadb",), "SELECT STRING_AGG(name, '-') FROM customers WHERE customer_id = 2", [("Bob",)]),
    (QUOTES, ("postgresql", "duckdb"), 'SELECT customer_id FROM customers WHERE name = "Bob"', [(2,)]),
    (QUOTES, ("sqlite", "mariadb"), "SELECT customer_id FROM customers WHERE name = `Bob`", [(2,)]),
    (
        QUOTES,
        ("postgresql", "mariadb", "duckdb"),
        "SELECT 'T1'.'name' FROM customers AS T1 WHERE T1.customer_id = 2",
        [("Bob",)],
    ),
    (QUOTES, ("postgresql",), "SELECT Title FROM Region WHERE regionId = 3", [("North",)]),
    (QUOTES, ("postgresql",), 'SELECT "NAME" FROM customers WHERE customer_id = 2', [("Bob",)]),
    (QUOTES, ("postgresql",), 'SELECT "T1".name FROM customers AS T1 WHERE T1.customer_id = 2', [("Bob",)]),
    (TYPE, ("postgresql", "duckdb"), "SELECT name FROM customers WHERE joined LIKE '2024%'", [("Bob",)]),
    (
        TYPE,
        ("postgresql",),
        "SELECT DISTINCT name FROM customers c JOIN purchases p ON c.card = p.card_number WHERE amount > 9",
        [("Bob",)],
    ),
    (TYPE, ("postgresql",), "SELECT name FROM customers WHERE card = 88", [("Bob",)]),
    (
        TYPE,
        ("postgresql",),
        "SELECT DISTINCT name FROM customers c JOIN purchases p ON p.customer_id = CAST(c.customer_id AS TEXT) "
        "WHERE p.amount > 9",
        [("Bob",)],
    ),
    (
        GroundingRule.ALIAS,
        ("postgresql", "mariadb"),
        "SELECT customer_id, SUM(amount) AS total FROM purchases GROUP BY customer_id ORDER BY total + 0 DESC",
        [(2, 9.125), (1, 6.75)],
    ),
    (
        GroundingRule.ALIAS,
        ("sqlite", "postgresql", "mariadb"),
        "SELECT amount * 2 AS twice, twice + 1 AS more FROM purchases WHERE purchase_id = 10",
        [(4.5, 5.5)],
    ),
    (TYPE, ("postgresql",), "SELECT name FROM customers WHERE active = 0", [("Bob",)]),
    (TYPE, ("postgresql",), "SELECT CAST(ROUND(amount, 1) AS TEXT) FROM purchases WHERE purchase_id = 11", [("4.5",)]),
    (
        AGGREGATE,
        ALL,
        "SELECT customer_id FROM purchases WHERE COUNT(*) > 1 GROUP BY customer_id",
        [(1,)],
    ),
    (
        AGGREGATE,
        ("postgresql", "duckdb"),
        "SELECT name, COUNT(*) FROM customers WHERE customer_id = 2",
        [("Bob", 1)],
    ),
    (
        AGGREGATE,
        ("sqlite", "postgresql", "duckdb"),
        "SELECT customer_id FROM purchases ORDER BY COUNT(*) DESC LIMIT 1",
        [(1,)],
    ),
    (AGGREGATE, ALL, "SELECT MAX(COUNT(*)) FROM purchases GROUP BY customer_id", [(2,)]),
    (AGGREGATE, ALL, "SELECT purchase_id FROM purchases WHERE amount > AVG(amount)", [(12,)]),
    (
        ALIAS,
        ("postgresql", "mariadb"),
        "SELECT amount * 2 AS twice FROM purchases WHERE twice > 10",
        [(18.25,)],
    ),
    (
        ALIAS,
        ("postgresql",),
        "SELECT customer_id, COUNT(*) AS n FROM purchases GROUP BY customer_id HAVING n > 1",
        [(1, 2)],
    ),
    (NAMED, ALL, "SELECT name FROM customers WHERE amount > 9", [("Bob",)]),
    (NAMED, ALL, "SELECT name FROM customers WHERE label = 'ink'", [("Bob",)]),
    (SYNTAX, ALL, "SELECT name FROM customers WHERE (customer_id = 2", [("Bob",)]),
    (SYNTAX, ALL, "SELECT name FROM customers WHERE customer_id = 2)", [("Bob",)]),
    (SYNTAX, ALL, "SELECT name FROM customers ORDER BY name DESC WHERE customer_id = 2", [("Bob",)]),
    (SYNTAX, ALL, "SELECT name FROM customers WHERE active WHERE customer_id = 1 OR customer_id = 2", [("Ann",)]),
    (SYNTAX, ALL, "SELECT T1.name FROM customers AS T1 WHERE T1 customer_id = 2", [("Bob",)]),
    (SYNTAX, ALL, "SELECT name FROM customers WHERE customer_id = 2 </answer>", [("Bob",)]),
    (SYNTAX, ALL, "```sql\nSELECT name FROM customers WHERE customer_id = 2\n```", [("Bob",)]),
    (SYNTAX, ALL, "Here it is: SELECT name FROM customers WHERE customer_id = 2", [("Bob",)]),
]


@pytest.mark.parametrize(
    ("rule", "engines", "sql", "expected"), EXAMPLES, ids=[f"{e[0]}: {e[2][:45]}" for e in EXAMPLES]
)
def test_a_rule_by_example(
    trial: EngineTrial, rule: GroundingRule, engines: tuple[str, ...], sql: str, expected: list[tuple[object, ...]]
) -> None:
    if trial.dialect not in engines:
        return  # it runs there, or is another thing
    found = refused(trial, sql, frozenset(GroundingRule))
    assert found is not None
    assert rule in [change.rule for change in found.changes], found
    assert trial.run(found.sql) == expected, found
    assert refused(trial, sql, frozenset(GroundingRule) - {rule}) != found  # switched off, it is not applied


def test_every_dialect_has_a_way_to_be_read() -> None:
    error = Verdict(Status.EXECUTION_ERROR, "no such column: costumer_id")
    for dialect in DIALECTS:
        found = ground("SELECT costumer_id FROM customers", SCHEMA, dialect, error)
        assert found is not None
        assert found.sql == "SELECT customer_id FROM customers"


def test_a_date_is_a_date(trial: EngineTrial) -> None:
    answer = trial.run("SELECT joined FROM customers WHERE customer_id = 2")
    assert answer in ([(date(2024, 3, 15),)], [("2024-03-15",)])
