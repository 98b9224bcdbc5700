"""Reference SQL and reference rows reach nothing that an agent, a memory, a cache, a log or a person sees."""

import base64
import gzip
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from making.benchmark import FickleModel, write_initial
from making.fuzzing import tries
from making.runs import files_of, make_bench
from merit.agent import METHODS, RELATED
from merit.cli.main import cli
from merit.models import AnswerStore, CachingCompleter
from merit.report import build
from merit.report.page import FollowedRuns
from merit.report.page.shell import shell

CANARY = "zzcanary7391zz"
CONFIRMED, DBMS = "denotation_confirmed", "dbms_only"


def cases() -> Iterator[tuple[str, str, str]]:
    """Every method in every layout and in every regime; in all pairs of these for longer runs (MERIT_FUZZ)."""
    pairs = [("spider", CONFIRMED), ("bird", DBMS), ("spider", DBMS), ("bird", CONFIRMED)]
    for number, method in enumerate([*METHODS, *RELATED]):
        chosen = pairs if tries() > 500 else pairs[2 * (number % 2) :][:2]
        yield from ((method, layout, regime) for layout, regime in chosen)


@pytest.mark.parametrize(("method", "layout", "regime"), [*cases()])
def test_a_canary_in_every_reference_is_never_seen(
    tmp_path: Path, method: str, layout: str, regime: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    bench = make_bench(tmp_path, layout=layout, canary=CANARY)
    model = FickleModel(luck=4)
    asked = CachingCompleter(model, AnswerStore(tmp_path / "cache" / "answers.sqlite"))
    view = bench.run(tmp_path / "run", method, model=asked, regime=regime, cache=tmp_path / "cache")
    shown = CliRunner().invoke(cli, ["show", str(view.path), "1"])
    assert shown.exit_code == 0, shown.output
    assert view.turns
    assert CANARY in (bench.root / "dev.json").read_text()  # it is there to be found
    said = [*model.prompts, caplog.text, shown.output]
    assert not [text for text in said if CANARY in text]
    written = [path for folder in ("run", "cache") for path in (tmp_path / folder).rglob("*") if path.is_file()]
    leaks = {path.name for path in written if CANARY.encode() in path.read_bytes()}
    assert leaks <= {"references-v3.sqlite", "references-v2.sqlite-wal"}  # the oracle's own: what right looks like


@pytest.mark.parametrize("regime", ["denotation_confirmed", "dbms_only"])
def test_only_who_asks_for_references_sees_them(tmp_path: Path, regime: str) -> None:
    """The ordinary report, every file of it, and all that `merit view` answers hold none."""
    bench = make_bench(tmp_path, canary=CANARY)
    wrong = write_initial(tmp_path / "wrong.jsonl", ("wrong", "broken"))  # and no right answer, which might quote rows
    view = bench.run(tmp_path / "runs" / "one", model=FickleModel(luck=10**9), initial=wrong, regime=regime)
    before = files_of(view.path)

    def merit(*arguments: object) -> str:
        result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
        return result.output

    def written(folder: Path) -> str:
        texts = []
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                text = path.read_bytes().decode("utf-8", "replace")
                packed = re.findall(r'data-chunk="[^"]+">([^<]*)</script>', text)
                texts += [text, *(gzip.decompress(base64.b64decode(one)).decode() for one in packed)]
        return "\n".join(texts)

    said = merit("report", view.path, "--out", tmp_path / "plain") + merit("show", view.path, "1")
    assert CANARY not in said + written(tmp_path / "plain")
    assert "holds reference answers" not in written(tmp_path / "plain")
    live = FollowedRuns(tmp_path / "runs", lambda runs, refused: build(runs, refused=refused))
    live.look()
    live.tabulate()
    names = [f"run/{one}" for one in json.loads(live.answer("index") or "")]
    names += [f"stream/{one['stream']}" for one in json.loads(live.answer("overview") or "")["runs"]]
    answers = [live.answer(name) for name in ("overview", "index", "state", "references", *names)]
    assert len([one for one in answers if one]) == len(names) + 3
    assert CANARY not in "".join(one or "" for one in answers) + "".join(shell("merit", live=True))
    asked = ("--with-references", "--data", bench.root)
    assert CANARY in merit("show", view.path, "1", *asked)
    merit("report", view.path, "--out", tmp_path / "with", *asked)
    page = (tmp_path / "with" / "report.html").read_text()
    assert page.index("This page holds reference answers") < page.index("<main")
    assert CANARY in written(tmp_path / "with")
    others = [path for path in (tmp_path / "with").rglob("*") if path.is_file() and path.name != "report.html"]
    assert [path.name for path in others if CANARY.encode() in path.read_bytes()] == []
    assert files_of(view.path) == before  # a run never holds one


@pytest.mark.parametrize("layout", ["spider", "bird"])
def test_precedents_that_are_shown_are_the_models_own(tmp_path: Path, layout: str) -> None:
    """The canary is in every reference, and right answers are shown to later questions: theirs, not the reference."""
    model = FickleModel(luck=3)
    view = make_bench(tmp_path, layout=layout, canary=CANARY).run(tmp_path / "run", "precedent", model=model)
    shown = [prompt for prompt in model.prompts if "[Confirmed answer 1]" in prompt]
    assert len(shown) > 5
    assert not [prompt for prompt in shown if CANARY in prompt]
    kept = (view.path / "memory" / "memory.jsonl").read_text()
    assert len(kept.splitlines()) > 4
    assert CANARY not in kept


def test_the_model_of_the_test_can_be_right(tmp_path: Path) -> None:
    view = make_bench(tmp_path, canary=CANARY).run(tmp_path / "run", model=FickleModel(luck=2))
    assert any(turn.final_correct and len(turn.episode.attempts) > 1 for turn in view.turns)
