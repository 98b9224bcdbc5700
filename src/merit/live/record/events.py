"""What is written down about questions and answers: an event each, without any rows."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from merit.agent.feedback import ExecutedStatement
from merit.errors import InputError
from merit.live.answer import AnswerStatus
from merit.live.record.receipt import Receipt, read_receipt
from merit.reading import check_fields, check_format, parse_json, shown
from merit.types import DIALECTS, Status, is_scope

FORMAT = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the answer that was given."""

    id: str
    time: str  # ISO 8601 in UTC
    question: str
    database: str
    dialect: str
    schema_fingerprint: str
    position: int  # the memory's sequence number when it was asked: only what was committed by then could be recalled
    method: str
    model: str
    first_prompt_sha256: str
    sql: str
    status: AnswerStatus
    agreement: float
    error: str | None
    tried: tuple[ExecutedStatement, ...]  # every candidate in its order
    recalled: tuple[str, ...]
    reason: str = ""  # why there is no answer, as the model says; or why asking ended before candidates agreed
    calls: int = 0  # of the model, with the tokens of each; what came from the cache took none
    prompt_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0  # the whole question took
    widened: int = 0  # how often a name that was missing had more of a large schema shown
    earlier: tuple[str, ...] = ()  # the answers of the same conversation that the prompt showed
    passed: tuple[str, ...] = ()  # the user's own checks
    failed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()  # entries that were committed without a person's word, at the grade the answer earned
    replies: tuple[str, ...] = ()  # hashes of the model's replies, by which a cache can be rid of them
    receipt: Receipt | None = None  # what entered the prompts and decided; None in events of format 1
    author: str = ""  # who asked, as far as it is known; events of formats 1 and 2 do not say


