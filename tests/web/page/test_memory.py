"""History, memory, review, exchange, schema and proof on the page."""

import csv
from functools import partial
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from making.looking import Looking
from making.page import ServedPage


def learned(served: ServedPage, question: str, sql: str) -> tuple[str, str]:
    """An answer that was confirmed, and its entry."""
    answer = served.ask(question, sql)
    [entry] = served.api(f"answers/{answer}/confirm", {})["entries"]
    return answer, str(entry)


def test_history_is_searched_and_filtered_and_its_address_keeps_that(look: Looking, served: ServedPage) -> None:
    served.ask("Where is the zebra?", "SELECT 1 AS zebra")
    learned(served, "Where is the other zebra?", "SELECT 2 AS zebra")
    look.go("#/history")
    look.one("#search").send_keys("zebra")
    look.until(lambda: look.texts(".answers .stop") == ["Where is the other zebra?", "Where is the zebra?"])
    look.one("select[name=feedback]").find_element(By.CSS_SELECTOR, "[value=confirmed]").click()
    look.until(lambda: look.texts(".answers .stop") == ["Where is the other zebra?"])
    wanted = {"words=zebra", "feedback=confirmed"}  # in the order in which they were set
    look.until(lambda: set(look.driver.current_url.partition("#/history?")[2].split("&")) == wanted)
    address = look.driver.current_url
    look.go(address.removeprefix(look.address))
    assert look.texts(".answers .stop") == ["Where is the other zebra?"]
    look.key("j", Keys.ENTER)
    look.sees("Where is the other zebra?", "article.answer h1")
    look.one("main")
    look.go("#/history?words=nothing+has+these+words")
    look.sees("Nothing fits")


def test_entries_are_found_by_grade_kind_author_and_state(look: Looking, served: ServedPage) -> None:
    _, entry = learned(served, "How many giraffes are there?", "SELECT 9 AS giraffes")
    corrected = served.ask("How many rhinos are there?", "SELECT 1 AS rhinos")
    served.api(f"answers/{corrected}/correct", {"sql": "SELECT 2 AS rhinos"})
    look.go("#/memory?words=giraffes")
    look.until(lambda: look.texts(".entries .stop") == ["How many giraffes are there?"])
    look.go("#/memory?words=rhinos&kind=positive&grade=confirmed&database=shop")
    look.until(lambda: len(look.texts(".entries .stop")) == 1)
    assert "Change that worked" in look.text(".entries")
    look.go("#/memory?words=rhinos&author=someone-else")
    look.sees("No entry fits")
    served.api(f"memory/{entry}", method="DELETE")
    look.go("#/memory?words=giraffes")
    look.sees("No entry fits")
    look.go("#/memory?words=giraffes&state=retracted")
    look.sees("How many giraffes are there?", ".entries")


def test_an_entry_is_retracted_after_its_consequences_and_restored(look: Looking, served: ServedPage) -> None:
    _, entry = learned(served, "How many pandas are there?", "SELECT 4 AS pandas")
    later = served.ask("How many pandas are there today?", "SELECT 4 AS pandas")
    assert entry in served.api(f"answers/{later}")["recalled"]
    look.go(f"#/memory/{entry}")
    look.sees("How many pandas are there today?", ".uses")
    look.key("x")
    look.sees("How many pandas are there today?", "#question")
    assert served.api(f"memory/{entry}")["state"] == "live"
    look.press("Cancel", "#question")
    look.until(lambda: not look.script("return document.getElementById('question').open"))
    look.key("x")
    look.sees("rests on it", "#question")
    look.press("Retract", "#question")
    look.sees("Restore")
    assert served.api(f"memory/{entry}")["state"] == "retracted"
    look.press("Restore")
    look.sees("Retract…")
    assert served.api(f"memory/{entry}")["state"] == "live"


def test_an_entry_is_edited_and_what_does_not_run_is_refused(look: Looking, served: ServedPage) -> None:
    _, entry = learned(served, "How many koalas are there?", "SELECT 5 AS koalas")
    look.go(f"#/memory/{entry}")
    look.key("e")
    look.until(lambda: look.script("return document.activeElement.tagName") == "TEXTAREA")
    look.key(" Alive?")
    look.rewrite("SELECT nowhere")
    look.press("Keep")
    look.sees("no such column: nowhere", ".edit-form")
    look.rewrite("SELECT 6 AS koalas")
    look.press("Keep")
    look.until(lambda: entry not in look.driver.current_url)
    look.sees("How many koalas are there? Alive?", "h1")
    assert served.api(f"memory/{entry}")["state"] == "retracted"
    look.errors()  # the refused statement is answered with status 400


