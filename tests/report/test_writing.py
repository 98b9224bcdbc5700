"""Reports as files: the same bytes each time, and every format says the same."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from making.clock import COMES_S
from making.commands import good
from making.reports import letters, questions, write_all
from merit.errors import InputError
from merit.report import (
    Cell,
    Figure,
    FigureShape,
    Mark,
    Report,
    ReportColumn,
    ReportTable,
    Series,
    TokenPrices,
    build,
    write_report,
)
from merit.report.latex import latex
from merit.report.markdown import markdown, markdown_report
from merit.report.plot import draw
from merit.report.validation import Label
from merit.types import FailureType

ODD = r"50% of_$x^2 & {a}~#\ <b> | `c` *d* [e](f) é 表 " + '"q"'


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    known = letters(24, 1)
    labels = [
        Label("spider", FailureType.SYNTAX, FailureType.SYNTAX),
        Label("spider", FailureType.UNKNOWN, FailureType.UNKNOWN),
    ]
    return build(write_all(tmp_path_factory.mktemp("runs"), known, questions(24)), TokenPrices(1, 2), labels=labels)


@pytest.fixture(scope="module")
def written(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report as files, which no test changes."""
    folder = tmp_path_factory.mktemp("written") / "out"
    files = write_report(report, folder)
    assert files[0] == folder / "report.md"
    return folder


def test_settings_of_a_stranger_are_not_read(tmp_path: Path) -> None:
    """matplotlib reads a file of the current folder while it is imported, and waits forever where that is a pipe."""
    os.mkfifo(tmp_path / "matplotlibrc")
    program = "from merit.report import Figure, FigureShape, Series; from merit.report.plot import draw; print(sorted(draw(FIGURE)))"
    figure = "Figure('f', 'F', '', 'x', 'y', FigureShape.BAR, (Series('s', ('a',), (1.0,)),))"
    done = subprocess.run(
        [sys.executable, "-c", program.replace("FIGURE", figure)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=COMES_S,
    )
    assert (done.stdout, done.stderr) == ("['png', 'svg']\n", "")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_every_table_has_four_files_and_every_figure_two(report: Report, written: Path) -> None:
    expected = {f"tables/{table.id}.{kind}" for table in report.tables for kind in ("md", "tex", "csv", "json")}
    expected |= {f"figures/{figure.id}.{kind}" for figure in report.figures for kind in ("svg", "png")}
    assert set(contents(written)) == expected | {"report.md", "report.tex", "report.json"}


def test_the_same_report_is_the_same_bytes(report: Report, written: Path, tmp_path: Path) -> None:
    write_report(report, tmp_path)
    assert contents(tmp_path) == contents(written)
    svg = (tmp_path / "figures" / "accuracy.svg").read_text()
    assert "<dc:date>" not in svg
    assert "MERIT" in svg  # text stays text


def test_another_process_writes_the_same_bytes(tmp_path: Path) -> None:
    known = letters(12, 1, ("iterative", "merit", "no_bm25"))
    write_all(tmp_path / "runs", known, questions(12))
    good("report", tmp_path / "runs", "--out", tmp_path / "here")
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"  # sets come in another order
    command = [sys.executable, "-m", "merit", "report", str(tmp_path / "runs"), "--out", str(tmp_path / "there")]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed})
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_what_an_earlier_report_left_is_taken_away_and_nothing_else(
    report: Report, written: Path, tmp_path: Path
) -> None:
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    (tmp_path / "tables" / "mine.csv").write_text("mine")
    smaller = Report(report.tables[:1], report.figures[:1], report.groups, (), ())
    write_report(smaller, tmp_path)
    assert set(contents(tmp_path)) == {
        "report.md", "report.tex", "report.json", "tables/mine.csv", "figures/accuracy.svg", "figures/accuracy.png",
        *(f"tables/main.{kind}" for kind in ("md", "tex", "csv", "json")),
    }  # fmt: skip


@pytest.mark.parametrize("identity", ["../runs/metrics", "/etc/metrics", "a/b", "..", "\0", "", 1])
def test_a_strangers_report_deletes_nothing(report: Report, tmp_path: Path, identity: str | int) -> None:
    """The names that it gives for its tables are those of files that the next report would take away."""
    for folder in ("runs", "tables"):
        (tmp_path / folder).mkdir()
    (tmp_path / "runs" / "metrics.json").write_text("mine")
    forged = {"tables": [{"id": identity}], "figures": []}
    (tmp_path / "report.json").write_text(json.dumps(forged))
    with pytest.raises(InputError, match=r"holds report.json and no report of merit's; choose another --out"):
        write_report(report, tmp_path)
    assert (tmp_path / "runs" / "metrics.json").read_text() == "mine"


