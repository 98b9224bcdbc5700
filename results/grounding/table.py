"""The table of results/grounding from what measure.py printed: python results/grounding/table.py."""

import json
from pathlib import Path
from typing import Any

from merit.report.statistics import bootstrap

HERE = Path(__file__).parent
NAMES = {"spider": "Spider dev-972", "bird": "BIRD-303", "bundled": "the bundled 360"}


def points(record: dict[str, Any], condition: str, base: str) -> str:
    """By how many points of all questions one condition is better than another, with its interval."""
    right, before = set(record["right"][condition]), set(record["right"][base])
    differences = [100.0 * ((key in right) - (key in before)) for key in record["questions"]]
    interval = bootstrap(differences)
    if interval is None or not any(differences):
        return "0"
    return f"{sum(differences) / len(differences):+.2f} [{interval[0]:+.2f}, {interval[1]:+.2f}]"


def main() -> None:
    """Print the table."""
    scores = json.loads((HERE / "scores.json").read_text())
    rules = [name.removeprefix("only ") for name in scores["spider"]["right"] if name.startswith("only ")]
    print("| | " + " | ".join(f"{NAMES[name]}: alone | all others instead of all" for name in scores) + " |")
    print("| --- |" + " ---: |" * 2 * len(scores))
    for rule in rules:
        cells = (
            cell
            for record in scores.values()
            for cell in (points(record, f"only {rule}", "first answer"), points(record, f"without {rule}", "all"))
        )
        print(f"| `{rule}` | " + " | ".join(cells) + " |")
    cells = (cell for record in scores.values() for cell in (points(record, "all", "first answer"), ""))
    print("| all rules | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
