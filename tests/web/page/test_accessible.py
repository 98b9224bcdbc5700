"""axe-core finds nothing on any view, in either theme; and the page is used by keyboard alone."""

from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from making.looking import Looking
from making.page import ServedPage


@pytest.fixture(scope="session")
def places(served: ServedPage) -> dict[str, str]:
    answer = served.ask("How accessible is it?", "SELECT city, count(*) AS people FROM customers GROUP BY city")
    [entry] = served.api(f"answers/{answer}/confirm", {})["entries"]
    failed = served.ask("What is wrong here?", "SELECT wrong FROM orders", "SELECT state FROM orders LIMIT 3")
    return {
        "ask": "#/",
        "answer": f"#/answer/{answer}",
        "unjudged": f"#/answer/{failed}",
        "history": "#/history",
        "memory": "#/memory",
        "entry": f"#/memory/{entry}",
        "review": "#/memory/review",
        "exchange": "#/memory/exchange",
        "schema": "#/schema",
        "table": "#/schema/orders",
        "proof": "#/proof",
        "nowhere": "#/nowhere",
    }


def test_axe_finds_nothing_serious_on_any_view_and_each_fits_its_window(look: Looking, places: dict[str, str]) -> None:
    found = {}
    for name, place in places.items():
        look.go(place)
        look.script("document.querySelectorAll('main details').forEach((one) => (one.open = true))")
        if name == "unjudged":
            look.press("Correct")
            look.one(".ace_text-input")
            look.until(lambda: look.script("return document.activeElement.className").startswith("ace_text-input"))
            look.key(" o")
            assert look.offers("orders")
        if name == "answer":
            look.press("Chart")
            look.one(".charts svg")
        if name == "nowhere":
            look.key("?")
        look.settle(0.1)
        found[name] = look.barriers_in_both_themes()
        for width in (400, 900, 1200):
            look.resize(width)
            assert look.script("return document.documentElement.scrollWidth") <= width, f"{name} at {width} px"
    assert {view: one for view, one in found.items() if one} == {}


def test_axe_finds_nothing_serious_in_what_comes_and_goes(
    look: Looking, served: ServedPage, places: dict[str, str], tmp_path: Path
) -> None:
    found = {}
    wrong, right = "SELECT stat FROM order", "SELECT state FROM orders LIMIT 2"
    question = served.model.tell("Who listens while it is asked?", wrong, right, held_from=3)
    look.go()
    look.one("#ask").send_keys(question, Keys.ENTER)
    look.sees("candidate 3", ".progress")
    found["under way"] = look.barriers_in_both_themes()
    served.model.go.set()
    look.until(lambda: "#/answer/" in look.driver.current_url)
    look.press("Ask again without memory")
    look.one(".comparing")
    found["side by side"] = look.barriers_in_both_themes()
    look.go(places["entry"])
    look.key("x")
    look.one("#question[open] .danger")
    found["retracting"] = look.barriers_in_both_themes()
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("question,sql\nHow many listen?,SELECT listen\n")
    look.go("#/memory/exchange")
    look.one("input[type=file]").send_keys(str(pairs))
    look.press("Only check")
    look.one(".import-report")
    found["import"] = look.barriers_in_both_themes()
    assert {view: one for view, one in found.items() if one} == {}


def test_axe_would_find_something(look: Looking) -> None:
    look.go()
    look.script("document.querySelector('main').append(document.createElement('button'))")
    assert [one.split(":")[0] for one in look.barriers()] == ["button-name"]


def test_every_view_is_reached_and_left_by_keys(look: Looking, places: dict[str, str]) -> None:
    look.go()
    look.script("document.activeElement.blur()")
    for key, title in (
        ("2", "History"),
        ("3", "Memory"),
        ("4", "Schema of shop"),
        ("5", "Does the memory help?"),
        ("1", "Ask shop"),
    ):
        look.key(key)
        look.sees(title, "h1")
        assert look.script("return document.activeElement.tagName") == "H1"
        assert look.script("return document.title").startswith(title)
    look.key("/")
    look.until(lambda: look.script("return document.activeElement.id") == "ask")
    look.key(Keys.ESCAPE, "?")
    look.sees("Keyboard", "#help")
    look.key(Keys.ESCAPE)
    look.until(lambda: not look.script("return document.getElementById('help').open"))
    before = look.script("return getComputedStyle(document.body).backgroundColor")
    look.key("t")
    assert look.script("return getComputedStyle(document.body).backgroundColor") != before
    look.script("localStorage.clear()")
    look.go(places["answer"])
    look.key(Keys.TAB)
    look.script("document.querySelector('.skip').focus()")
    look.key(Keys.ENTER)
    look.until(lambda: look.script("return document.activeElement.id") == "main")


def test_single_keys_can_be_turned_off(look: Looking) -> None:
    look.go()
    look.script("document.activeElement.blur()")
    look.key("?")
    look.script("document.getElementById('single-keys').click()")
    look.key(Keys.ESCAPE, "2")
    look.settle(0.2)
    assert look.text("h1") == "Ask shop"
    look.script("localStorage.clear()")


def test_what_happens_is_told_to_those_who_listen(look: Looking, served: ServedPage) -> None:
    assert served.model.tell("What do I hear?", "SELECT 1 AS heard")
    look.ask("What do I hear?")
    look.until(lambda: "Answered: 1 row" in look.script("return document.getElementById('said').textContent"))
    look.key("c")
    look.until(lambda: "Confirmed" in look.script("return document.getElementById('said').textContent"))
    assert look.one(".grid-of-rows").get_attribute("aria-label") == "Rows of the answer"
