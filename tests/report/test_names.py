"""What tables call methods, and what is in the files of a report when strangers chose the names."""

from dataclasses import replace
from pathlib import Path

import pytest

from making.reports import letters, questions, write_all
from making.tampering import reidentify
from merit.agent import METHODS, RELATED, find_method
from merit.report import build, open_runs, write_report
from merit.report.names import method_label
from merit.report.page import write_page

MERIT = METHODS["merit"]


@pytest.mark.parametrize("method", [*METHODS, *RELATED])
def test_a_method_has_its_name_and_no_quotes(method: str) -> None:
    assert '"' not in method_label(find_method(method))
    assert "unknown" not in method_label(find_method(method))


def test_a_variant_says_what_it_changes() -> None:
    assert method_label(find_method("merit:positives=5,negatives=0")) == "MERIT (positives=5, negatives=0)"


@pytest.mark.parametrize("name", ["MERIT", "merit ", "m\u0435rit", "Reflexion-style", "mine:draws=2", ""])
def test_a_name_that_no_method_has_cannot_be_taken_for_one(name: str) -> None:
    assert method_label(replace(MERIT, name=name)) == f'"{name}" (unknown method)'
    assert method_label(replace(MERIT, name=name, online=False)) == f'"{name}" (unknown method) (not online)'


_TEXTS = (".md", ".csv", ".svg", ".tex", ".json", ".html")
EVIL = "\x1b]0;title\x07\u202e\u200b"


def test_the_files_of_a_report_hold_no_control_characters(tmp_path: Path) -> None:
    """Databases and levels have names of their own; manifests with such names are left out, as the report says."""
    asked = [replace(one, db_id=f"{one.db_id}{EVIL}", difficulty=f"easy{EVIL}") for one in questions(6)]
    known = letters(6, 2, ("iterative", "merit"))
    write_all(tmp_path / "runs", known, asked)
    for seed, rename in enumerate(
        (lambda one: one["method"].update(name=f"MERIT{EVIL}"), lambda one: one["model"].update(name=f"gpt{EVIL}"))
    ):
        bad = tmp_path / "runs" / "merit" / f"seed{seed}"
        reidentify(bad, rename)
        bad.rename(bad.with_name(f"evil{EVIL}{seed}"))
    good = tmp_path / "runs" / "merit" / "seed2"
    good.rename(good.with_name(f"good{EVIL}"))
    views, refused = open_runs([tmp_path / "runs"])
    assert (len(views), len(refused)) == (len(known) - 2, 2)
    report = build(views, refused=refused)
    write_report(report, tmp_path / "out")
    write_page(report, views, tmp_path / "out" / "report.html")
    texts = [path for path in (tmp_path / "out").rglob("*") if path.suffix in _TEXTS]
    assert {path.suffix for path in texts} == set(_TEXTS)
    for path in texts:
        text = path.read_text(encoding="utf-8")
        assert not [sign for sign in text if not sign.isprintable() and sign not in "\r\n\t"], path
