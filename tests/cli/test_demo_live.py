"""The live part of `merit demo`: a correction by a person, and a later question that is answered with it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from merit.bundled import live_recording
from merit.cli import demo_live
from merit.cli.main import cli
from merit.errors import InputError
from merit.live.auditing.audit import audit_live

PARTS = ("demo", "--limit", 1, "--methods", "zero_shot")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory, bundled_cache: Path) -> Path:
    folder = tmp_path_factory.mktemp("live") / "cache"
    folder.mkdir()
    (folder / "bundled").symlink_to(bundled_cache / "bundled")
    return folder


def merit(*arguments: object) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(cli, [str(argument) for argument in arguments])


def test_the_recorded_model_is_corrected_and_answers_a_later_question_with_it(cache: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = merit(*PARTS, "--out", out, "--cache", cache, "--json")
    assert result.exit_code == 0, result.output
    live = json.loads(result.stdout)["live"]
    first, second, later = live["answers"]
    assert live["model"].startswith("qwen2.5-coder-1.5b-instruct")
    assert [answer["status"] for answer in live["answers"]] == ["answered"] * 3
    assert (first["rows"], second["rows"], later["rows"]) == ([[3]], [[229.0]], [[468.25]])
    assert "cancelled" not in second["sql"]
    assert "o.status <> 'cancelled'" in later["sql"]
    assert len(later["recalled"]) == 2  # what was confirmed, and what was corrected
    assert (live["without_memory"]["status"], "cancelled" in live["without_memory"]["sql"]) == ("unsure", False)
    told = result.stderr
    assert "No model is called: the answers are recorded ones of qwen2.5-coder-1.5b-instruct" in told
    for text in (
        "gives 3: answered",
        "gives 229.0: answered",
        "gives 198.0; it is run first",
        "gives 468.25: answered",
    ):
        assert text in told
    assert "live answers: holds" in told
    assert told.index("report.html") < told.index("Live: ")  # it ends with it
    assert audit_live(out / "live" / "own").holds
    (proposed,) = (line for line in told.splitlines() if " why " in line)
    shown = merit(*proposed.split()[2:])
    assert shown.exit_code == 0, shown.output
    assert later["recalled"][0] in shown.output
    again = merit(*PARTS, "--out", out, "--cache", cache, "--json")  # replaces the earlier one
    sqls = [answer["sql"] for answer in json.loads(again.stdout)["live"]["answers"]]
    assert sqls == [answer["sql"] for answer in live["answers"]]


def test_the_recording_has_what_is_asked_and_nothing_else() -> None:
    lines = [json.loads(line) for line in live_recording().read_text("utf-8").splitlines()]
    assert len({line["key"] for line in lines}) == len(lines) < 20
    assert {(line["model"], line["revision"]) for line in lines} == {
        ("qwen2.5-coder-1.5b-instruct-q4_k_m", "cc324af070c2ecbf")
    }


def test_what_the_recording_does_not_cover_is_left_out_and_told(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = tmp_path / "part.jsonl"
    part.write_text("".join(live_recording().read_text("utf-8").splitlines(keepends=True)[:2]))
    monkeypatch.setattr(demo_live, "live_recording", lambda: part)
    result = merit(*PARTS, "--out", tmp_path / "out", "--cache", cache)
    assert result.exit_code == 0, result.output
    assert f"left out  the live part: {part}: no recorded answer of qwen2.5-coder-1.5b-instruct-q4_k_m" in result.output


def test_a_model_that_is_named_is_asked(cache: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    lines = [
        {
            "contains": ["o.status <> 'cancelled'", demo_live.LATER],
            "reply": demo_live.CORRECTION.replace("2024", "2025"),
        },
        {"contains": demo_live.FIRST, "reply": "SELECT nothing FROM nowhere"},
        {"reply": "SELECT sum(quantity * unit_price) FROM order_lines"},
    ]
    script.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = merit(*PARTS, "--model", f"scripted:{script}", "--out", tmp_path / "out", "--cache", cache)
    assert result.exit_code == 0, result.output
    assert f"scripted:{script} is asked for up to 3 candidates a question" in result.output
    assert "nothing to confirm" in result.output
    assert "gives 468.25: answered (100% of the votes)" in result.output
    assert "without memory the same model gives 1076.25 (answered): SELECT sum" in result.output


def test_a_recording_that_is_missing_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merit.bundled.recording.HERE", tmp_path)
    with pytest.raises(InputError, match=r"live\.jsonl: the recorded answers that come with merit are not here"):
        live_recording()
