"""Judging a file of predictions and adding up the verdicts. Wires data and oracle together for `merit score`."""

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merit.data import Dataset, protocol_title
from merit.errors import InputError, ReferenceFailed, check_type
from merit.failure import classify
from merit.files import atomic_write
from merit.runs.accounting import accuracy
from merit.types import Cause, Distinct, FailureSubtype, Judging, Question, QuestionId, Status, Verdict


@dataclass(frozen=True, slots=True)
class Score:
    """Verdicts on one prediction file, and what had to be left out."""

    dataset: Dataset
    protocol: str
    distinct: Distinct | None  # what became of DISTINCT; None where the benchmark's rule has no choice
    verdicts: Mapping[Question, Verdict]
    absent: Mapping[str, int]  # databases that are not there, with their number of questions
    unjudged: Mapping[QuestionId, str]  # questions whose own reference fails, with the reason
    unpredicted: int
    seconds: float
    empty: int = 0  # predictions without any SQL
    fenced: int = 0  # predictions in a code fence, as models write them: evaluators do not remove it

    @property
    def title(self) -> str:
        """What was scored, and how."""
        return f"{self.dataset.title} {self.dataset.split}, protocol {protocol_title(self.protocol, self.distinct)}"

    @property
    def correct(self) -> int:
        """How many predictions are right."""
        return sum(verdict.correct for verdict in self.verdicts.values())

    def by_status(self) -> dict[str, int]:
        """How many predictions came to each status."""
        counts = Counter(verdict.status for verdict in self.verdicts.values())
        return {status.value: counts[status] for status in Status if status is not Status.EXECUTED}

    def by_database(self) -> dict[str, tuple[int, int]]:
        """Right answers and questions of each database."""
        total = Counter(question.db_id for question in self.verdicts)
        right = Counter(question.db_id for question, verdict in self.verdicts.items() if verdict.correct)
        return {db_id: (right[db_id], total[db_id]) for db_id in sorted(total)}

    @property
    def syntax_errors(self) -> int:
        """How many predictions cannot be parsed as one SQL statement."""
        return sum(map(_fails_to_parse, self.verdicts.values()))

    def warnings(self) -> list[str]:
        """Signs that the file, and not the model, is wrong."""
        total, syntax = len(self.verdicts), self.syntax_errors
        named = sum(map(_names_missing_object, self.verdicts.values()))
        if self.fenced:
            return [
                f"{self.fenced} of {total} answers begin with a code fence (```), which makes them syntax errors, here "
                "and in the official evaluators: write the SQL alone, as merit.prompts.parse_sql finds it in a reply"
            ]
        if 2 * self.empty > total:
            return [f"{self.empty} of {total} answers are empty: the replies they were taken from may have held no SQL"]
        if 2 * syntax > total:
            layout = "check that the file's layout is one that `merit score --help` names"
            return [f"{syntax} of {total} answers are syntax errors: {layout}"]
        if 2 * named > total:
            other = "check that the file answers these questions, in their order"
            return [f"{named} of {total} answers name a table or column that their database does not have: {other}"]
        return []

    def summary(self) -> dict[str, Any]:
        """Everything but the single verdicts, as plain values."""
        return {
            "dataset": self.dataset.title,
            "layout": self.dataset.layout.name,
            "split": self.dataset.split,
            "protocol": self.protocol,
            "distinct": self.distinct,
            "questions": len(self.verdicts),
            "correct": self.correct,
            "accuracy": accuracy(self.correct, len(self.verdicts)),
            "by_status": self.by_status(),
            "syntax_errors": self.syntax_errors,
            "warnings": self.warnings(),
            "by_database": {
                db_id: {"questions": total, "correct": right, "accuracy": accuracy(right, total)}
                for db_id, (right, total) in self.by_database().items()
            },
            "absent_databases": dict(self.absent),
            "failing_references": [{"id": identity, "reason": why} for identity, why in self.unjudged.items()],
            "without_prediction": self.unpredicted,
            "seconds": round(self.seconds, 3),
        }


def _fails_to_parse(verdict: Verdict) -> bool:
    if verdict.cause is Cause.STATEMENTS:  # several, or none
        return True
    return not verdict.satisfied and classify(verdict).subtype is FailureSubtype.PARSE_FAILURE


