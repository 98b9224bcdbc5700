"""Asking on the page: attempts as they happen, rows, charts, and what a person says about an answer."""

import csv
from pathlib import Path
from typing import Any

import pyarrow.parquet
from selenium.webdriver.common.keys import Keys

from making.clock import STALL_S
from making.looking import Looking
from making.page import ServedPage

OPEN = "SELECT count(*) AS number FROM orders WHERE state = 'open'"
BY_CITY = (
    "SELECT city, count(*) AS orders FROM orders JOIN customers ON customers.id = orders.customer_id GROUP BY city"
)


def test_attempts_are_seen_as_they_happen_with_their_changes(look: Looking, served: ServedPage) -> None:
    wrong, right = "SELECT name FROM item WHERE stok = 0", "SELECT name FROM items WHERE stock > 0"
    question = served.model.tell("Which items are there?", wrong, right, right, held_from=2)
    look.go()
    look.one("#ask").send_keys(question, Keys.ENTER)
    look.sees("Asking the model for candidate 2", ".progress")
    assert look.text("h1") == question
    assert "items: there is no such" not in look.text(".candidate")
    assert look.texts(".candidate .grounding li") == [
        "item: there is no such table; items is",
        "stok: there is no such column; items has stock",
    ]
    assert look.texts(".candidate del") == ["item", "stok"]
    assert look.texts(".candidate ins") == ["items", "stock"]
    served.model.go.set()
    look.until(lambda: "#/answer/" in look.driver.current_url)
    look.sees("How it was found")
    assert look.script("return document.activeElement.tagName") == "H1"
    assert "desk" in look.text(".grid-of-rows")


def test_a_question_under_way_is_stopped_by_a_key_and_asked_again(look: Looking, served: ServedPage) -> None:
    question = served.model.tell("How long does it take?", "SELECT 1 AS one", held_from=1)
    look.go()
    look.one("#ask").send_keys(question, Keys.ENTER)
    look.sees("candidate 1", ".progress")
    look.script("document.activeElement.blur()")
    look.key(Keys.ESCAPE)
    look.sees("Ask again")
    served.model.go.set()
    look.press("Ask again")
    look.until(lambda: "#/answer/" in look.driver.current_url)


def test_what_cannot_be_answered_and_what_fails_say_why(look: Looking, served: ServedPage) -> None:
    look.ask(served.model.tell("Who works here?", "-- UNANSWERABLE: there is nothing about employees"))
    look.sees("No answer in the database")
    assert "there is nothing about employees" in look.text("header .reason, .reason")
    look.ask(served.model.tell("What is the frobnication?", "SELECT frobnicate(1)"))
    look.sees("Failed")
    assert "no such function: frobnicate" in look.text("article")


def test_thousands_of_rows_scroll_sort_and_are_read_by_keys(look: Looking, served: ServedPage) -> None:
    look.ask(served.model.tell("List the orders", "SELECT id, state, total FROM orders ORDER BY id"))
    look.sees("5,000 rows")
    assert look.one(".grid-of-rows").get_attribute("aria-rowcount") == "5001"
    assert len(look.all(".grid-of-rows tbody tr")) < 80
    look.script("document.querySelector('.grid-of-rows').focus()")
    look.chord(Keys.CONTROL, Keys.END)
    look.until(
        lambda: "5000" in look.text(".grid-of-rows tbody tr:last-of-type") or "5000" in look.text(".grid-of-rows")
    )
    assert look.script("return document.querySelector('.grid-of-rows .active').getAttribute('data-at')") == "4999,2"
    assert len(look.all(".grid-of-rows tbody tr")) < 80
    took = look.script(
        "const start = performance.now(); document.querySelectorAll('.grid-of-rows th button')[2].click();"
        "return performance.now() - start"
    )
    assert took < 500 + STALL_S * 1000, f"sorting 5,000 rows took {took} ms"
    assert look.all(".grid-of-rows th")[2].get_attribute("aria-sort") == "ascending"
    look.chord(Keys.CONTROL, Keys.HOME)
    look.key("s")
    look.until(lambda: look.all(".grid-of-rows th")[0].get_attribute("aria-sort") == "ascending")
    look.key("s")
    look.until(lambda: look.texts(".grid-of-rows tbody tr:first-child td")[:1] == ["5000"])


