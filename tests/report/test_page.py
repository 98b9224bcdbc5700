"""The page as a file: everything in it, the same each time, and nothing that could get out of its place."""

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from making.benchmark import FickleModel, write_initial
from making.outcomes import NO_COLUMN, RIGHT, WRONG, Tried, write_run
from making.runs import Bench, make_bench
from merit.errors import InputError
from merit.memory import entries_in
from merit.report import build
from merit.report.page import write_page
from merit.report.page.pack import FINAL, INITIAL, OSCILLATES, RECALLED, pack
from merit.report.page.shell import policy, script
from merit.runs import RunView, account, read_run
from merit.types import Question

PARTS = Path(__file__).parents[2] / "src/merit/report/page/parts"
HOSTILE = "</script><img src=x onerror=alert(1)> {{SCRIPT}} ]]> \u2028"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def runs(bench: Bench) -> list[RunView]:
    folder = bench.root.parent
    return [bench.run(folder / name, name) for name in ("merit", "reflexion", "iterative")]


def chunks(page: Path) -> dict[str, Any]:
    """Everything in a page, as a browser would unpack it."""
    element = r'<script type="application/octet-stream" data-chunk="([^"]+)">([^<]*)</script>'
    found = re.findall(element, page.read_text())
    return {name: json.loads(gzip.decompress(base64.b64decode(text))) for name, text in found}


def make(runs: list[RunView], path: Path) -> Path:
    write_page(build(runs), runs, path)
    return path


def test_every_table_figure_run_and_turn_is_in_it(runs: list[RunView], tmp_path: Path) -> None:
    found = chunks(make(runs, tmp_path / "report.html"))
    report = build(runs)
    assert [one["id"] for one in found["overview"]["tables"]] == [one.id for one in report.tables]
    assert [one["id"] for one in found["overview"]["figures"]] == [one.id for one in report.figures]
    assert [one["method"] for one in found["overview"]["runs"]] == ["iterative", "reflexion", "merit"]  # as tables do
    for record in found["overview"]["runs"]:
        view = next(view for view in runs if view.method.name == record["method"])
        turns = found[f"run/{record['id']}"]["turns"]
        assert [len(turn["attempts"]) for turn in turns] == [len(turn.episode.attempts) for turn in view.turns]
        for packed, turn in zip(turns, view.turns, strict=True):
            repairs = turn.episode.attempts[1:]
            assert [one["sql"] for one in packed["attempts"][1:]] == [one.sql for one in repairs]
            assert [one["prompt"] for one in packed["attempts"][1:]] == [one.prompt_sha256 for one in repairs]


def test_shared_texts_are_there_once(runs: list[RunView], tmp_path: Path) -> None:
    found = chunks(make(runs, tmp_path / "report.html"))
    assert sum(name.startswith("stream/") for name in found) == 1
    turns = [turn for name in found if name.startswith("run/") for turn in found[name]["turns"]]
    assert turns
    assert all("sql" not in turn["attempts"][0] for turn in turns)


def test_the_index_agrees_with_the_accounting(runs: list[RunView]) -> None:
    for view in runs:
        flags, counted = pack(view).index["flags"], account(view.turns, view.method)
        assert sum(one & FINAL > 0 for one in flags) == counted["correct"]
        assert sum(one & (INITIAL | FINAL) == FINAL for one in flags) == counted["repaired"]
        assert sum(one & OSCILLATES > 0 for one in flags) == counted["oscillating"]
        assert any(one & RECALLED for one in flags) == (view.method.name == "merit")


def test_what_was_set_aside_and_what_stands_is_in_it(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "drawn", "precedent")
    repeats = 0
    for line, turn in zip(pack(view).turns, view.turns, strict=True):
        packed, attempts = json.loads(line), turn.episode.attempts
        assert "chosen" not in packed  # nobody votes where an oracle speaks
        assert [("repeat" in one) for one in packed["attempts"]] == [one.repeat for one in attempts]
        for one in (one for one in packed["attempts"] if "repeat" in one):
            said = attempts[one["repeat"]].sql.lower().rstrip(";").split()
            assert one["sql"].lower().rstrip(";").split() == said
            repeats += 1
    assert repeats == sum(pack(view).index["repeats"]) > 0
    view = bench.run(tmp_path / "voted", "precedent", regime="dbms_only")
    kept = {one.entry.id: one.entry.grade for one in entries_in(view.path / "memory")}
    for line, turn in zip(pack(view).turns, view.turns, strict=True):
        packed = json.loads(line)
        assert packed["chosen"] == turn.episode.chosen >= 0
        assert (packed.get("entry"), packed.get("grade")) == (turn.entry, kept.get(turn.entry or ""))
        found = [one.get("result") for one in packed["attempts"]]
        whole = [one.verdict.result for one in turn.episode.attempts]
        assert [found.index(one) for one in found] == [whole.index(one) for one in whole]  # the same are the same
    assert pack(view).index["chosen"] == [turn.episode.chosen for turn in view.turns]
    assert set(kept.values()) == {"agreed", "executed"}


