"""A turn: one question's episode in its place, as a line of JSON and back."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from merit.agent import Attempt, Episode, Reflection, RefusedStatement
from merit.errors import InputError
from merit.failure import classify
from merit.reading import check_count, check_fields, check_format, shown
from merit.runs.questions import Questions
from merit.runs.reviews import AnswerReview
from merit.runs.text import to_json
from merit.runs.token_counts import MOST_COUNTED, check_tokens, tokens_estimated, without_default
from merit.sql import canonical
from merit.types import (
    Cause,
    Failure,
    FailureSubtype,
    FailureType,
    GroundingChange,
    GroundingRule,
    Status,
    Verdict,
)

FORMAT = 2


class Phase(StrEnum):
    """Which pass over the stream a turn belongs to."""

    GATHER = "gather"  # a control's first pass, which only fills its memory
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Turn:
    """A finished episode and what it left."""

    phase: Phase
    episode: Episode
    entry: str | None  # the id of the entry it wrote
    initial_correct: bool  # what the judge says; without an oracle the agent does not know
    final_correct: bool
    recalls: int  # how many lines of the retrieval log belong to it
    review: AnswerReview | None = None  # what was said of the answer afterwards; in a file of its own

    @property
    def left(self) -> tuple[str, ...]:
        """The ids of all entries that came of it."""
        own = () if self.entry is None else (self.entry,)
        return own if self.review is None else (*own, *self.review.learned.values())


def repeated_step(attempts: Sequence[Attempt], step: int) -> int:
    """Which earlier attempt a repeat says again; -1 for none, which `merit audit` does not let pass."""
    text = canonical(attempts[step].sql)
    return next((number for number, attempt in enumerate(attempts[:step]) if canonical(attempt.sql) == text), -1)


def turn_line(turn: Turn, run: str) -> str:
    """The turn's line of trajectories.jsonl."""
    task = turn.episode.task
    return to_json(
        {
            "format": FORMAT,
            "run": run,
            "phase": turn.phase,
            "position": task.position,
            "question_id": task.question.id,
            "db_id": task.question.db_id,
            "initial_correct": turn.initial_correct,
            "final_correct": turn.final_correct,
            "entry": turn.entry,
            "recalls": turn.recalls,
            "chosen": turn.episode.chosen,
            "attempts": [_attempt_record(attempt) for attempt in turn.episode.attempts],
            "reflections": [_reflection_record(reflection) for reflection in turn.episode.reflections],
        }
    )


def prediction_line(turn: Turn) -> str:
    """The turn's line of predictions.jsonl, which `merit score` reads."""
    task = turn.episode.task
    return to_json(
        {"format": FORMAT, "id": task.question.id, "db_id": task.question.db_id, "sql": turn.episode.final.sql}
    )


def _attempt_record(attempt: Attempt) -> dict[str, Any]:
    verdict, failure = attempt.verdict, attempt.failure
    record = {
        "sql": attempt.sql,
        "reply": attempt.reply,
        "prompt_tokens": attempt.prompt_tokens,
        "output_tokens": attempt.output_tokens,
        "prompt_sha256": attempt.prompt_sha256,
        "status": verdict.status,
        "error": verdict.error,
        "cause": verdict.cause,
        "result": verdict.result,
        "type": failure.type if failure else None,
        "subtype": failure.subtype if failure else None,
        "repeat": attempt.repeat,
        "tokens_estimated": attempt.tokens_estimated,
    }
    if attempt.written is not None:
        record["written"] = _written_record(attempt.written)
    return without_default(record)


def _reflection_record(reflection: Reflection) -> dict[str, Any]:
    """A reflection or a note; only a note says how many attempts it follows."""
    record = without_default(asdict(reflection))
    return record if reflection.after is not None else {k: v for k, v in record.items() if k != "after"}


def _written_record(written: RefusedStatement) -> dict[str, Any]:
    return {
        "sql": written.sql,
        "error": written.verdict.error,
        "cause": written.verdict.cause,
        "changes": [asdict(change) for change in written.changes],
    }