@dataclass(frozen=True, slots=True)
class Spent:
    """What was asked of the model besides answers, such as a question without memory; it counts for the day."""

    time: str
    database: str
    question: str
    purpose: str
    calls: int
    prompt_tokens: int
    output_tokens: int
    seconds: float
    replies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A person said that an answer is right."""

    answer: str
    time: str
    author: str
    entries: tuple[str, ...]  # what was learned
    scope: str = ""  # whom it is for, as `types.scope` has it; empty for everyone
    through: str = ""  # the program that the person said it through; empty where it was merit's own


@dataclass(frozen=True, slots=True)
class Rejected:
    """A person said that an answer is wrong."""

    answer: str
    time: str
    author: str
    entries: tuple[str, ...]
    reason: str
    scope: str = ""
    through: str = ""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A person said how an answer should have been."""

    answer: str
    time: str
    author: str
    entries: tuple[str, ...]
    sql: str
    scope: str = ""
    through: str = ""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A person took back what was said about an answer last; it can be judged again."""

    answer: str
    time: str
    author: str
    entries: tuple[str, ...]  # what is not remembered any more
    reason: str
    through: str = ""


Feedback = Confirmed | Rejected | Corrected
Event = Asked | Spent | Feedback | Withdrawn
_KINDS: dict[str, type[Event]] = {
    "asked": Asked,
    "confirmed": Confirmed,
    "rejected": Rejected,
    "corrected": Corrected,
    "withdrawn": Withdrawn,
    "spent": Spent,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_LISTS = ("recalled", "entries", "earlier", "passed", "failed", "kept", "replies")
_COUNTS = ("position", "calls", "prompt_tokens", "output_tokens", "widened")
_OTHERS = (*_COUNTS, "agreement", "seconds", "error", "tried", "receipt", *_LISTS)  # fields that are not texts
# Fields that events of earlier formats lack.
_LATER_THAN_2 = frozenset({"author"})
_LATER_THAN_1 = _LATER_THAN_2 | {
    "reason",
    "calls",
    "prompt_tokens",
    "output_tokens",
    "seconds",
    "widened",
    "earlier",
    "passed",
    "failed",
    "kept",
    "replies",
    "receipt",
}
_JUDGING = dict.fromkeys(("confirmed", "rejected", "corrected"), frozenset({"scope", "through"}))
_WORDS = {**_JUDGING, "withdrawn": frozenset({"through"})}
_LACKING = {1: {"asked": _LATER_THAN_1, **_WORDS}, 2: {"asked": _LATER_THAN_2, **_WORDS}}


def kind_of(event: Event) -> str:
    """What an event is, in a word: asked, confirmed, rejected, corrected, withdrawn or spent."""
    return _NAMES[type(event)]


def feedback_record(feedback: Feedback | Withdrawn) -> dict[str, Any]:
    """What was said about an answer, as plain values."""
    return {"kind": kind_of(feedback), **asdict(feedback)}


def event_record(event: Event) -> dict[str, Any]:
    """An event as plain values."""
    return {"format": FORMAT, "kind": kind_of(event), **asdict(event)}


def event_in(line: str, path: Path, number: int) -> Event:
    """The event of a line of a history."""
    try:
        record = parse_json(line, path, number)
    except InputError as error:
        raise InputError(f"{error}; restore the file from a copy, or remove that line") from None
    return read_event(record, f"{path}, line {number}")


def read_event(record: Any, where: str) -> Event:
    """An event from its record, every field checked."""
    check_fields(record, {"format": int, "kind": str}, where)
    if record["format"] not in _LACKING:
        check_format(record["format"], FORMAT, "a history", where)
    kind = _KINDS.get(record["kind"])
    if kind is None:
        raise InputError(f"{where}: there is no event {shown(record['kind'])}; use a newer merit")
    fields = {name: value for name, value in record.items() if name not in ("format", "kind")}
    lacking = _LACKING.get(record["format"], {}).get(record["kind"], frozenset())
    if set(fields) != set(kind.__dataclass_fields__) - lacking:
        raise InputError(f"{where}: not the fields of an event {record['kind']}")
    check_fields(fields, {name: str for name in fields if name not in _OTHERS}, where)
    for name in _LISTS:
        if name in fields and not _texts(fields[name]):
            raise InputError(f"{where}: the field {name!r} should be a list of texts")
    _check_numbers(fields, where)
    if fields.get("scope") and not is_scope(fields["scope"]):
        raise InputError(f"{where}: the field 'scope' cannot be {shown(fields['scope'])}")
    if kind is Asked:
        _check_asked(fields, where)
    made: dict[str, Any] = {name: tuple(value) if name in _LISTS else value for name, value in fields.items()}
    return kind(**made)


def _check_numbers(fields: dict[str, Any], where: str) -> None:
    counts: dict[str, type] = {name: int for name in _COUNTS if name in fields}
    numbers: dict[str, type] = {name: float for name in ("agreement", "seconds") if name in fields}
    check_fields(fields, {**counts, **numbers}, where)
    if any(fields[name] < 0 for name in (*counts, *numbers)):
        raise InputError(f"{where}: a number cannot be below 0; it was edited")


def _check_asked(fields: dict[str, Any], where: str) -> None:
    check_fields(fields, {"tried": list}, where)
    if not isinstance(fields["error"], str | None):
        raise InputError(f"{where}: the field 'error' should be a text or null")
    if fields["dialect"] not in DIALECTS:
        raise InputError(f"{where}: the field 'dialect' cannot be {shown(fields['dialect'])}; it was edited")
    if fields.get("receipt") is not None:
        fields["receipt"] = read_receipt(fields["receipt"], f"{where}, receipt")
    try:
        fields["status"] = AnswerStatus(fields["status"])
        fields["tried"] = tuple(_tried(item, where) for item in fields["tried"])
    except ValueError:
        raise InputError(f"{where}: a status cannot be what it is; it was edited") from None


def _tried(record: Any, where: str) -> ExecutedStatement:
    check_fields(record, {"sql": str, "status": str, "error": object}, where)
    for name in ("error", "code"):
        if not isinstance(record.get(name), str | None):
            raise InputError(f"{where}: the field {name!r} should be a text or null")
    return ExecutedStatement(record["sql"], Status(record["status"]), record["error"], record.get("code"))


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def now() -> str:
    """The time, as events have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def today() -> str:
    """The day, as events have it."""
    return now()[:10]
