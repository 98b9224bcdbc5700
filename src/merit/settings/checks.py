"""`[[check]]` in `merit.toml`: what must hold of an answer, written by the people who know the data."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from merit.errors import InputError
from merit.reading import shown

_FIELDS = ("name", "sql", "question", "table", "metric")
_MOST_CHECKS = 200
_LONGEST = {"name": 100, "sql": 20_000}  # characters; 300 for the others
_READS_ANSWER = re.compile(r"\b(?:from|join)\s+[\"`]?answer\b", re.IGNORECASE)
_QUERY = re.compile(r"\s*(?:select|with)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """A table `[[check]]`. It applies where all that is given of `question`, `table` and `metric` fits."""

    name: str
    sql: str  # reads from `answer`, the rows of an answer, and returns those that must not be
    question: str = ""  # a pattern with * and ?, for the whole question; case does not matter
    table: str = ""  # a table that the answer's SQL uses
    metric: str = ""  # a metric or term that the question names


def read_checks(record: Any, path: object) -> tuple[CheckSettings, ...]:
    """All checks of a file, every field looked at."""
    if not isinstance(record, list) or not all(isinstance(item, dict) for item in record):
        raise InputError(f"{path}: a check should be a table; write [[check]] on a line, and its fields below")
    if len(record) > _MOST_CHECKS:
        raise InputError(f"{path}: more than {_MOST_CHECKS} checks")
    checks = tuple(_check(item, f"{path}, [[check]] {number}") for number, item in enumerate(record, 1))
    for number, check in enumerate(checks):
        if check.name in [other.name for other in checks[:number]]:
            raise InputError(f"{path}, [[check]] {number + 1}: another check is called {shown(check.name)}, too")
    return checks


def _check(item: Mapping[str, Any], where: str) -> CheckSettings:
    for name, value in item.items():
        if name not in _FIELDS:
            raise InputError(f"{where}: the field {shown(name)} means nothing here; known are {', '.join(_FIELDS)}")
        most = _LONGEST.get(name, 300)
        if not isinstance(value, str) or not 0 < len(value.strip()) <= most or (name != "sql" and "\n" in value):
            raise InputError(f"{where}: the field {name!r} should be a text in quotes, of at most {most} characters")
    for name in ("name", "sql"):
        if name not in item:
            raise InputError(f"{where}: the field {name!r} is missing")
    if not _QUERY.match(item["sql"]) or not _READS_ANSWER.search(item["sql"]):
        raise InputError(
            f"{where}: the field 'sql' should return what must not be in an answer, such as "
            "SELECT * FROM answer WHERE revenue < 0"
        )
    return CheckSettings(**item)
