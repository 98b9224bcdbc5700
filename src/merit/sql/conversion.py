"""Values of all engines as the few types that results have, so that the same value is the same on every engine.

| value | comes back as |
|---|---|
| NULL | `None` |
| boolean | the integer 1 or 0 |
| integer, also beyond 64 bits | `int`; with more than 1,000 digits, `str` |
| decimal | `int` without a fraction, else `float` (15 digits or more) |
| float | `float` |
| text, enum, network address, range, XML | `str` |
| binary | `bytes` |
| date | `2024-05-01` |
| time | `14:30:00`, with a fraction where it has one: `14:30:00.5`; with its offset: `14:30:00+02:00` |
| timestamp | `2024-05-01 14:30:00`, with a fraction where it has one |
| timestamp with time zone | the same in the session's time zone (UTC), with its offset: `2024-05-01 12:30:00+00:00` |
| interval | its length in hours: `76:05:06`; a month counts 30 days, a year 365 (DuckDB: 12 months), as drivers do |
| UUID | text in lower case |
| JSON | text without spaces, keys in order: `{"a":1,"b":[2]}` |
| array, list, struct, map | JSON of its values |
| bit string | text of 0 and 1; on MySQL and MariaDB the number |

SQLite has none of these types but numbers, text and binary; MariaDB keeps JSON as the text that was written.
"""

import datetime
import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from merit.types import Value

_FRACTION = re.compile(r"(:\d\d)\.(\d*?)0+(?!\d)")
_SHORT_OFFSET = re.compile(r"(:\d\d(?:\.\d+)?[+-]\d\d)$")
_INTERVAL_PART = re.compile(r"([+-]?\d+) (year|mon|day)s?")
_INTERVAL_TIME = re.compile(r"([+-]?)(\d+):(\d\d):(\d\d)(?:\.(\d+))?$")
_DAYS = {"year": 365, "mon": 30, "day": 1}
_MOST_DIGITS = 1_000  # of an integer; Python writes none of more than 4,300, and results are printed
_LARGEST = 10**_MOST_DIGITS
_LONGEST_JSON = 1 << 20  # characters; a cell may have no more, and reading it would take seconds
_MICROSECOND = datetime.timedelta(microseconds=1)


def to_value(value: Any) -> Value:
    """A value of a driver as one of a result."""
    if value is None or isinstance(value, str | float | bytes):
        return value
    if isinstance(value, bool | int):
        return int(value) if -_LARGEST < value < _LARGEST else str(Decimal(value))
    if isinstance(value, Decimal):
        return number(value)
    if isinstance(value, datetime.timedelta):
        return length(value)
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return moment(value.isoformat(" ") if isinstance(value, datetime.datetime) else value.isoformat())
    if isinstance(value, list | tuple | dict):
        return json_text(value)
    return bytes(value) if isinstance(value, bytearray | memoryview) else str(value)


def number(value: Decimal) -> int | float | str:
    """A decimal as the integer that it is, or as a float; as its digits where Python would not write the integer."""
    if value.is_finite() and value.adjusted() >= _MOST_DIGITS:
        return str(value)
    if value.is_finite() and value == value.to_integral_value():
        return int(value)
    return float(value)


def moment(text: str) -> str:
    """A date, time or timestamp in ISO's form, without zeros at the end of a fraction, its offset with minutes."""
    text = _FRACTION.sub(lambda found: found[1] + (f".{found[2]}" if found[2] else ""), text)
    return _SHORT_OFFSET.sub(r"\1:00", text)


def length(value: datetime.timedelta) -> str:
    """A length of time as hours, minutes and seconds."""
    microseconds = value // _MICROSECOND
    seconds, fraction = divmod(abs(microseconds), 1_000_000)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return moment(f"{'-' if microseconds < 0 else ''}{text}.{fraction:06}")


def interval(text: str) -> str:
    """An interval as PostgreSQL writes it (IntervalStyle postgres) as its length; any other text as it is."""
    try:
        return _interval_length(text)
    except OverflowError:  # longer than 2.7 million years
        return text


def _interval_length(text: str) -> str:
    days = sum(int(amount) * _DAYS[unit] for amount, unit in _INTERVAL_PART.findall(text))
    time = _INTERVAL_TIME.search(text)
    if time is None:
        return length(datetime.timedelta(days)) if _INTERVAL_PART.search(text) else text
    sign, hours, minutes, seconds, fraction = time.groups()
    part = datetime.timedelta(
        hours=int(hours), minutes=int(minutes), seconds=int(seconds), microseconds=int((fraction or "").ljust(6, "0"))
    )
    return length(datetime.timedelta(days) + (-part if sign == "-" else part))


def json_text(value: Any) -> str:
    """A list, struct or parsed JSON document as JSON."""
    return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def same_json(text: str) -> str:
    """JSON that an engine wrote, in our form; what Python cannot read stays as it is."""
    if len(text) > _LONGEST_JSON:
        return text
    try:
        return json_text(json.loads(text, parse_float=_finite))
    except (ValueError, RecursionError):
        return text


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is beyond the range of floats")
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(to_value(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool):
        return value
    if isinstance(value, UUID):
        return str(value)
    converted = to_value(value)
    return converted.hex() if isinstance(converted, bytes) else converted
