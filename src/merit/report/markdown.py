"""Tables as Markdown, for people."""

import re
from collections.abc import Sequence

from merit.report.figure import Figure
from merit.report.report import Report
from merit.report.table import Cell, Mark, ReportTable

_SIGNS = re.compile(r"[\\|*<>`]|(?<!\w)_|_(?!\w)|\](?=\()")  # an underscore inside a word needs no escape
_SPELLED = {"<": "&lt;", ">": "&gt;"}
_MARKS = {Mark.BEST: "**{}**", Mark.SECOND: "<u>{}</u>", None: "{}"}


def markdown(table: ReportTable) -> str:
    """A table with its title above and its note below."""
    columns = [column for column in table.columns if column.shown]
    lines = [[_plain(column.label) for column in columns]]
    lines.append(["---:" if column.numeric else "---" for column in columns])
    lines += [[_cell(row[column.key]) for column in columns] for row in table.rows]
    body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    meant = [f"{_plain(column.label)}: {_plain(column.note)}" for column in columns if column.note]
    explained = f"\n{'; '.join(meant)}.\n" if meant else ""
    return f"## {_plain(table.title)}\n\n{body}\n{_plain(table.note)}\n{explained}"


def markdown_report(report: Report, figures: str) -> str:
    """Everything in one text; `figures` is the folder of the pictures."""
    parts = ["# Report\n"]
    if report.refused:
        parts.append(f"Not reported: {len(report.refused)}; the last section says what and why.\n")
    if report.notes:
        parts.append(_listed("Notes", report.notes))
    parts += [
        markdown(block) if isinstance(block, ReportTable) else _picture(block, figures) for block in report.blocks
    ]
    if report.refused:
        parts.append(_listed("Not reported", report.refused))
    return "\n".join(parts)


def _picture(figure: Figure, folder: str) -> str:
    """A figure with its title above and its note below; under its table it is a part of that section."""
    title, note = _plain(figure.title), _plain(figure.note)
    return f"{'###' if figure.beside else '##'} {title}\n\n![{title}]({folder}/{figure.id}.svg)\n\n{note}\n"


def _listed(title: str, sentences: Sequence[str]) -> str:
    return f"## {title}\n\n" + "".join(f"- {_plain(sentence)}\n" for sentence in sentences)


def _cell(cell: Cell) -> str:
    return _MARKS[cell.mark].format(_plain(cell.text))


def _plain(text: str) -> str:
    """A text without special meaning for Markdown."""
    text = _SIGNS.sub(lambda sign: _SPELLED.get(sign[0], f"\\{sign[0]}"), text)
    return " ".join(text.split())
