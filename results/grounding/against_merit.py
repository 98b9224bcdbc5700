"""`grounded` against runs of `merit` that began from the same first answers, without a model.

    python results/grounding/against_merit.py spider INITIAL.jsonl RUN ... --data FOLDER > spider.json

INITIAL.jsonl is the file of first answers of the runs; a RUN is a run's folder. DISTINCT is dropped, as it was when the
runs of 2026-11-15 were made. What is printed for each benchmark goes into against_merit.json under its name;
`python results/grounding/against_merit_table.py` makes the table.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import merit
from merit.grounding import ground
from merit.types import Distinct, Status


def statements(path: Path) -> dict[Any, str]:
    """The SQL of each question in a file of first answers or predictions."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {line["id"]: line["sql"] for line in lines if "sql" in line}


def measure(name: str, data: Path | None, initial: Path, runs: list[Path]) -> dict[str, Any]:
    """The questions that each answers rightly."""
    first = statements(initial)
    finals = {f"merit {number}": statements(run / "predictions.jsonl") for number, run in enumerate(runs)}
    right: dict[str, list[Any]] = {condition: [] for condition in ("first answer", "grounded", *finals)}
    asked, refused, changed = [], 0, 0
    dropped = None if name == "bird" else Distinct.DROPPED
    with merit.open_benchmark(name, data, distinct=dropped) as benchmark:
        for question in benchmark.usable_questions():
            asked.append(question.id)
            sql = first[question.id]
            verdict = benchmark.judge.judge(question, sql)
            grounded = ground(sql, benchmark.dataset.schemas[question.db_id], "sqlite", verdict)
            refused += verdict.status is Status.EXECUTION_ERROR
            changed += grounded is not None
            answers = {"first answer": sql, "grounded": grounded.sql if grounded else sql}
            answers |= {run: predicted[question.id] for run, predicted in finals.items()}
            for condition, answer in answers.items():
                if benchmark.judge.judge(question, answer).status is Status.CORRECT:
                    right[condition].append(question.id)
    return {"questions": asked, "refused": refused, "changed": changed, "right": right}


def main() -> None:
    """Measure one benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=("spider", "bird", "bundled"))
    parser.add_argument("initial", type=Path)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    print(json.dumps(measure(given.name, given.data, given.initial, given.runs)))


if __name__ == "__main__":
    main()
