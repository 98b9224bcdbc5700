"""Tables as LaTeX, ready to paste into a document that uses the packages booktabs and graphicx."""

import re
from itertools import groupby

from merit.report.report import Report
from merit.report.table import Cell, Column, Mark, Table

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
_FITTING = r"\resizebox{\ifdim\width>\columnwidth\columnwidth\else\width\fi}{!}{%"  # made smaller, never larger
_PREAMBLE = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage[margin=2.5cm]{geometry}
\usepackage{booktabs}
\usepackage{graphicx}
\begin{document}
"""


def latex(table: Table) -> str:
    """A table environment, datasets set apart as the paper sets them."""
    grouped = table.columns[0].key == "dataset"
    columns = [column for column in table.columns[1 if grouped else 0 :] if column.shown]
    body = [r"\toprule", _line([escape(column.label) for column in columns])]
    datasets = groupby(table.rows, key=lambda row: row["dataset"].text if grouped else "")
    for dataset, rows in datasets:
        body.append(r"\midrule")
        if grouped:
            body += [rf"\multicolumn{{{len(columns)}}}{{c}}{{\textit{{{escape(dataset)}}}}} \\", r"\midrule"]
        body += [_line([_cell(row[column.key]) for column in columns]) for row in rows]
    body.append(r"\bottomrule")
    layout = "".join("r" if column.numeric else "l" for column in columns)
    tabular = [rf"\begin{{tabular}}{{{layout}}}", *body, r"\end{tabular}"]
    tabular = [_FITTING, *tabular[:-1], tabular[-1] + "%", "}"]
    caption = f"{table.title}. {table.note}{_meanings(columns)}"
    head = [r"\begin{table}[t]", rf"\caption{{{escape(caption)}}}", rf"\label{{tab:{table.id}}}", r"\centering"]
    return "\n".join([*head, r"\small", *tabular, r"\end{table}"]) + "\n"


def latex_report(report: Report, tables: str, figures: str) -> str:
    """A document with all of it."""
    parts = [rf"\input{{{tables}/{table.id}.tex}}" for table in report.tables]
    parts += [
        "\n".join(
            [
                r"\begin{figure}[t]",
                r"\centering",
                rf"\includegraphics[width=\columnwidth]{{{figures}/{figure.id}.png}}",
                rf"\caption{{{escape(f'{figure.title}. {figure.note}')}}}",
                rf"\label{{fig:{figure.id}}}",
                r"\end{figure}",
            ]
        )
        for figure in report.figures
    ]
    said = "".join(f"{escape(one)}.\\par\n" for one in (*report.refused, *report.notes))
    return _PREAMBLE + said + "".join(f"{part}\n\\clearpage\n" for part in parts) + "\\end{document}\n"


def escape(text: str) -> str:
    """A text that means nothing to LaTeX; letters that its usual fonts lack are named by their number."""
    return "".join(_SIGNS.get(sign, sign if " " <= sign <= "ÿ" else f"U+{ord(sign):04X}") for sign in text)


def _meanings(columns: list[Column]) -> str:
    meant = "; ".join(f"{column.label.strip('↑↓')}: {column.note}" for column in columns if column.note)
    return f" {meant}." if meant else ""


def _cell(cell: Cell) -> str:
    return _MARKS[cell.mark] % _MINUS.sub("$-$", escape(cell.text))


def _line(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
