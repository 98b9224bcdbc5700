"""How long a report takes: the paper's 12 online methods x 3 seeds over 1,000 questions, about 100,000 attempts.

The runs are written by merit's own writers with random outcomes, then `merit report` is run on them as a person would.

    python bench/report.py [--questions 1000] [--seeds 3] [--keep FOLDER] [--json]
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from making.outcomes import NO_COLUMN, RIGHT, SYNTAX, WRONG, Course, Tried, write_run
from merit.types import Question

METHODS = [
    "zero_shot", "iterative", "reflexion", "dynamic_rag", "merit", "merit_type_reliability", "positive_only",
    "no_type_filter", "no_dense", "no_bm25", "random_same_type", "cross_database_only",
]  # fmt: skip
SQL = "SELECT T1.name, count(*) FROM singer AS T1 JOIN concert AS T2 ON T1.id = T2.id WHERE T2.year > {} GROUP BY T1.id"


def course(first: Tried, draw: random.Random) -> Course:
    """A question's attempts: right with some luck at each repair."""
    tried = [first]
    while tried[-1].verdict is not RIGHT and len(tried) <= 7:
        verdict = RIGHT if draw.random() < 0.06 else draw.choice([WRONG, WRONG, NO_COLUMN, SYNTAX])
        tried.append(Tried(SQL.format(draw.randrange(9)), verdict, 900, 40))
    return tried


def make(folder: Path, size: int, seeds: int) -> int:
    """Write the runs; returns how many attempts are in them."""
    draw = random.Random(0)
    questions = [Question(i, f"db_{i % 20}", f"How many of {i} are there?") for i in range(size)]
    firsts = {
        one.id: Tried(SQL.format(one.id), RIGHT if draw.random() < 0.55 else draw.choice([WRONG, NO_COLUMN]))
        for one in questions
    }
    attempts = 0
    for method in METHODS:
        for seed in range(seeds):
            courses = {one.id: course(firsts[one.id], draw) for one in questions}
            view = write_run(folder / method / f"seed{seed}", questions, method, courses, seed=seed)
            attempts += sum(len(turn.episode.attempts) for turn in view.turns)
    return attempts


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="Leave runs and report here.")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        attempts = make(folder / "runs", options.questions, options.seeds)
        command = [sys.executable, "-m", "merit", "report", str(folder / "runs"), "--out", str(folder / "report")]
        started = time.monotonic()
        subprocess.run(command, check=True)
        took = time.monotonic() - started
    runs = len(METHODS) * options.seeds
    found: dict[str, Any] = {
        "runs": runs,
        "questions": options.questions,
        "attempts": attempts,
        "seconds": round(took, 1),
    }
    print(json.dumps(found) if options.json else "\n".join(f"{name:<12}{value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
