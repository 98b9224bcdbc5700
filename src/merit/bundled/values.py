"""Which values a column may be given: those it has, those that questions ask about, and their near misses."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta

Value = int | float | str | bytes | None

_TOKEN = re.compile(r"'(?:[^']|'')*'|\d+\.\d+|\d+|[A-Za-z_]\w*|\"[^\"]*\"|\S")
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)(.*)", re.DOTALL)
_TRIMMED = re.compile(r"\bTRIM\(\s*(?:\w+\.)?(\w+)\s*\)", re.IGNORECASE)
_LONGEST_GAP_DAYS = 400
_MOST_BASES = 3
_NUMERIC = ("INT", "REAL", "NUM", "FLOA", "DOUB", "DEC", "BOOL")


def is_numeric(declared: str) -> bool:
    """Whether a column of this declared type holds numbers."""
    return any(word in declared for word in _NUMERIC)


def constants(queries: Iterable[str], columns: Container[str]) -> Mapping[str, list[int | float | str]]:
    """The constants in queries, each under the column last mentioned before it, in lower case: most often its own."""
    by_column: dict[str, dict[int | float | str, None]] = {}
    for sql in queries:
        mentioned = ""
        for token in _TOKEN.findall(sql):
            if token[0] == "'":
                by_column.setdefault(mentioned, {})[token[1:-1].replace("''", "'")] = None
            elif token[0].isdigit():
                by_column.setdefault(mentioned, {})[float(token) if "." in token else int(token)] = None
            elif token.strip('"').lower() in columns:
                mentioned = token.strip('"').lower()
    return {name: list(values) for name, values in by_column.items()}


def trimmed(queries: Iterable[str]) -> set[str]:
    """The columns, in lower case, whose surrounding spaces some query ignores."""
    return {name.lower() for sql in queries for name in _TRIMMED.findall(sql)}


def near(asked: Sequence[int | float | str], own: Sequence[Value], declared: str, *, trim: bool = False) -> list[Value]:
    """Values at the edge of what is asked, in the shape of the column's own; with spaces where these are ignored."""
    values: dict[Value, None] = {}
    texts = [value for value in own if isinstance(value, str)]
    trim = trim and any(text != text.strip() for text in texts)  # another table may have a tidy column of that name
    for constant in asked:
        if is_numeric(declared):
            if not isinstance(constant, str):
                values.update(dict.fromkeys(_numbers(constant, declared)))
        elif is_moment(texts):
            values.update(dict.fromkeys(_days(str(constant), texts)))
            values.update(dict.fromkeys(_apart(constant, texts)))
        elif isinstance(constant, str):
            values.update(dict.fromkeys(_texts(constant, texts, trim=trim)))
    if trim and not values:  # compared with another column, not with a constant
        values.update(dict.fromkeys(text for own_text in texts for text in _untidy(own_text.strip())))
    return list(values)


def beside(sibling: Value, step: int) -> Value:
    """A value so near to that of another column in the same row: a number, or a moment some days or minutes away."""
    if isinstance(sibling, int | float):
        return sibling + step
    if isinstance(sibling, str) and _DAY.fullmatch(sibling):
        try:
            moment = datetime.fromisoformat(sibling)
            if len(sibling) == len("2024-01-31"):
                return (moment + timedelta(days=step)).date().isoformat()
            return (moment + timedelta(minutes=step)).isoformat(sibling[10])[: len(sibling)]
        except (OverflowError, ValueError):
            return sibling
    return sibling


def is_moment(values: Sequence[Value]) -> bool:
    """Whether a column holds dates or times, by its first value."""
    return bool(values) and isinstance(values[0], str) and _DAY.fullmatch(values[0]) is not None


def _numbers(constant: int | float, declared: str) -> list[Value]:
    steps: tuple[float, ...] = (-1, 0, 1) if isinstance(constant, int) or "INT" in declared else (-1, -0.5, 0, 0.5, 1)
    return [constant + step for step in steps]


def _days(constant: str, texts: Sequence[str]) -> list[Value]:
    """The day before, of and after a date; for a year or a month alone, its edges and those of its neighbours."""
    parts = constant.rstrip("-%").split("-")  # LIKE '2024-%' asks for a year too
    if not all(part.isdigit() for part in parts) or len(parts[0]) != 4 or len(parts) > 3:
        return []
    rest = _DAY.fullmatch(texts[0])
    tail = rest.group(4) if rest else ""
    year, month, day = (int(part) for part in [*parts, "1", "1"][:3])
    try:
        first = date(year, month, day)
    except ValueError:
        return []
    if len(parts) == 1:
        edges = [first, date(year, 12, 31), date(year + 1, 1, 1), date(year - 1, 6, 15), date(year, 6, 15)]
    elif len(parts) == 2:
        following = first + timedelta(days=31)
        edges = [first, first + timedelta(days=14), following.replace(day=1), following.replace(day=1) - timedelta(1)]
    else:
        edges = [first]
    return [f"{d.isoformat()}{tail}" for edge in edges for d in (edge - timedelta(1), edge, edge + timedelta(1))]


def _apart(constant: int | float | str, texts: Sequence[str]) -> list[Value]:
    """Moments so many days after others of the column; for an hour, its first minute and the one before."""
    first = _DAY.fullmatch(texts[0])
    if isinstance(constant, int) and 1 < constant < _LONGEST_GAP_DAYS:
        return [_days_later(text, constant + step) for text in texts[:_MOST_BASES] for step in (0, -constant, 1, -1)]
    if isinstance(constant, str) and re.fullmatch(r"[01]\d|2[0-3]", constant) and first and len(first.group(4)) > 5:
        hour, tail = int(constant), first.group(4)
        return [
            f"{texts[0][:10]}{tail[0]}{moment}{tail[6:]}" for moment in (f"{hour:02}:00", f"{max(hour - 1, 0):02}:59")
        ]
    return []


def _days_later(text: str, days: int) -> str:
    try:
        return (date.fromisoformat(text[:10]) + timedelta(days)).isoformat() + text[10:]
    except (OverflowError, ValueError):
        return text


def _texts(constant: str, texts: Sequence[str], *, trim: bool) -> list[Value]:
    """A text as it is, in other cases, longer and shorter; for a LIKE pattern, texts that match and nearly match."""
    if "%" in constant and constant.strip("%").isalpha() and len(constant.strip("%")) == 1 and constant[0] == "%":
        return []  # a format of strftime
    core = constant.strip("%").replace("_", "a") if "%" in constant else constant
    if "%" in constant:
        return [core, f"{core}x", f"x{core}", f"x{core}x", core.upper(), core.lower(), core[:-1]]
    if texts and constant not in texts and not any(constant in text for text in texts):
        # LOWER(city) = 'oslo' asks for what the column has as 'Oslo'; else the constant belongs to something else
        spelling = next((text.strip() for text in texts if text.strip().lower() == constant.lower()), None)
        return [] if spelling is None else [*_spelt(spelling), *(_untidy(spelling) if trim else ())]
    return _spelt(constant) + (_untidy(constant) if trim and constant.islower() else [])


def _spelt(text: str) -> list[Value]:
    return [text, text, text.upper(), text.lower(), f"{text} x", text[: max(1, len(text) - 1)]]


def _untidy(text: str) -> list[Value]:
    """A text as careless people type it."""
    upper, lower = text.upper(), text.lower()
    return [text, upper, lower, f" {text}", f"{text} ", f" {lower}", f"{upper} ", f"  {text} "]
