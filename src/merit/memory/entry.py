"""What is remembered: the paper's x = <c, tau, delta, o, rho>, format version 3, and what the two channels read of it.

Every SQL in an entry is the model's own. The format has no field in which a reference could travel, and a record with
a field it does not know is refused.
"""

import hashlib
import json
import re
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from merit.errors import InputError
from merit.types import FailureSubtype, FailureType, Polarity, QuestionId, Status

FORMAT = 3


class Grade(StrEnum):
    """How sure we are of an entry's outcome, best first."""

    CONFIRMED = "confirmed"  # an oracle or a person said so
    TESTED = "tested"
    AGREED = "agreed"  # most of several candidates gave the same rows
    EXECUTED = "executed"  # it ran; nothing more is known

    def at_least(self, other: "Grade") -> bool:
        """Whether this is as sure as another one, or surer."""
        return _PLACES[self] <= _PLACES[other]


_PLACES = {grade: place for place, grade in enumerate(Grade)}


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an entry comes from (the paper's rho)."""

    run: str
    question_id: QuestionId
    db_id: str
    position: int
    step: int
    episode: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One finalised episode's lesson: what was tried, how it had failed, what was changed, how that ended.

    A precedent is an answer and no change: its `before` is empty, and only question and `after` are recalled by.
    """

    id: str
    polarity: Polarity
    question: str
    schema: str
    before: str  # the unsuccessful SQL
    status: Status  # of `before`
    db_error: str | None  # about `before`
    type: FailureType  # of `before`
    subtype: FailureSubtype
    after: str  # the SQL it was changed to
    outcome: Status  # of `after`
    outcome_error: str | None  # about `after`
    grade: Grade
    provenance: Provenance

    @property
    def failure_context(self) -> str:
        """The situation the change was made in."""
        return failure_context(self.before, self.status, self.db_error)

    @property
    def delta(self) -> str:
        """The change itself; of a precedent, the answer."""
        if self.polarity is Polarity.PRECEDENT:
            return self.after
        return f"{self.before} => {self.after}"

    @property
    def observed_error(self) -> str:
        """What the database said: about the outcome of a failed direction, about the start of a successful one."""
        error = self.db_error if self.polarity is Polarity.POSITIVE else self.outcome_error
        return error or "(none)"

    def dense_text(self) -> str:
        """What the encoder reads."""
        if self.polarity is Polarity.PRECEDENT:
            return self.question
        return "\n".join(
            [
                f"Question: {self.question}",
                f"Schema: {self.schema}",
                f"Failure context: {self.failure_context}",
                f"Transformation: {normalise_sql(self.before)} => {normalise_sql(self.after)}",
                f"Error type: {self.type}",
                f"Outcome: {self.outcome}",
                f"DB error: {self.observed_error}",
            ]
        )

    def lexical_text(self) -> str:
        """What BM25 reads."""
        if self.polarity is Polarity.PRECEDENT:
            return f"{self.question} {self.after}"
        parts = [self.question, self.failure_context, self.delta, self.type, self.outcome, self.observed_error]
        if self.polarity is Polarity.POSITIVE:
            parts.append(self.delta)  # the successful direction
        return " ".join(parts)

    def to_line(self) -> str:
        """The entry as one line of JSON, always the same for the same entry."""
        return _canonical({"format": FORMAT, **asdict(self)})


def failure_context(sql: str, status: Status, error: str | None) -> str:
    """An unsuccessful attempt in one line (SPEC.md, text fields)."""
    return f"attempted_sql={sql}; status={status}; db_error={error or '(none)'}"


def normalise_sql(sql: str) -> str:
    """SQL up to case, white space and one trailing semicolon."""
    return " ".join(sql.strip().removesuffix(";").lower().split())


def with_id(entry: Entry) -> Entry:
    """The entry under its own id: a hash of what it says, not of the run or position it was learned at.

    Characters that are none (lone surrogates, which a model can be made to emit) become question marks.
    """
    texts: dict[str, Any] = {name: _clean(getattr(entry, name)) for name in _TEXTS}
    clean = replace(entry, **texts)
    digest = hashlib.sha256(_canonical(_content(clean)).encode()).hexdigest()[:16]
    return replace(clean, id=f"{entry.polarity[:3]}-{digest}")


def says_the_same(entry: Entry, other: Entry) -> bool:
    """Whether two entries differ at most in the run, position and episode they were learned at."""
    return _content(entry) == _content(other)


def _content(entry: Entry) -> dict[str, Any]:
    content = asdict(replace(entry, id=""))
    for accidental in ("run", "position", "episode"):
        del content["provenance"][accidental]
    return content


def _clean(text: str | None) -> str | None:
    return None if text is None else text.encode("utf-8", "replace").decode()


def checked(entry: Entry) -> Entry:
    """The entry, if it could be read back."""
    return from_record({"format": FORMAT, **asdict(entry)}, f"entry {entry.id}")


def from_record(record: object, where: str) -> Entry:
    """The entry of a parsed line; what is wrong with it is said in one sentence."""
    if not isinstance(record, dict):
        raise InputError(f"{where}: expected a JSON object")
    fields = dict(record)
    version = fields.pop("format", None)
    if version != FORMAT:
        found = shortened(version)
        raise InputError(f"{where}: memory format {found}, this merit reads {FORMAT}; {_advice(version)}")
    try:
        provenance = Provenance(**_take(fields.pop("provenance", None), Provenance, f"{where}, provenance"))
        checked = _take({**fields, "provenance": None}, Entry, where)
        return Entry(
            **{
                **checked,
                "polarity": Polarity(checked["polarity"]),
                "status": Status(checked["status"]),
                "type": FailureType(checked["type"]),
                "subtype": FailureSubtype(checked["subtype"]),
                "outcome": Status(checked["outcome"]),
                "grade": Grade(checked["grade"]),
                "provenance": provenance,
            }
        )
    except ValueError as error:
        raise InputError(f"{where}: {_middle_left_out(str(error))}") from None


_OPTIONAL = ("db_error", "outcome_error")
_TEXTS = ("question", "schema", "before", "db_error", "after", "outcome_error")
_ID = re.compile(r"(?:pos|neg|pre)-[0-9a-f]{16}")
_LARGEST = 2**62


def _take(record: object, kind: type[Entry] | type[Provenance], where: str) -> dict[str, Any]:
    """The fields of `record` if they are exactly those of `kind`."""
    if not isinstance(record, dict):
        raise InputError(f"{where}: missing; every entry says where it comes from")
    wanted = set(kind.__dataclass_fields__)
    for name in sorted(wanted - set(record)):
        raise InputError(f"{where}: the field {name!r} is missing")
    for name in sorted(set(record) - wanted):
        raise InputError(f"{where}: the field {shortened(name)} does not belong to memory format {FORMAT}")
    for name, value in record.items():
        number = name in ("position", "step")
        fits = type(value) is int and abs(value) < _LARGEST if number else isinstance(value, str)
        fits = fits and (number or _clean(value) == value)
        fits = fits or (name == "question_id" and type(value) is int) or (value is None and name in _OPTIONAL)
        fits = fits and (name != "id" or _ID.fullmatch(str(value)) is not None)
        if not fits and name != "provenance":
            raise InputError(f"{where}: the field {name!r} cannot be {shortened(value)}")
    return record


def shortened(value: object) -> str:
    """A value from a stranger's file, for a message: short, on one line, however long or deep it is."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return _middle_left_out(repr(value))


def _middle_left_out(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:60]}...{text[-37:]}"


def _advice(version: object) -> str:
    newer = isinstance(version, int) and version > FORMAT
    return "it was written by a newer merit: update this one" if newer else "it is not a memory entry"


def _canonical(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
