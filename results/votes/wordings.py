"""Whether draws of Spider train speak for other wordings than those of merit-live-v1 (D, then E and F in turn).

    MERIT_DATA=FOLDER python results/votes/wordings.py > results/votes/tables/wordings.md

Every wording as the first and every one, two or three wordings in turn after it, eight answers, grounded votes. What is
best on the questions that chose it is too good to be true, so each database is also answered by the mixture that is
best on the thirteen others.
"""

import json
import os
from itertools import combinations
from pathlib import Path

import numpy as np
from counting import Mixture, Right, difference, in_turn, percent, right, scores

WORDINGS = "ABCDEFP"
SHIPPED = "D, then E, F"
ALONE = ("D, then D", "E, then E", "F, then F")
ORDERS = range(1, 5)
SHOWN = 5


def mixtures() -> dict[str, Mixture]:
    """All of them by name."""
    sets = [others for size in (1, 2, 3) for others in combinations(WORDINGS, size)]
    return {f"{first}, then {', '.join(others)}": in_turn(first, others) for first in WORDINGS for others in sets}


def left_out(rights: dict[str, Right], databases: list[str]) -> Right:
    """How often each question is answered rightly by the mixture that is best on the other databases."""
    found = np.zeros(len(databases))
    for database in sorted(set(databases)):
        here = np.array([other == database for other in databases])
        best = max(rights, key=lambda name: rights[name][~here].mean())
        found[here] = rights[best][here]
    return found


def main() -> None:
    """Print the table."""
    questions = json.loads(Path(os.environ["MERIT_DATA"], "spider", "train.json").read_text())
    databases = [questions[int(question)]["db_id"] for question in scores()["train"]]
    rights = {name: right("train", mixture, grounds=True, orders=ORDERS) for name, mixture in mixtures().items()}
    shipped = rights[SHIPPED]
    best = [name for name in sorted(rights, key=lambda name: -rights[name].mean()) if name != SHIPPED][:SHOWN]
    print("| eight answers | right | minus merit-live-v1 |")
    print("| --- | ---: | ---: |")
    print(f"| merit-live-v1: {SHIPPED} | {percent(shipped)} | |")
    for name in best:
        print(f"| {name} | {percent(rights[name])} | {difference(rights[name], shipped)} |")
    for name in ALONE:
        print(f"| {name} | {percent(rights[name])} | {difference(rights[name], shipped)} |")
    honest = left_out(rights, databases)
    print(f"| the best on the other databases | {percent(honest)} | {difference(honest, shipped)} |")


if __name__ == "__main__":
    main()
