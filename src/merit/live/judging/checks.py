"""The user's own checks of an answer: SQL that reads the answer's rows and returns those that must not be there."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from merit.settings import CheckSettings
from merit.sql import canonical
from merit.types import Engine, Error, Limits, Rows

_WITH = re.compile(r"\s*with(\s+recursive)?\b", re.IGNORECASE)
_NAME = re.compile(r"[\w$]+")
_ONE_ROW = 1  # is enough to know that something must not be there


@dataclass(frozen=True, slots=True)
class Checked:
    """Which of the checks that apply an answer passed; a check that could not run is not passed."""

    passed: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()  # the name of a check, and why

    @property
    def tested(self) -> bool:
        """Whether the answer passed a check and failed none."""
        return bool(self.passed) and not self.failed


def applying(checks: Iterable[CheckSettings], question: str, sql: str, dialect: str) -> list[CheckSettings]:
    """The checks that are about such an answer."""
    words, used = _words(question), set(_words(canonical(sql, dialect)))
    return [
        check
        for check in checks
        if (not check.question or fnmatchcase(question.casefold().strip(), check.question.casefold()))
        and (not check.table or _words(check.table)[-1] in used)
        and (not check.metric or f" {' '.join(_words(check.metric))} " in f" {' '.join(words)} ")
    ]


def run_checks(engine: Engine, checks: Iterable[CheckSettings], sql: str, limits: Limits) -> Checked:
    """Run checks on an answer that ran; they only read, like everything else."""
    passed, failed = [], []
    limits = Limits(timeout_s=limits.timeout_s, rows=_ONE_ROW)
    for check in checks:
        if _swallows(sql, engine.dialect):
            failed.append((check.name, "it could not run (a comment of the answer is never closed)"))
            continue
        result = engine.execute(composed(check.sql, sql), limits)
        if not isinstance(result, Rows):
            code = f"{result.code}: " if isinstance(result, Error) and result.code else ""
            failed.append((check.name, f"it could not run ({code}{result.message})"))
        elif result.rows:
            failed.append((check.name, "the answer has rows that it says must not be"))
        else:
            passed.append(check.name)
    return Checked(tuple(passed), tuple(failed))


def composed(check: str, sql: str) -> str:
    """A check with the answer as `answer`; since the answer ran by itself, its brackets and quotes are closed."""
    answer = f"answer AS (\n{sql.strip().rstrip(';')}\n)"
    check = check.strip().rstrip(";")
    if begins := _WITH.match(check):
        return f"WITH{begins[1] or ''} {answer}, {check[begins.end() :].lstrip()}"
    return f"WITH {answer} {check}"


def _swallows(sql: str, dialect: str) -> bool:
    """Whether a comment that is never closed would hide what follows, as SQLite allows."""
    return canonical(f"{sql}\nx", dialect) == canonical(sql, dialect)


def _words(text: str) -> list[str]:
    return _NAME.findall(text.casefold())