@pytest.mark.parametrize("name", ["tables", "figures"])
def test_a_linked_folder_in_a_report_is_not_written_to(report: Report, tmp_path: Path, name: str) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    for folder in (out, elsewhere):
        folder.mkdir()
    (out / "report.json").write_text('{"tables": [], "figures": []}')
    (out / name).symlink_to(elsewhere)
    with pytest.raises(InputError, match=f"{name}: is a link; remove it, or choose another --out"):
        write_report(report, out)
    assert not list(elsewhere.iterdir())


def test_csv_and_json_hold_the_values_markdown_and_latex_the_text(report: Report, written: Path) -> None:
    for table in report.tables:
        with (written / "tables" / f"{table.id}.csv").open() as file:
            rows = list(csv.DictReader(file))
        record = json.loads((written / "tables" / f"{table.id}.json").read_text())
        assert [set(row) for row in rows] == [{column.key for column in table.columns}] * len(table.rows)
        assert record["note"] == table.note
        for row, found, kept in zip(table.rows, rows, record["rows"], strict=True):
            for key, cell in row.items():
                assert found[key] == ("" if cell.value is None else str(cell.value))
                assert kept[key] == {"value": cell.value, "text": cell.text, "mark": cell.mark}
        said = (written / "tables" / f"{table.id}.md").read_text()
        lines = [line for line in said.splitlines() if line.startswith("| ")][2:]
        shown = [column.key for column in table.columns if column.shown]
        for row, line in zip(table.rows, lines, strict=True):
            cells = [re.sub(r"\*\*|</?u>", "", cell.strip()) for cell in line.strip("|").split(" | ")]
            assert [cell.replace("&lt;", "<") for cell in cells] == [row[key].text for key in shown]
    whole = json.loads((written / "report.json").read_text())
    assert [table["id"] for table in whole["tables"]] == [table.id for table in report.tables]


def test_leaders_are_bold_and_underlined() -> None:
    cells = (Cell(3, "3.00", Mark.BEST), Cell(-2, "-2.00", Mark.SECOND), Cell(1, "[-1.00, +1.00]"))
    rows = tuple({"dataset": Cell("Spider", "Spider"), "x": cell, "hidden": Cell(9, "9")} for cell in cells)
    columns = (
        ReportColumn("dataset", "Dataset", numeric=False),
        ReportColumn("x", "X↑"),
        ReportColumn("hidden", "H", shown=False),
    )
    table = ReportTable("t", "Title", "Note.", columns, rows)
    said = markdown(table)
    assert [line for line in said.splitlines() if line.startswith("|")] == [
        "| Dataset | X↑ |", "| --- | ---: |", "| Spider | **3.00** |", "| Spider | <u>-2.00</u> |",
        "| Spider | [-1.00, +1.00] |",
    ]  # fmt: skip
    body = latex(table).split("\n")
    start = body.index(r"\toprule")
    assert body[start : body.index(r"\bottomrule")] == [
        r"\toprule", r"X$\uparrow$ \\", r"\midrule", r"\multicolumn{1}{c}{\textit{Spider}} \\", r"\midrule",
        r"\textbf{3.00} \\", r"\underline{$-$2.00} \\", r"{[}$-$1.00, +1.00] \\",
    ]  # fmt: skip


def odd_table() -> ReportTable:
    cell = Cell(ODD, ODD)
    columns = (
        ReportColumn("dataset", "D", numeric=False),
        ReportColumn("a", ODD, numeric=False, note=ODD),
        ReportColumn("b", "b"),
    )
    return ReportTable("odd", ODD, ODD, columns, ({"dataset": cell, "a": cell, "b": Cell(None, "--")},))


def test_odd_names_mean_nothing_to_latex_or_markdown() -> None:
    text = latex(odd_table())
    plain = re.sub(r"\\[a-zA-Z]+\{\}|\\[{}&%$#_]|\$\\[a-z]+\$", "", text)
    assert plain.count("{") == plain.count("}")
    assert not set("^~#") & set(plain.replace("%\n", "").replace("\\\\", ""))
    row = next(line for line in text.splitlines() if line.endswith(r"-- \\"))
    assert len(re.findall(r"(?<!\\)&", row)) == 1
    assert "U+8868" in row
    line = next(line for line in markdown(odd_table()).splitlines() if line.endswith("| -- |"))
    assert len(re.findall(r"(?<!\\)\|", line)) == 4


