"""`merit.toml`: which database and model, what may be read and spent, and what people wrote down about the database.

No secret is in it: a password or a key comes from an environment variable, whose name may be in it.
"""

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from merit.errors import InputError
from merit.reading import check_name, check_path, shown
from merit.settings.checks import read_checks
from merit.settings.settings import (
    DEFAULT_PRIVATE,
    GRADES,
    ROWS,
    SCOPES,
    AskingSettings,
    BudgetSettings,
    ContextSettings,
    DatabaseSettings,
    MemorySettings,
    ModelSettings,
    ServeSettings,
    Settings,
)
from merit.sql.address import masked
from merit.toml import read_toml
from merit.types import is_scope

FILE_NAME = "merit.toml"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,200}")
_SECRET = re.compile(r"(?i).*(pass|password|passwd|pwd|token|secret|api_?key)")
_SECRET_IN_URI = re.compile(r"(?i)(password|passwd|pwd|token|secret|key)=|\bsk-\w{16}")
_LONGEST_TEXT = 2000  # characters of a rule or a meaning
_MOST_TEXTS = 500  # rules, terms and patterns
_LARGEST = 10**12
_MOST_CANDIDATES = 100

SECTIONS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "database": {
        "name": str,
        "url": str,
        "url_env": str,
        "rows": str,
        "timeout": (int, float),
        "include": list,
        "exclude": list,
        "private": list,
    },
    "model": {"uri": str, "encoder": str, "calibration": str},
    "asking": {"candidates": int, "least": int, "enough": (int, float)},
    "budget": {
        "calls": int,
        "tokens": int,
        "seconds": (int, float),
        "cost": (int, float),
        "calls_per_day": int,
        "tokens_per_day": int,
        "cost_per_day": (int, float),
        "prices": list,
        "schema_tokens": int,
    },
    "context": {"comments": bool, "dbt": str, "semantic": (str, list), "schema": str},
    "memory": {"recall": str, "keep": str, "url": str, "url_env": str, "scope": str, "team": str},
    "serve": {"keep_days": int, "requests_per_minute": int, "asks_each": int, "asks": int, "stop_seconds": int},
}
_SHOWN = "write SCHEMA, SCHEMA.TABLE or SCHEMA.TABLE.COLUMN, with * for anything"
_PATTERNS = {"include": _SHOWN, "exclude": _SHOWN}
_PATTERNS |= {"private": "write COLUMN, TABLE.COLUMN or SCHEMA.TABLE.COLUMN, with * for anything"}
_TEXTS = ("rules", "glossary")  # tables of texts, under names that people choose
_CHECKS = "check"  # a list of tables
_WRITTEN = {
    str: "a text in quotes",
    int: "a whole number without quotes",
    float: "a number without quotes",
    list: "a list of texts in brackets",
    bool: "true or false",
}


def read_settings(path: Path) -> Settings:
    """Read a `merit.toml`; paths in it are relative to it."""
    record = read_toml(path)
    known = [*SECTIONS, *_TEXTS, _CHECKS]
    checks = read_checks(record.pop(_CHECKS, []), path)
    for name, section in record.items():
        if name not in known:
            raise InputError(f"{path}: {shown(name)} means nothing here; known are {_listed(known)}")
        if not isinstance(section, dict):
            raise InputError(f"{path}: {name} should be a table; write [{name}] on a line, and its fields below")
    for name, fields in SECTIONS.items():
        _check(record.get(name, {}), fields, f"{path}, [{name}]")
    base = path.absolute().parent
    return Settings(
        path,
        _database(record.get("database", {}), f"{path}, [database]"),
        _model(record.get("model", {}), base, f"{path}, [model]"),
        _budget(record.get("budget", {}), f"{path}, [budget]"),
        _asking(record.get("asking", {}), f"{path}, [asking]"),
        _context(record.get("context", {}), base, f"{path}, [context]"),
        rules=_texts(record.get("rules", {}), f"{path}, [rules]"),
        glossary=_texts(record.get("glossary", {}), f"{path}, [glossary]"),
        memory=_memory(record.get("memory", {}), f"{path}, [memory]"),
        checks=checks,
        serve=_serve(record.get("serve", {}), f"{path}, [serve]"),
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"[[{name}]]" if name == _CHECKS else f"[{name}]" for name in names)


