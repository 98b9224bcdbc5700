"""Makes the receipt of an answer: what each of its prompts showed, and how its candidates voted."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from merit.agent import Attempt, Method, find_method
from merit.agent.behaviour import Part
from merit.agent.rules import cast_votes
from merit.errors import InputError
from merit.live.answer import Answer
from merit.live.asking.declining import reason_to_decline
from merit.live.budget import Account
from merit.live.parts import LiveParts
from merit.live.record.receipt import CandidateVote, Receipt, Setting, ShownEntry
from merit.memory import Match, Precedent, Recall
from merit.settings import AskingSettings
from merit.sql import canonical
from merit.types import Schema

if TYPE_CHECKING:
    from merit.live.asking.preparing import Prepared

_MOST_COLUMNS = 200  # that a receipt lists; beyond it, the hash stands for them
_LONGEST_NOTE = 160  # characters


def shown_by(prepared: "Prepared", attempts: Sequence[Attempt]) -> Iterator[list[Match]]:
    """What the prompt of each candidate shows of the memory; the first prompt has no place for changes.

    A statement that was given had no prompt.
    """
    method = prepared.method
    parts = method.behaviour.shows
    yield [] if prepared.sql is not None else _shown(prepared.recalled, precedents=True, repairs=False)
    for attempt in attempts[1:]:
        repairs = Part.REPAIRS in parts and (method.history or method.origin is not None)
        yield _shown(attempt.recall, precedents=Part.PRECEDENTS in parts, repairs=repairs)


def _shown(recall: Recall | None, *, precedents: bool, repairs: bool) -> list[Match]:
    matches = recall.matches if recall else []
    return [match for match in matches if (precedents if isinstance(match.entry, Precedent) else repairs)]


def make_receipt(
    answer: Answer, prepared: "Prepared", account: Account, asking: AskingSettings, parts: LiveParts, *, execute: bool
) -> Receipt:
    """What entered the prompts of an answer, and what decided it."""
    prompts = tuple(dict.fromkeys(account.prompts))
    bare = prepared.live.bare
    return Receipt(
        shown=tuple(_entries(prepared, answer.attempts)),
        positions=_positions(prepared, answer.attempts),
        tables=_tables(prepared.schema),
        tables_sha256=hashlib.sha256(bare.encode()).hexdigest(),
        values=prepared.mentioned,
        notes=tuple(note[:_LONGEST_NOTE] for note in prepared.live.notes),
        notes_sha256=hashlib.sha256("\n".join(prepared.live.notes).encode()).hexdigest(),
        settings=_settings(prepared, asking, parts, execute),
        prompts=prompts,
        candidates=tuple(_candidates(prepared, answer.attempts, prompts)),
    )


def _entries(prepared: "Prepared", attempts: Sequence[Attempt]) -> Iterator[ShownEntry]:
    """Each entry once for all candidates that were shown it with the same scores."""
    found: dict[tuple[str, float, float | None, float | None], list[int]] = {}
    for number, matches in enumerate(shown_by(prepared, attempts), 1):
        for match in matches:
            scores = (_rounded(match.score) or 0.0, _rounded(match.dense), _rounded(match.lexical))
            found.setdefault((match.entry.id, *scores), []).append(number)
    for (identity, score, dense, lexical), numbers in found.items():
        yield ShownEntry(identity, tuple(numbers), score, dense, lexical)


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(float(score), 4)


def _positions(prepared: "Prepared", attempts: Sequence[Attempt]) -> tuple[int, ...]:
    recalls = [prepared.recalled, *(attempt.recall for attempt in attempts[1:])]
    return tuple(prepared.position if recall is None else recall.sequence for recall in recalls)


def _tables(schema: Schema) -> dict[str, tuple[str, ...]]:
    few = sum(len(table.columns) for table in schema.tables) <= _MOST_COLUMNS
    return {table.name: tuple(column.name for column in table.columns) if few else () for table in schema.tables}


def _candidates(prepared: "Prepared", attempts: Sequence[Attempt], prompts: Sequence[str]) -> Iterator[CandidateVote]:
    """What each candidate voted for; equal rows have equal numbers, so that no hash of a row is written down."""
    results: dict[str, int] = {"": 0}
    places: dict[str, int] = {}  # of statements in `tried`
    at = 0
    for attempt, vote in zip(attempts, cast_votes(prepared.method, attempts), strict=True):
        declined = reason_to_decline(attempt.sql) is not None
        if not declined and not attempt.repeat:
            at += 2 if attempt.written else 1
            places[canonical(attempt.sql)] = at - 1
        rows = attempt.verdict.result
        result = None if rows is None else results.setdefault(rows, len(results))
        given = prepared.sql is not None and not attempt.prompt_sha256
        prompt = None if given else prompts.index(attempt.prompt_sha256 or prepared.prompt.sha256)
        yield CandidateVote(
            prompt, None if declined else places.get(canonical(attempt.sql)), float(vote.weight), result
        )


def _settings(prepared: "Prepared", asking: AskingSettings, parts: LiveParts, execute: bool) -> dict[str, Setting]:
    """The settings that decided: how candidates were asked for and counted, and what could be recalled."""
    method = prepared.method
    settings: dict[str, Setting] = {
        "candidates": parts.candidates(asking.candidates, execute=execute, sql=prepared.sql),
        "least": asking.least,
        "enough": asking.enough,
        "execute": execute,
        "rows": "never" if parts.values is None else "prompt",
        "keep": parts.keep.value,
        "votes": method.votes and method.repairs,
        "recall_grade": method.recall.least_grade.value if method.recall else None,
        "recall_databases": method.recall.databases.value if method.recall else None,
    }
    return settings | ({"team": parts.team} if parts.team else {}) | _differences(method)


def _differences(method: Method) -> dict[str, Setting]:
    """The fields in which a method differs from the one of its name."""
    try:
        default = dict(_flat(find_method(method.name).record()))
    except InputError:  # it was made in a program
        default = dict(_flat(Method(method.name, method.summary).record()))
    own = dict(_flat(method.record()))
    stated = ("recall.least_grade", "recall.databases")
    return {
        f"method.{name}": value if isinstance(value, Setting) else str(value)
        for name, value in own.items()
        if value != default.get(name) and name not in stated
    }


def _flat(record: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value
