"""The page in a real browser, as a person goes through it: tables, plots, episodes, diffs, recalls, prompts, and back."""

import json
import random
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from making.benchmark import ITEMS, FickleModel
from making.browser import browser, find_browser, look_like
from making.clock import COMES_S
from making.episodes import changed, statement
from making.outcomes import NO_COLUMN, RIGHT, WRONG, Tried, write_run
from making.reports import letters, questions, write_all
from making.runs import make_bench
from merit.agent import METHODS as ALL_METHODS
from merit.cli.references import answers
from merit.memory import entries_in
from merit.report import build
from merit.report.page import write_page
from merit.runs import ReviewPolicy, RunView, Turn, account
from merit.runs.retrievals import recall_summaries
from merit.types import Question, ReviewKind, ReviewOutcome

pytestmark = pytest.mark.skipif(
    find_browser() is None, reason="no browser: install chromium and chromium-driver, or set MERIT_BROWSER"
)
METHODS = ("zero_shot", "iterative", "vanilla", "reflexion", "dynamic_rag", "merit", "transductive_batch")
OURS = (
    "resample",
    "precedent",
    "precedent:history=true,precedents=2,greedy_first=true",
    "merit:temperature=0.8,draws=2",
    "reflexion:temperature=0.8,draws=2",
)
VOTING = ("resample", "precedent", "precedent:history=true", "merit")
REVIEWED = ("precedent-corrections", "merit-corrections", "merit-thumbs")


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture
def window(driver: Any) -> Iterator[Any]:
    """The browser, for a test that gives it another size or other colours."""
    yield driver
    look_like(driver)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[RunView]:
    folder = tmp_path_factory.mktemp("runs")
    spider, bird = make_bench(folder / "spider"), make_bench(folder / "bird", layout="bird")
    found = [spider.run(folder / name, name) for name in (*METHODS, *OURS)]
    found += [spider.run(folder / f"votes-{name}", name, regime="dbms_only") for name in VOTING]
    found += [bird.run(folder / f"{name}-bird", name) for name in ("merit", "precedent")]
    return [*found, spider.run(folder / "merit-1", "merit", seed=1)]


@pytest.fixture(scope="module")
def page(runs: list[RunView], tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(build(runs), runs, path)
    return path.as_uri()


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[RunView]]:
    """A page of reviewed runs, and the runs."""
    folder = tmp_path_factory.mktemp("reviewed")
    bench, views = make_bench(folder), []
    for name in REVIEWED:
        method, _, kind = name.partition("-")
        review, model = ReviewPolicy(0.8, ReviewKind(kind)), FickleModel(luck=3)
        views.append(bench.run(folder / name, method, model=model, regime="reviewed", review=review))
    write_page(build(views), views, folder / "report.html")
    return (folder / "report.html").as_uri(), views


def until(driver: Any, seen: Callable[[], Any]) -> Any:
    return WebDriverWait(driver, COMES_S, poll_frequency=0.03).until(lambda _: seen())


def go(driver: Any, page: str, place: str = "#/") -> None:
    driver.get("about:blank")
    driver.get(page + place)
    driver.execute_async_script("const done = arguments[0]; merit.ready.then(() => done())")


def all_of(driver: Any, selector: str) -> list[Any]:
    return list(driver.find_elements(By.CSS_SELECTOR, selector))


