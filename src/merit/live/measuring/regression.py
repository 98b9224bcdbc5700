"""`merit check`: confirmed questions as a test suite for a change of model, prompt, schema or memory."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from merit.errors import MeritError
from merit.files import atomic_write
from merit.live.asking.asker import Asker
from merit.live.measuring.asked_again import Tell, confirmed_questions, repeating, say_nothing
from merit.reading import parse_json, read_text

ACCEPTED = "check.json"  # which questions were answered right at the last check that was accepted


@dataclass(frozen=True, slots=True)
class RegressionCase:
    """A confirmed question, asked again."""

    answer: str
    question: str
    expected: str  # SQL
    given: str  # SQL
    status: str
    right: bool
    before: bool | None  # at the last check; None where it was not asked then
    reason: str = ""  # why it could not be judged: the confirmed statement gives nothing to compare with

    @property
    def worse(self) -> bool:
        """Whether it was right, and is not any more."""
        return self.before is True and not self.right


@dataclass(frozen=True, slots=True)
class RegressionResult:
    """What the gate has seen."""

    cases: tuple[RegressionCase, ...]
    first: bool  # there was no check before

    @property
    def right(self) -> int:
        """How many are right."""
        return sum(case.right for case in self.cases)

    @property
    def worse(self) -> list[RegressionCase]:
        """What was right the last time and is not any more."""
        return [case for case in self.cases if case.worse]

    def junit(self) -> bytes:
        """As test tools read it."""
        failures = str(len(self.cases) - self.right)
        suite = Element("testsuite", name="merit", tests=str(len(self.cases)), failures=failures)
        for case in self.cases:
            name = _printable(f"{case.question} [{case.answer}]")
            test = SubElement(suite, "testcase", classname="merit.check", name=name)
            if not case.right:
                reason = case.reason or f"{case.status}; its rows are not those of the confirmed answer"
                failure = SubElement(test, "failure", message=_printable(reason))
                failure.text = _printable(f"confirmed: {case.expected}\ngiven: {case.given}")
        return bytes(tostring(suite, encoding="utf-8", xml_declaration=True))


async def check(asker: Asker, tell: Tell = say_nothing, author: str = "") -> RegressionResult:
    """Ask every confirmed question again, with the present memory but without its own answer."""
    before = _read(asker.parts.history.path.parent / ACCEPTED)
    viewer = asker.parts.viewer(author)
    questions, cases = confirmed_questions(asker.parts, viewer, stale=True), list[RegressionCase]()
    position = asker.parts.memory.sequence
    with repeating(asker, author) as repeater:
        for number, asked in enumerate(questions, 1):
            last = (before or {}).get(asked.answer)
            expected = None if asked.stale else repeater.expected(asked)
            if expected is None:
                why = "the confirmed statement does not run, or gives too many rows to compare"
                why = f"the confirmed statement went stale: {asked.stale}" if asked.stale else why
                cases.append(RegressionCase(asked.answer, asked.question, asked.sql, "", "failed", False, last, why))
            else:
                again = await repeater.ask(asked, expected, position)
                given, right = again.answer, again.outcome.right
                status = given.status.value
                cases.append(RegressionCase(asked.answer, asked.question, asked.sql, given.sql, status, right, last))
            tell(number, len(questions))
    return RegressionResult(tuple(cases), before is None)


def accept(folder: Path, result: RegressionResult) -> None:
    """Let later checks be compared with this one."""
    with atomic_write(folder / ACCEPTED) as file:
        file.write(json.dumps({case.answer: case.right for case in result.cases}, indent=0).encode())


def _read(path: Path) -> dict[str, bool] | None:
    """What the last check saw; None where there was none, or the file is damaged."""
    with suppress(MeritError):
        record: Any = parse_json(read_text(path), path)
        if isinstance(record, dict) and all(isinstance(value, bool) for value in record.values()):
            return record
    return None


def _printable(text: str) -> str:
    """Without characters that XML cannot hold."""
    return "".join(
        character if character in "\t\n" or character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )
