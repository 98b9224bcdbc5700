"""A report as files: one folder, each file whole or not there at all."""

import json
import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

from merit.errors import InputError, MeritError
from merit.files import atomic_write
from merit.reading import parse_json, read_text
from merit.report.latex import latex, latex_report
from merit.report.markdown import markdown, markdown_report
from merit.report.plot import draw
from merit.report.report import Report
from merit.report.table import ReportTable
from merit.spreadsheet import csv_text

TABLES, FIGURES, REPORT = "tables", "figures", "report.json"
_ID = re.compile(r"[A-Za-z0-9_-]+")  # of a table or figure, whose files are called so
_TABLE_KINDS, _FIGURE_KINDS = ("md", "tex", "csv", "json"), ("svg", "png")


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write all files of a report; returns their paths, the one to read first in front."""
    check_folder(folder)
    record = {
        "format": 1,
        "refused": report.refused,
        "notes": report.notes,
        "groups": [{"label": group.label, "about": group.about} for group in report.groups],
        "tables": [table_record(table) for table in report.tables],
        "figures": [asdict(figure) for figure in report.figures],
    }
    files: dict[str, str | bytes] = {
        "report.md": markdown_report(report, FIGURES),
        "report.tex": latex_report(report, TABLES, FIGURES),
    }
    for table in report.tables:
        stem = f"{TABLES}/{table.id}"
        files[f"{stem}.md"] = markdown(table)
        files[f"{stem}.tex"] = latex(table)
        files[f"{stem}.csv"] = table_csv(table)
        files[f"{stem}.json"] = _json({"format": 1, **table_record(table)})
    for figure in report.figures:
        for kind, content in draw(figure).items():
            files[f"{FIGURES}/{figure.id}.{kind}"] = content
    _remove_stale(folder, set(files))
    index = _write(folder / REPORT, _json(record))  # before the other files: it marks the folder as a report
    return [*(_write(folder / name, content) for name, content in files.items()), index]


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds anything other than a report, or that cannot be made or written."""
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not nearest.is_dir():
        raise InputError(
            f"{folder}: cannot be written ({_shown(nearest, folder)} is not a folder); choose another --out"
        )
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: cannot be written ({_shown(nearest, folder)} is read-only); choose another --out")
    for name in (TABLES, FIGURES):
        if (folder / name).is_symlink():  # files would be written to where it leads
            raise InputError(f"{folder / name}: is a link; remove it, or choose another --out")
    if not folder.is_dir() or _earlier(folder) is not None:
        return
    try:
        others = sorted({path.name for path in folder.iterdir()} - {f"{REPORT}.part"})
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror}); choose another --out") from None
    if others:
        raise InputError(
            f"{folder}: holds {others[0]} and no report of merit's; choose another --out, such as {folder / 'report'}"
        )


def _shown(nearest: Path, folder: Path) -> str:
    return "it" if nearest == folder else str(nearest)


def table_record(table: ReportTable) -> dict[str, Any]:
    """A table as plain values."""
    return {
        "id": table.id,
        "title": table.title,
        "note": table.note,
        "columns": [asdict(column) for column in table.columns],
        "rows": [{column.key: asdict(row[column.key]) for column in table.columns} for row in table.rows],
    }


def table_csv(table: ReportTable) -> str:
    """The values of a table, headed by the keys of its columns."""
    keys = [column.key for column in table.columns]
    return csv_text([keys, *([row[key].value for key in keys] for row in table.rows)])


def _earlier(folder: Path) -> set[str] | None:
    """The tables and figures of an earlier report in a folder, by their files' names; None where there is none.

    They are deleted, so a name that leads elsewhere makes it no report: a stranger may have written it.
    """
    try:
        before = parse_json(read_text(folder / REPORT), folder / REPORT)
        tables, figures = ([block["id"] for block in before[kind]] for kind in ("tables", "figures"))
        if not all(_ID.fullmatch(identity) for identity in (*tables, *figures)):
            return None
    except (MeritError, KeyError, TypeError):
        return None
    names = {f"{TABLES}/{identity}.{kind}" for identity in tables for kind in _TABLE_KINDS}
    return names | {f"{FIGURES}/{identity}.{kind}" for identity in figures for kind in _FIGURE_KINDS}


def _remove_stale(folder: Path, names: set[str]) -> None:
    """Delete files of an earlier report in this folder that this report does not write."""
    for name in (_earlier(folder) or set()) - names:
        (folder / name).unlink(missing_ok=True)


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def _write(path: Path, content: str | bytes) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path.parent}: cannot be made ({error.strerror}); choose another --out") from error
    with atomic_write(path) as file:
        file.write(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
    return path
