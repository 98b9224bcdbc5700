"""axe-core finds nothing on any view, in either theme; and the page is used by keyboard alone."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from making.looking import Looking
from making.page import ServedPage

_BAD = ("serious", "critical")


@pytest.fixture(scope="session")
def axe() -> str:
    return (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")


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


@pytest.fixture
def dark(look: Looking, request: pytest.FixtureRequest) -> Iterator[bool]:
    set_theme(look.driver, dark=request.param)
    yield request.param
    set_theme(look.driver, dark=False)


def set_theme(driver: Any, *, dark: bool) -> None:
    features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def problems(look: Looking, axe: str) -> list[str]:
    """What axe-core finds serious, with where it is."""
    look.driver.execute_script(axe)
    found = look.driver.execute_async_script(
        "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then((r) => done(r.violations))"
    )
    return [
        f"{one['id']}: {node['html'][:160]} ({node['any'][:1]})"
        for one in found
        if one["impact"] in _BAD
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("dark", [False, True], indirect=True, ids=["light", "dark"])
def test_axe_finds_nothing_serious_on_any_view(look: Looking, axe: str, places: dict[str, str], dark: bool) -> None:
    found = {}
    for name, place in places.items():
        look.go(place)
        look.script("document.querySelectorAll('main details').forEach((one) => (one.open = true))")
        if name == "unjudged":
            look.press("Correct")
            look.one(".ace_text-input")
        if name == "answer":
            look.press("Chart")
            look.one(".charts svg")
        look.settle(0.15)
        found[name] = problems(look, axe)
    look.key("?")
    found["help"] = problems(look, axe)
    assert {name: one for name, one in found.items() if one} == {}


def test_every_view_is_reached_and_left_by_keys(look: Looking, places: dict[str, str]) -> None:
    look.go()
    look.script("document.activeElement.blur()")
    for key, title in (("2", "History"), ("3", "Memory"), ("4", "Schema of shop"), ("5", "Does the memory help?"), ("1", "Ask shop")):
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


def test_what_happens_is_told_to_those_who_listen(look: Looking, served: ServedPage) -> None:
    assert served.model.tell("What do I hear?", "SELECT 1 AS heard")
    look.ask("What do I hear?")
    look.until(lambda: "Answered: 1 row" in look.script("return document.getElementById('said').textContent"))
    look.key("c")
    look.until(lambda: "Confirmed" in look.script("return document.getElementById('said').textContent"))
    assert look.one(".grid-of-rows").get_attribute("aria-label") == "Rows of the answer"


def test_it_follows_the_width_of_its_window(look: Looking, places: dict[str, str]) -> None:
    for width in (400, 900):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == 400}
        look.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for name, place in places.items():
            look.go(place)
            look.settle(0.05)
            assert look.script("return document.documentElement.scrollWidth") <= width, f"{name} at {width} px"
    look.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "width": 1200})