def long_table(rows: int, columns: int, note: str = "Note.") -> ReportTable:
    heads = (ReportColumn("dataset", "D", numeric=False), *(ReportColumn(f"c{i}", f"C{i}") for i in range(columns)))
    cells = [
        {"dataset": Cell("Spider", "Spider"), **{f"c{i}": Cell(n, str(n)) for i in range(columns)}} for n in range(rows)
    ]
    return ReportTable("long", "Long", note, heads, tuple(cells))


def test_a_table_that_a_page_does_not_hold_is_several() -> None:
    text = latex(long_table(100, 3, "Said at length. " * 60))
    parts = text.split(r"\begin{table}[tp]")[1:]
    assert [part.count(r"\end{table}") for part in parts] == [1] * len(parts)
    sizes = [len(re.findall(r"^\d+ & ", part, re.MULTILINE)) for part in parts]
    assert sum(sizes) == 100
    assert max(sizes) <= 44
    assert sizes[0] < 40  # its caption takes lines too
    assert ["Said at length." in part for part in parts] == [True] + [False] * (len(parts) - 1)
    assert re.findall(r"\\label\{(.*?)\}", text) == ["tab:long", *(f"tab:long-{n}" for n in range(2, len(parts) + 1))]
    assert all(r"\textit{Spider}" in part for part in parts)
    assert latex(long_table(40, 3)).count(r"\begin{table}[tp]") == 1


def test_a_wide_table_takes_the_width_of_the_page() -> None:
    narrow, wide = latex(long_table(3, 8)), latex(long_table(3, 9))
    assert (r"\begin{table}[tp]" in narrow, r"\columnwidth" in narrow, r"\textwidth" in narrow) == (True, True, False)
    assert (r"\begin{table*}[tp]" in wide, r"\end{table*}" in wide, r"\columnwidth" in wide) == (True, True, False)
    assert r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%" in wide


def test_what_is_not_reported_stands_at_the_end_and_is_told_at_the_beginning(report: Report) -> None:
    lines = markdown_report(
        Report(report.tables, report.figures, report.groups, ("a note",), ("x: why", "y: why")), "f"
    )
    heads = [line for line in lines.splitlines() if line.startswith("#")]
    assert (heads[0], heads[1], heads[-1]) == ("# Report", "## Notes", "## Not reported")
    assert lines.splitlines()[2] == "Not reported: 2; the last section says what and why."
    assert lines.endswith("## Not reported\n\n- x: why\n- y: why\n")
    assert "Not reported" not in markdown_report(report, "f")


def wide_figure(places: int, low: tuple[float | None, ...] | None) -> Figure:
    names = tuple(f"Precedent (temperature=0.{n}, least_grade=executed)" for n in range(places))
    series = tuple(
        Series(f"Spider, questions {n}, model a-name-that-is-long", names, (1.0,) * places, low, low) for n in "ab"
    )
    return Figure("wide", "Wide", "", "Method", "Accuracy", FigureShape.POINTS, series)


def test_a_figure_grows_with_its_places_and_nothing_is_squeezed() -> None:
    """Warnings are errors here: matplotlib would say that there is no room."""
    widths = [int(re.search(r'width="(\d+)', draw(wide_figure(n, None))["svg"].decode())[1]) for n in (5, 20, 45)]  # type: ignore[index]
    assert widths[0] < widths[1] < widths[2]


def test_a_point_without_an_interval_is_hollow_and_has_no_bar() -> None:
    def drawn(low: tuple[float | None, ...] | None) -> str:
        return draw(wide_figure(2, low))["svg"].decode()

    assert "LineCollection" in drawn((0.5, 0.5))
    assert "LineCollection" not in drawn(None)
    assert drawn(None) == drawn((None, None))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex here")
def test_latex_compiles(report: Report, tmp_path: Path) -> None:
    odd = Report(
        (*report.tables, odd_table(), long_table(100, 12, "Said at length. " * 60)),
        report.figures,
        report.groups,
        (ODD,),
        (ODD,),
    )
    write_report(odd, tmp_path)
    command = ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
    assert "Float too large" not in done.stdout
