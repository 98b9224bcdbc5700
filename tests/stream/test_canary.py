"""Reference SQL and reference rows reach nothing that an agent, a memory, a cache, a log or a person sees."""

import logging
from pathlib import Path

import pytest
from click.testing import CliRunner

from making.benchmark import FickleModel
from making.runs import make_bench
from merit.agent import METHODS
from merit.cli.main import cli
from merit.models import AnswerStore, AskedOnce

CANARY = "zzcanary7391zz"


@pytest.mark.parametrize("regime", ["denotation_confirmed", "dbms_only"])
@pytest.mark.parametrize("layout", ["spider", "bird"])
@pytest.mark.parametrize("method", METHODS)
def test_a_canary_in_every_reference_is_never_seen(
    tmp_path: Path, method: str, layout: str, regime: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    bench = make_bench(tmp_path, layout=layout, canary=CANARY)
    model = FickleModel(luck=4)
    asked = AskedOnce(model, AnswerStore(tmp_path / "cache" / "answers.sqlite"))
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


@pytest.mark.parametrize("layout", ["spider", "bird"])
def test_precedents_that_are_shown_are_the_models_own(tmp_path: Path, layout: str) -> None:
    """The canary is in every reference, and right answers are shown to later questions: theirs, not the reference."""
    model = FickleModel(luck=3)
    view = make_bench(tmp_path, layout=layout, canary=CANARY).run(tmp_path / "run", "precedent", model=model)
    shown = [prompt for prompt in model.prompts if "[Confirmed answer 1]" in prompt]
    assert len(shown) > 5
    assert not [prompt for prompt in shown if CANARY in prompt]
    kept = (view.path / "memory" / "memory_precedent.jsonl").read_text()
    assert len(kept.splitlines()) > 4
    assert CANARY not in kept


def test_the_model_of_the_test_can_be_right(tmp_path: Path) -> None:
    view = make_bench(tmp_path, canary=CANARY).run(tmp_path / "run", model=FickleModel(luck=2))
    assert any(turn.final_correct and len(turn.episode.attempts) > 1 for turn in view.turns)
