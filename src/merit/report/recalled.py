"""What a run recalled, from its retrieval log, and what it kept and set aside."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from merit.agent import Attempt, grade_of
from merit.errors import InputError
from merit.memory import Grade
from merit.reading import parse_json, shown
from merit.sql import canonical
from merit.stream import Phase, RunView, Turn
from merit.stream.folder import METRICS, RETRIEVALS, polarity_of, read_lines
from merit.types import Polarity, QuestionId, Regime

_LARGEST_SIMILARITY = 1.001  # a cosine of two vectors of length 1, up to rounding


@dataclass(frozen=True, slots=True)
class Look:
    """One recall: the entries it showed, and how near the nearest of them was."""

    entries: tuple[str, ...]
    dense: float | None  # the largest similarity of one that was shown; None where nothing was encoded


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry that a run kept."""

    polarity: Polarity
    grade: Grade
    poisoned: bool  # kept as right, though the judge calls its episode's answer wrong


Located = tuple[str, Any]  # a line of the retrieval log: where it is, and what it says


def recalls_by_turn(view: RunView) -> Iterator[tuple[Turn, list[Located]]]:
    """Every turn with its lines of the retrieval log; one that ends early gives what it has.

    Only a run that is not finished may have a last line that is not.
    """
    path = view.path / RETRIEVALS
    lines = enumerate(read_lines(path, torn=not (view.path / METRICS).is_file()), 1)
    for turn in view.turns:
        mine = islice(lines, turn.recalls)
        yield turn, [(f"{path}, line {number}", parse_json(line, path, number)) for number, line in mine]


def check_question(record: Any, turn: Turn, where: str) -> None:
    """Refuse a line that does not belong to its turn."""
    identity = turn.episode.task.question.id
    if not isinstance(record, dict) or record.get("question_id") != identity or type(record.get("step")) is not int:
        raise InputError(f"{where}: is not a recall of question {identity}; `merit audit` says more")


def looks_of(view: RunView) -> dict[QuestionId, list[Look]] | None:
    """What every answer recalled, in order; None where the log does not have all of it."""
    found: dict[QuestionId, list[Look]] = {}
    whole = True
    for turn, records in recalls_by_turn(view):
        whole = whole and len(records) == turn.recalls
        for where, record in records:
            check_question(record, turn, where)
            if turn.phase is Phase.ANSWER:
                found.setdefault(turn.episode.task.question.id, []).append(_look(record, where))
    return found if whole else None


def kept_by(view: RunView) -> dict[str, Kept]:
    """Every entry that a run kept, by its id."""
    regime = Regime(view.identity["regime"])
    found = {}
    for turn in view.turns:
        if turn.entry is not None:
            polarity = polarity_of(turn.entry)
            poisoned = polarity is not Polarity.NEGATIVE and not turn.final_correct
            found[turn.entry] = Kept(polarity, grade_of(turn.episode, view.method, regime), poisoned)
    return found


def repeated_step(attempts: Sequence[Attempt], step: int) -> int:
    """Which earlier attempt a repeat says again; -1 for none, which `merit audit` does not let pass."""
    said = canonical(attempts[step].sql)
    return next((place for place, one in enumerate(attempts[:step]) if canonical(one.sql) == said), -1)


def _similarity(value: Any) -> float:
    if not isinstance(value, int | float) or not abs(value) <= _LARGEST_SIMILARITY:
        raise TypeError(f"{shown(value)} is not a similarity")
    return float(value)


def _look(record: dict[str, Any], where: str) -> Look:
    try:
        matches = [match for pool in record["pools"] for match in pool["matches"]]
        entries = tuple(str(match["entry"]) for match in matches)
        dense = [_similarity(match["dense"]) for match in matches if match["dense"] is not None]
    except (KeyError, TypeError, OverflowError) as error:
        raise InputError(f"{where}: not a recall of this run ({error!r}); `merit audit` says more") from None
    return Look(entries, max(dense, default=None))
