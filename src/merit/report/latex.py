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
    "[": "{[}",  # after a line break LaTeX would read it as an optional length
    "±": r"$\pm$",
    "Δ": r"$\Delta$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
}
_MINUS = re.compile(r"(?<![\w-])-(?=\d)")  # a hyphen that is meant as a minus sign
_FITTING = r"\resizebox{\ifdim\width>%s%s\else\width\fi}{!}{%%"  # made smaller, never larger
_LINES = 44  # lines of a table that fit on a page, with the caption
_LETTERS = 90  # characters in a line of a caption
_WIDE = 8  # a table with more columns takes the whole width of a page
_PREAMBLE = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage[margin=2.5cm]{geometry}
\usepackage{booktabs}
\usepackage{graphicx}
\begin{document}
"""


def latex(table: ReportTable) -> str:
    """A table as one environment, or several if it is longer than a page; a heading for each dataset."""
    grouped = table.columns[0].key == "dataset"
    columns = [column for column in table.columns[1 if grouped else 0 :] if column.shown]
    caption = f"{table.title}. {table.note}{_meanings(columns)}"
    first = max(1, _LINES - len(caption) // _LETTERS)
    parts = [table.rows[:first], *(table.rows[at : at + _LINES] for at in range(first, len(table.rows), _LINES))]
    texts = [_environment(table.id, caption, columns, parts[0], grouped=grouped)]
    for number, rows in enumerate(parts[1:], 2):
        short_caption = f"{table.title} ({number} of {len(parts)}, as above)."
        texts.append(_environment(f"{table.id}-{number}", short_caption, columns, rows, grouped=grouped))
    return "\n".join(texts)


def _environment(
    identity: str, caption: str, columns: Sequence[ReportColumn], rows: Sequence[Mapping[str, Cell]], *, grouped: bool
) -> str:
    body = [r"\toprule", _line([escape(column.label) for column in columns])]
    datasets = groupby(rows, key=lambda row: row["dataset"].text if grouped else "")
    for dataset, dataset_rows in datasets:
        body.append(r"\midrule")
        if grouped:
            body += [rf"\multicolumn{{{len(columns)}}}{{c}}{{\textit{{{escape(dataset)}}}}} \\", r"\midrule"]
        body += [_line([_cell(row[column.key]) for column in columns]) for row in dataset_rows]
    body.append(r"\bottomrule")
    layout = "".join("r" if column.numeric else "l" for column in columns)
    name, width = ("table*", r"\textwidth") if len(columns) > _WIDE else ("table", r"\columnwidth")
    tabular = [_FITTING % (width, width), rf"\begin{{tabular}}{{{layout}}}", *body, r"\end{tabular}%", "}"]
    head = [rf"\begin{{{name}}}[tp]", rf"\caption{{{escape(caption)}}}", rf"\label{{tab:{identity}}}", r"\centering"]
    return "\n".join([*head, r"\small", *tabular, rf"\end{{{name}}}"]) + "\n"


def latex_report(report: Report, tables: str, figures: str) -> str:
    """A document with all tables and figures."""
    parts = [
        rf"\input{{{tables}/{block.id}.tex}}" if isinstance(block, ReportTable) else _picture(block, figures)
        for block in report.blocks
    ]
    notes = "".join(f"{escape(sentence)}.\\par\n" for sentence in (*report.refused, *report.notes))
    return _PREAMBLE + notes + "".join(f"{part}\n\\clearpage\n" for part in parts) + "\\end{document}\n"


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
    """A text without special meaning for LaTeX; characters that its usual fonts lack appear as code points."""
    return "".join(_SIGNS.get(sign, sign if " " <= sign <= "ÿ" else f"U+{ord(sign):04X}") for sign in text)


def _meanings(columns: Sequence[ReportColumn]) -> str:
    meant = "; ".join(f"{column.label.strip('↑↓')}: {column.note}" for column in columns if column.note)
    return f" {meant}." if meant else ""


def _cell(cell: Cell) -> str:
    return _MARKS[cell.mark] % _MINUS.sub("$-$", escape(cell.text))


def _line(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
