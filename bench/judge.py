"""How fast the judge is beside Spider's official evaluator, on the same predictions in the same run.

    python bench/judge.py --official PATH_TO/test-suite-sql-eval --distinct kept

cold     a new judge with an empty cache: every reference is run
reopened a new judge over that cache: references come from disk, databases are opened anew
warm     the same judge again, as inside a repair loop: references in memory, databases open, every prediction run again

No verdict is remembered from one pass to the next. Times are medians over the repeats, which take turns with the
official evaluator's; the smallest and largest are printed beside them.
"""

import argparse
import importlib
import json
import os
import statistics
import sys
import tempfile
import time
import types
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from merit.data import Dataset, load
from merit.oracle import Judge, open_judge
from merit.types import Distinct

Verdicts = list[bool]
Predictions = list[dict[str, Any]]


def official_evaluator(checkout: Path, distinct: Distinct) -> Callable[[Path, str, str], bool]:
    """The official function, loaded from a checkout."""
    sys.path.insert(0, str(checkout.resolve()))
    sys.modules.setdefault("tqdm", types.ModuleType("tqdm"))  # imported there, not used here
    module = importlib.import_module("exec_eval")

    def judge(database: Path, predicted: str, reference: str) -> bool:
        keep = distinct is Distinct.KEPT
        return bool(module.eval_exec_match(str(database), predicted, reference, False, keep, False))

    return judge


def run_official(
    judge: Callable[[Path, str, str], bool], dataset: Dataset, references: list[str], predictions: Predictions
) -> Verdicts:
    """One pass of the official evaluator over the suite."""
    originals = {db_id: files[0] for db_id, files in dataset.suites.items()}
    return [judge(originals[entry["db_id"]], entry["sql"], references[entry["id"]]) for entry in predictions]


class Opened:
    """Our judge over one cache folder."""

    def __init__(self, dataset: Dataset, distinct: Distinct, cache: Path) -> None:
        self._dataset = dataset
        self._distinct = distinct
        self._cache = cache
        self._judge: Judge | None = None

    def run_anew(self, predictions: Predictions) -> Verdicts:
        """One pass of a judge opened for it."""
        self.close()
        self._judge = open_judge(self._dataset, "suite", self._distinct, cache=self._cache)
        return self.run_again(predictions)

    def run_again(self, predictions: Predictions) -> Verdicts:
        """One pass of the judge that is open, remembering no verdict from an earlier one."""
        assert self._judge is not None
        self._judge._verdicts.clear()
        judge, questions = self._judge.judge, self._dataset.questions
        return [judge(questions[entry["id"]], entry["sql"]).correct for entry in predictions]

    def close(self) -> None:
        """Close the judge, if one is open."""
        if self._judge is not None:
            self._judge.close()
        self._judge = None


class Stopwatch:
    """Times of every pass by name, and the verdicts each gave."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {"official": [], "cold": [], "reopened": [], "warm": []}
        self.verdicts: list[Verdicts] = []

    def time(self, name: str, work: Callable[..., Verdicts], *arguments: Any) -> None:
        """Run one pass."""
        started = time.perf_counter()
        verdicts = work(*arguments)
        self.times[name].append(time.perf_counter() - started)
        self.verdicts.append(verdicts)


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """All passes over one prediction set."""
    dataset = load("spider", arguments.data / "spider")
    references = [entry["query"] for entry in json.loads(dataset.questions_file.read_text(encoding="utf-8"))]
    file = arguments.data / "predictions" / "spider" / f"{arguments.set}.jsonl"
    predictions = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    distinct = Distinct(arguments.distinct)
    official = official_evaluator(arguments.official, distinct) if arguments.official else None
    watch = Stopwatch()
    for _ in range(arguments.repeat):
        if official is not None:
            watch.time("official", run_official, official, dataset, references, predictions)
        with tempfile.TemporaryDirectory() as cache, closing(Opened(dataset, distinct, Path(cache))) as opened:
            watch.time("cold", opened.run_anew, predictions)
            watch.time("reopened", opened.run_anew, predictions)
            watch.time("warm", opened.run_again, predictions)
    column = "official_suite_distinct" if distinct is Distinct.KEPT else "official_suite"
    known = [entry[column] for entry in predictions]  # the official verdicts that come with the predictions
    agree = all(verdicts == known for verdicts in watch.verdicts)
    return {"predictions": len(predictions), "times": watch.times, "agree": agree}


def report(measured: dict[str, Any], name: str, distinct: str) -> dict[str, Any]:
    """Medians, spreads and ratios."""
    times = {key: values for key, values in measured["times"].items() if values}
    medians = {key: statistics.median(values) for key, values in times.items()}
    summary: dict[str, Any] = {"set": name, "distinct": distinct, "predictions": measured["predictions"]}
    summary["agree"] = measured["agree"]
    for key in ("cold", "reopened", "warm"):
        summary[f"{key}_ratio"] = round(medians["official"] / medians[key], 1) if "official" in medians else None
    summary["seconds"] = {key: round(value, 3) for key, value in medians.items()}
    summary["spread"] = {key: [round(min(values), 3), round(max(values), 3)] for key, values in times.items()}
    return summary


def main() -> None:
    """Parse, measure, print."""
    here = Path(__file__).resolve().parent
    default = Path(os.environ.get("MERIT_DATA", here.parents[1] / "shared" / "data"))
    parser = argparse.ArgumentParser(description=str(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--official", type=Path, help="a checkout of taoyds/test-suite-sql-eval at e97acc5")
    parser.add_argument("--data", type=Path, default=default, help="the folder with spider/ and predictions/")
    parser.add_argument("--set", default="dail_gpt4", help="the prediction set (default: dail_gpt4)")
    parser.add_argument("--distinct", choices=list(Distinct), default="dropped", help="what becomes of DISTINCT")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    arguments = parser.parse_args()
    if not (arguments.data / "spider").is_dir():
        sys.exit(f"{arguments.data}: no spider/ here; set MERIT_DATA or --data")
    if arguments.official is None:
        print("official evaluator skipped: give its checkout with --official to get ratios")
    elif not (arguments.official / "exec_eval.py").is_file():
        sys.exit(f"{arguments.official}: no exec_eval.py here; give a checkout of test-suite-sql-eval")
    summary = report(measure(arguments), arguments.set, arguments.distinct)
    print(
        f"{summary['set']}: {summary['predictions']} predictions on the test suite, DISTINCT {summary['distinct']}, "
        f"{arguments.repeat} repeats"
    )
    for key, seconds in summary["seconds"].items():
        low, high = summary["spread"][key]
        ratio = summary.get(f"{key}_ratio")
        print(f"  {key:<9} {seconds:7.3f} s  ({low:.3f} to {high:.3f})" + (f"  {ratio:6.1f}x" if ratio else ""))
    print(f"  every verdict is the official one: {summary['agree']}")
    if arguments.json:
        print(json.dumps(summary))


if __name__ == "__main__":
    main()