def _names_missing_object(verdict: Verdict) -> bool:
    missing = (FailureSubtype.MISSING_TABLE, FailureSubtype.MISSING_COLUMN)
    return not verdict.satisfied and classify(verdict).subtype in missing


def score(
    dataset: Dataset,
    protocol: str,
    distinct: Distinct | None,
    predictions: Mapping[QuestionId, str],
    judge: Judging,
    *,
    partial: bool = False,
    jobs: int = 1,
    on_verdict: Callable[[Verdict | None], None] = lambda _: None,
) -> Score:
    """Judge every prediction whose question can be judged; `on_verdict` is called after each.

    The judge must be that of `protocol` and `distinct`, which the score names.
    """
    _check_predictions(predictions, dataset)
    absent = dataset.absent(protocol)
    usable = [question for question in dataset.questions if question.db_id not in absent]
    asked = _questions_to_score(dataset, usable, predictions, partial=partial)
    unjudged: dict[QuestionId, str] = {}

    def judge_question(question: Question) -> Verdict | None:
        verdict = None
        try:
            verdict = judge(question, predictions[question.id])
        except ReferenceFailed as error:
            unjudged[question.id] = str(error)
        on_verdict(verdict)
        return verdict

    started = time.monotonic()
    judged = (
        [judge_question(question) for question in asked]
        if jobs == 1
        else _judge_in_parallel(judge_question, asked, jobs)
    )
    verdicts = {question: verdict for question, verdict in zip(asked, judged, strict=True) if verdict is not None}
    if not verdicts:
        raise InputError(f"nothing could be judged; {next(iter(unjudged.values()))}, and so for all others")
    seconds = time.monotonic() - started
    texts = [predictions[question.id].strip() for question in verdicts]
    return Score(
        dataset,
        protocol,
        distinct,
        verdicts,
        absent,
        unjudged,
        unpredicted=len(usable) - len(asked),
        seconds=seconds,
        empty=sum(not text for text in texts),
        fenced=sum(text.startswith("```") for text in texts),
    )


def _check_predictions(predictions: Mapping[QuestionId, str], dataset: Dataset) -> None:
    check_type("predictions", predictions, Mapping, "a dict from question ids to SQL")
    ids = {question.id for question in dataset.questions}
    for identity, sql in predictions.items():
        if identity not in ids:
            example = repr(dataset.questions[0].id) if ids else "none"
            raise InputError(f"predictions: the dataset has no question with id {identity!r}; its first is {example}")
        check_type(f"predictions, {identity!r}", sql, str, "SQL as a text")


def _questions_to_score(
    dataset: Dataset, usable: list[Question], predictions: Mapping[QuestionId, str], *, partial: bool
) -> list[Question]:
    """The questions with a prediction; with `partial`, some may have none."""
    asked = [question for question in usable if question.id in predictions]
    if len(asked) < len(usable) and not partial:
        first = next(question.id for question in usable if question.id not in predictions)
        raise InputError(
            f"{len(usable) - len(asked)} of {len(usable)} questions have no prediction (the first is {first}); "
            "complete them, score only what is there (--partial, or partial=True in Python), or, if they are for "
            f"another split than {dataset.split}, name that one (--split)"
        )
    if not usable:
        raise InputError(
            f"{dataset.root}: nothing to score, none of the {len(dataset.questions)} questions has its database"
        )
    if not asked:
        raise InputError("nothing to score, no prediction is for a question whose database is there")
    return asked


def _judge_in_parallel(
    judge: Callable[[Question], Verdict | None], asked: list[Question], jobs: int
) -> list[Verdict | None]:
    pool = ThreadPoolExecutor(jobs)
    try:
        return list(pool.map(judge, asked))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # after Ctrl-C, closing the judge ends what still runs


def write_verdicts(score: Score, path: Path) -> None:
    """One JSON object a line: id, status, error. The file appears whole or not at all."""
    lines = [
        json.dumps({"id": question.id, "status": verdict.status, "error": verdict.error}, ensure_ascii=False)
        for question, verdict in score.verdicts.items()
    ]
    data = "".join(line + "\n" for line in lines).encode("utf-8", "backslashreplace")
    if path.is_file() or not path.exists():
        with atomic_write(path) as file:
            file.write(data)
        return
    try:  # a pipe or a device
        path.write_bytes(data)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); choose another place") from error
