"""The tables of functions against real engines: what they replace is lacking, and what they put in its place runs."""

from collections.abc import Iterator

import pytest

from making.engines import ENGINES, EngineTrial
from merit.grounding.function_table import TEMPLATES

DATES = ("CAST('2024-03-15' AS DATE)", "CAST('2024-05-01' AS DATE)")
TIMES = ("CAST('2024-03-15' AS TIMESTAMP)", "CAST('2024-05-01' AS TIMESTAMP)")
SAMPLES = {
    "sqlite": ("'2024-03-15'", "'2024-05-01'"),
    "postgresql": TIMES,
    "mariadb": DATES,
    "duckdb": DATES,
}
TEXTS = ("'abc'", "'b'", "2")
NUMBERS = ("7", "2", "3")
ON_TEXT = {
    "UCASE",
    "LCASE",
    "LEFT",
    "RIGHT",
    "MID",
    "LEN",
    "CHAR_LENGTH",
    "CHARACTER_LENGTH",
    "LOCATE",
    "CHARINDEX",
    "STRPOS",
    "INSTR",
    "STARTS_WITH",
    "GROUP_CONCAT",
    "SPLIT_PART",
    "NVL",
    "ISNULL",
    "IFNULL",
}
ON_NUMBERS = {
    "AVERAGE",
    "SUBTRACT",
    "MULTIPLY",
    "DIVIDE",
    "GREATEST",
    "LEAST",
    "RAND",
    "RANDOM",
    "TRUNCATE",
    "TRUNC",
    "TOTAL",
    "IIF",
}


def arguments(dialect: str, name: str, count: int) -> list[str]:
    if name in ("LEFT", "RIGHT"):
        return ["'abc'", "2"]
    if name == "MID":
        return ["'abc'", "1", "2"]
    if name == "IIF":
        return ["1 = 1", "2", "3"]
    samples = TEXTS if name in ON_TEXT else NUMBERS if name in ON_NUMBERS else SAMPLES[dialect]
    return list(samples[:count])


@pytest.fixture(scope="module", params=ENGINES)
def trial(request: pytest.FixtureRequest) -> Iterator[EngineTrial]:
    with ENGINES[request.param]() as engine:
        yield engine


def test_every_function_of_the_table_is_lacking(trial: EngineTrial) -> None:
    has = []
    for name, count in TEMPLATES[trial.dialect]:
        call = f"{name}({', '.join(arguments(trial.dialect, name, count))})"
        if " " not in name and not isinstance(trial.run(f"SELECT {call} IS NULL"), str):
            has.append(call)
    assert has == []


def test_what_stands_instead_runs(trial: EngineTrial) -> None:
    refused = []
    for (name, count), template in TEMPLATES[trial.dialect].items():
        sql = template
        for i, argument in enumerate(arguments(trial.dialect, name, count)):
            sql = sql.replace(f"_{i}", argument)
        answer = trial.run(f"SELECT ({sql}) IS NULL")
        if isinstance(answer, str):
            refused.append((name, sql, answer[:200]))
    assert refused == []
