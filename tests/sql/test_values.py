"""The same value is the same on every engine (the table in merit.sql.conversion)."""

import datetime
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from making.databases import shop
from merit.sql.bounds import collect
from merit.sql.connect import open_engine
from merit.sql.conversion import interval, moment, same_json, to_value
from merit.types import Engine, Error, Limits, Rows

ENGINES = ("sqlite", "duckdb", "postgresql", "mariadb")
ALL, OTHERS, TYPED = ENGINES, ENGINES[1:], ("duckdb", "postgresql")
A_UUID = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"

# An expression, the engines that have it, and what it gives there.
SAME: list[tuple[str, tuple[str, ...], object]] = [
    ("NULL", ALL, None),
    ("1 = 1", ALL, 1),
    ("1 = 2", ALL, 0),
    ("true", OTHERS, 1),
    ("9223372036854775807", ALL, 9223372036854775807),
    ("'Zoë'", ALL, "Zoë"),
    ("''", ALL, ""),
    ("CAST(1.50 AS DECIMAL(10,2))", ALL, 1.5),
    ("CAST(20 AS DECIMAL(10,2))", ALL, 20),
    ("sum(total) FROM orders", ALL, 129.75),
    ("avg(id) FROM orders", ALL, 2),
    ("count(*) FROM orders", ALL, 3),
    ("CAST(0.25 AS DOUBLE PRECISION)", ("sqlite", *TYPED), 0.25),
    ("CAST(0.25 AS DOUBLE)", ("mariadb",), 0.25),
    ("CAST('12345678901234567890123' AS DECIMAL(30,0))", OTHERS, 12345678901234567890123),
    ("DATE '2024-05-01'", OTHERS, "2024-05-01"),
    ("TIME '14:30:00'", OTHERS, "14:30:00"),
    ("TIMESTAMP '2024-05-01 14:30:00'", OTHERS, "2024-05-01 14:30:00"),
    ("CAST('2024-05-01 14:30:00.5' AS TIMESTAMP)", TYPED, "2024-05-01 14:30:00.5"),
    ("CAST('2024-05-01 14:30:00.5' AS DATETIME(6))", ("mariadb",), "2024-05-01 14:30:00.5"),
    ("CAST('2024-05-01 14:30:00+02' AS TIMESTAMP WITH TIME ZONE)", TYPED, "2024-05-01 12:30:00+00:00"),
    ("CAST('14:30:00+02' AS TIME WITH TIME ZONE)", TYPED, "14:30:00+02:00"),
    ("INTERVAL '3 days 04:05:06'", TYPED, "76:05:06"),
    ("INTERVAL '11 months'", TYPED, "7920:00:00"),
    ("INTERVAL '1 year 2 months'", ("postgresql",), "10200:00:00"),
    ("INTERVAL '1 year 2 months'", ("duckdb",), "10080:00:00"),
    ("TIMESTAMP '2024-05-01 00:00:00' - TIMESTAMP '2024-05-02 00:00:01.5'", TYPED, "-24:00:01.5"),
    ("TIMEDIFF('2024-05-01 00:00:00', '2024-05-02 00:00:01.5')", ("mariadb",), "-24:00:01.5"),
    (f"CAST('{A_UUID.upper()}' AS UUID)", OTHERS, A_UUID),
    ("""CAST('{"b": [2, null], "a": 1.5}' AS JSON)""", TYPED, '{"a":1.5,"b":[2,null]}'),
    ("""CAST('{"b": [2], "a": "ü"}' AS JSONB)""", ("postgresql",), '{"a":"ü","b":[2]}'),
    ("ARRAY[1, NULL, 3]", TYPED, "[1,null,3]"),
    ("ARRAY['a', 'b']", TYPED, '["a","b"]'),
    ("ARRAY[true, false]", TYPED, "[true,false]"),
    ("ARRAY[DATE '2024-05-01']", TYPED, '["2024-05-01"]'),
    ("ARRAY[CAST(1.5 AS DECIMAL(4,2))]", TYPED, "[1.5]"),
    ("x'00ff'", ("sqlite", "mariadb"), b"\x00\xff"),
    ("'\\x00ff'::bytea", ("postgresql",), b"\x00\xff"),
    ("'\\x00\\xff'::BLOB", ("duckdb",), b"\x00\xff"),
    ("b'101'", ("postgresql",), "101"),
    ("'101'::BIT", ("duckdb",), "101"),
    ("b'101'", ("mariadb",), b"\x05"),
    ("{'a': 1, 'b': DATE '2024-05-01'}", ("duckdb",), '{"a":1,"b":"2024-05-01"}'),
    ("MAP {'k': 1}", ("duckdb",), '{"k":1}'),
    ("170141183460469231731687303715884105727::HUGEINT", ("duckdb",), 170141183460469231731687303715884105727),
    ("DATE 'infinity'", ("postgresql",), "infinity"),
    ("DATE '0044-03-15 BC'", ("postgresql",), "0044-03-15 BC"),
    ("CAST('NaN' AS numeric) = 'NaN'", ("postgresql",), 1),
    ("int4range(1, 5)", ("postgresql",), "[1,5)"),
    ("inet '10.0.0.1/8'", ("postgresql",), "10.0.0.1/8"),
    ("ROW(1, 'a')", ("postgresql",), "(1,a)"),
    ("CAST('2024-00-00' AS CHAR)", ("mariadb",), "2024-00-00"),
]


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with (
        shop(request.param, tmp_path_factory.mktemp(request.param)) as place,
        closing(open_engine(place.url)) as opened,
    ):
        yield opened


