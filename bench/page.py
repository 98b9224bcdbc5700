"""How fast the page opens: 12 methods x 3 seeds over 1,000 questions, about 100,000 attempts, in headless Chromium.

Runs are written by merit's own writers: every prompt, entry and recalled entry is real; verdicts, changes and scores
are drawn. The browser is found as the tests find it (chromium, google-chrome, or MERIT_BROWSER).

    python bench/page.py [--questions 1000] [--seeds 3] [--keep FOLDER] [--json]
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from making.browser import browser, find_browser
from making.episodes import write_episodes
from merit.types import Question

METHODS = [
    "zero_shot", "iterative", "vanilla", "reflexion", "dynamic_rag", "merit", "merit_type_reliability", "positive_only",
    "no_type_filter", "no_dense", "random_same_type", "cross_database_only",
]  # fmt: skip
WORDS = ["name", "age", "country", "city", "team", "year", "price", "title", "author", "genre", "rating", "budget"]
WRITE = """
import sys, time
from pathlib import Path
from merit.report import build, open_runs
from merit.report.page import write_page
runs, refused = open_runs([Path(sys.argv[1])])
report = build(runs, refused=refused)
started = time.monotonic()
write_page(report, runs, Path(sys.argv[2]))
print(time.monotonic() - started)
"""


def make(folder: Path, size: int, seeds: int) -> int:
    """Write the runs; returns how many attempts are in them."""
    draw = random.Random(0)
    questions = [
        Question(
            i, f"db_{i % 20}", f"What are the {' and '.join(draw.sample(WORDS, 3))} of every {draw.choice(WORDS)}?"
        )
        for i in range(size)
    ]
    attempts = 0
    for method in METHODS:
        for seed in range(seeds):
            view = write_episodes(folder / f"{method}-{seed}", questions, method, seed=seed)
            attempts += sum(len(turn.episode.attempts) for turn in view.turns)
    return attempts


def opened(page: Path) -> dict[str, Any]:
    """Open the page as a person would, and see how long it takes until something can be read and clicked."""
    with browser() as driver:
        driver.get("about:blank")
        started = time.monotonic()
        driver.get(page.as_uri())
        driver.execute_async_script("const done = arguments[0]; merit.ready.then(() => done())")
        overview = time.monotonic() - started
        started = time.monotonic()
        driver.execute_async_script(
            "const done = arguments[0];"
            "document.addEventListener('shown', () => done(), { once: true }); location.hash = '#/episodes'"
        )
        listed = time.monotonic() - started
        started = time.monotonic()
        driver.execute_async_script(
            "const done = arguments[0]; document.addEventListener('shown', () => done(), { once: true });"
            "document.querySelectorAll('a.row')[49].click()"
        )
        episode = time.monotonic() - started
        return {
            "opens_s": round(overview, 2),
            "list_s": round(listed, 2),
            "episode_s": round(episode, 2),
        }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="Leave runs and page here.")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if find_browser() is None:
        sys.exit("no browser: install chromium and chromium-driver, or set MERIT_BROWSER")
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        attempts = make(folder / "runs", options.questions, options.seeds)
        page = folder / "report.html"
        said = subprocess.run(
            [sys.executable, "-c", WRITE, str(folder / "runs"), str(page)], check=True, capture_output=True, text=True
        )
        found: dict[str, Any] = {
            "runs": len(METHODS) * options.seeds,
            "questions": options.questions,
            "attempts": attempts,
            "write_s": round(float(said.stdout), 1),
            "write_mb": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3),
            "page_mb": round(page.stat().st_size / 1e6, 1),
            **opened(page),
        }
    print(json.dumps(found) if options.json else "\n".join(f"{name:<12}{value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