_TURN_FIELDS: dict[str, type] = {
    "format": int,
    "phase": str,
    "position": int,
    "question_id": object,
    "initial_correct": bool,
    "final_correct": bool,
    "entry": object,
    "recalls": int,
    "chosen": int,
    "attempts": list,
    "reflections": list,
}
_REPLY_FIELDS: dict[str, type] = {"reply": str, "prompt_tokens": int, "output_tokens": int, "prompt_sha256": object}
_ATTEMPT_FIELDS: dict[str, type] = {
    **_REPLY_FIELDS,
    "sql": str,
    "status": str,
    "error": object,
    "cause": object,
    "result": object,
    "type": object,
    "subtype": object,
    "repeat": bool,
}


def read_turn(record: Any, questions: Questions, where: str) -> Turn:
    """The turn of a parsed line, without its recalls (they are in the retrieval log)."""
    check_fields(record, _TURN_FIELDS, where)
    check_format(record["format"], FORMAT, "trajectories", where)
    if not isinstance(record["question_id"], int | str) or record["question_id"] not in questions:
        raise InputError(f"{where}: question {shown(record['question_id'])} is not in the stream")
    known = questions[record["question_id"]]
    try:
        task = known.task(record["position"], record["position"])
        attempts = tuple(_attempt(item, where) for item in record["attempts"])
        reflections = tuple(_reflection(item, where) for item in record["reflections"])
        phase = Phase(record["phase"])
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: not a turn of a run ({shown(str(error))})") from None
    if not attempts:
        raise InputError(f"{where}: a turn without an attempt")
    if not isinstance(record["entry"], str | None):
        raise InputError(f"{where}: the field 'entry' should be a text or null, not {shown(record['entry'])}")
    check_count(record["position"], MOST_COUNTED, f"{where}: the field 'position'")
    check_count(record["recalls"], len(attempts), f"{where}: the field 'recalls'")
    if not -1 <= record["chosen"] < len(attempts):
        raise InputError(f"{where}: the field 'chosen' cannot be {record['chosen']}")
    episode = Episode(task, attempts, reflections, record["chosen"])
    correct = (record["initial_correct"], record["final_correct"])
    return Turn(phase, episode, record["entry"], *correct, record["recalls"])


def _attempt(record: Any, where: str) -> Attempt:
    check_fields(record, _ATTEMPT_FIELDS, where)
    for name in ("error", "cause", "result", "type", "subtype", "prompt_sha256"):
        if not isinstance(record[name], str | None):
            raise InputError(f"{where}: the field {name!r} should be a text or null, not {shown(record[name])}")
    check_tokens(record, where)
    failure = None
    if record["type"] is not None:
        failure = Failure(FailureType(record["type"]), FailureSubtype(record["subtype"]))
    cause = Cause(record["cause"]) if record["cause"] is not None else None
    return Attempt(
        sql=record["sql"],
        reply=record["reply"],
        prompt_tokens=record["prompt_tokens"],
        output_tokens=record["output_tokens"],
        verdict=Verdict(Status(record["status"]), record["error"], cause, record["result"]),
        failure=failure,
        prompt_sha256=record["prompt_sha256"],
        repeat=record["repeat"],
        tokens_estimated=tokens_estimated(record, where),
        written=_written(record["written"], where) if "written" in record else None,
    )


def _written(record: Any, where: str) -> RefusedStatement:
    """What grounding changed; only a statement that the database refused is grounded."""
    check_fields(record, {"sql": str, "error": str, "cause": str, "changes": list}, where)
    changes = []
    for change in record["changes"]:
        check_fields(change, {"rule": str, "why": str}, where)
        changes.append(GroundingChange(GroundingRule(change["rule"]), change["why"]))
    verdict = Verdict(Status.EXECUTION_ERROR, record["error"], Cause(record["cause"]))
    return RefusedStatement(record["sql"], verdict, classify(verdict), tuple(changes))


def _reflection(record: Any, where: str) -> Reflection:
    after: dict[str, type] = {"after": int} if "after" in record else {}
    check_fields(record, {**_REPLY_FIELDS, "text": str, "prompt_sha256": str, **after}, where)
    tokens_estimated(record, where)
    check_tokens(record, where)
    if after and record["after"] < 1:
        raise InputError(f"{where}: the field 'after' should be 1 or more, not {shown(record['after'])}")
    return Reflection(**record)