def test_what_waits_for_a_person_is_reviewed_in_place(look: Looking, served: ServedPage) -> None:
    wait = [served.ask(f"Is review number {number} right?", f"SELECT {number} AS n") for number in (1, 2)]
    look.go("#/memory/review")
    for answer, button, kind in ((wait[0], "Confirm", "confirmed"), (wait[1], "Reject", "rejected")):
        line = next(one for one in look.all(".to-review") if f"#/answer/{answer}" in one.get_attribute("innerHTML"))
        press = next(one for one in line.find_elements(By.TAG_NAME, "button") if one.text == button)
        done = len(look.all(".to-review.done"))
        look.script("arguments[0].click()", press)
        look.until(partial(lambda before: len(look.all(".to-review.done")) > before, done))
        assert served.api(f"answers/{answer}")["feedback"]["kind"] == kind


def test_contradictions_are_said_at_once_and_come_first_in_review(look: Looking, served: ServedPage) -> None:
    _, first = learned(served, "How many camels have we got?", "SELECT 1 AS camels")
    look.ask(served.model.tell("How many camels have we got?", "SELECT 2 AS camels"))
    look.key("c")
    look.sees("1 contradiction", ".outcome")
    assert first in look.text(".outcome")
    look.go("#/memory/review")
    found = look.text(".contradictions")
    assert "How many camels have we got?" in found
    assert "SELECT 1" in found
    assert "SELECT 2" in found


def test_pairs_come_in_and_go_out(look: Looking, served: ServedPage, downloads: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("question,sql\nHow many otters?,SELECT 8 AS otters\nHow many owls?,SELECT owls\n")
    look.go("#/memory/exchange")
    look.one("input[type=file]").send_keys(str(pairs))
    look.press("Only check")
    look.sees("Would be imported")
    assert served.api("memory?words=otters&state=all")["entries"] == []
    look.press("Import", "form")
    look.sees("Done")
    look.sees("no such column: owls")
    assert len(served.api("memory?words=otters")["entries"]) == 1
    look.go("#/memory/review")
    look.sees("How many otters?", ".review")
    for path in downloads.glob("merit-csv*"):
        path.unlink()
    _, entry = learned(served, "How many seals?", "SELECT 3 AS seals")
    assert entry
    look.go("#/memory/exchange")
    look.press("Export", "form")
    path = look.until(lambda: next(downloads.glob("merit-csv*.csv"), None))
    look.until(lambda: path.stat().st_size)
    assert ["How many seals?"] in [row[:1] for row in csv.reader(path.read_text().splitlines())]


def test_the_schema_is_browsed_with_what_is_known(look: Looking, served: ServedPage) -> None:
    learned(served, "How many customers are there?", "SELECT count(*) FROM customers")
    look.go("#/schema")
    assert "customers" in look.texts(".tables .stop")
    look.one("#search").send_keys("stock")
    look.until(lambda: look.texts(".tables .stop") == ["items"])
    look.go("#/schema/orders")
    assert look.text("h1") == "orders"
    assert "→ customers.id" in look.text(".columns-of-table")
    look.go("#/schema/customers")
    assert "Berlin" in look.text(".columns-of-table")
    look.sees("How many customers are there?", ".entries")


def test_proof_says_its_cost_first_and_becomes_a_picture(look: Looking, served: ServedPage) -> None:
    learned(served, "How many whales are there?", "SELECT 2 AS whales")
    look.go("#/proof")
    look.press("Prove")
    look.sees("would be asked again", "#question")
    look.press("Prove it", "#question")
    look.until(lambda: look.all(".proof-picture svg rect.bar"), 30)
    look.sees("confirmed question", ".proof-picture")
    turns = len(served.api("proof")["last"]["turns"])
    assert len(look.all(".turns li")) == turns
    look.until(lambda: look.all(".proof-picture .whisker"))
