"""The retrieval log: one line a recall, with its pools, scores and ranks, written and read."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from merit.agent import Task
from merit.errors import InputError
from merit.memory import Recall
from merit.reading import parse_json, shown
from merit.runs.paths import RETRIEVALS, is_finished
from merit.runs.text import read_lines, to_json
from merit.runs.turn import FORMAT, Phase, Turn
from merit.runs.view import RunView
from merit.types import QuestionId

_MATCH = ("rank", "score", "dense", "lexical", "dense_normalised", "lexical_normalised", "bonus")

_LARGEST_SIMILARITY = 1.001  # a cosine of two vectors of length 1, up to rounding


@dataclass(frozen=True, slots=True)
class RecallSummary:
    """One recall: the entries it showed, and how near the nearest of them was."""

    entries: tuple[str, ...]
    dense: float | None  # the largest similarity of one that was shown; None where nothing was encoded


Located = tuple[str, Any]  # a line of the retrieval log: where it is, and what it says


def recall_line(phase: Phase, task: Task, step: int, pools: Any) -> str:
    """One line of retrievals.jsonl: a recall with its pools, scores and ranks."""
    return to_json(
        {
            "format": FORMAT,
            "phase": phase,
            "position": task.position,
            "question_id": task.question.id,
            "step": step,
            "reads_from": task.reads_from,
            "pools": pools,
        }
    )


def recall_lines(turn: Turn) -> list[str]:
    """The turn's lines of retrievals.jsonl."""
    return [
        recall_line(turn.phase, turn.episode.task, step, pool_records(attempt.recall))
        for step, attempt in enumerate(turn.episode.attempts)
        if attempt.recall is not None
    ]


def pool_records(recall: Recall) -> list[dict[str, Any]]:
    """A recall's explanation as plain values; entries by their id."""
    records = []
    for pool in recall.pools:
        record = {name: getattr(pool, name) for name in pool.__dataclass_fields__ if name != "matches"}
        for name in ("dense_range", "lexical_range"):
            record[name] = None if record[name] is None else list(record[name])
        record["matches"] = [
            {"entry": match.entry.id, **{name: getattr(match, name) for name in _MATCH}} for match in pool.matches
        ]
        records.append(record)
    return records


def recalls_by_turn(view: RunView) -> Iterator[tuple[Turn, list[Located]]]:
    """Every turn with its lines of the retrieval log; a log that ends early gives what it has.

    Only a run that is not finished may have a last line that is not.
    """
    path = view.path / RETRIEVALS
    lines = enumerate(read_lines(path, torn=not is_finished(view.path)), 1)
    for turn in view.turns:
        own_lines = islice(lines, turn.recalls)
        yield turn, [(f"{path}, line {number}", parse_json(line, path, number)) for number, line in own_lines]


def check_question(record: Any, turn: Turn, where: str) -> None:
    """Refuse a line that does not belong to its turn."""
    identity = turn.episode.task.question.id
    if not isinstance(record, dict) or record.get("question_id") != identity or type(record.get("step")) is not int:
        raise InputError(f"{where}: is not a recall of question {identity}; `merit audit` says more")


def recall_summaries(view: RunView) -> dict[QuestionId, list[RecallSummary]] | None:
    """What every answer recalled, in order; None where the log does not have all of it."""
    recalls_shown: dict[QuestionId, list[RecallSummary]] = {}
    complete = True
    for turn, records in recalls_by_turn(view):
        complete = complete and len(records) == turn.recalls
        for where, record in records:
            check_question(record, turn, where)
            if turn.phase is Phase.ANSWER:
                recalls_shown.setdefault(turn.episode.task.question.id, []).append(_summary(record, where))
    return recalls_shown if complete else None


def _similarity(value: Any) -> float:
    if not isinstance(value, int | float) or not abs(value) <= _LARGEST_SIMILARITY:
        raise TypeError(f"{shown(value)} is not a similarity")
    return float(value)


def _summary(record: dict[str, Any], where: str) -> RecallSummary:
    try:
        matches = [match for pool in record["pools"] for match in pool["matches"]]
        entries = tuple(str(match["entry"]) for match in matches)
        dense = [_similarity(match["dense"]) for match in matches if match["dense"] is not None]
    except (KeyError, TypeError, OverflowError) as error:
        raise InputError(f"{where}: not a recall of this run ({error!r}); `merit audit` says more") from None
    return RecallSummary(entries, max(dense, default=None))
