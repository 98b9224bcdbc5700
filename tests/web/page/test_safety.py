"""Hostile texts, tokens, and that nothing leaves the machine."""

import subprocess
import sys
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from making.endpoint import ChatServer
from making.looking import Looking
from making.page import ALERT, HOSTILE_TABLE, ServedPage, ToldModel, make_shop

QUESTION = f'What about {ALERT} and "quotes" & {{{{TITLE}}}} {"long" * 200}?'


@pytest.fixture(scope="session")
def hostile(served: ServedPage) -> dict[str, str]:
    """Places of the page that are full of hostile texts."""
    sql = f'SELECT * FROM "{HOSTILE_TABLE}"'
    answer = served.ask(QUESTION, f"SELECT '{ALERT.replace(chr(39), chr(34))}' FROM nowhere", sql)
    served.api(f"answers/{answer}/reject", {"reason": ALERT})
    served.api(f"answers/{answer}/withdraw", {"reason": ALERT})
    correction = f'SELECT *, \'</script>{ALERT.replace(chr(39), chr(34))}\' AS "<i>x" FROM "{HOSTILE_TABLE}" -- {ALERT}'
    entries = served.api(f"answers/{answer}/correct", {"sql": correction})["entries"]
    quoted = HOSTILE_TABLE.replace("<", "%3C").replace(">", "%3E").replace(" ", "%20").replace("/", "%2F")
    return {
        "answer": f"#/answer/{answer}",
        "entry": f"#/memory/{entries[0]}",
        "history": "#/history",
        "memory": "#/memory",
        "review": "#/memory/review",
        "schema": "#/schema",
        "table": f"#/schema/{quoted}",
        "search": f"#/history?words={quoted}",
        "nowhere": f"#/{quoted}",
    }


VIEWS = ("answer", "entry", "history", "memory", "review", "schema", "table", "search", "nowhere")


@pytest.mark.parametrize("view", VIEWS)
def test_hostile_texts_run_nothing_and_break_no_layout(look: Looking, hostile: dict[str, str], view: str) -> None:
    look.go(hostile[view])
    look.script("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    look.settle()
    assert look.script("return window.hurt") is None
    assert look.all("main img, main script, main iframe") == []
    assert look.elsewhere() == []
    for width in (400, 1200):
        look.resize(width)
        assert look.script("return document.documentElement.scrollWidth") <= width, f"{view} at {width} px"


def test_hostile_rows_are_shown_as_they_are(look: Looking, hostile: dict[str, str]) -> None:
    look.go(hostile["answer"])
    look.until(lambda: look.all(".grid-of-rows td"))
    assert ALERT in look.texts(".grid-of-rows td")
    assert "=1+1" in look.texts(".grid-of-rows td")
    assert "NULL" in look.texts(".grid-of-rows td.null")
    assert look.script("return window.hurt") is None


def test_hostile_names_in_the_editor_stay_names(look: Looking, hostile: dict[str, str]) -> None:
    look.go(hostile["entry"])
    look.press("Edit")
    look.rewrite("SELECT 1")
    look.key(" FROM ba")
    look.chord(Keys.CONTROL, " ")
    assert look.offers("bad <img")
    assert look.script("return window.hurt") is None


def test_a_script_in_the_page_is_refused_by_its_policy(look: Looking) -> None:
    look.go()
    look.script(
        "const one = document.createElement('script'); one.textContent = 'window.hurt = 1'; document.body.append(one);"
        "const two = document.createElement('div'); two.innerHTML = '<img src=x onerror=window.hurt=1>';"
        "document.body.append(two)"
    )
    look.settle(0.3)
    assert look.script("return window.hurt") is None
    assert look.errors()  # the browser says what it refused


SETTINGS = """
[database]
name = "shop"
url = "sqlite:///shop.sqlite"

[model]
uri = "openai:told"

[memory]
scope = "personal"
"""


def token_for(folder: Path, name: str, rights: str) -> str:
    add = [sys.executable, "-m", "merit", "token", "add", name, "--may", rights]
    made = subprocess.run(add, cwd=folder, capture_output=True, text=True, check=True)
    return next(word for word in made.stdout.split() if len(word) > 30)


def test_tokens_sign_in_and_out_and_give_their_rights_alone(opened: Looking, tmp_path: Path) -> None:
    make_shop(tmp_path / "shop.sqlite")
    (tmp_path / "merit.toml").write_text(SETTINGS)
    ann, bob = token_for(tmp_path, "ann", "ask"), token_for(tmp_path, "bob", "ask,confirm,curate")
    model = ToldModel()
    with ChatServer(model) as endpoint:
        served = ServedPage(tmp_path, model, endpoint)
        served.start()
        try:
            look = Looking(opened.driver, served.address)
            look.go("#/history")
            look.sees("Sign in", "h1")
            assert not look.one("header nav").is_displayed()
            assert look.barriers_in_both_themes() == []
            look.one("#token").send_keys("wrong", Keys.ENTER)
            look.until(lambda: look.all(".sign-in .problem"))
            look.one("#token").clear()
            look.one("#token").send_keys(ann, Keys.ENTER)
            look.sees("History", "h1")
            assert ann not in look.script("return document.cookie")
            look.ask(model.tell("May I ask?", "SELECT 1 AS yes"))
            assert look.all(".judge") == []
            look.press("Sign out", "header")
            look.sees("Sign in", "h1")
            look.one("#token").send_keys(bob, Keys.ENTER)
            look.sees("May I ask?", "h1")
            share_what_was_for_one_person(look, model)
        finally:
            served.kill()


def share_what_was_for_one_person(look: Looking, model: ToldModel) -> None:
    look.ask(model.tell("May I judge?", "SELECT 2 AS yes"))
    look.key("c")
    look.sees("Confirmed by bob", ".judge")
    look.press("pre-", ".judge")
    look.sees("bob alone", ".facts")
    look.press("Share with others")
    look.sees("everyone", ".facts")
