"""A very small benchmark in Spider's layout, written for merit: the training split of the one that comes with it."""

import sqlite3
from contextlib import closing
from importlib.resources import files
from pathlib import Path


def build(folder: Path) -> None:
    """Write questions, schemas, database, a test suite of two, and sample predictions into `folder`."""
    source = files(__name__)
    for name in ("dev.json", "tables.json", "predictions.jsonl"):
        (folder / name).write_bytes((source / name).read_bytes())
    schema = (source / "schema.sql").read_text(encoding="utf-8")
    for name, rows in (
        ("database/library/library.sqlite", "library.sql"),
        ("test_suite/library/library.sqlite", "library.sql"),
        ("test_suite/library/library_other.sqlite", "library_other.sql"),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as db:
            db.executescript(schema + (source / rows).read_text(encoding="utf-8"))
