"""A recording of runs: exactly their answers, from their own folders, and enough to run them again, byte for byte."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from making.benchmark import FickleModel
from making.runs import Bench, files_of, make_bench
from making.tampering import TURNS, rewrite
from merit.agent import METHODS, RELATED
from merit.audit.recording import write_recording
from merit.errors import AuditFailed, InputError, NotRecorded
from merit.models import answer_key
from merit.models.exported import open_exported
from merit.models.replay import ReplayCompleter
from merit.reading import hash_file
from merit.runs import RunView, read_run
from merit.types import Sampling


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


def record(folder: Path, *runs: RunView, **made: str) -> tuple[Path, dict[str, Any]]:
    path = folder / "answers.jsonl.xz"
    return path, write_recording(runs, path, made)


@pytest.mark.parametrize("method", [*METHODS, *RELATED])
def test_a_recorded_run_is_run_again_byte_for_byte(bench: Bench, tmp_path: Path, method: str) -> None:
    model = FickleModel()
    first = bench.run(tmp_path / "first", method, model=model, seed=1)
    path, manifest = record(tmp_path, first)
    asked = {
        answer_key(model.identity, prompt, how) for prompt, how in zip(model.prompts, model.samplings, strict=True)
    }
    with closing(open_exported(path)) as store:
        assert {key for key, _, _ in store.items()} == asked  # these and no others
    assert manifest["answers"] == len(asked)
    if asked:
        bench.run(tmp_path / "again", method, model=ReplayCompleter(open_exported(path)), seed=1)
        assert files_of(tmp_path / "again") == files_of(tmp_path / "first")


def test_the_manifest_says_what_is_recorded(bench: Bench, tmp_path: Path) -> None:
    runs = [
        bench.run(tmp_path / f"{method}{seed}", method, seed=seed)
        for method in ("iterative", "merit")
        for seed in (0, 2)
    ]
    path, manifest = record(tmp_path, *runs, engine="by hand")
    assert json.loads((tmp_path / "answers.json").read_text()) == manifest
    assert manifest["sha256"] == hash_file(path)
    assert manifest["model"] == {"name": "fickle", "revision": "6"}
    assert manifest["encoder"] == {"name": "test-words", "revision": "1", "dimension": 16}
    assert (manifest["methods"], manifest["seeds"]) == (["iterative", "merit"], [0, 2])
    assert manifest["made"] == {"engine": "by hand"}
    assert manifest["sampling"] == {"temperature": 0.0, "max_tokens": 512, "seed": None}
    assert [(one["method"], one["seed"]) for one in manifest["runs"]] == [
        ("iterative", 0),
        ("iterative", 2),
        ("merit", 0),
        ("merit", 2),
    ]
    # Iterative asks the same in any order of the stream, so its second run adds nothing.
    assert manifest["runs"][0]["answers"] == manifest["runs"][1]["answers"]
    assert manifest["answers"] < sum(one["answers"] for one in manifest["runs"])


def test_the_order_of_runs_changes_no_byte_of_the_answers(bench: Bench, tmp_path: Path) -> None:
    runs = [bench.run(tmp_path / method, method) for method in ("iterative", "reflexion")]
    one, _ = record(tmp_path, *runs)
    before = one.read_bytes()
    again, _ = record(tmp_path, *reversed(runs))
    assert again.read_bytes() == before


def test_what_is_not_covered_is_refused_and_named(bench: Bench, tmp_path: Path) -> None:
    path, _ = record(tmp_path, bench.run(tmp_path / "first", "iterative"))
    with pytest.raises(NotRecorded) as missing:
        bench.run(tmp_path / "again", "reflexion", model=ReplayCompleter(open_exported(path)))
    model = FickleModel()
    bench.run(tmp_path / "live", "reflexion", model=model)
    reflection = next(prompt for prompt in model.prompts if "-reflection-v3" in prompt)
    assert missing.value.prompt == answer_key(model.identity, reflection, Sampling()).hex()


def test_a_run_that_does_not_hold_leaves_no_recording(bench: Bench, tmp_path: Path) -> None:
    bench.run(tmp_path / "run", "iterative")

    def forge(records: list[dict[str, Any]]) -> None:
        turn = next(record for record in records if len(record["attempts"]) > 1)
        turn["attempts"][1]["prompt_sha256"] = "0" * 64

    rewrite(tmp_path / "run", TURNS, forge)
    with pytest.raises(AuditFailed, match="the prompt is not the one that the records give"):
        record(tmp_path, read_run(tmp_path / "run"))
    assert not (tmp_path / "answers.jsonl.xz").exists()


def test_runs_of_two_models_or_with_two_minds_are_no_one_recording(bench: Bench, tmp_path: Path) -> None:
    runs = [bench.run(tmp_path / name, "iterative", model=FickleModel(salt=name)) for name in ("a", "b")]
    with pytest.raises(InputError, match="cannot share a recording with the runs before it: model.revision is"):
        record(tmp_path, *runs)
    changed = FickleModel(salt="c")
    changed.identity = FickleModel(salt="a").identity  # says it is the other, and answers otherwise
    with pytest.raises(InputError, match=r"another answer to the prompt [0-9a-f]{12} came before"):
        record(tmp_path, runs[0], bench.run(tmp_path / "c", "iterative", model=changed))
    with pytest.raises(InputError, match="nothing to record"):
        record(tmp_path)
