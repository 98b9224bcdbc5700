"""The data of a run in a page: every text once; entries, diffs and prompts are derived when they are shown."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

from merit.agent import Attempt, Reflection, RefusedStatement, grade_of, learned_from, polarity_of
from merit.agent.rules import votes
from merit.errors import InputError
from merit.failure import classify
from merit.prompts import VERSIONS
from merit.reading import check_fields
from merit.report.names import FEEDBACK, as_reviewed, dataset_label, made_by, method_label
from merit.runs import AnswerReview, Identity, Manifest, Phase, Questions, RunView, Turn, is_finished
from merit.runs.accounting import oscillates
from merit.runs.retrievals import Located, check_question, recalls_by_turn
from merit.runs.text import to_json
from merit.runs.turn import repeated_step
from merit.types import Cause, Entry, FailureType, Precedent, QuestionId, Verdict

_HASH = 16  # characters of a result's hash: enough to tell an episode's results apart
_DECIMALS = 5  # of scores; the run's own files have the rest
_POOL = ("polarity", "stored", "legal", "same_type", "typed", "fallback", "size", "dense_range", "lexical_range")
_SCORES = ("score", "dense", "lexical", "dense_normalised", "lexical_normalised", "bonus")
_TYPES = {kind: 1 << bit for bit, kind in enumerate(FailureType)}
_INDEX = ("q", "flags", "attempts", "chosen", "repeats", "types")
INITIAL, FINAL, OSCILLATES, RECALLED, WROTE = 1, 2, 4, 8, 16  # bits of an index row; data.js knows them too


@dataclass(slots=True)
class PackedRun:
    """A run's turns as lines of JSON, and an index of answered questions to filter lists by."""

    questions: Questions
    identity: Identity
    turns: list[str] = field(default_factory=list)
    index: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in _INDEX})
    _numbers: dict[QuestionId, int] = field(default_factory=dict)  # of questions, in the order of the stream file
    _turn_of_entry: dict[str, int] = field(default_factory=dict)  # by entry id: the number of the turn that left it

    def __post_init__(self) -> None:
        self._numbers = {identity: number for number, identity in enumerate(self.questions)}

    def add(self, turn: Turn, recalls: Sequence[Located]) -> None:
        """Pack the next turn with its lines of the retrieval log."""
        task = turn.episode.task
        number = self._numbers[task.question.id]
        steps = {}
        for where, record in recalls:
            check_question(record, turn, where)
            check_fields(record, {"step": int}, where)
            steps[record["step"]] = self._pools(record, where)
        packed = {
            "q": number,
            "position": task.position,
            "right": [int(turn.initial_correct), int(turn.final_correct)],
            "attempts": [_attempt(turn, step) for step in range(len(turn.episode.attempts))],
        }
        if votes(self.identity.method, self.identity.regime):
            packed["chosen"] = turn.episode.chosen
        if turn.phase is not Phase.ANSWER:
            packed["phase"] = turn.phase
        if turn.episode.reflections:
            packed["reflections"] = [_written_note(note) for note in turn.episode.reflections]
        if steps:
            packed["recalls"] = steps
        if turn.entry is not None:
            packed["entry"] = turn.entry
            packed["polarity"] = polarity_of(turn.episode, self.identity.method)
            packed["grade"] = grade_of(turn.episode, self.identity.method, self.identity.regime)
        if turn.review is not None:
            packed["review"] = _review(turn, turn.review)
        self._turn_of_entry |= dict.fromkeys(turn.left, len(self.turns))
        self.turns.append(to_json(packed))
        if turn.phase is Phase.ANSWER:
            self._note(turn, number, any(pool["matches"] for pools in steps.values() for pool in pools))

    def _pools(self, record: dict[str, Any], where: str) -> list[dict[str, Any]]:
        try:
            return [
                {
                    **{name: _short(pool[name]) for name in _POOL},
                    "matches": [
                        [self._turn_of_entry[match["entry"]], match["rank"], *(_short(match[name]) for name in _SCORES)]
                        for match in pool["matches"]
                    ],
                }
                for pool in record["pools"]
            ]
        except (KeyError, TypeError) as error:
            raise InputError(f"{where}: not a recall of this run ({error!r}); `merit audit` says more") from None

    def _note(self, turn: Turn, number: int, recalled: bool) -> None:
        flags = (INITIAL * turn.initial_correct) | (FINAL * turn.final_correct) | (RECALLED * recalled)
        flags |= OSCILLATES * oscillates(turn.episode) | WROTE * bool(turn.left)
        types = 0
        for attempt in turn.episode.attempts:
            types |= _TYPES[attempt.failure.type] if attempt.failure else 0
        attempts, repeats = turn.episode.attempts, sum(attempt.repeat for attempt in turn.episode.attempts)
        row = (number, flags, len(attempts) - repeats, turn.episode.chosen, repeats, types)
        for name, value in zip(_INDEX, row, strict=True):
            self.index[name].append(value)


def pack(view: RunView) -> PackedRun:
    """All turns of a run."""
    packed = PackedRun(view.questions, view.identity)
    for turn, records in recalls_by_turn(view):
        packed.add(turn, records)
    return packed


