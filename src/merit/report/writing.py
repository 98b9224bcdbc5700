"""A report as files: one folder, each file whole or not there at all."""

import csv
import json
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import Any

from merit.errors import InputError, MeritError
from merit.reading import parse_json, read_text
from merit.report.latex import latex, latex_report
from merit.report.markdown import markdown, markdown_report
from merit.report.plot import draw
from merit.report.report import Report
from merit.report.table import Table

TABLES, FIGURES, REPORT = "tables", "figures", "report.json"
_TABLE_KINDS, _FIGURE_KINDS = ("md", "tex", "csv", "json"), ("svg", "png")


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write everything; returns the files, the one to read first at the beginning."""
    files: dict[str, str | bytes] = {
        "report.md": markdown_report(report, FIGURES),
        "report.tex": latex_report(report, TABLES, FIGURES),
        REPORT: _json(
            {
                "format": 1,
                "refused": report.refused,
                "notes": report.notes,
                "groups": [{"label": group.label, "about": group.about} for group in report.groups],
                "tables": [table_record(table) for table in report.tables],
                "figures": [asdict(figure) for figure in report.figures],
            }
        ),
    }
    for table in report.tables:
        place = f"{TABLES}/{table.id}"
        files[f"{place}.md"] = markdown(table)
        files[f"{place}.tex"] = latex(table)
        files[f"{place}.csv"] = table_csv(table)
        files[f"{place}.json"] = _json({"format": 1, **table_record(table)})
    for figure in report.figures:
        for kind, content in draw(figure).items():
            files[f"{FIGURES}/{figure.id}.{kind}"] = content
    _forget_others(folder, set(files))
    return [_write(folder / name, content) for name, content in files.items()]


def table_record(table: Table) -> dict[str, Any]:
    """A table as plain values."""
    return {
        "id": table.id,
        "title": table.title,
        "note": table.note,
        "columns": [asdict(column) for column in table.columns],
        "rows": [{column.key: asdict(row[column.key]) for column in table.columns} for row in table.rows],
    }


def table_csv(table: Table) -> str:
    """The values of a table, headed by the keys of its columns."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.key for column in table.columns])
    writer.writerows([row[column.key].value for column in table.columns] for row in table.rows)
    return out.getvalue()


def _forget_others(folder: Path, names: set[str]) -> None:
    """Take away what an earlier report in this folder wrote and this one does not."""
    path = folder / REPORT
    if not path.is_file():
        return
    try:
        before = parse_json(read_text(path), path)
        old = {f"{TABLES}/{table['id']}.{kind}" for table in before["tables"] for kind in _TABLE_KINDS}
        old |= {f"{FIGURES}/{figure['id']}.{kind}" for figure in before["figures"] for kind in _FIGURE_KINDS}
    except (MeritError, KeyError, TypeError):
        return  # not a report of ours: nothing to take away
    for name in old - names:
        if (place := folder / name).resolve().is_relative_to(folder.resolve()):
            place.unlink(missing_ok=True)


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def _write(path: Path, content: str | bytes) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(path.name + ".part")
        unfinished.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "replace"))
        unfinished.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); choose another --out") from error
    return path