def test_a_chart_where_the_result_suits_one(look: Looking, served: ServedPage) -> None:
    look.ask(served.model.tell("Orders by city", BY_CITY))
    look.press("Chart")
    look.until(lambda: len(look.all(".charts rect.bar")) == 4)
    assert "Hamburg" in look.texts(".charts .names text")
    plot = look.one(".charts svg")
    look.script("arguments[0].focus()", plot)
    plot.send_keys(Keys.ARROW_RIGHT)
    look.until(lambda: "orders" in look.text(".tip"))
    by_month = "SELECT substr(ordered, 1, 7) AS month, sum(total) AS sales FROM orders GROUP BY month"
    look.ask(served.model.tell("Sales by month", by_month))
    look.press("Chart")
    look.until(lambda: look.all(".charts path.line"))
    look.ask(served.model.tell("Names only", "SELECT name FROM customers"))
    look.sees("40 rows")
    assert "Chart" not in look.texts(".result-tools button")


def test_rows_are_downloaded_as_csv_and_parquet(look: Looking, served: ServedPage, downloads: Path) -> None:
    look.ask(served.model.tell("Orders by city to take home", BY_CITY))
    look.press("CSV")
    look.until(lambda: [one for one in downloads.glob("*.csv") if one.stat().st_size])
    look.press("Parquet")
    look.until(lambda: [one for one in downloads.glob("*.parquet") if one.stat().st_size])
    [csv_path], [parquet_path] = downloads.glob("*.csv"), downloads.glob("*.parquet")
    rows = list(csv.reader(csv_path.read_text().splitlines()))
    assert rows[0] == ["city", "orders"]
    assert len(rows) == 5
    assert pyarrow.parquet.read_table(parquet_path).column_names == ["city", "orders"]


def test_a_confirmed_answer_is_recalled_by_the_next_question_and_says_why(look: Looking, served: ServedPage) -> None:
    answer = look.ask(served.model.tell("How many orders are open?", OPEN))
    look.key("c")
    look.sees("Confirmed by", ".judge")
    [entry] = served.api(f"answers/{answer}")["feedback"]["entries"]
    assert entry in look.text(".judge")
    question = served.model.tell("How many orders are open now?", OPEN, held_from=2)
    look.go()
    look.one("#ask").send_keys(question, Keys.ENTER)
    look.sees("How many orders are open?", ".recalled-list")
    assert "confirmed" in look.text(".recalled")
    assert "score" in look.text(".recalled .why")
    served.model.go.set()
    look.until(lambda: "#/answer/" in look.driver.current_url)
    look.sees("What it rests on: ")


def test_an_answer_is_rejected_with_a_reason_and_the_word_taken_back(look: Looking, served: ServedPage) -> None:
    answer = look.ask(served.model.tell("How many lamps are sold?", "SELECT 7 AS lamps"))
    look.key("r")
    look.until(lambda: look.script("return document.activeElement.type") == "text")
    look.key("lamps are not counted so", Keys.ENTER)
    look.sees("lamps are not counted so", ".judge")
    assert served.api(f"answers/{answer}")["feedback"]["kind"] == "rejected"
    look.press("Take it back")
    look.until(lambda: look.script("return document.activeElement.type") == "text")
    look.key(Keys.ENTER)
    look.sees("Is this right?", ".judge")
    assert served.api(f"answers/{answer}")["feedback"] is None


