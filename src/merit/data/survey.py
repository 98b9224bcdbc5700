"""Looking a dataset over: what is there, what is missing, what is damaged."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from merit.data.dataset import Dataset


def survey(dataset: Dataset) -> dict[str, Any]:
    """Counts, gaps, damage and the content hash, as plain values."""
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


def is_sound(path: Path) -> bool:
    """Whether SQLite finds nothing wrong with a file."""
    if path.stat().st_size == 0:
        return False  # to SQLite an empty database, to everybody else a failed download
    try:
        with closing(sqlite3.connect(f"file:{quote(os.fsencode(path.absolute()))}?mode=ro", uri=True)) as db:
            db.text_factory = bytes
            return bool(db.execute("PRAGMA quick_check(1)").fetchone()[0] == b"ok")
    except sqlite3.Error:
        return False
