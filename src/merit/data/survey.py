"""A survey of a dataset: what is there, what is missing, what is damaged."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from merit.data.dataset import Dataset


def survey(dataset: Dataset, is_sound: Callable[[Path], bool]) -> dict[str, Any]:
    """Counts, gaps, damage and the content hash, as plain values; `is_sound` checks a database file."""
    originals = [path for paths in dataset.databases.values() for path in paths]
    suite = [path for paths in dataset.suites.values() for path in paths]
    absent = dict(dataset.absent())
    return {
        "dataset": dataset.layout.name,
        "split": dataset.split,
        "questions": len(dataset.questions),
        "usable_questions": len(dataset.questions) - sum(absent.values()),
        "with_evidence": sum(bool(question.evidence) for question in dataset.questions),
        "databases": len(dataset.databases),
        "absent_databases": absent,
        "suite_databases": len(dataset.suites),
        "suite_files": len(suite),
        "without_suite": sorted(set(dataset.databases) - set(dataset.suites)) if suite else [],
        "damaged": [str(path) for path in dict.fromkeys(originals + suite) if not is_sound(path)],
        "content_hash": dataset.content_hash(),
    }
