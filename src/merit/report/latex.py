"""Tables as LaTeX, ready to paste into a document that uses the packages booktabs and graphicx."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from merit.report.figure import Figure
from merit.report.report import Report
from merit.report.table import Cell, Mark, ReportColumn, ReportTable

_MARKS = {Mark.BEST: r"\textbf{%s}", Mark.SECOND: r"\underline{%s}", None: "%s"}
_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "[": "{[}",  # after a line's end it would be read as a distance
    "±": r"$\pm$",
    "Δ": r"$\Delta$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
}
_MINUS = re.compile(r"(?<![\w-])-(?=\d)")  # a hyphen is too short for one
_FITTING = r"\resizebox{\ifdim\width>%s%s\else\width\fi}{!}{%%"  # made smaller, never larger
_LINES = 44  # of a table that a page holds, its caption among them
_LETTERS = 90  # in a line of a caption
_WIDE = 8  # more columns than this take the whole width of a page
_PREAMBLE = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage[margin=2.5cm]{geometry}
\usepackage{booktabs}
\usepackage{graphicx}
\begin{document}
"""


def latex(table: ReportTable) -> str:
    """Its environments: one, or several where one page does not hold it; datasets set apart as the paper sets them."""
    grouped = table.columns[0].key == "dataset"
    columns = [column for column in table.columns[1 if grouped else 0 :] if column.shown]
    caption = f"{table.title}. {table.note}{_meanings(columns)}"
    first = max(1, _LINES - len(caption) // _LETTERS)
    parts = [table.rows[:first], *(table.rows[at : at + _LINES] for at in range(first, len(table.rows), _LINES))]
    texts = [_environment(table.id, caption, columns, parts[0], grouped=grouped)]
    for number, rows in enumerate(parts[1:], 2):
        said = f"{table.title} ({number} of {len(parts)}, as above)."
        texts.append(_environment(f"{table.id}-{number}", said, columns, rows, grouped=grouped))
    return "\n".join(texts)


def _environment(
    identity: str, caption: str, columns: Sequence[ReportColumn], rows: Sequence[Mapping[str, Cell]], *, grouped: bool
) -> str:
    body = [r"\toprule", _line([escape(column.label) for column in columns])]
    datasets = groupby(rows, key=lambda row: row["dataset"].text if grouped else "")
    for dataset, mine in datasets:
        body.append(r"\midrule")
        if grouped:
            body += [rf"\multicolumn{{{len(columns)}}}{{c}}{{\textit{{{escape(dataset)}}}}} \\", r"\midrule"]
        body += [_line([_cell(row[column.key]) for column in columns]) for row in mine]
    body.append(r"\bottomrule")
    layout = "".join("r" if column.numeric else "l" for column in columns)
    name, width = ("table*", r"\textwidth") if len(columns) > _WIDE else ("table", r"\columnwidth")
    tabular = [_FITTING % (width, width), rf"\begin{{tabular}}{{{layout}}}", *body, r"\end{tabular}%", "}"]
    head = [rf"\begin{{{name}}}[tp]", rf"\caption{{{escape(caption)}}}", rf"\label{{tab:{identity}}}", r"\centering"]
    return "\n".join([*head, r"\small", *tabular, rf"\end{{{name}}}"]) + "\n"


def latex_report(report: Report, tables: str, figures: str) -> str:
    """A document with all of it."""
    parts = [
        rf"\input{{{tables}/{one.id}.tex}}" if isinstance(one, ReportTable) else _picture(one, figures)
        for one in report.blocks
    ]
    said = "".join(f"{escape(one)}.\\par\n" for one in (*report.refused, *report.notes))
    return _PREAMBLE + said + "".join(f"{part}\n\\clearpage\n" for part in parts) + "\\end{document}\n"


def _picture(figure: Figure, folder: str) -> str:
    return "\n".join(
        [
            r"\begin{figure}[t]",
            r"\centering",
            rf"\includegraphics[width=\columnwidth]{{{folder}/{figure.id}.png}}",
            rf"\caption{{{escape(f'{figure.title}. {figure.note}')}}}",
            rf"\label{{fig:{figure.id}}}",
            r"\end{figure}",
        ]
    )


def escape(text: str) -> str:
    """A text that means nothing to LaTeX; letters that its usual fonts lack are named by their number."""
    return "".join(_SIGNS.get(sign, sign if " " <= sign <= "ÿ" else f"U+{ord(sign):04X}") for sign in text)


def _meanings(columns: Sequence[ReportColumn]) -> str:
    meant = "; ".join(f"{column.label.strip('↑↓')}: {column.note}" for column in columns if column.note)
    return f" {meant}." if meant else ""


def _cell(cell: Cell) -> str:
    return _MARKS[cell.mark] % _MINUS.sub("$-$", escape(cell.text))


def _line(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
