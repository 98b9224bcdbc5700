"""A part of a benchmark as a benchmark of its own: whole databases, or one question for each distinct reference."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

from merit.data import Dataset, with_journals
from merit.errors import InputError
from merit.reading import DOCUMENT_BYTES, MIB, WHOLE_BYTES, open_file, read_records
from merit.sql import canonical


def write_subset(
    dataset: Dataset, out: Path, *, databases: int | None, distinct: bool, seed: int, limit: int | None = None
) -> int:
    """Write the part into `out` as its dev split, questions under their old ids; returns how many there are."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: is not empty; choose a new folder for --out")
    fields: dict[str, type] = {"db_id": str, "question": str, dataset.layout.reference_field: str}
    records = read_records(dataset.questions_file, fields)
    numbered = [
        {"question_id": question.id, **record} for question, record in zip(dataset.questions, records, strict=True)
    ]
    chosen = [record for record in numbered if record["db_id"] in dataset.databases]
    if not chosen:
        raise InputError(f"{dataset.root}: no question has its database; fetch the databases")
    if databases is not None:
        drawn = _draw(sorted({record["db_id"] for record in chosen}), databases, seed)
        chosen = [record for record in chosen if record["db_id"] in drawn]
    if distinct:
        chosen = _first_of_each(chosen, dataset.layout.reference_field)
    if limit is not None and limit < len(chosen):
        numbers = set(random.Random(seed).sample(range(len(chosen)), limit))  # noqa: S311
        chosen = [record for number, record in enumerate(chosen) if number in numbers]
    _write(dataset, chosen, out)
    return len(chosen)


def _draw(names: list[str], count: int, seed: int) -> set[str]:
    if count > len(names):
        there = f"is only {names[0]}" if len(names) == 1 else f"are only {len(names)}"
        raise InputError(f"--databases {count}: there {there} with questions")
    return set(random.Random(seed).sample(names, count))  # noqa: S311


def _first_of_each(records: list[dict[str, Any]], field: str) -> list[dict[str, Any]]:
    """The first question of each database and reference; references that differ in layout only are one."""
    first: dict[tuple[str, str], dict[str, Any]] = {}
    for record in records:
        first.setdefault((record["db_id"], canonical(record[field])), record)
    return list(first.values())


def _write(dataset: Dataset, chosen: list[dict[str, Any]], out: Path) -> None:
    layout, names = dataset.layout, {record["db_id"] for record in chosen}
    tables = [table for table in read_records(dataset.tables_file, {"db_id": str}) if table["db_id"] in names]
    texts = {layout.tables["dev"]: _json(tables), layout.questions["dev"][0]: _json(chosen)}
    for name, text in texts.items():
        if len(text.encode()) > DOCUMENT_BYTES:
            raise InputError(f"{out / name}: would have more than the {DOCUMENT_BYTES // MIB} MiB that merit reads")
    folders = {layout.databases["dev"]: dataset.databases, (layout.suites or ("",))[0]: dataset.suites}
    try:
        for folder, databases in folders.items():
            for db_id in sorted(names & set(databases)):
                (out / folder / db_id).mkdir(parents=True, exist_ok=True)
                for named, path in with_journals(databases[db_id]):
                    with open_file(path, WHOLE_BYTES) as file, (out / folder / db_id / named.name).open("xb") as copy:
                        shutil.copyfileobj(file, copy)
        for name, text in texts.items():
            (out / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{error.filename or out}: cannot be written ({error.strerror}); choose another --out"
        ) from error


def _json(records: list[dict[str, Any]]) -> str:
    return json.dumps(records, ensure_ascii=False, indent=1) + "\n"
