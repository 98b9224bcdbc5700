"""A small experiment with known outcomes: what happened is a table of letters, everything else follows."""

import random
from pathlib import Path

from making.outcomes import LATE, NO_COLUMN, RIGHT, SYNTAX, WRONG, Course, Tried, write_run
from merit.agent import METHODS
from merit.runs import RunView
from merit.types import Question, QuestionId

VERDICTS = {"R": RIGHT, "W": WRONG, "C": NO_COLUMN, "S": SYNTAX, "T": LATE}
RUN_METHODS = ("zero_shot", "iterative", "reflexion", "merit", "no_bm25", "positive_only", "transductive_batch")
SEEDS = (0, 1, 2)
LEVELS = ("simple", "moderate", "challenging")
Letters = dict[tuple[str, int], dict[QuestionId, str]]  # method and seed -> question -> its verdicts


def questions(size: int, *, difficulty: bool = True) -> list[Question]:
    level = LEVELS if difficulty else ("",) * 3
    return [Question(i, ("shop", "school", "bank")[i % 3], f"question {i}?", None, level[i % 2]) for i in range(size)]


def letters(size: int, seed: int, methods: tuple[str, ...] = RUN_METHODS) -> Letters:
    """Random verdicts: first answers shared, repairs up to 7, right at last or not."""
    draw = random.Random(seed)
    first = {i: draw.choice("RRRWWCST") for i in range(size)}
    found: Letters = {}
    for method in methods:
        for one in SEEDS:
            found[method, one] = {}
            for i, letter in first.items():
                word = letter
                while METHODS[method].repairs and word[-1] != "R" and len(word) <= 7:
                    word += draw.choice("RWWC")
                found[method, one][i] = word
    return found


def course(method: str, seed: int, question: QuestionId, word: str) -> Course:
    """Attempts with these verdicts; tokens differ by method, seed and step, and some SQL comes twice."""
    place = list(METHODS).index(method)
    tried = [Tried(f"SELECT {question}", VERDICTS[word[0]])]
    for step, letter in enumerate(word[1:], 1):
        sql = f"SELECT {question}, {step % 3}" if place % 2 else f"SELECT {question}, {step}"
        tried.append(Tried(sql, VERDICTS[letter], 200 + 10 * place + seed + step, 20 + step))
    return tried


def write_all(folder: Path, known: Letters, asked: list[Question]) -> list[RunView]:
    return [
        write_run(
            folder / method / f"seed{seed}",
            asked,
            method,
            {one: course(method, seed, one, word) for one, word in words.items()},
            seed=seed,
        )
        for (method, seed), words in known.items()
    ]
