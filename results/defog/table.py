"""The table of results/defog from what `bench/defog_ask.py --json` wrote: python results/defog/table.py."""

import json
import random
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NAMES = {"postgresql": "PostgreSQL", "mariadb": "MariaDB", "sqlite": "SQLite"}
FILES = {"questions_gen": "questions", "instruct_basic": "basic", "instruct_advanced": "advanced"}
_DRAWS, _SEED = 10_000, 0


def interval(differences: list[int]) -> tuple[float, float]:
    """The percentile bootstrap's 95% interval of a mean of differences, in points."""
    draw, count = random.Random(_SEED), len(differences)
    means = sorted(100 * sum(draw.choices(differences, k=count)) / count for _ in range(_DRAWS))
    return means[round(0.025 * _DRAWS)], means[round(0.975 * _DRAWS) - 1]


def compared(score: dict[str, Any], base: dict[str, Any], keys: list[str]) -> str:
    """By how many points one condition is better than another on the same questions."""
    right, before = set(score["right"]), set(base["right"])
    differences = [(key in right) - (key in before) for key in keys]
    low, high = interval(differences)
    return f"{100 * sum(differences) / len(keys):+.1f} [{low:+.1f}, {high:+.1f}]"


def rows(engine: str, scores: dict[str, dict[str, Any]]) -> list[str]:
    """The lines of one engine."""
    found = []
    for start, name in FILES.items():
        file = next(key.split(" ")[1] for key in scores if key.startswith(f"bare {start}"))
        found.append(line(engine, name, scores[f"drawn {file}"], scores[f"bare {file}"]))
    ruled = joined(scores, "drawn-ruled")
    found.append(line(engine, "with instructions: as rules, and without", ruled, joined(scores, "drawn")))
    cannot = scores["drawn unanswerable"]
    return [*found, f"| {NAMES[engine]} | unanswerable | {cannot['asked']} | | | | {cannot['declined']} |"]


def line(engine: str, name: str, score: dict[str, Any], base: dict[str, Any]) -> str:
    """What came of some questions, and what came of the same ones before."""
    keys = score["keys"]
    before = len(set(base["right"]) & set(keys))
    cells = (
        NAMES[engine],
        name,
        len(keys),
        before,
        len(score["right"]),
        compared(score, base, keys),
        score["declined"],
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def joined(scores: dict[str, dict[str, Any]], condition: str) -> dict[str, Any]:
    """The scores of a condition on all files together."""
    found = [score for key, score in scores.items() if key.startswith(f"{condition} ")]
    lists = {name: [key for score in found for key in score[name]] for name in ("keys", "right")}
    return {**lists, "declined": sum(score["declined"] for score in found)}


def main() -> None:
    """Print the table."""
    record = json.loads((HERE / "scores.json").read_text())
    print("| engine | questions | asked | right before | right | difference, points | declined |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for engine, scores in record["scores"].items():
        print("\n".join(rows(engine, scores)))


if __name__ == "__main__":
    sys.exit(main())
