"""What each rule of grounding is worth on first answers, without a model.

    python results/grounding/measure.py spider INITIAL.jsonl --data FOLDER > spider.json
    python results/grounding/measure.py bundled INITIAL.jsonl > bundled.json

INITIAL.jsonl is a file of first answers, as `merit predict` writes it. Every answer that its database refuses is
grounded with all rules, with none but one, and with all but one; DISTINCT counts. Prints the ids of the questions that
are then right, by condition, and how many queries each condition changed.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import merit
from merit.grounding import ground
from merit.grounding.ground import ALL_RULES
from merit.types import Distinct, Status
from merit.types.grounding import GroundingRule

# The rule `value` is for queries that ran: `ground` does not know it.
RULES = tuple(rule for rule in GroundingRule if rule is not GroundingRule.VALUE)


def conditions() -> dict[str, frozenset[GroundingRule]]:
    """Which rules are in force, by the condition's name."""
    alone = {f"only {rule}": frozenset({rule}) for rule in RULES}
    left_out = {f"without {rule}": ALL_RULES - {rule} for rule in RULES}
    return {"first answer": frozenset(), "all": ALL_RULES, **alone, **left_out}


def measure(name: str, data: Path | None, initial: Path) -> dict[str, Any]:
    """The questions that each condition answers rightly."""
    lines = [json.loads(line) for line in initial.read_text().splitlines()]
    given: Mapping[Any, str] = {line["id"]: line["sql"] for line in lines}
    kept = None if name == "bird" else Distinct.KEPT
    right: dict[str, list[Any]] = {condition: [] for condition in conditions()}
    changed = dict.fromkeys(right, 0)
    asked, refused = [], 0
    with merit.open_benchmark(name, data, distinct=kept) as benchmark:
        for question in benchmark.usable_questions():
            asked.append(question.id)
            schema, sql = benchmark.dataset.schemas[question.db_id], given[question.id]
            first = benchmark.judge.judge(question, sql)
            refused += first.status is Status.EXECUTION_ERROR
            verdicts = {sql: first.status is Status.CORRECT}
            for condition, rules in conditions().items():
                grounded = ground(sql, schema, "sqlite", first, rules) if rules else None
                final = grounded.sql if grounded else sql
                changed[condition] += final != sql
                if final not in verdicts:
                    verdicts[final] = benchmark.judge.judge(question, final).status is Status.CORRECT
                if verdicts[final]:
                    right[condition].append(question.id)
    return {"questions": asked, "refused": refused, "changed": changed, "right": right}


def main() -> None:
    """Measure one benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=("spider", "bird", "bundled"))
    parser.add_argument("initial", type=Path)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    print(json.dumps(measure(given.name, given.data, given.initial)))


if __name__ == "__main__":
    main()