def value(engine: Engine, expression: str) -> object:
    result = engine.execute(f"SELECT {expression}", Limits())
    assert isinstance(result, Rows), (expression, result)
    ((given,),) = result.rows
    return given


def test_the_same_value_is_the_same(engine: Engine) -> None:
    wrong = []
    for expression, engines, expected in SAME:
        if engine.dialect in engines:
            given = value(engine, expression)
            # A whole number may be a float: it is equal, and a result's fingerprint takes it for the same.
            kinds = (float, int) if isinstance(expected, int) else (type(expected),)
            if given != expected or type(given) not in kinds:
                wrong.append((expression, given, expected))
    assert wrong == []


def test_a_bit_of_mariadb_is_its_number(tmp_path: Path) -> None:
    with shop("mariadb", tmp_path) as place:
        place.run("CREATE TABLE flags (f BIT(1), j JSON, d DATE, y YEAR)")
        place.run("SET sql_mode = ''")
        place.run("""INSERT INTO flags VALUES (b'1', '{"b": 1}', '0000-00-00', 2024)""")
        with closing(open_engine(place.url)) as engine:
            result = engine.execute("SELECT * FROM flags", Limits())
            assert isinstance(result, Rows)
            assert result.rows == [(1, '{"b": 1}', "0000-00-00", 2024)]


def test_the_time_zone_of_a_session_is_the_urls(tmp_path: Path) -> None:
    """Moments are shown in UTC, unless the URL names another time zone."""
    for dialect, expected in (("postgresql", "2024-05-01 14:30:00+02:00"), ("duckdb", "2024-05-01 14:30:00+02:00")):
        (tmp_path / dialect).mkdir()
        with (
            shop(dialect, tmp_path / dialect) as place,
            closing(open_engine(f"{place.url}?timezone=Europe/Berlin")) as engine,
        ):
            assert value(engine, "CAST('2024-05-01 12:30:00+00' AS TIMESTAMP WITH TIME ZONE)") == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (True, 1),
        (Decimal("1.500"), 1.5),
        (Decimal("1E+3"), 1000),
        (Decimal("-0.0"), 0),
        (datetime.datetime(2024, 5, 1, 14, 30, 0, 120000), "2024-05-01 14:30:00.12"),
        (datetime.date(2024, 5, 1), "2024-05-01"),
        (datetime.time(14, 30), "14:30:00"),
        (datetime.timedelta(hours=-1), "-01:00:00"),
        (datetime.timedelta(days=40, seconds=1), "960:00:01"),
        (UUID(A_UUID), A_UUID),
        ([b"\x01", {"k": Decimal("2")}], '["01",{"k":2}]'),
        (bytearray(b"a"), b"a"),
    ],
)
def test_values_of_drivers(given: object, expected: object) -> None:
    converted = to_value(given)
    assert (converted, type(converted)) == (expected, type(expected))


def test_texts_of_servers() -> None:
    assert moment("2024-05-01 14:30:00.500000+00") == "2024-05-01 14:30:00.5+00:00"
    assert moment("2024-05-01 14:30:00.000000") == "2024-05-01 14:30:00"
    assert moment("2024-05-01 14:30:10") == "2024-05-01 14:30:10"
    assert moment("2024-05-10") == "2024-05-10"
    assert interval("1 mon -2 days -00:00:01.5") == "671:59:58.5"
    assert interval("-1 days") == "-24:00:00"
    assert interval("00:00:00") == "00:00:00"
    assert interval("infinity") == "infinity"
    assert same_json("{broken") == "{broken"


def test_numbers_that_python_would_not_write_are_their_digits() -> None:
    digits = "1" + "0" * 5000
    assert to_value(10**5000) == to_value(Decimal(digits)) == digits
    assert to_value(10**999) == 10**999


def test_the_longest_interval_stays_as_the_server_writes_it() -> None:
    assert interval("178000000 years") == "178000000 years"


def test_json_beyond_floats_or_beyond_a_cell_stays_as_it_is() -> None:
    assert same_json("1e999") == "1e999"
    long = "[" + "1, " * 400_000 + "1]"
    assert same_json(long) is long


def test_huge_integers_count_as_what_they_take() -> None:
    rows, truncated = collect(((10**900,) for _ in range(1000)), Limits(result_bytes=100_000))
    assert truncated
    assert len(rows) < 250


@pytest.mark.parametrize("dialect", ["duckdb", "postgresql"])
def test_a_message_that_repeats_a_huge_value_is_cut(dialect: str, tmp_path: Path) -> None:
    with shop(dialect, tmp_path) as place, closing(open_engine(place.url)) as engine:
        result = engine.execute("SELECT CAST(repeat('x', 1000000) AS INTEGER)", Limits(timeout_s=60))
        assert isinstance(result, Error)
        assert len(result.message) < 11_000
        assert " more characters) ..." in result.message