def _check(section: Mapping[str, Any], fields: Mapping[str, type | tuple[type, ...]], where: str) -> None:
    for name, value in section.items():
        if _SECRET.fullmatch(name) and name not in fields:
            raise InputError(f"{where}: {shown(name)} cannot be in a file; set it as an environment variable")
        if name not in fields:
            raise InputError(f"{where}: the field {shown(name)} means nothing here; known are {', '.join(fields)}")
        wanted = fields[name]
        kinds = wanted if isinstance(wanted, tuple) else (wanted,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            expected = _WRITTEN[float] if float in kinds else " or ".join(_WRITTEN[kind] for kind in kinds)
            raise InputError(f"{where}: the field {name!r} cannot be {shown(value)}; write {expected}")
        if isinstance(value, list) and name != "prices":
            _check_texts(value, f"{where}: the field {name!r}")


def _check_texts(values: list[Any], where: str) -> None:
    if len(values) > _MOST_TEXTS or not all(isinstance(value, str) and 0 < len(value) <= 300 for value in values):
        raise InputError(f"{where} should be a list of at most {_MOST_TEXTS} texts, each of 1 to 300 characters")


def _database(section: Mapping[str, Any], where: str) -> DatabaseSettings:
    url, variable, rows = section.get("url", ""), section.get("url_env", ""), section.get("rows", ROWS[0])
    if bool(url) == bool(variable):
        raise InputError(f"{where}: give either 'url', or 'url_env' with the environment variable that holds the URL")
    _check_url_or_variable(url, variable, where)
    if "name" not in section:
        raise InputError(f"{where}: the field 'name' is missing; memory is kept under it, wherever the database is")
    check_name(section["name"], f"{where}: the field 'name'")
    if rows not in ROWS:
        raise InputError(f"{where}: the field 'rows' cannot be {shown(rows)}; write {' or '.join(map(repr, ROWS))}")
    for name in ("include", "exclude", "private"):
        for pattern in section.get(name, ()):
            if not pattern.strip() or pattern.count(".") > 2:
                raise InputError(f"{where}: the field {name!r} has the pattern {shown(pattern)}; {_PATTERNS[name]}")
    return DatabaseSettings(
        name=section["name"],
        url=url,
        url_env=variable,
        rows=rows,
        timeout_s=float(_number(section, "timeout", where, 30.0) or 0),
        private=tuple(section.get("private", DEFAULT_PRIVATE)),
        include=tuple(section.get("include", ())),
        exclude=tuple(section.get("exclude", ())),
    )


def _check_url_or_variable(url: str, variable: str, where: str) -> None:
    if url:
        _check_url(url, where)
    elif not _VARIABLE.fullmatch(variable):
        raise InputError(
            f"{where}: the field 'url_env' should be the name of an environment variable, such as SHOP_URL"
        )


def _check_url(url: str, where: str) -> None:
    """Refuse a URL with a secret in it, without repeating it."""
    check_path(url, f"{where}: the field 'url'")
    options = parse_qsl(url.partition("?")[2], keep_blank_values=True)
    if masked(url) != url or any(_SECRET.fullmatch(name) for name, _ in options):
        raise InputError(
            f"{where}: the field 'url' holds a password; put the whole URL into an environment variable, and write "
            'url_env = "ITS_NAME" instead'
        )
    if not re.match(r"\w+://", url):
        raise InputError(f"{where}: the field 'url' should be a URL, such as postgresql://user@host/database")


def _number(section: Mapping[str, Any], name: str, where: str, default: float | None = None) -> float | None:
    value: float | None = section.get(name, default)
    if value is not None and not (math.isfinite(value) and 0 < value <= _LARGEST):
        raise InputError(f"{where}: the field {name!r} cannot be {shown(value)}; write a number above 0")
    return value


def _budget(section: Mapping[str, Any], where: str) -> BudgetSettings:
    limits = {name: _number(section, name, where) for name in section if name != "prices"}
    prices = section.get("prices")
    if prices is not None:
        numbers = [price for price in prices if isinstance(price, int | float) and not isinstance(price, bool)]
        if len(prices) != 2 or len(numbers) != 2 or not all(0 <= price <= _LARGEST for price in numbers):
            raise InputError(
                f"{where}: the field 'prices' should be two numbers, for a million prompt and output tokens"
            )
        prices = (float(prices[0]), float(prices[1]))
    elif "cost" in section or "cost_per_day" in section:
        raise InputError(f"{where}: a limit on cost needs 'prices', of a million prompt and output tokens")
    return BudgetSettings(**limits, prices=prices)  # type: ignore[arg-type]


def check_model(uri: str, where: str) -> None:
    """Refuse a model URI with a secret in it, without repeating it."""
    if masked(uri) != uri or _SECRET_IN_URI.search(uri):
        raise InputError(f"{where} holds a password or a key; set it as an environment variable, and leave it out here")


def _model(section: Mapping[str, Any], base: Path, where: str) -> ModelSettings:
    check_model(section.get("uri", ""), f"{where}: the field 'uri'")
    if "calibration" not in section:
        return ModelSettings(**section)
    check_path(section["calibration"], f"{where}: the field 'calibration'")
    return ModelSettings(**{**section, "calibration": base / section["calibration"]})


def _asking(section: Mapping[str, Any], where: str) -> AskingSettings:
    asking = AskingSettings(**section)
    for name in ("candidates", "least"):
        if name in section and not 1 <= section[name] <= _MOST_CANDIDATES:
            raise InputError(
                f"{where}: the field {name!r} cannot be {shown(section[name])}; write a number from 1 to "
                f"{_MOST_CANDIDATES}"
            )
    if asking.least is not None and asking.least > asking.candidates:
        raise InputError(f"{where}: 'least' cannot be above 'candidates', which is {asking.candidates}")
    if not 0 < asking.enough <= 1:
        raise InputError(
            f"{where}: the field 'enough' cannot be {shown(asking.enough)}; write a share above 0, up to 1"
        )
    return asking


def _context(section: Mapping[str, Any], base: Path, where: str) -> ContextSettings:
    semantic = section.get("semantic", [])
    files = [semantic] if isinstance(semantic, str) else semantic
    for text in (*files, section.get("dbt", ".")):
        check_path(text, f"{where}: a path")
    dbt = base / section["dbt"] if section.get("dbt") else None
    paths = tuple(base / text for text in files)
    return ContextSettings(section.get("comments", True), dbt, paths, section.get("schema", ""))


def _memory(section: Mapping[str, Any], where: str) -> MemorySettings:
    for name in ("recall", "keep"):
        if section.get(name, GRADES[0]) not in GRADES:
            grades = ", ".join(GRADES)
            raise InputError(f"{where}: the field {name!r} cannot be {shown(section[name])}; write one of {grades}")
    url, variable = section.get("url", ""), section.get("url_env", "")
    if url and variable:
        raise InputError(f"{where}: give either 'url', or 'url_env' with the environment variable that holds the URL")
    if "url" in section or "url_env" in section:
        _check_url_or_variable(url, variable, where)
    if url and not re.match("postgres(ql)?://", url):
        raise InputError(f"{where}: the field 'url' should be that of a PostgreSQL database, postgresql://...")
    return checked_scope(MemorySettings(**section), where)


def checked_scope(memory: MemorySettings, where: str) -> MemorySettings:
    """The settings, if their scope and team fit together."""
    if memory.scope not in SCOPES:
        known = ", ".join(SCOPES)
        raise InputError(f"{where}: the field 'scope' cannot be {shown(memory.scope)}; write one of {known}")
    if memory.team and not is_scope(f"team:{memory.team}"):
        raise InputError(f"{where}: the field 'team' should be a name on one line, of at most 200 characters")
    if memory.scope == "team" and not memory.team:
        raise InputError(
            f"{where}: the scope 'team' needs the team's name; give --team, set MERIT_TEAM, or write team = \"sales\""
        )
    return memory


def _serve(section: Mapping[str, Any], where: str) -> ServeSettings:
    for name in section:
        _number(section, name, where)
    return ServeSettings(**section)


def _texts(section: Mapping[str, Any], where: str) -> dict[str, str]:
    """Texts under names that people choose: rules, or meanings of terms."""
    if len(section) > _MOST_TEXTS:
        raise InputError(f"{where}: more than {_MOST_TEXTS} texts")
    for name, text in section.items():
        if not isinstance(text, str) or not 0 < len(text.strip()) <= _LONGEST_TEXT or len(name) > 300:
            raise InputError(
                f"{where}: {shown(name)} should be a text in quotes, of at most {_LONGEST_TEXT} characters"
            )
    return dict(section)
