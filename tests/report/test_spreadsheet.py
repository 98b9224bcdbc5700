"""CSV files that a spreadsheet opens without running anything, and that are read back as they were."""

import csv
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making.outcomes import Tried, write_run
from merit.report import Cell, ReportColumn, ReportTable, labels
from merit.report.writing import table_csv
from merit.spreadsheet import as_written, csv_text
from merit.types import Question, Status, Verdict

RUN = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
FORMULAS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "'=1",
    "''@x",
    "-",
    "--",
    "=",
    "-- a comment",
]
PLAIN = ["-1.5", "+3", "-2e-7", "1", "-.5", "a=b", "", "'quoted'", "'", "SELECT 1", "[-1.0, +2.0]"]


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(StringIO(text, newline=""), strict=True))


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_defused(text: str) -> None:
    ((written, _),) = cells(csv_text([[text, "x"]]))
    assert written == f"'{text}"
    assert as_written(written) == text


@pytest.mark.parametrize("text", PLAIN)
def test_anything_else_stays_as_it_is(text: str) -> None:
    ((written, _),) = cells(csv_text([[text, "x"]]))
    assert written == as_written(written) == text


@pytest.mark.parametrize("text", ["x;=1+1", "x\t=1+1"])
def test_a_spreadsheet_that_knows_several_separators_cuts_no_cell_in_two(text: str) -> None:
    """LibreOffice separates by commas, semicolons and tabs at once, unless told otherwise; what is in quotes stays."""
    assert csv_text([["a", 1.5, text]]) == f'"a",1.5,"{text}"\n'


@given(
    st.lists(
        st.text(alphabet=st.one_of(st.sampled_from("'=+-@\t\r\n1.e\","), st.characters(codec="utf-8"))), min_size=1
    )
)
def test_whatever_is_written_is_read_back_and_runs_nothing(row: list[str]) -> None:
    (written,) = cells(csv_text([[*row, "end"]]))
    assert [as_written(cell) for cell in written] == [*row, "end"]
    for cell in written:
        if cell.startswith(RUN):
            float(cell)  # a number, and nothing else


def test_numbers_of_a_table_are_numbers_and_names_are_defused() -> None:
    columns = (ReportColumn("name", "Name", numeric=False), ReportColumn("delta", "Δ"))
    rows = (
        {"name": Cell('=HYPERLINK("x")', "x"), "delta": Cell(-1.5, "-1.50")},
        {"name": Cell("b", "b"), "delta": Cell(None, "--")},
    )
    assert table_csv(ReportTable("t", "T", "", columns, rows)) == 'name,delta\n"\'=HYPERLINK(""x"")",-1.5\nb,\n'


def test_labels_are_read_back_as_they_were_said(tmp_path: Path) -> None:
    texts = [*FORMULAS, "two\r\nlines", "one\rline", "a\nb", 'say "hi", then go', "é\u2028 \x00 nul"]
    asked = [Question(i, f"db{i}", text or "?", text) for i, text in enumerate(texts)]
    failed = Verdict(Status.EXECUTION_ERROR, "=bad")
    view = write_run(tmp_path / "run", asked, "zero_shot", {one.id: [Tried(one.text, failed)] for one in asked})
    lines = labels.records(view, labels.sample(view, None, 0), classifier=True)
    labels.write_records(tmp_path / "labels.csv", lines)
    assert [record for _, record in labels.read_records(tmp_path / "labels.csv")] == lines
    with (tmp_path / "labels.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.reader(file):
            assert not any(cell.startswith(RUN) for cell in row)
    before = (tmp_path / "labels.csv").read_bytes()
    labels.write_records(
        tmp_path / "labels.csv", [record for _, record in labels.read_records(tmp_path / "labels.csv")]
    )
    assert (tmp_path / "labels.csv").read_bytes() == before


def test_labels_of_a_spreadsheet_with_other_line_ends_are_read(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_bytes("\ufeffhuman,classifier\r\nsyntax,Syntax\r\n".encode())
    assert len(labels.read_labels(tmp_path / "labels.csv")) == 1