def texts(driver: Any, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
    return list(driver.execute_script(script, selector))


def press(driver: Any, *keys: str) -> None:
    for key in keys:
        driver.switch_to.active_element.send_keys(key)


def proofs(driver: Any) -> list[str]:
    """Open every prompt of an episode; says for each whether it has the recorded hash."""
    driver.execute_script("document.querySelectorAll('.aside > details').forEach((one) => (one.open = true))")
    script = "return [...document.querySelectorAll('.aside > details > .body')].every((one) => one.childElementCount)"
    until(driver, lambda: driver.execute_script(script))
    prompts = driver.execute_script(
        "const found = [...document.querySelectorAll('details.prompt')];"
        "found.forEach((one) => (one.open = true)); return found.length"
    )
    until(driver, lambda: len(all_of(driver, "details.prompt [data-same]")) == prompts)
    return [one.get_attribute("data-same") for one in all_of(driver, "details.prompt [data-same]")]


def test_a_table_sorts_both_ways_and_says_so(driver: Any, page: str) -> None:
    go(driver, page)
    assert texts(driver, ".block > h2")[0] == "Execution accuracy"
    head = driver.find_element(By.CSS_SELECTOR, "[id='table/runs'] thead th:nth-child(6)")

    def values() -> list[float]:
        return [float(text.rstrip("%")) for text in texts(driver, "[id='table/runs'] tbody td:nth-child(6)")]

    head.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert values() == sorted(values(), reverse=True)
    head.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert values() == sorted(values())


def test_a_plot_tells_values_by_pointer_and_keyboard_and_series_go_and_come(driver: Any, page: str) -> None:
    go(driver, page, "#/figure/steps-spider-1")
    figure = driver.find_element(By.ID, "figure/steps-spider-1")
    until(driver, lambda: figure.find_elements(By.CSS_SELECTOR, "path.line"))
    lines = len(figure.find_elements(By.CSS_SELECTOR, "path.line"))
    plot = figure.find_element(By.CSS_SELECTOR, ".plot svg")
    driver.execute_script("arguments[0].focus()", plot)
    plot.send_keys(Keys.ARROW_RIGHT)
    tip = figure.find_element(By.CSS_SELECTOR, ".tip")
    first = until(driver, lambda: tip.text)
    plot.send_keys(Keys.ARROW_RIGHT)
    assert until(driver, lambda: tip.text != first)
    driver.execute_script(
        "const box = arguments[0].getBoundingClientRect(); arguments[0].dispatchEvent(new PointerEvent('pointermove',"
        "{ clientX: box.left + 60, clientY: box.top + 50 }))",
        plot,
    )
    assert tip.is_displayed()
    button = figure.find_element(By.CSS_SELECTOR, ".legend button")
    assert button.text in driver.execute_script("return document.getElementById('figure/steps-spider-1').textContent")
    driver.execute_script("arguments[0].click()", button)
    assert button.get_attribute("aria-pressed") == "false"
    assert len(figure.find_elements(By.CSS_SELECTOR, "path.line")) == lines - 1
    driver.execute_script("arguments[0].click()", button)
    assert len(figure.find_elements(By.CSS_SELECTOR, "path.line")) == lines


def test_a_reliability_diagram_has_a_line_to_compare_with_and_says_how_many_answers_a_point_is_of(
    driver: Any, page: str
) -> None:
    go(driver, page)
    (figure,) = all_of(driver, "[id='table/reliability'] [id^='figure/reliability']")
    assert all_of(driver, "[id='table/confidence'] [id^='figure/coverage'] path.line")
    assert len(figure.find_elements(By.CSS_SELECTOR, "path.guide")) == 1
    assert len({one.get_attribute("r") for one in figure.find_elements(By.CSS_SELECTOR, ".plot circle.dot")}) > 1
    plot = figure.find_element(By.CSS_SELECTOR, ".plot svg")
    driver.execute_script("arguments[0].focus()", plot)
    plot.send_keys(Keys.ARROW_RIGHT)
    tip = figure.find_element(By.CSS_SELECTOR, ".tip")
    assert re.search(r"of \d+ answers?$", until(driver, lambda: tip.text))
    assert "As sure as right" not in tip.text


def test_from_a_table_to_an_episode_its_diff_its_recalls_and_back(driver: Any, page: str) -> None:
    go(driver, page)
    driver.find_element(By.CSS_SELECTOR, "[id='table/main'] a[href*='method=merit']").click()
    until(driver, lambda: all_of(driver, ".sheet"))
    press(driver, "g")  # from the grid to the list
    until(driver, lambda: all_of(driver, "a.row"))
    assert "method=merit" in driver.current_url
    assert set(texts(driver, "td.method")) == {"MERIT"}
    rows = [row for row in all_of(driver, "table.episodes tbody tr") if "recalled" in row.text]
    rows[-1].find_element(By.CSS_SELECTOR, "a.row").click()
    until(driver, lambda: all_of(driver, "article.episode"))
    address = driver.current_url
    assert "#/episode/" in address
    assert all_of(driver, ".attempt .diff ins") or all_of(driver, ".attempt .diff del")
    driver.execute_script("document.querySelectorAll('.recall').forEach((one) => (one.open = true))")
    until(driver, lambda: all_of(driver, ".matches tbody"))
    scores = texts(driver, ".matches tbody tr:first-child td.number")[:6]
    assert all(float(one) >= 0 for one in scores[:5])  # score, dense, normalised, lexical, normalised
    assert "stored" in texts(driver, ".pool .sizes")[0]
    mine = driver.execute_script("return document.querySelector('h1').textContent")
    driver.execute_script("document.querySelector('.matches th a').click()")
    until(driver, lambda: driver.current_url != address and all_of(driver, ".left"))
    until(driver, lambda: mine in texts(driver, ".users a"))  # linked both ways
    driver.execute_script(
        "[...document.querySelectorAll('.users a')].find((one) => one.textContent === arguments[0]).click()", mine
    )
    until(driver, lambda: driver.current_url == address)
    driver.back()
    driver.back()
    driver.back()
    until(driver, lambda: all_of(driver, "a.row"))


def address_of(view: RunView, turn: Turn) -> str:
    name = f"{view.identity.dataset.name}-{view.method.name}-{view.identity.seed}-{view.manifest.run[:6]}"
    return f"#/episode/{quote(name, safe='')}/{turn.episode.task.question.id}"


def named(runs: list[RunView], name: str) -> RunView:
    return next(view for view in runs if view.path.name == name)


@pytest.mark.parametrize(
    "method", [*METHODS[1:], *OURS, *(f"votes-{name}" for name in VOTING), "merit-bird", "precedent-bird"]
)
def test_every_prompt_is_exactly_the_one_that_was_asked(
    driver: Any, page: str, runs: list[RunView], method: str
) -> None:
    view = named(runs, method)
    longest = max(view.turns[::-1], key=lambda turn: (turn.recalls, len(turn.episode.attempts)))
    asked = len(longest.episode.attempts) - 1 + len(longest.episode.reflections)
    go(driver, page, address_of(view, longest))
    assert asked > (1 if method == "votes-merit" else 3)  # it ends with the first candidate that runs
    assert proofs(driver) == ["true"] * asked


def test_notes_and_lessons_of_related_methods_are_shown(driver: Any, tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    views = [bench.run(tmp_path / name, name, model=FickleModel(luck=3)) for name in ("critic", "magic")]
    write_page(build(views), views, tmp_path / "report.html")
    page = (tmp_path / "report.html").as_uri()
    critic = max(views[0].turns, key=lambda turn: len(turn.episode.attempts))
    go(driver, page, address_of(views[0], critic))
    assert texts(driver, ".reflection h3") == ["Note"] * (len(critic.episode.attempts) - 1)
    assert texts(driver, ".reflection .thought") == [note.text for note in critic.episode.reflections]
    driver.execute_script("document.querySelectorAll('details.prompt').forEach((one) => (one.open = true))")
    said = "details.prompt .body"
    until(driver, lambda: all("Made by the method critic; SHA-256" in text for text in texts(driver, said)))
    magic = next(turn for turn in views[1].turns[::-1] if turn.recalls)
    go(driver, page, address_of(views[1], magic))
    driver.execute_script("document.querySelectorAll('.recall').forEach((one) => (one.open = true))")
    until(driver, lambda: all_of(driver, ".recall .entry .thought"))
    lessons = {turn.episode.lesson for turn in views[1].turns}
    assert set(texts(driver, ".recall .entry .thought")) <= lessons
    assert not [one for one in driver.get_log("browser") if one["level"] == "SEVERE"]


def test_an_episode_with_precedents_shows_answers_and_what_was_set_aside(
    driver: Any, page: str, runs: list[RunView]
) -> None:
    view = named(runs, "precedent")
    turns = {turn.entry: turn for turn in view.turns if turn.entry}
    turn = next(
        turn for turn in view.turns[::-1] if turn.recalls > 3 and any(one.repeat for one in turn.episode.attempts)
    )
    attempts = turn.episode.attempts
    go(driver, page, address_of(view, turn))
    aside = [i for i, one in enumerate(attempts) if one.repeat]
    beginnings = [i for i in aside if i - 1 not in aside]
    assert len(all_of(driver, "section.aside")) == len(beginnings)
    assert len(all_of(driver, "section.attempt:not(.aside)")) == len(attempts) - len(aside)
    assert f"{len(aside)} more set aside" in texts(driver, ".ended")[0]
    assert all("not counted in the budget" in text for text in texts(driver, ".aside summary"))
    said = texts(driver, ".aside summary")[0]
    assert said.startswith(f"Attempt {aside[0]} " if aside[0] + 1 not in aside else f"Attempts {aside[0]} to ")
    assert "not judged again" in said
    driver.execute_script("document.querySelectorAll('.recall').forEach((one) => (one.open = true))")
    until(driver, lambda: all_of(driver, ".recall .pool"))
    record = next(
        one
        for one in map(json.loads, (view.path / "retrievals.jsonl").read_text().splitlines())
        if one["question_id"] == turn.episode.task.question.id
    )
    (pool,) = record["pools"]
    sizes = texts(driver, ".recall .sizes")[0]
    assert sizes.startswith(f"{pool['stored']} stored{pool['legal']} legal{pool['size']} pool")
    assert "a bonus of 2 for the same database" in sizes
    sources = [turns[match["entry"]] for match in pool["matches"]]
    asked = texts(driver, ".recall .asked")[: len(sources)]
    assert asked == [source.episode.task.question.text for source in sources]  # the nearest first
    shown = texts(driver, ".recall .entry .sql")[: len(sources)]
    assert ["".join(one.split()) for one in shown] == ["".join(one.episode.final.sql.split()) for one in sources]
    go(driver, page, address_of(view, sources[0]))
    assert "A precedent, confirmed (" in texts(driver, ".left")[0]
    assert turn.episode.task.question.text in texts(driver, ".users a")


@pytest.mark.parametrize("name", REVIEWED)
def test_every_prompt_with_reviewed_entries_is_the_one_that_was_asked(
    driver: Any, reviewed: tuple[str, list[RunView]], name: str
) -> None:
    page, views = reviewed
    view = named(views, name)
    looks = recall_summaries(view) or {}
    shown = [turn for turn in view.turns if any(look.entries for look in looks.get(turn.episode.task.question.id, ()))]
    for turn in shown[-2:]:
        go(driver, page, address_of(view, turn))
        assert proofs(driver) == ["true"] * (len(turn.episode.attempts) - 1)
    assert shown


def test_what_a_reviewer_said_and_what_was_learned_from_it_is_shown(
    driver: Any, reviewed: tuple[str, list[RunView]]
) -> None:
    page, views = reviewed
    view = named(views, "precedent-corrections")
    said = {turn.review.said if turn.review else None: turn for turn in reversed(view.turns)}
    assert set(said) == {None, ReviewOutcome.CONFIRMED, ReviewOutcome.CORRECTED}
    for word, turn in said.items():
        go(driver, page, address_of(view, turn))
        shown = texts(driver, ".left")[0]
        assert (f"The simulated reviewer {word} this answer" in shown) == (word is not None)
        assert ("Not drawn for review" in shown) == (word is None)
        assert ("A precedent, confirmed (" in shown) == (word is not None)
        assert ("A change that worked, confirmed (" in shown) == (word is ReviewOutcome.CORRECTED)
    review = said[ReviewOutcome.CORRECTED].review
    go(driver, page, address_of(view, said[ReviewOutcome.CORRECTED]))
    assert review is not None
    assert "".join(str(review.sql).split()) in "".join(texts(driver, ".left .entry .sql")[0].split())


def test_runs_that_hear_less_are_told_apart(driver: Any, page: str) -> None:
    go(driver, page, "#/")
    until(driver, lambda: all_of(driver, "#runs-title"))
    shown = driver.execute_script("return document.body.innerText")
    assert "Resample, told only what runs" in shown
    assert "denotation_confirmed" not in shown.replace('"denotation_confirmed"', "")


def test_a_vote_shows_who_agrees_what_stands_and_what_is_poisoned(driver: Any, page: str, runs: list[RunView]) -> None:
    view = named(runs, "votes-precedent")
    voted = [turn for turn in view.turns if turn.entry and len(turn.episode.attempts) > 3]
    turn = next(turn for turn in voted if not turn.final_correct)
    attempts = turn.episode.attempts
    go(driver, page, address_of(view, turn))
    assert texts(driver, "h2 .stands") == ["stands"]
    heading = driver.execute_script("return document.querySelector('h2 .stands').closest('h2').id")
    assert heading == f"attempt-{turn.episode.chosen}"
    result = attempts[turn.episode.chosen].verdict.result
    alike = [i for i, one in enumerate(attempts) if one.verdict.result == result]
    (stood,) = texts(driver, ".votes li.stands")
    assert f"{len(alike)} vote" in stood
    assert f": attempt {', '.join(map(str, alike))} · stands" in stood
    results = [one.verdict.result for one in attempts if one.verdict.satisfied]
    failed = len(attempts) - len(results)
    assert len(texts(driver, ".votes li")) == len(set(results)) + bool(failed)
    assert "Poisoned: kept as right, but the judge calls it wrong" in texts(driver, ".left")[0]
    quarantined = next((one for one in voted if one.entry and grade_in_files(view, one) == "executed"), None)
    assert quarantined is not None
    go(driver, page, address_of(view, quarantined))
    assert "In quarantine: only what is agreed or surer is recalled." in texts(driver, ".left")[0]
    assert "Never recalled" in texts(driver, ".left")[0]


def grade_in_files(view: RunView, turn: Turn) -> str:
    """The grade in the memory's own files."""
    return next(one.entry.grade for one in entries_in(view.path / "memory") if one.entry.id == turn.entry)


OUTCOMES = {(True, True): "right at once", (False, True): "repaired", (False, False): "wrong", (True, False): "wrong"}


def test_the_grid_has_every_outcome_and_leads_to_its_episode(driver: Any, page: str, runs: list[RunView]) -> None:
    go(driver, page, "#/episodes")
    assert len(all_of(driver, ".sheet")) == 2  # a stream of questions each
    cells = driver.execute_script(
        "return [...document.querySelectorAll('.sheet a.cell')].map("
        "(one) => [decodeURIComponent(one.hash), one.getAttribute('aria-label'), one.textContent])"
    )
    expected = {
        unquote(address_of(view, turn)): OUTCOMES[turn.initial_correct, turn.final_correct]
        for view in runs
        for turn in view.turns
        if turn.phase == "answer"
    }
    assert {place: label.partition(": ")[2].split(" after")[0].rstrip(".") for place, label, _ in cells} == expected
    signs = {label.partition(": ")[2].split(" after")[0].rstrip("."): sign for _, label, sign in cells}
    assert len(set(signs.values())) == 3  # told apart without colour
    heads = texts(driver, ".matrix:last-child .sheet .group")
    assert heads.index("Iterative") < heads.index("MERIT") < heads.index("Precedent")


def test_cells_stand_beside_their_questions(driver: Any, page: str) -> None:
    go(driver, page, "#/episodes")
    gaps = driver.execute_script(
        "return [...document.querySelectorAll('.rows .line')].map((line) => { const text = document.createRange();"
        "text.selectNodeContents(line.querySelector('.asked'));"
        "return line.querySelector('.cell').getBoundingClientRect().left - text.getBoundingClientRect().right; })"
    )
    assert len(gaps) > 10
    assert 0 <= min(gaps) < 100  # the longest question has its room, and no more


def test_no_two_methods_look_alike_in_a_figure(driver: Any, tmp_path: Path) -> None:
    views = write_all(tmp_path / "runs", letters(6, 1, tuple(ALL_METHODS)), questions(6))
    write_page(build(views), views, tmp_path / "report.html")
    go(driver, (tmp_path / "report.html").as_uri(), "#/")
    looks = driver.execute_script(
        "return [...document.querySelectorAll('figure, section')].map((one) => [...one.querySelectorAll("
        "':scope .legend button line')].map((line) => { const style = getComputedStyle(line);"
        "return `${style.stroke} ${style.strokeDasharray}`; })).filter((found) => found.length)"
    )
    assert max(map(len, looks)) == len(ALL_METHODS) > 12
    assert all(len(set(found)) == len(found) for found in looks)


def test_squares_and_ranks_say_what_they_are(driver: Any, page: str, runs: list[RunView]) -> None:
    go(driver, page, "#/episodes?as=list")
    assert "attempts" in texts(driver, ".meanings .term")
    view = named(runs, "merit")
    turn = next(turn for turn in reversed(view.turns) if turn.recalls)  # by then there is something to recall
    go(driver, page, address_of(view, turn))
    summary = next(one for one in all_of(driver, "summary") if one.text.startswith("The same question in "))
    summary.click()
    until(driver, lambda: texts(driver, ".across .term") == ["attempts"])
    driver.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    until(driver, lambda: all_of(driver, "td.rank"))
    assert {one.get_attribute("data-label") for one in all_of(driver, "td.rank")} == {"rank"}


def test_a_run_that_was_limited_is_explained(driver: Any, tmp_path: Path) -> None:
    asked = questions(6)
    view = write_run(
        tmp_path / "run", asked, "iterative", {one.id: [Tried("SELECT 1", RIGHT)] for one in asked}, answered=2
    )
    write_page(build([view]), [view], tmp_path / "report.html")
    go(driver, (tmp_path / "report.html").as_uri(), "#/")
    shown = driver.execute_script("return document.getElementById('table/runs').textContent")
    assert "2 of 6" in shown
    assert "limited to the first questions of its stream (--limit)" in shown


def test_the_grid_goes_by_keyboard_and_back_to_its_place(driver: Any, page: str) -> None:
    def label() -> str:
        return str(driver.switch_to.active_element.get_attribute("aria-label"))

    go(driver, page, "#/episodes?dataset=spider&sort=hard")
    assert len(all_of(driver, ".sheet [tabindex='0']")) == 1  # one stop of the tab key
    press(driver, "j")
    first = label()
    press(driver, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    assert label().split(":")[0] != first.split(":")[0]
    row = driver.execute_script("return document.activeElement.closest('.line').dataset.row")
    assert row == "1"
    told = texts(driver, ".told")[0]
    question = driver.execute_script("return document.activeElement.closest('.line').querySelector('.asked').title")
    assert told.startswith(label())
    assert told.endswith(question)
    here, address = label(), driver.current_url
    press(driver, Keys.ENTER)
    until(driver, lambda: texts(driver, "article h1") == [question])
    press(driver, Keys.ESCAPE)
    until(driver, lambda: all_of(driver, ".sheet"))
    assert (label(), driver.current_url) == (here, address)
    press(driver, Keys.HOME)
    assert label() == first.replace(first.split(": ")[1], label().split(": ")[1])
    right = [int(one) for one in driver.execute_script(
        "return [...document.querySelectorAll('.sheet .rows .line')].map("
        "(one) => one.querySelectorAll('.first, .repaired').length)"
    )]  # fmt: skip
    assert right == sorted(right)  # fewest right first


def test_the_grid_is_filtered_and_what_does_not_fit_is_dim(driver: Any, page: str, runs: list[RunView]) -> None:
    go(driver, page, "#/episodes?method=precedent&outcome=repaired")
    assert set(texts(driver, ".sheet .group")) == {"Precedent", "Precedent, told only what runs"}
    assert all_of(driver, ".cell.dim")
    bright = all_of(driver, ".sheet a.cell:not(.dim)")
    assert {one.text for one in bright} == {"↑"}
    lines = driver.execute_script(
        "return [...document.querySelectorAll('.sheet .rows .line')].map((one) => "
        "one.querySelectorAll('a.cell:not(.dim)').length)"
    )
    assert min(lines) > 0  # a row without one is left out
    found = [turn for view in runs if view.method.name == "precedent" for turn in view.turns]
    assert len(bright) == sum(turn.final_correct and not turn.initial_correct for turn in found)


def test_a_large_grid_keeps_only_what_is_in_sight(driver: Any, tmp_path: Path) -> None:
    asked = [Question(i, "db", f"What is {i}?") for i in range(600)]
    courses: dict[int | str, list[Tried]] = {i: [Tried(f"SELECT {i}", WRONG if i % 3 else RIGHT)] for i in range(600)}
    views = [write_run(tmp_path / "0", asked, "zero_shot", courses)]
    views.append(write_run(tmp_path / "1", asked, "zero_shot", courses, seed=1, answered=200, finished=False))
    write_page(build(views[:1]), views, tmp_path / "report.html")
    go(driver, (tmp_path / "report.html").as_uri(), "#/episodes")
    assert 10 < len(all_of(driver, ".rows .line")) < 100
    assert driver.execute_script("return document.querySelector('.sheet').getAttribute('aria-rowcount')") == "601"
    press(driver, "j", Keys.CONTROL + Keys.END)
    assert "#599" in texts(driver, ".told")[0]
    assert 10 < len(all_of(driver, ".rows .line")) < 100
    signs = driver.execute_script(
        "return [...document.querySelectorAll('.rows .line > :last-child > *')].map((one) => one.textContent)"
    )
    assert "·" in signs  # not judged in a run that is not finished
    press(driver, Keys.CONTROL + Keys.HOME)
    assert "#0," in texts(driver, ".told")[0]
    go(driver, (tmp_path / "report.html").as_uri(), "#/")
    assert set(texts(driver, "[id='table/runs'] td:nth-child(4)")) == {"600 of 600", "200 of 600"}


def test_figures_stand_under_their_tables_and_words_are_explained(driver: Any, page: str, runs: list[RunView]) -> None:
    go(driver, page)
    for table, figure in (("main", "accuracy"), ("paired", "paired"), ("learning", "learning-spider-1")):
        assert all_of(driver, f"[id='table/{table}'] [id='figure/{figure}'] svg")
    view = named(runs, "merit")
    turn = next(turn for turn in view.turns[::-1] if turn.recalls > 1)
    go(driver, page, address_of(view, turn))
    driver.execute_script("document.querySelectorAll('.recall').forEach((one) => (one.open = true))")
    until(driver, lambda: all_of(driver, ".recall .term"))
    for word, meaning in (("legal", "earlier in the stream"), ("pool", "scored against each other")):
        found = "[...document.querySelectorAll('.recall .term')].find((one) => one.textContent === arguments[0])"
        button = driver.execute_script(f"return {found}", word)
        assert meaning in button.get_attribute("title")
        driver.execute_script("arguments[0].focus()", button)
        button.send_keys(Keys.ENTER)
        assert button.get_attribute("aria-expanded") == "true"
        assert any(meaning in one.text for one in all_of(driver, ".meaning"))
        button.send_keys(Keys.ENTER)
        assert not any(meaning in one.text for one in all_of(driver, ".meaning"))


def test_a_page_made_with_references_says_so_and_shows_both_results(driver: Any, tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    view = bench.run(tmp_path / "run", "iterative", model=FickleModel(luck=10**9))
    page = tmp_path / "report.html"
    write_page(build([view]), [view], page, answers([view], [bench.root]))
    turn = next(turn for turn in view.turns if turn.episode.task.question.id == 0)
    assert not turn.final_correct
    go(driver, page.as_uri(), address_of(view, turn))
    assert texts(driver, ".holding")[0].startswith("This page holds reference answers.")
    assert all_of(driver, ".holding")[0].is_displayed()
    assert len(all_of(driver, ".reference")) == 2  # the first answer and what stood
    assert not all_of(driver, ".sides")  # folded
    driver.execute_script("document.querySelector('.reference').open = true")
    until(driver, lambda: all_of(driver, ".sides"))
    assert "".join(texts(driver, ".reference .sql")[0].split()) == "".join(ITEMS[0].reference.split())
    assert texts(driver, ".sides .cells")[:2] == ["4", "3"]  # items, and makers by mistake
    assert "shop.sqlite, the question's own database, where they differ" in texts(driver, ".reference .how")[0]
    write_page(build([view]), [view], page)
    go(driver, page.as_uri(), address_of(view, turn))
    assert all_of(driver, ".reference, .holding") == []


@pytest.mark.parametrize("width", [1400, 400])
def test_nothing_is_cut_and_nothing_scrolls_sideways(
    window: Any, runs: list[RunView], tmp_path: Path, width: int
) -> None:
    plain = [named(runs, name) for name in (*METHODS, "resample", "precedent")]
    write_page(build(plain), plain, tmp_path / "report.html")
    page = (tmp_path / "report.html").as_uri()
    look_like(window, width, 900, phone=width < 500)
    for place in ("#/", "#/episodes", "#/episodes?as=list"):
        go(window, page, place)
        assert window.execute_script("return document.documentElement.scrollWidth") == width
        if width == 1400:  # tables have room; questions in the grid are told whole below it
            script = (
                "return [...document.querySelectorAll('main *:not(.asked)')].filter((one) => one.clientWidth &&"
                "one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== 'visible')"
                ".map((one) => one.textContent.slice(0, 80))"
            )
            assert window.execute_script(script) == []


def test_filters_count_what_the_accounting_counts(driver: Any, page: str, runs: list[RunView]) -> None:
    counts = [account(view.turns, view.method) for view in runs]
    for outcome, expected in (
        ("repaired", sum(one["repaired"] for one in counts)),
        ("failed", sum(one["questions"] - one["correct"] for one in counts)),
        ("oscillating", sum(one["oscillating"] for one in counts)),
    ):
        go(driver, page, f"#/episodes?outcome={outcome}")
        assert texts(driver, ".found")[0].startswith(f"{expected} episode")
    go(driver, page, "#/episodes?as=list&dataset=bird&db=shop&type=SCHEMA_LINKING")
    assert set(texts(driver, "td.db")) == {"shop"}


def test_text_is_found_in_questions_and_in_sql(driver: Any, page: str) -> None:
    go(driver, page, "#/episodes?as=list")
    box = driver.find_element(By.ID, "search")
    box.send_keys("older than")
    until(driver, lambda: set(texts(driver, "a.row")) == {"Who is older than 8?"})
    box.clear()
    box.send_keys("FROM pupils")
    until(driver, lambda: texts(driver, ".found")[0].startswith("No episode"))
    driver.find_element(By.NAME, "sql").click()
    until(driver, lambda: "How many pupils are there?" in texts(driver, "a.row"))


def test_everything_by_keyboard(driver: Any, page: str) -> None:
    go(driver, page)
    press(driver, "?")
    assert driver.find_element(By.ID, "help").is_displayed()
    press(driver, Keys.ESCAPE)
    until(driver, lambda: not driver.find_element(By.ID, "help").is_displayed())
    press(driver, "/")
    until(driver, lambda: driver.switch_to.active_element.get_attribute("id") == "search")
    press(driver, Keys.ESCAPE, "g")
    until(driver, lambda: all_of(driver, "a.row"))
    press(driver, "j", "j")
    rows = all_of(driver, "a.row")
    assert driver.switch_to.active_element == rows[1]
    outline = driver.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"  # focus is seen
    press(driver, "k")
    assert driver.switch_to.active_element == rows[0]
    question = rows[0].text
    press(driver, Keys.ENTER)
    until(driver, lambda: texts(driver, "article h1") == [question])
    press(driver, "n")
    until(driver, lambda: texts(driver, "article h1") not in ([], [question]))
    press(driver, "p")
    until(driver, lambda: texts(driver, "article h1") == [question])
    press(driver, "j")
    assert "attempt" in driver.switch_to.active_element.get_attribute("class")
    press(driver, Keys.ESCAPE)
    until(driver, lambda: all_of(driver, "a.row"))
    press(driver, Keys.ESCAPE)
    until(driver, lambda: all_of(driver, ".hero"))
    press(driver, "t")
    assert driver.execute_script("return document.documentElement.dataset.theme") == "dark"
    press(driver, "t")


def test_changes_are_told_word_by_word_and_lose_nothing(driver: Any, page: str) -> None:
    go(driver, page)
    draw = random.Random(5)
    pairs = [(sql, changed(sql, draw)) for sql in (statement(draw) for _ in range(60))]
    pairs += [("", "SELECT 1"), ("SELECT 'a''b'", "SELECT 'a''c'"), ('SELECT é FROM "x y"', "SELECT 'é' FROM `x y`")]
    for before, after in pairs:
        words = driver.execute_script("return merit.compare(arguments[0], arguments[1])", before, after)
        said = {kind: "".join(one["text"] for one in words if one["kind"] in (0, kind)) for kind in (-1, 1)}
        assert said[-1] == "".join(before.split()).replace('"xy"', '"x y"')
        assert said[1] == "".join(after.split()).replace("`xy`", "`x y`")
    words = driver.execute_script("return merit.compare('SELECT a FROM t', 'SELECT b FROM t')")
    assert [one["kind"] for one in words] == [0, -1, 1, 0, 0]


def test_what_models_say_is_text_and_nothing_else(driver: Any, tmp_path: Path) -> None:
    bad = "</script><img src=x onerror=document.title='owned'><b>x</b>"
    question = Question("a/b?c#d", "db", bad)
    course = {question.id: [Tried(bad, NO_COLUMN), Tried(f"SELECT {bad}", WRONG), Tried(f"SELECT '{bad}'", RIGHT)]}
    view = write_run(tmp_path / "run", [question], "iterative", course, model={"name": bad, "revision": ""})
    write_page(build([view]), [view], tmp_path / "report.html")
    for place in ("#/", "#/episodes", "#/episodes?as=list"):
        go(driver, (tmp_path / "report.html").as_uri(), place)
    all_of(driver, "a.row")[0].click()
    until(driver, lambda: texts(driver, "article h1") == [bad])
    driver.execute_script("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    until(driver, lambda: len(all_of(driver, "pre.text")) >= 4)
    assert all_of(driver, "main img, main b > b, main script") == []
    assert "false" in proofs(driver)  # these hashes are made up, and the page says so
    assert not driver.title.startswith("owned")


def test_it_asks_for_nothing_and_complains_about_nothing(driver: Any, page: str) -> None:
    driver.get_log("browser")
    go(driver, page)
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert driver.get_log("browser") == []


def test_an_address_that_leads_nowhere_says_so(driver: Any, page: str) -> None:
    go(driver, page, "#/episode/no-such-run/1")
    assert texts(driver, "h1") == ["Not here"]
    go(driver, page, "#/episode/%E0%A4%A/1")  # no text at all
    assert texts(driver, "h1") == ["Not here"]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_phone_shows_all_of_it_without_scrolling_sideways(window: Any, page: str, dark: bool) -> None:
    look_like(window, 375, 812, dark=dark, phone=True)
    go(window, page)
    window.execute_script("localStorage.clear()")  # what another test chose
    for place in ("#/", "#/episodes", "#/episodes?as=list&memory=used&method=merit"):
        go(window, page, place)
        assert window.execute_script("return document.documentElement.scrollWidth") == 375
    window.execute_script("document.querySelector('a.row').click()")
    until(window, lambda: all_of(window, "article.episode"))
    window.execute_script("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    time.sleep(0.3)
    assert window.execute_script("return document.documentElement.scrollWidth") == 375
    ground = window.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (sum(json.loads(ground.replace("rgb(", "[").replace(")", "]"))) < 200) == dark
