"""What a person would see at a glance: nothing is cut, nothing touches, and what cannot work is not offered."""

from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from making.looking import Looking
from making.page import ServedPage

_BOX = "const box = (one) => document.querySelector(one).getBoundingClientRect();"
_CONTRAST = """
const rgb = (colour) => {
  const one = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  one.fillStyle = colour;
  one.fillRect(0, 0, 1, 1);
  return [...one.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const light = (colour) => {
  const [r, g, b] = rgb(colour).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const one = document.querySelector(arguments[0]);
const [a, b] = [light(getComputedStyle(one, '::placeholder').color), light(getComputedStyle(one).backgroundColor)];
return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
"""


def test_the_name_of_a_column_is_not_cut(look: Looking, served: ServedPage) -> None:
    look.ask(served.model.tell("How wide is a name?", "SELECT 7 AS number, 8 AS WIDEST_MMMM, 9 AS quantity"))
    look.one(".grid-of-rows th button")
    cut = (
        "return [...document.querySelectorAll('.grid-of-rows th button')].filter((b) => b.scrollWidth > b.clientWidth)"
    )
    assert look.script(f"{cut}.map((b) => b.textContent)") == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_a_field_suggests_can_be_read(look: Looking, theme: str) -> None:
    look.go()
    look.set_theme(theme)
    assert look.script(_CONTRAST, "#ask") >= 4.5


def test_progress_is_one_line_on_a_phone(look: Looking, served: ServedPage) -> None:
    question = served.model.tell("What moves?", "SELECT 1 AS one", held_from=1)
    look.resize(400)
    try:
        look.go()
        look.one("#ask").send_keys(question, Keys.ENTER)
        look.sees("candidate 1", ".progress")
        tops = look.script(_BOX + "return [box('.pulse').top, box('.progress').top, box('.progress').bottom]")
        assert tops[1] < tops[0] < tops[2]
    finally:
        look.resize(1200)
        served.model.go.set()
    look.until(lambda: "#/answer/" in look.driver.current_url)


def test_what_did_not_run_offers_no_rows_and_cannot_be_confirmed(look: Looking, served: ServedPage) -> None:
    look.ask(served.model.tell("What is the gizmo?", "SELECT gizmo(1)"))
    look.sees("no such function: gizmo")
    assert "cannot be shown" not in look.text()
    assert look.texts(".judge button") == ["Reject", "Correct…"]
    assert "Is this right?" not in look.text(".judge")


def test_what_belongs_to_something_else_does_not_touch_it(look: Looking, served: ServedPage, tmp_path: Path) -> None:
    answer = served.ask("Which of them touch?", "SELECT 1 AS touching")
    [entry] = served.api(f"answers/{answer}/confirm", {})["entries"]
    look.go(f"#/memory/{entry}")
    look.key("e")
    look.one(".edit-form h3")
    assert look.script(_BOX + "return box('.edit-form h3').top - box('.edit-form textarea').bottom") >= 8
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("question,sql\nHow many touch?,SELECT touch\n")
    look.go("#/memory/exchange")
    look.one("input[type=file]").send_keys(str(pairs))
    look.press("Only check")
    look.sees("pairs.csv, line 2")
    assert str(Path(served.folder).parts[1]) not in look.text(".import-report")  # a path of the server's
    assert look.script(_BOX + "return box('.import-report h3').top - box('.exchange .actions').bottom") >= 8


def test_what_the_server_is_about_is_said_whole_or_not_at_all(look: Looking) -> None:
    look.go()
    state = "const one = document.getElementById('about'); return [getComputedStyle(one).visibility, "
    for width in (500, 800, 960, 1000, 1400):
        look.resize(width)
        seen, whole = look.script(state + "one.scrollWidth <= one.clientWidth]")
        assert seen == "hidden" or whole, f"cut at {width} px"
    look.resize(1200)


def test_filters_on_a_phone_fill_their_columns_and_are_open_where_one_is_set(look: Looking) -> None:
    look.resize(400)
    try:
        look.go("#/history")
        assert not look.script("return document.querySelector('.narrow').open")
        look.go("#/history?feedback=confirmed")
        assert look.script("return document.querySelector('.narrow').open")
        widths = look.script(
            "return [...document.querySelectorAll('.choices :is(select, input)')].map((e) => e.offsetWidth)"
        )
        assert max(widths) - min(widths) <= 1
    finally:
        look.resize(1200)


def test_long_wide_and_foreign_rows_stay_in_their_place(look: Looking, served: ServedPage) -> None:
    many = ", ".join(f"{number} AS column_{number}" for number in range(500))
    long = "SELECT 'wwwwwwwwww' || printf('%.10000c', 'w') AS long, 'مرحبا بالعالم' AS \"שלום\", char(8238) || 'abc' AS turned"
    for question, sql, columns in (("What is wide?", f"SELECT {many}", 500), ("What is long?", long, 3)):
        look.ask(served.model.tell(question, sql))
        look.until(lambda: look.all(".grid-of-rows td"))
        assert len(look.all(".grid-of-rows th")) == columns
        for width in (400, 800, 1400):
            look.resize(width)
            assert look.script("return document.documentElement.scrollWidth") <= width
        look.resize(1200)
        look.script("document.querySelector('.grid-of-rows td').click()")
    assert len(look.text(".whole")) > 10_000