def test_the_same_runs_give_the_same_bytes_in_any_order(runs: list[RunView], tmp_path: Path) -> None:
    again = [read_run(view.path) for view in reversed(runs)]
    first, second = tmp_path / "1.html", tmp_path / "2.html"
    write_page(build(runs), runs, first)
    write_page(build(runs), again, second)
    assert first.read_bytes() == second.read_bytes()


def test_a_run_given_twice_has_two_names(runs: list[RunView], tmp_path: Path) -> None:
    write_page(build(runs), [runs[0], runs[0]], tmp_path / "report.html")
    found = chunks(tmp_path / "report.html")
    names = [one["id"] for one in found["overview"]["runs"]]
    assert len(set(names)) == 2
    assert {f"run/{name}" for name in names} <= set(found)


def test_nothing_a_model_or_a_benchmark_says_can_leave_its_place(tmp_path: Path) -> None:
    question = Question(HOSTILE, HOSTILE, HOSTILE)
    course = {question.id: [Tried(HOSTILE, NO_COLUMN), Tried(HOSTILE + "2", WRONG), Tried("SELECT 1", RIGHT)]}
    model = {"name": HOSTILE.strip(), "revision": '"><b>'}
    view = write_run(tmp_path / "run", [question], "iterative", course, model=model)
    text = make([view], tmp_path / "report.html").read_text()
    assert "<img" not in text
    assert '"><b>' not in text
    assert text.count("<script>") == 1
    assert text.count("</script>") == 1 + len(chunks(tmp_path / "report.html"))


def test_only_its_own_script_and_style_may_run_and_nothing_is_fetched(runs: list[RunView], tmp_path: Path) -> None:
    text = make(runs, tmp_path / "report.html").read_text()
    [body] = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
    assert f"script-src &#x27;sha256-{digest}&#x27;" in text
    assert "unsafe" not in policy(False)
    assert "connect-src 'none'" in policy(False)
    assert "connect-src 'self'" in policy(True)
    assert not re.search(r'(?:src|href)="(?!#|data:,)', (PARTS / "page.html").read_text())


def test_scripts_never_read_text_as_markup() -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script())


def test_parts_stay_readable() -> None:
    lines = {path.name: path.read_text().splitlines() for path in PARTS.iterdir()}
    assert [name for name, text in lines.items() if len(text) > 300] == []
    assert [name for name, text in lines.items() if name.endswith(".js") and max(map(len, text)) > 120] == []


def test_no_reference_reaches_it(tmp_path: Path) -> None:
    canary = "xqcanaryqx"
    bench = make_bench(tmp_path, canary=canary)
    wrong = write_initial(tmp_path / "wrong.jsonl", ("wrong", "broken"))
    view = bench.run(tmp_path / "run", model=FickleModel(luck=10**9), initial=wrong)
    found = chunks(make([view], tmp_path / "report.html"))
    assert canary in (bench.root / "dev.json").read_text()
    assert canary not in json.dumps(found)


def test_a_log_of_another_question_is_refused_by_file_and_line(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "run", "merit")
    log = view.path / "retrievals.jsonl"
    lines = log.read_text().splitlines()
    log.write_text("\n".join([lines[-1], *lines[1:]]) + "\n")
    with pytest.raises(InputError, match=r"retrievals\.jsonl, line \d+: .*`merit audit`"):
        pack(view)


def test_a_place_that_cannot_be_written_is_said(runs: list[RunView], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        make(runs, tmp_path / "nowhere" / "report.html")


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_have_the_contrast_that_wcag_aa_asks_for(theme: int) -> None:
    given = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", (PARTS / "page.css").read_text())
    colours = {name: both[theme] for name, *both in given}
    for ground in ("paper", "raised", "sunken"):
        for ink in ("ink", "muted", "accent", "right", "wrong"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    for change in ("put-in", "taken-out"):
        assert contrast(colours[f"{change}-ink"], colours[change]) >= 4.5, change
    for series in range(12):  # lines and bars need less than letters
        assert contrast(colours[f"c{series}"], colours["paper"]) >= 3, series
