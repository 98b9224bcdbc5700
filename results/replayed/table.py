"""What recorded answers say of runs that they do not suffice for, from missing.jsonl.gz.

python results/replayed/table.py > results/replayed/tables/bounds.md
"""

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from merit.report.statistics import bootstrap

TITLES = {
    "spider": "Spider dev-972",
    "spider-dropped": "Spider dev-972, `DISTINCT` dropped",
    "bundled": "the bundled 360",
    "spider-no-oracle": "Spider dev-972, no oracle",
    "bundled-no-oracle": "the bundled 360, no oracle",
    "spider-live": "Spider dev-972, no oracle, live prompts",
    "bird-live": "BIRD-303, no oracle, live prompts",
    "bundled-live": "the bundled 360, no oracle, live prompts",
    "spider-live-dropped": "Spider dev-972, no oracle, live prompts, `DISTINCT` dropped",
}
Run = dict[str, Any]
Bounds = dict[Any, tuple[float, float]]  # of each question: at least and at most how often it is right, over seeds


def bounds(runs: list[Run]) -> Bounds:
    """What is known of each question."""
    counted: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for run in runs:
        for end, known in {"right": (1, 1), "wrong": (0, 0), "missing": (0, 1)}.items():
            for question in run[end]:
                counted[question].append(known)
    return {
        question: (sum(low for low, _ in seen) / len(seen), sum(high for _, high in seen) / len(seen))
        for question, seen in counted.items()
    }


def within(known: Bounds) -> str:
    """Between which percentages the accuracy lies."""
    low, high = (100 * sum(ends) / len(known) for ends in zip(*known.values(), strict=True))
    return f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}"


def at_least(after: Bounds, before: Bounds) -> str:
    """By how many points one is better even if each missing answer speaks against it, with its interval."""
    points = [100 * (after[question][0] - before[question][1]) for question in after]
    low, high = bootstrap(points) or (0.0, 0.0)
    return f"{sum(points) / len(points):+.2f} [{low:+.2f}, {high:+.2f}]"


def main() -> None:
    """Print the table."""
    runs: dict[tuple[str, str], list[Run]] = defaultdict(list)
    with gzip.open(Path(__file__).parent / "missing.jsonl.gz", "rt") as file:
        for line in file:
            run = json.loads(line)
            runs[run["set"], run["method"]].append(run)
    print("| | seeds | first | grounded | resample | missing | resample, grounded | missing | difference at least |")
    print("| --- |" + " ---: |" * 8)
    for name, title in TITLES.items():
        known = {method: bounds(found) for (of, method), found in runs.items() if of == name}
        plain, grounded = (runs[name, method] for method in ("resample", "resample_grounded"))
        cells = [title, str(len(plain)), within(known["zero_shot"]), within(known["grounded"])]
        for method, found in (("resample", plain), ("resample_grounded", grounded)):
            cells += [within(known[method]), ", ".join(str(len(run["missing"])) for run in found)]
        cells.append(at_least(known["resample_grounded"], known["resample"]))
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