def stream_text(questions: Questions) -> str:
    """Questions with their first answers, and schemas, which all runs of one stream share."""
    records = []
    for asked in questions.values():
        question, first_answer = asked.question, asked.first_answer
        records.append(
            {
                "id": question.id,
                "db": question.db_id,
                "text": question.text,
                "evidence": question.evidence,
                "difficulty": question.difficulty,
                "sql": first_answer.sql,
                "reply": first_answer.reply,
                "tokens": [first_answer.prompt_tokens, first_answer.output_tokens],
                **({"mentions": asked.live.mentions} if asked.live and asked.live.mentions else {}),
            }
        )
    schemas = {asked.question.db_id: asked.schema for asked in questions.values()}
    live = {asked.question.db_id: asked.live.tables for asked in questions.values() if asked.live}
    return to_json({"schemas": schemas, **({"live": live} if live else {}), "questions": records})


def run_record(manifest: Manifest, path: Path, name: str, questions: int) -> dict[str, Any]:
    """What a page says about a run as a whole; `name` is its name there, `questions` the length of its stream."""
    identity, record = manifest.identity, manifest.identity.record()
    dataset, model, encoder = identity.dataset, identity.model, identity.encoder
    method = as_reviewed(identity.method, identity.review)
    return {
        "id": name,
        "folder": path.name,
        "dataset": dataset.title,
        "layout": dataset.name,
        "benchmark": dataset_label(dataset.title),
        "split": dataset.split,
        "method": method.name,
        "label": method_label(method),
        "recall": record["method"]["recall"],
        "history": method.history,
        "live": identity.prompts.family == VERSIONS["live"],
        **({"package": package} if (package := made_by(method)) else {}),
        "seed": identity.seed,
        "budget": identity.budget,
        "judged": identity.judged_by,
        "regime": identity.regime,
        "feedback": FEEDBACK[identity.regime],
        **({"reviewed": identity.review.share} if identity.review else {}),
        "model": model.name,
        "revision": model.revision,
        "encoder": encoder.name if encoder else None,
        "demonstrations": record["demonstrations"],
        "templates": identity.prompts.sha256,
        "stream": stream_key(identity),
        "questions": identity.length or questions,
        "finished": is_finished(path),
    }


def stream_key(identity: Identity) -> str:
    """The name of a run's stream within a page."""
    return identity.stream_sha256[:12]


def page_id(manifest: Manifest, taken: Container[str]) -> str:
    """A run's name in addresses: short, readable, and the same in every page."""
    identity = manifest.identity
    first = f"{identity.dataset.name}-{identity.method.name}-{identity.seed}-{manifest.run[:6]}"
    others = (f"{first}-{number}" for number in count(2))  # for a run that is given twice
    return next(name for name in chain([first], others) if name not in taken)


def _attempt(turn: Turn, step: int) -> dict[str, Any]:
    attempts = turn.episode.attempts
    attempt = attempts[step]
    verdict, failure = attempt.verdict, attempt.failure
    record: dict[str, Any] = {"status": verdict.status}
    first_answer = turn.episode.task.first_answer if step == 0 else None
    if first_answer is None or (first_answer.sql, first_answer.reply) != (attempt.sql, attempt.reply):
        record |= {"sql": attempt.sql, **_cost(attempt)}
    if verdict.error is not None:
        record["error"] = verdict.error
    if failure is not None:
        record |= {"type": failure.type, "subtype": failure.subtype}
    if verdict.result is not None:
        record["result"] = verdict.result[:_HASH]
    if attempt.written is not None:
        written = attempt.written
        record["written"] = {"sql": written.sql, "error": written.verdict.error, "changes": _changes(written)}
    if attempt.repeat:
        record["repeat"] = repeated_step(attempts, step)
    return record


def _review(turn: Turn, review: AnswerReview) -> dict[str, Any]:
    """What a reviewer said, and the entries that were learned from it, as `entryOf` in data.js gives others."""
    entries = learned_from(turn.episode, review.said, review.sql, "")
    if {entry.polarity: entry.id for entry in entries} != review.learned:
        question = turn.episode.task.question.id
        raise InputError(f"question {question}: its review left other entries than it says; `merit audit` says more")
    correction = {"sql": review.sql} if review.sql is not None else {}
    return {"said": review.said, **correction, "entries": [_entry(entry) for entry in entries]}


def _entry(entry: Entry) -> dict[str, Any]:
    about = {"id": entry.id, "polarity": entry.polarity, "grade": entry.grade}
    if isinstance(entry, Precedent):
        return {**about, "after": {"sql": entry.sql}}
    before = classify(Verdict(entry.status, entry.db_error, Cause.DBMS if entry.db_error else None))
    return {
        **about,
        "before": {"sql": entry.before, "status": entry.status, "error": entry.db_error, "type": before.type},
        "after": {"sql": entry.after, "status": entry.outcome, "error": entry.outcome_error, "type": entry.type},
    }


def _written_note(note: Reflection) -> dict[str, Any]:
    return {"text": note.text, **({} if note.after is None else {"after": note.after}), **_cost(note)}


def _changes(written: RefusedStatement) -> list[str]:
    return [change.why for change in written.changes]


def _cost(call: Attempt | Reflection) -> dict[str, Any]:
    return {"reply": call.reply, "tokens": [call.prompt_tokens, call.output_tokens], "prompt": call.prompt_sha256}


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DECIMALS)
    return [_short(item) for item in value] if isinstance(value, list) else value
