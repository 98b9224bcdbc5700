"""Methods that were run with other seeds than the rest: what they may change, and what not."""

from pathlib import Path

import pytest

from making.reports import Letters, letters, questions, write_all
from merit.agent import METHODS
from merit.report import Cell, Mark, Report, ReportTable, build, summary_table
from merit.report.names import method_label

SIZE = 24
ASKED = questions(SIZE)
OF_ALL = {"learning": {"questions"}}  # wrong first answers of all seeds that anybody ran


def with_extra_seed(known: Letters, method: str, seed: int = 3) -> Letters:
    """One more run, in which every repair succeeds at once."""
    repaired = "R" if METHODS[method].repairs else ""
    words = {one: word[0] + (repaired if word[0] != "R" else "") for one, word in known[method, 0].items()}
    return {**known, (method, seed): words}


def of_others(table: ReportTable, method: str) -> list[dict[str, Cell]]:
    """What a table says of all methods but one, and of a comparison with that one."""
    label, mine = method_label(METHODS[method]), {method, *OF_ALL.get(table.id, ())}
    own = [] if table.id in ("paired", "mcnemar") else [label, f"{label} Full"]
    rows = [row for row in table.rows if "method" not in row or row["method"].text not in own]
    return [{key: cell for key, cell in row.items() if key not in mine} for row in rows]


def marks(table: ReportTable) -> list[dict[str, Mark | None]]:
    return [{key: cell.mark for key, cell in row.items()} for row in table.rows]


def tables(report: Report) -> list[ReportTable]:
    return [*report.tables, summary_table(report.groups, "merit")]


@pytest.mark.parametrize("method", ["zero_shot", "iterative", "merit", "no_bm25", "transductive_batch"])
def test_an_extra_seed_of_one_method_is_nothing_to_the_others(tmp_path: Path, method: str) -> None:
    known = letters(SIZE, 8)
    before = tables(build(write_all(tmp_path / "before", known, ASKED)))
    after = tables(build(write_all(tmp_path / "after", with_extra_seed(known, method), ASKED)))
    assert [one.id for one in after] == [one.id for one in before]
    assert any(cell.mark for table in before for row in table.rows for cell in row.values())
    for old, new in zip(before, after, strict=True):
        assert of_others(new, method) == of_others(old, method), old.id
        assert marks(new) == marks(old), old.id  # its own, too: all are ranked over the seeds they share


def test_tables_say_who_has_other_seeds(tmp_path: Path) -> None:
    known = with_extra_seed(letters(SIZE, 8), "iterative")
    del known["reflexion", 2]
    report = build(write_all(tmp_path, known, ASKED))
    for table in report.tables:
        assert "seeds 0, 1, 2 (but iterative 0, 1, 2, 3; reflexion 0, 1)." in table.note, table.id
        seeds = [column.shown for column in table.columns if column.key == "seeds"]
        assert seeds == [True] * len(seeds) or table.id == "ablation"  # where all have the same
    paired = {row["method"].text: row["seeds"].text for row in report.tables[1].rows}
    assert (paired["Iterative"], paired["Reflexion-style"]) == ("0 1 2", "0 1")


def test_two_are_ranked_over_the_seeds_that_both_ran(tmp_path: Path) -> None:
    """The leader's other seed went badly, so that its mean is the lower one; nobody knows how the other would have done."""
    known: Letters = {
        ("iterative", 0): {0: "R", 1: "WR", 2: "WW", 3: "WW"},
        ("merit", 0): {0: "R", 1: "WR", 2: "WR", 3: "WW"},
        ("merit", 1): {0: "R", 1: "WW", 2: "WW", 3: "WW"},
    }
    (main, *_) = build(write_all(tmp_path, known, questions(4))).tables
    assert [(row["accuracy"].text, row["accuracy"].mark, row["seeds"].text) for row in main.rows] == [
        ("50.00", Mark.SECOND, "0"),
        ("50.00 ± 35.36", Mark.BEST, "0, 1"),
    ]


def test_all_are_ranked_where_half_of_them_ran_a_seed_more(tmp_path: Path) -> None:
    """Four methods with seed 0, two of them with seed 1 too: these two are not ranked among themselves alone."""
    known: Letters = {
        ("zero_shot", 0): {0: "R", 1: "W", 2: "W", 3: "W"},
        ("iterative", 0): {0: "R", 1: "WR", 2: "WW", 3: "WW"},
        ("reflexion", 0): {0: "R", 1: "WR", 2: "WR", 3: "WR"},
        ("merit", 0): {0: "R", 1: "WR", 2: "WR", 3: "WW"},
    }
    known |= {(method, 1): known[method, 0] for method in ("zero_shot", "iterative")}
    report = build(write_all(tmp_path, known, questions(4)))
    assert report.groups[0].seeds == [0]
    assert "seeds 0 (but " in report.groups[0].about
    found = {row["method"].text: row["accuracy"].mark for row in report.tables[0].rows}
    assert found == {"Zero-shot": None, "Iterative": None, "Reflexion-style": Mark.BEST, "MERIT": Mark.SECOND}
    assert "the seeds that more than half of these methods were run with" in report.tables[0].note


def test_nobody_leads_where_no_seed_is_shared(tmp_path: Path) -> None:
    known: Letters = {("iterative", 0): {0: "R", 1: "WW"}, ("merit", 1): {0: "R", 1: "WR"}}
    report = build(write_all(tmp_path, known, questions(2)))
    assert {cell.mark for table in report.tables for row in table.rows for cell in row.values()} == {None}
    assert "no seed in common (but iterative 0; merit 1)." in report.groups[0].about
