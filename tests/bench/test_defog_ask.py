"""Rounds of asking a model on another machine: what a question can still need is wanted at once."""

import asyncio
import csv
import datetime
import importlib.util
import json
import sys
from collections.abc import Iterator
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

from making.defog_load import MOMENT, FilePlace, at_moment, computed, read_dump
from making.offline import LookAhead, OfflineCompleter, read_wanted, write_wanted
from merit.errors import NotRecorded
from merit.models.answers import answer_key
from merit.types import ModelIdentity, Sampling

_SPEC: Any = importlib.util.spec_from_file_location("defog_ask", Path(__file__).parents[2] / "bench" / "defog_ask.py")
ASK: Any = importlib.util.module_from_spec(_SPEC)
sys.modules["defog_ask"] = ASK  # dataclasses look their module up
_SPEC.loader.exec_module(ASK)

IDENTITY = ModelIdentity("openai:small")
DUMP = "CREATE TABLE public.notes (rank bigint, note text);\nINSERT INTO notes VALUES (1, 'a'), (2, 'b');\n"
HEAD = ("db_name", "query_category", "query", "question", "instructions")


def write_data(folder: Path) -> Path:
    (folder / "databases").mkdir(parents=True)
    (folder / "databases" / "small.sql").write_text(DUMP)
    (folder / "questions").mkdir()
    rows: dict[str, list[tuple[str, ...]]] = {
        "questions_gen_sqlite": [("small", "", "SELECT COUNT(*) FROM notes", "How many?", "Count all.")],
        "instruct_basic_sqlite": [],
        "instruct_advanced_sqlite": [],
        "unanswerable": [("small", "", "", "Who?", "")],
    }
    for name, lines in rows.items():
        with (folder / "questions" / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([HEAD, *lines])
    return folder


@pytest.fixture
def experiment(tmp_path: Path) -> Iterator[Any]:
    data = write_data(tmp_path / "data")
    place = FilePlace("sqlite", tmp_path / "files")
    place.load(read_dump(data / "databases" / "small.sql"))
    experiment = ASK.Experiment(place, data, OfflineCompleter(IDENTITY, []), tmp_path)
    experiment.open()
    yield experiment
    experiment.close()


def answer(path: Path, wanted: list[tuple[str, Sampling]], text: str) -> Path:
    about = {"model": IDENTITY.name, "revision": "", "text": text, "prompt_tokens": 9, "output_tokens": 1}
    lines = [json.dumps({"key": answer_key(IDENTITY, *pair).hex(), **about}) for pair in wanted]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def go_round(experiment: Any, *files: Path) -> list[tuple[str, Sampling]]:
    completer = experiment._completer
    completer.read(files)
    completer.wanted.clear()
    experiment.run()
    return list(completer.wanted.values())


def test_the_first_round_wants_all_that_a_question_needs_if_nothing_fails(experiment: Any, tmp_path: Path) -> None:
    wanted = go_round(experiment)
    # Both questions: bare shares its prompt with the first of eight candidates unless values are mentioned; one is ruled.
    assert sorted({(sampling.temperature, sampling.seed) for _, sampling in wanted}, key=str) == sorted(
        [(0.0, None), *((0.8, seed) for seed in range(1, 8))], key=str
    )
    assert len(wanted) == 3 * 8
    assert sum("Count all." in prompt for prompt, _ in wanted) == 8
    answers = answer(tmp_path / "one.jsonl", wanted, "<answer>SELECT COUNT(*) FROM notes</answer>")
    assert go_round(experiment, answers) == []
    scores = experiment.scores()
    shown = {key: (score.asked, score.pending, score.exact) for key, score in scores.items()}
    assert shown == {
        "bare questions_gen_sqlite": (1, 0, 1),
        "bare unanswerable": (1, 0, 0),
        "voted questions_gen_sqlite": (1, 0, 1),
        "voted unanswerable": (1, 0, 0),
        "ruled questions_gen_sqlite": (1, 0, 1),
        "drawn questions_gen_sqlite": (1, 0, 1),
        "drawn unanswerable": (1, 0, 0),
        "drawn-ruled questions_gen_sqlite": (1, 0, 1),
    }


def test_a_failure_is_shown_to_the_later_candidates_in_the_next_round(experiment: Any, tmp_path: Path) -> None:
    wanted = go_round(experiment)
    answers = answer(tmp_path / "one.jsonl", wanted, "<answer>SELECT nothing FROM notes WHERE</answer>")
    second = go_round(experiment, answers)
    assert {experiment.scores()[key].pending for key in ("bare questions_gen_sqlite", "bare unanswerable")} == {0}
    assert len(second) == 3 * 7
    assert all("SELECT nothing FROM notes WHERE" in prompt and sampling.seed for prompt, sampling in second)
    assert {score.pending for key, score in experiment.scores().items() if key.startswith("drawn")} == {0}
    more = answer(tmp_path / "two.jsonl", second, "-- UNANSWERABLE: people")
    assert go_round(experiment, more) == []
    assert experiment.scores()["voted unanswerable"].declined == 1


def test_stand_ins_are_for_the_first_answers_alone() -> None:
    missing = OfflineCompleter(IDENTITY, [])
    ahead = LookAhead(missing, 2)
    texts = {asyncio.run(ahead.complete(prompt, Sampling())).text for prompt in ("one", "two")}
    assert len(texts) == len(missing.wanted) == 2
    with pytest.raises(NotRecorded):
        asyncio.run(ahead.complete("three", Sampling()))
    assert len(missing.wanted) == 2


def test_processes_work_in_rounds(tmp_path: Path) -> None:
    data, answers = write_data(tmp_path / "data"), tmp_path / "answers"
    answers.mkdir()
    near, far = Pipe()
    task = ASK.Task("sqlite", data, tmp_path, IDENTITY)
    near.send([])
    near.send(None)
    ASK.work(task, far)
    scores, wanted = near.recv()
    assert scores["voted unanswerable"].pending == 1
    write_wanted(answers / "wanted.jsonl.gz", wanted.values())
    assert len(read_wanted(answers / "wanted.jsonl.gz")) == 24
    for name, goes_on in (("next", True), ("stop", False)):
        (answers / name).touch()
        assert ASK.next_round(answers) is goes_on
    assert not (answers / "next").exists()


def test_the_clock_stands_still_for_texts_too(tmp_path: Path) -> None:
    path = tmp_path / "small.sql"
    path.write_text("CREATE TABLE t (a text);\nINSERT INTO t VALUES (TO_CHAR(NOW(), '%Y%m%d %H:%i:%s'));\n")
    ((_, rows),) = computed(read_dump(path))
    assert rows == [(f"{MOMENT:%Y%m%d %H:%M:%S}",)]


def test_a_dump_can_be_loaded_at_a_moment() -> None:
    moment = datetime.datetime(2026, 1, 2, 3, 4, 5)
    text = at_moment("VALUES (NOW() - INTERVAL '1 day', CURRENT_DATE, current_timestamp)", moment)
    at = "TIMESTAMP '2026-01-02 03:04:05'"
    assert text == f"VALUES ({at} - INTERVAL '1 day', DATE '2026-01-02', {at})"
