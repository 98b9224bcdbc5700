"""The databases of MERIT_DATA/defog on real engines, and every reference through a plain driver and through merit.

    python bench/defog.py [--engines postgresql,mariadb,sqlite,duckdb] [--keep | --drop | --load] [--json]

Loads the databases (as merit_defog_NAME on servers, as files in --folder otherwise), runs every acceptable reference
of all questions on them, by the plain driver and through merit's engine, compares the rows, and drops the databases.
--keep leaves them, --load only loads them, --drop only drops them.

references  statements: a question has several, and every choice of columns counts
run         those that the plain driver runs
agree       those that give the same rows through merit's engine
questions   with at least one reference that runs and agrees

Those that do not run or do not agree are listed by file, row and number, with the message; no reference is shown.
So are those that give the plain driver itself other rows another time: they sort by less than they cut off by.
Servers are found through MERIT_TEST_POSTGRES and MERIT_TEST_MARIADB.
"""

import argparse
import datetime
import json
import math
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pymysql

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # its databases are loaded as the tests load them
from making.defog_load import Answer, Place, read_dump
from making.defog_questions import DefogQuestion, places, read_questions
from merit.errors import MeritError
from merit.sql.connect import open_engine
from merit.types import Limits, Rows
from merit.types.engine import Result

ENGINES = ("postgresql", "mariadb", "sqlite", "duckdb")
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(?:\.(\d+?)0*)?)?([+-]\d\d(?::?\d\d)?|Z)?")


@dataclass(slots=True)
class Report:
    """What came of one engine's references."""

    references: int = 0
    run: int = 0
    agree: int = 0
    questions: int = 0
    asked: int = 0
    with_rows: int = 0
    failing: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    unsteady: list[str] = field(default_factory=list)


def check(place: Place, questions: list[DefogQuestion]) -> Report:
    """Run every reference both ways."""
    report = Report(asked=len(questions))
    for db in sorted({question.db for question in questions}):
        asked = [question for question in questions if question.db == db]
        plain = iter(place.run(db, [statement for question in asked for statement in question.references]))
        engine = open_engine(place.url(db))
        for question in asked:
            agreeing = 0
            for number, statement in enumerate(question.references, 1):
                key, expected = f"{question.key}.{number}", next(plain)
                fault = _difference(expected, engine.execute(statement, Limits()))
                agreeing += not fault
                _count(report, key, expected, fault)
                if fault and isinstance(expected, list) and _is_unsteady(place, db, statement, expected):
                    report.unsteady.append(report.differing.pop())
            report.questions += agreeing > 0
        engine.close()
    return report


def _count(report: Report, key: str, expected: Answer, fault: str) -> None:
    report.references += 1
    if isinstance(expected, str):
        report.failing.append(f"{key}: {expected[:160]}")
        return
    report.run += 1
    report.with_rows += bool(expected)
    report.agree += not fault
    report.differing += [f"{key}: {fault[:300]}"] if fault else []


def _difference(expected: Answer, ours: Result) -> str:
    """What differs between the plain driver's answer and merit's; empty where nothing does."""
    if isinstance(expected, str):
        return expected
    if not isinstance(ours, Rows):
        return ours.message
    plain, given = bag(expected), bag(ours.rows)
    if plain == given:
        return ""
    only_plain, only_ours = list((plain - given).elements())[:1], list((given - plain).elements())[:1]
    return f"{len(expected)} rows, {len(ours.rows)} through merit; {only_plain} and {only_ours}"


def _is_unsteady(place: Place, db: str, statement: str, expected: list[tuple[Any, ...]]) -> bool:
    again = [place.run(db, [statement])[0] for _ in range(8)]
    return any(isinstance(answer, str) or bag(answer) != bag(expected) for answer in again)


def bag(rows: Sequence[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Rows without their order."""
    return Counter(tuple(map(comparable, row)) for row in rows)


def comparable(value: Any) -> Any:
    """A driver's value and ours in one form; written apart from merit's own conversion, to check it."""
    if isinstance(value, bool | int | float | Decimal):
        number = float(value)
        return float(f"{number:.12g}") if math.isfinite(number) else str(number)
    if isinstance(value, datetime.timedelta):
        hours, rest = divmod(value.total_seconds(), 3600)
        return f"{hours:02.0f}:{rest // 60:02.0f}:{rest % 60:02.0f}"
    if isinstance(value, datetime.datetime):
        value = value.isoformat(" ")
    elif isinstance(value, datetime.date | datetime.time):
        value = value.isoformat()
    elif isinstance(value, list | tuple | dict):
        value = json.dumps(value, default=str, separators=(",", ":"))
    if isinstance(value, str) and (found := _DATE.fullmatch(value)):
        day, time, fraction, zone = found.groups()
        return f"{day} {time}.{fraction or 0}{(zone or '')[:3]}" if time else day
    return value


def main() -> None:
    """Load, check, drop."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("MERIT_DATA", "../shared/data")) / "defog")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "merit-defog")
    parser.add_argument("--keep", action="store_true", help="leave the databases")
    parser.add_argument("--load", action="store_true", help="only load the databases")
    parser.add_argument("--drop", action="store_true", help="only drop the databases")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    names = options.engines.split(",")
    if set(names) - set(ENGINES):
        parser.error(f"--engines takes {', '.join(ENGINES)}")
    if not (options.data / "databases").is_dir():
        parser.error(f"{options.data} has no folder 'databases'; set MERIT_DATA or --data")
    dumps = [] if options.drop else [read_dump(path) for path in sorted((options.data / "databases").glob("*.sql"))]
    databases = [path.stem for path in sorted((options.data / "databases").glob("*.sql"))]
    reports: dict[str, Report] = {}
    for name, place in places(names, options.folder).items():
        try:
            for dump in dumps:
                place.load(dump)
            if not options.load and not options.drop:
                reports[name] = check(place, read_questions(options.data, place.questions))
            if not options.load and not options.keep:
                for database in databases:
                    place.drop(database)
        except (psycopg.OperationalError, pymysql.OperationalError, MeritError) as error:
            raise SystemExit(f"{name}: {error}") from None
    _show(reports, options.json)


def _show(reports: dict[str, Report], as_json: bool) -> None:
    if as_json:
        fields = Report.__slots__
        print(
            json.dumps(
                {name: {field: getattr(one, field) for field in fields} for name, one in reports.items()}, indent=1
            )
        )
        return
    for name, one in reports.items():
        print(
            f"{name:<11} {one.references} references, {one.run} run, {one.agree} agree; "
            f"{one.questions} of {one.asked} questions; {one.with_rows} with rows"
        )
        listed = {"do not run by the plain driver": one.failing, "differ": one.differing, "not steady": one.unsteady}
        for title, lines in listed.items():
            print(f"  {len(lines)} {title}", *lines, sep="\n    ")


if __name__ == "__main__":
    main()