def test_a_correction_is_written_with_the_schemas_names_tried_and_kept(look: Looking, served: ServedPage) -> None:
    answer = look.ask(served.model.tell("How many customers live in Berlin?", "SELECT count(*) FROM customers"))
    look.key("e")
    look.one(".ace_text-input")
    look.until(lambda: look.script("return document.activeElement.className").startswith("ace_text-input"))
    look.chord(Keys.CONTROL, "a")
    look.key("SELECT count(*) FROM cust")
    assert look.offers("customers")
    look.key(Keys.ENTER, " WHERE customers")
    look.settle(0.3)  # no person types faster than the suggestions follow
    look.key_offering(".", "city")
    look.key("city = 'Berlin' AND nowhere", Keys.ESCAPE)
    look.press("Try it")
    look.sees("no such column: nowhere", ".checked")
    look.press("Keep the correction")
    look.sees("no such column: nowhere", ".correct-form .actions")
    look.rewrite("SELECT count(*) FROM customers WHERE city = 'Berlin'")
    look.chord(Keys.CONTROL, Keys.ENTER)
    look.sees("Corrected by", ".judge")
    said = served.api(f"answers/{answer}")["feedback"]
    assert said["sql"] == "SELECT count(*) FROM customers WHERE city = 'Berlin'"
    assert len(said["entries"]) == 2
    look.errors()  # the refused correction is answered with status 400, which the browser logs


def test_the_keyboard_leaves_the_editor_and_it_works_as_a_text_field(look: Looking, served: ServedPage) -> None:
    answer = look.ask(served.model.tell("How many rugs are there?", "SELECT 2 AS rugs"))
    look.key("e")
    look.until(lambda: look.script("return document.activeElement.className").startswith("ace_text-input"))
    look.key(Keys.TAB)
    look.until(lambda: look.script("return document.activeElement.innerText") == "Keep the correction")
    look.driver.execute_cdp_cmd("Network.enable", {})
    look.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/assets/ace*"]})
    look.driver.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
    try:
        look.go(f"#/answer/{answer}")
        look.press("Correct")
        field = look.one("textarea.code")
        look.until(lambda: look.script("return document.activeElement.className") == "code")
        field.send_keys(Keys.CONTROL + "a", "SELECT 1 AS rugs")
        look.press("Keep the correction")
        look.sees("Corrected by", ".judge")
    finally:
        look.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
        look.driver.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": False})
    look.errors()  # of the blocked files


def test_without_memory_is_shown_side_by_side(look: Looking, served: ServedPage) -> None:
    known = served.ask("How many desks do we have?", "SELECT 3 AS desks")
    served.api(f"answers/{known}/confirm", {})
    look.ask(served.model.tell("How many desks are there?", "SELECT 3 AS desks"))
    served.model.tell("How many desks are there?", "SELECT 5 AS desks")
    look.press("Ask again without memory")
    look.sees("Other rows: the memory changed the answer.")
    heads = [words.split("\n")[0] for words in look.texts(".comparing figure")]
    assert heads == ["With memory Answered", "Without memory Answered"]
    assert look.texts(".comparing ins") == ["5"]


def test_a_follow_up_goes_on_from_its_answer(look: Looking, served: ServedPage) -> None:
    first = look.ask(served.model.tell("Which cities are there?", "SELECT DISTINCT city FROM customers"))
    question = served.model.tell("And how many?", "SELECT count(DISTINCT city) FROM customers")
    look.one("#follow-up").send_keys(question, Keys.ENTER)
    look.sees(question, "h1")
    look.until(lambda: "#/answer/" in look.driver.current_url and first not in look.driver.current_url)
    answer: Any = served.api(f"answers/{look.driver.current_url.rsplit('/', 1)[1]}")
    assert answer["earlier"] == [first]


def test_a_lost_connection_is_said_and_the_page_goes_on_when_the_server_is_back(
    look: Looking, served: ServedPage
) -> None:
    question = served.model.tell("Is anybody there?", "SELECT 1 AS yes", held_from=1)
    look.go()
    look.one("#ask").send_keys(question, Keys.ENTER)
    look.sees("candidate 1", ".progress")
    served.kill()
    look.sees("The server cannot be reached", "#connection")
    look.sees("The connection was lost while this was under way")
    look.driver.execute_script("location.hash = '#/history'")
    look.sees("The server cannot be reached", "h1")
    served.model.go.set()
    served.start()
    look.sees("Connected again", "#connection")
    look.sees("List the orders", ".answers")  # the view that could not be shown comes by itself
    look.driver.execute_script("location.hash = '#/'")
    look.sees("was not answered; ask it again")
    look.press("Ask again")
    look.until(lambda: "#/answer/" in look.driver.current_url)
    look.errors()  # of requests to a server that was gone
