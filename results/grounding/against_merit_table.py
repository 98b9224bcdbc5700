"""The table of `grounded` against `merit`: python results/grounding/against_merit_table.py."""

import json
from pathlib import Path
from typing import Any

from merit.report.statistics import bootstrap

HERE = Path(__file__).parent
NAMES = {"spider": "Spider dev-972", "bird": "BIRD-303", "bundled": "the bundled 360"}


def rate(record: dict[str, Any], condition: str) -> list[float]:
    """How often each question is answered rightly: `merit` over its seeds."""
    runs = [set(right) for name, right in record["right"].items() if name.startswith(condition)]
    return [100 * sum(question in right for right in runs) / len(runs) for question in record["questions"]]


def difference(after: list[float], before: list[float]) -> str:
    """The mean difference, with its interval over questions."""
    points = [a - b for a, b in zip(after, before, strict=True)]
    low, high = bootstrap(points) or (0.0, 0.0)
    return f"{sum(points) / len(points):+.2f} [{low:+.2f}, {high:+.2f}]"


def repair_tokens(benchmark: str) -> float:
    """What a question took on repairs in the published runs of `merit`."""
    runs = [json.loads(line) for line in (HERE.parent / "runs.jsonl").read_text().splitlines()]
    metrics = [run["metrics"] for run in runs if run["run"].startswith(f"{benchmark}/merit/")]
    return sum(m["tokens"]["repair"] for m in metrics) / sum(m["questions"] for m in metrics)


def main() -> None:
    """Print the table."""
    print("| | first answers | grounded | merit | grounded - merit | repair tokens a question: grounded, merit |")
    print("| --- |" + " ---: |" * 5)
    for name, record in json.loads((HERE / "against_merit.json").read_text()).items():
        first, grounded, merit = (rate(record, condition) for condition in ("first answer", "grounded", "merit"))
        means = [f"{sum(rates) / len(rates):.2f}" for rates in (first, grounded, merit)]
        print(
            f"| {NAMES[name]} | {' | '.join(means)} | {difference(grounded, merit)} | 0, {repair_tokens(name):,.0f} |"
        )


if __name__ == "__main__":
    main()
