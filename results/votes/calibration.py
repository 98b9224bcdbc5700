"""Whether the share of votes is a good confidence: the tables, from scores.json.gz.

    python results/votes/calibration.py > results/votes/tables/calibration.md

For the mixture of eight answers that was chosen on Spider train, with grounded votes, draws in their recorded order.
"""

from collections import Counter

import numpy as np
from counting import NAMES, candidates, is_right, scores, share
from table import chosen, head, mixtures, row

from merit.report.calibration_quality import Stated, brier, calibration_error, confidence_bins, kept_accuracy
from merit.report.statistics import CONFIDENCE, RESAMPLES, SEED, bootstrap

BENCHMARKS = ("dev", "bird", "bundled")
LEFT_OUT = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


def stated(name: str) -> Stated:
    """The share of votes of each question's answer, and whether it was right."""
    mixture = mixtures()[chosen()]
    answers = [candidates(question, wordings, mixture, 0) for question, wordings in scores()[name].items()]
    return [(share(answer), bool(is_right(answer, grounds=True))) for answer in answers]


def kept(pairs: Stated, left_out: float) -> str:
    """Accuracy of the answers that stay, in percent, with its interval over questions."""
    cells = Counter(pairs)
    shares = sorted({sure for sure, _ in pairs}, reverse=True)
    chances = [cells[sure, hit] / len(pairs) for hit in (True, False) for sure in shares]
    # To draw questions anew is to draw how many there are with each share, right and wrong.
    drawn = np.random.default_rng(SEED).multinomial(len(pairs), chances, RESAMPLES)
    hits, alike = drawn[:, : len(shares)], drawn[:, : len(shares)] + drawn[:, len(shares) :]
    wanted = (1 - left_out) * len(pairs)
    taken = np.clip(wanted - (alike.cumsum(axis=1) - alike), 0, alike)  # as `kept_accuracy`: each counts in part
    accuracies = (taken * hits / np.maximum(alike, 1)).sum(axis=1) / wanted
    low, high = np.quantile(accuracies, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return f"{100 * kept_accuracy(pairs, 1 - left_out):.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def quality() -> None:
    """Brier score and calibration error."""
    head("", "right", "mean share", "Brier score", "always the mean", "ECE")
    for name in BENCHMARKS:
        pairs = stated(name)
        squared = [(sure - hit) ** 2 for sure, hit in pairs]
        low, high = bootstrap(squared) or (0.0, 0.0)
        accuracy, sure = np.mean([hit for _, hit in pairs]), np.mean([sure for sure, _ in pairs])
        row(
            NAMES[name],
            f"{100 * accuracy:.2f}",
            f"{100 * sure:.2f}",
            f"{brier(pairs):.4f} [{low:.4f}, {high:.4f}]",
            f"{accuracy * (1 - accuracy):.4f}",
            f"{100 * calibration_error(pairs):.2f}",
        )


def left_out() -> None:
    """Accuracy where the least sure answers are left out."""
    head("left out", *(NAMES[name] for name in BENCHMARKS))
    for part in LEFT_OUT:
        row(f"{part:.0%}", *(kept(stated(name), part) for name in BENCHMARKS))


def reliability() -> None:
    """How often answers with such a share are right."""
    head("share of votes", *(f"{NAMES[name]}: {what}" for name in BENCHMARKS for what in ("answers", "right")))
    bins = {name: {part.low: part for part in confidence_bins(stated(name))} for name in BENCHMARKS}
    for low in sorted({low for parts in bins.values() for low in parts}):
        cells = []
        for name in BENCHMARKS:
            part = bins[name].get(low)
            cells += [part.answers, f"{100 * part.accuracy:.1f}"] if part else [0, ""]
        row(f"{low:.1f} to {low + 0.1:.1f}", *cells)


def main() -> None:
    """Print all tables."""
    for table in (quality, left_out, reliability):
        table()
        print()


if __name__ == "__main__":
    main()
