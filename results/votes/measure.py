"""What became of every recorded answer: executed, grounded where its database refused it, judged. Without a model.

    MERIT_DATA=FOLDER python results/votes/measure.py dev bird bundled train | gzip -9n > results/votes/scores.json.gz

MERIT_DATA holds `recordings/samples-*.jsonl.gz`, `spider` and `bird`. `dev`, `bird` and `bundled` are the questions of
the recordings, asked in three wordings (p0, p1, p2); `train` are the draws of results/tuning-live (wordings A to F, and
the paper's, P). Spider is judged with DISTINCT dropped: dev by the suite, train on the original databases. The bundled
benchmark is judged with DISTINCT kept.

An answer is written as four numbers: which result it gave (counted from 1 for each question; 0 an empty one, -1 it
failed, -2 it took too long), whether it is right, whether it was grounded, and whether it was right as it was written.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from merit.benchmark import Benchmark, DataSpec
from merit.grounding import ground
from merit.prompts import parse_sql
from merit.types import Distinct, Question, Status

DATA = Path(os.environ["MERIT_DATA"])
TRAIN = Path(__file__).parents[1] / "tuning-live" / "train-draws.jsonl.gz"
SPECS = {
    "dev": DataSpec("spider", DATA / "spider", distinct=Distinct.DROPPED),
    "bird": DataSpec("bird", DATA / "bird"),
    "bundled": DataSpec("bundled", None),
}
Outcome = tuple[int, int, int, int]
Answers = dict[Any, dict[str, list[str]]]  # of a question, by wording: the greedy one, then the draws


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a packed file of JSON lines."""
    with gzip.open(path, "rt") as file:
        for line in file:
            yield json.loads(line)


def recorded(name: str) -> Answers:
    """The answers to the questions of a set."""
    answers: Answers = {}
    if name == "train":
        for record in sorted(lines(TRAIN), key=lambda record: record["t"]):  # greedy answers first
            replies = [parse_sql(reply) for reply in record["replies"]]
            answers.setdefault(record["id"], {}).setdefault(record["v"], []).extend(replies)
        return answers
    for path in sorted((DATA / "recordings").glob("samples-*.jsonl.gz")):
        wording = path.name.removeprefix("samples-")[:2]
        for record in lines(path):
            if record["set"] == name:
                answers.setdefault(record["id"], {})[wording] = [record["greedy"], *record["samples"]]
    return answers


def outcome(benchmark: Benchmark, question: Question, sql: str, results: dict[str, int]) -> Outcome:
    """What became of one answer; `results` numbers those of the question."""

    def is_right(statement: str) -> bool:
        return benchmark.judge.judge(question, statement).status is Status.CORRECT

    ran, final = benchmark.judge.execute(question, sql), sql
    if ran.status is Status.TIMEOUT:  # the judge would wait for it again
        return -2, 0, 0, 0
    before = is_right(sql)
    if grounded := ground(sql, benchmark.dataset.schemas[question.db_id], "sqlite", ran):
        final, ran = grounded.sql, benchmark.judge.execute(question, grounded.sql)
    if ran.status is not Status.EXECUTED:
        return -1, 0, int(final != sql), int(before)
    number = results.setdefault(ran.result, len(results) + 1) if ran.result else 0
    return number, int(is_right(final)), int(final != sql), int(before)


def measure(spec: DataSpec, answers: Answers, *, by_place: bool = False) -> dict[str, dict[str, list[Outcome]]]:
    """The outcomes of all answers to a set; `by_place` where they number the questions that have a database."""
    outcomes = {}
    with spec.open() as benchmark:
        for place, question in enumerate(benchmark.usable_questions()):
            wordings = answers[place if by_place else question.id]
            results: dict[str, int] = {}
            known: dict[str, Outcome] = {}
            for sql in (sql for wording in wordings.values() for sql in wording):
                if sql not in known:
                    known[sql] = outcome(benchmark, question, sql, results)
            outcomes[str(question.id)] = {
                wording: [known[sql] for sql in wordings[wording]] for wording in sorted(wordings)
            }
            if len(outcomes) % 100 == 0:
                print(len(outcomes), file=sys.stderr)
    return outcomes


def measured(name: str) -> dict[str, dict[str, list[Outcome]]]:
    """One set."""
    if name in SPECS:
        return measure(SPECS[name], recorded(name), by_place=name == "dev")
    with tempfile.TemporaryDirectory() as folder:
        subset = ["merit", "data", "subset", "spider", "--data", str(DATA / "spider"), "--split", "train"]
        subprocess.run([*subset, "--databases", "14", "--out", f"{folder}/train"], check=True, stdout=sys.stderr)
        spec = DataSpec("spider", Path(folder, "train"), timeout_s=5, distinct=Distinct.DROPPED)
        return measure(spec, recorded(name))


def main() -> None:
    """Measure some sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=(*SPECS, "train"))
    print(json.dumps({name: measured(name) for name in parser.parse_args().names}, separators=(",", ":")))


if __name__ == "__main__":
    main()
