"""Streams: what a run is, and that each method obeys its row in SPEC.md."""

import json
import random
import re
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from making.benchmark import ITEMS, TRAIN, Failing, FickleModel, write_initial
from making.fuzzing import tries
from making.memories import WordEncoder, make_entry
from making.runs import Bench, files_of, make_bench
from merit.agent import METHODS, RELATED
from merit.audit import audit_run
from merit.errors import InputError, RunUnusable
from merit.memory import FileStore, Memory, curate, entries_in
from merit.models import AnswerStore, CachingCompleter
from merit.models.scripted import ScriptedCompleter, ScriptedReply
from merit.runs import RunView, read_run
from merit.runs.turn import Phase, Turn
from merit.types import Completion, Polarity, Sampling, Status

ONLINE = [name for name, method in {**METHODS, **RELATED}.items() if method.online]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


def metrics(view: RunView) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((view.path / "metrics.json").read_text())
    return found


def recalls(view: RunView) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (view.path / "retrievals.jsonl").read_text().splitlines()]


def failed_first(view: RunView) -> list[Turn]:
    return [turn for turn in view.turns if turn.episode.attempts[0].failure is not None]


@pytest.mark.parametrize("method", [*METHODS, *RELATED])
def test_every_method_runs_end_to_end(bench: Bench, tmp_path: Path, method: str) -> None:
    view = bench.run(tmp_path / "run", method)
    answers = [turn for turn in view.turns if turn.phase is Phase.ANSWER]
    assert sorted(int(turn.episode.task.question.id) for turn in answers) == list(range(len(ITEMS)))
    assert metrics(view)["questions"] == len(ITEMS)
    assert metrics(view)["initial_correct"] == 4
    expected = {
        "manifest.json",
        "stream.json",
        "trajectories.jsonl",
        "retrievals.jsonl",
        "predictions.jsonl",
        "metrics.json",
    }
    assert expected | {"memory/memory.jsonl"} <= set(files_of(view.path))


@pytest.mark.parametrize("method", [*METHODS, *RELATED])
def test_the_same_run_is_the_same_bytes(bench: Bench, tmp_path: Path, method: str) -> None:
    bench.run(tmp_path / "one", method)
    bench.run(tmp_path / "two", method)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


@pytest.mark.parametrize("method", [name for name, method in RELATED.items() if method.notes and method.draws == 1])
def test_methods_that_take_notes_can_be_drawn(bench: Bench, tmp_path: Path, method: str) -> None:
    """A candidate that came before is drawn again, and notes are asked for each time."""
    view = bench.run(tmp_path / "run", f"{method}:temperature=0.8,draws=3", model=FickleModel(luck=9))
    assert any(attempt.repeat for turn in view.turns for attempt in turn.episode.attempts)
    with bench.data() as data:
        assert audit_run(view, encoder=WordEncoder(), data=data).questions == len(ITEMS)


def test_every_file_says_its_format(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "run")
    for path in view.path.rglob("*.json"):
        assert isinstance(json.loads(path.read_text())["format"], int), path
    for path in view.path.rglob("*.jsonl"):
        assert all(isinstance(json.loads(line)["format"], int) for line in path.read_text().splitlines()), path


def test_the_order_is_the_seeds_and_no_methods(bench: Bench, tmp_path: Path) -> None:
    orders = {}
    for seed in (0, 1):
        for method in ("merit", "iterative", "reflexion"):
            view = bench.run(tmp_path / f"{method}{seed}", method, seed=seed)
            orders[seed, method] = [turn.episode.task.question.id for turn in view.turns]
    assert orders[0, "merit"] == orders[0, "iterative"] == orders[0, "reflexion"]
    assert orders[1, "merit"] == orders[1, "iterative"]
    assert orders[0, "merit"] != orders[1, "merit"]


@pytest.mark.parametrize("method", ONLINE)
def test_a_shorter_run_is_the_beginning_of_a_longer_one(bench: Bench, tmp_path: Path, method: str) -> None:
    draw = random.Random(method)
    for number in range(tries(1000)):
        length, luck, seed = draw.randint(1, len(ITEMS)), draw.randint(2, 9), draw.randrange(4)
        bench.run(tmp_path / f"short{number}", method, model=FickleModel(luck), seed=seed, limit=length)
        bench.run(tmp_path / f"long{number}", method, model=FickleModel(luck), seed=seed)
        short, long = files_of(tmp_path / f"short{number}"), files_of(tmp_path / f"long{number}")
        assert short.pop("metrics.json") != long.pop("metrics.json") or length == len(ITEMS)
        for file, content in short.items():
            assert long[file].startswith(content) if file.endswith(".jsonl") else long[file] == content, file


def test_the_control_alone_depends_on_what_comes_later(bench: Bench, tmp_path: Path) -> None:
    short = bench.run(tmp_path / "short", "transductive_batch", limit=6)
    long = bench.run(tmp_path / "long", "transductive_batch")
    assert {short.identity.length, long.identity.length} == {6, len(ITEMS)}
    first = [one["pools"] for one in recalls(short)]
    assert first != [one["pools"] for one in recalls(long)][: len(first)]


def test_a_longer_limit_goes_on_with_the_same_run(bench: Bench, tmp_path: Path) -> None:
    bench.run(tmp_path / "whole")
    for limit in (3, 7, None):
        bench.run(tmp_path / "pieces", limit=limit)
    assert files_of(tmp_path / "pieces") == files_of(tmp_path / "whole")


def sessions(run: Path) -> list[dict[str, Any]]:
    path = run / "timings.json"
    found: list[dict[str, Any]] = json.loads(path.read_text())["sessions"] if path.is_file() else []
    return found


def test_every_session_is_in_the_account_whatever_it_finished(bench: Bench, tmp_path: Path) -> None:
    run, store = tmp_path / "run", AnswerStore(None)
    for answers in (1, 0):  # what was sent was paid for, though no turn came of it
        with pytest.raises(InputError, match="the model is gone"):
            bench.run(run, model=CachingCompleter(Failing(answers), store))
    bench.run(run, model=CachingCompleter(FickleModel(), store))
    assert [(one["turns"], one["sent"]["calls"]) for one in sessions(run)[:2]] == [(0, 1), (0, 0)]
    assert sessions(run)[2]["turns"] == len(ITEMS)
    bench.run(run, model=CachingCompleter(FickleModel(), store))  # there was nothing left to do
    assert len(sessions(run)) == 3


def test_the_account_of_a_session_is_kept_while_it_runs(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a kill loses little of it."""
    monkeypatch.setattr("merit.stream.run._TIMINGS_EVERY", 4)
    seen: list[list[int]] = []

    class Watching(FickleModel):
        async def complete(self, prompt: str, sampling: Sampling) -> Completion:
            seen.append([one["turns"] for one in sessions(tmp_path / "run")])
            return await super().complete(prompt, sampling)

    bench.run(tmp_path / "run", model=Watching())
    assert [turns for turns, _ in groupby(seen)] == [[0], [4], [8]]
    assert [one["turns"] for one in sessions(tmp_path / "run")] == [len(ITEMS)]


@pytest.mark.parametrize("answers", range(0, 30, 5))
def test_a_run_that_broke_off_goes_on(bench: Bench, tmp_path: Path, answers: int) -> None:
    bench.run(tmp_path / "whole")
    with pytest.raises(InputError):
        bench.run(tmp_path / "broken", model=Failing(answers))
    assert not (tmp_path / "broken" / "metrics.json").exists()
    bench.run(tmp_path / "broken")
    assert files_of(tmp_path / "broken") == files_of(tmp_path / "whole")


@pytest.mark.parametrize("file", ["trajectories.jsonl", "retrievals.jsonl", "predictions.jsonl", "memory/memory.jsonl"])
@pytest.mark.parametrize("lost", [1, 40, 900])
def test_files_cut_anywhere_are_made_whole_again(bench: Bench, tmp_path: Path, file: str, lost: int) -> None:
    bench.run(tmp_path / "run")
    whole = files_of(tmp_path / "run")
    path = tmp_path / "run" / file
    path.write_bytes(whole[file][:-lost])
    bench.run(tmp_path / "run")
    assert files_of(tmp_path / "run") == whole


def test_a_recall_sees_what_earlier_turns_left_and_nothing_else(bench: Bench, tmp_path: Path) -> None:
    """The memory is empty at first, and an episode's entry is there from the next position on (paper, equation 2)."""
    view = bench.run(tmp_path / "run", "merit", model=FickleModel(luck=4))
    left = [one.entry.provenance.position for one in entries_in(view.path / "memory")]
    assert len(left) == len(set(left)) == len(failed_first(view))  # one for each wrong first answer
    seen = {one["position"]: sum(pool["stored"] for pool in one["pools"]) for one in recalls(view)}
    assert seen == {position: sum(source < position for source in left) for position in seen}
    assert 0 in seen.values()
    assert sorted(seen) == sorted(turn.episode.task.position for turn in failed_first(view))


# Each method's row.


def test_zero_shot_asks_nothing(bench: Bench, tmp_path: Path) -> None:
    model = FickleModel()
    view = bench.run(tmp_path / "run", "zero_shot", model=model)
    assert not model.prompts
    assert metrics(view)["calls"] == {"initial": 12, "repair": 0, "reflection": 0, "total": 12}
    assert metrics(view)["accuracy"] == metrics(view)["initial_accuracy"] == 33.33


def test_iterative_has_its_own_history_and_nothing_else(bench: Bench, tmp_path: Path) -> None:
    model = FickleModel(luck=10**9)
    view = bench.run(tmp_path / "run", "iterative", model=model)
    assert not list(entries_in(view.path / "memory"))
    assert not recalls(view)
    for prompt in model.prompts:
        assert "REPAIR DIRECTIONS:\n(none)\n" in prompt
        assert "FAILED DIRECTIONS:\n(none)\n" in prompt
        assert "THIS EPISODE:\n(none)\n" in prompt
        assert "STATIC EXAMPLES" not in prompt
    assert "[Attempt 7 - observed unsuccessful]" in model.prompts[6]


def test_vanilla_shows_four_fixed_training_examples(bench: Bench, tmp_path: Path) -> None:
    model = FickleModel()
    bench.run(tmp_path / "run", "vanilla", model=model)
    assert model.prompts
    for prompt in model.prompts:
        for number, item in enumerate(TRAIN, 1):
            assert f"[Static example {number}]\nQuestion: {item.text}\nSQL: {item.reference}\n" in prompt


def test_reflexion_reflects_after_every_unsuccessful_attempt(bench: Bench, tmp_path: Path) -> None:
    model = FickleModel()
    view = bench.run(tmp_path / "run", "reflexion", model=model)
    found = metrics(view)
    calls = found["calls"]
    wrong, repaired = 12 - 4, found["repaired"]
    assert calls["reflection"] == calls["repair"] - repaired + wrong  # SPEC.md, arith
    assert calls["total"] == 12 + calls["repair"] + calls["reflection"]
    assert not list(entries_in(view.path / "memory"))
    for turn in failed_first(view):
        texts = [reflection.text for reflection in turn.episode.reflections]
        assert all(text.startswith("Thought ") and text.endswith("about it.") for text in texts)
        asked = [p for p in model.prompts if f"QUESTION:\n{turn.episode.task.question.text}\n" in p and "-repair-" in p]
        for shown, prompt in enumerate(asked, 1):
            block = "\n".join(f"[Local reflection {i}] {text}" for i, text in enumerate(texts[:shown], 1))
            assert f"LOCAL REFLECTIONS FROM THIS EPISODE:\n{block}\n\nCURRENT FEEDBACK" in prompt


def polarities(view: RunView) -> set[Polarity]:
    return {one.entry.polarity for one in entries_in(view.path / "memory")}


def test_dynamic_rag_has_one_pool_of_confirmed_changes(bench: Bench, tmp_path: Path) -> None:
    model = FickleModel(luck=2)
    view = bench.run(tmp_path / "run", "dynamic_rag", model=model, budget=3)
    assert any(not turn.final_correct for turn in view.turns)  # each of them a failed direction
    assert polarities(view) == {Polarity.POSITIVE}
    pools = [pool for one in recalls(view) for pool in one["pools"]]
    assert all(pool["polarity"] is None and not pool["typed"] and not pool["fallback"] for pool in pools)
    assert max(len(pool["matches"]) for pool in pools) == 4
    assert all(pool["size"] == pool["legal"] == pool["stored"] for pool in pools)
    assert any("[Confirmed successful repair 4]" in prompt for prompt in model.prompts)
    assert all("OBSERVED FAILED DIRECTIONS:\n(none)" in prompt for prompt in model.prompts)
    assert all("LOCAL REFLECTIONS FROM THIS EPISODE:\n(none)\n" in prompt for prompt in model.prompts)
    shown = {label for prompt in model.prompts for label in re.findall("^Current error type: (.*)$", prompt, re.M)}
    assert {"Result Mismatch", "Schema Linking"} <= shown  # though it plays no part in the recall


def test_merit_has_a_typed_pool_for_each_polarity(bench: Bench, tmp_path: Path) -> None:
    model = FickleModel(luck=8)
    view = bench.run(tmp_path / "run", "merit", model=model, budget=2)
    assert polarities(view) == {Polarity.POSITIVE, Polarity.NEGATIVE}
    types = {one.entry.id: one.entry.type for one in entries_in(view.path / "memory")}
    seen = {"typed": 0, "fallback": 0}
    for one in recalls(view):
        positive, negative = one["pools"]
        assert (positive["polarity"], negative["polarity"]) == ("positive", "negative")
        assert len(positive["matches"]) <= 3
        assert len(negative["matches"]) <= 1
        for pool in (positive, negative):
            assert pool["typed"] == (pool["same_type"] >= 3)
            seen["typed"] += bool(pool["typed"])
            seen["fallback"] += bool(pool["fallback"])
            if pool["typed"]:
                assert len({types[match["entry"]] for match in pool["matches"]}) == 1
    assert all(seen.values())
    assert any("[OBSERVED FAILED DIRECTION 1]" in prompt for prompt in model.prompts)
    assert all("LOCAL REFLECTIONS FROM THIS EPISODE:\n(none)\n" in prompt for prompt in model.prompts)


def test_positive_only_neither_keeps_nor_recalls_failed_directions(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "run", "positive_only", model=FickleModel(luck=3), budget=3)
    assert any(not turn.final_correct for turn in view.turns)  # each of them a failed direction
    assert polarities(view) == {Polarity.POSITIVE}
    assert all([pool["polarity"] for pool in one["pools"]] == ["positive"] for one in recalls(view))
    assert any(pool["fallback"] or pool["typed"] for one in recalls(view) for pool in one["pools"])


def test_no_type_filter_never_narrows(bench: Bench, tmp_path: Path) -> None:
    pools = [p for one in recalls(bench.run(tmp_path / "run", "no_type_filter")) for p in one["pools"]]
    assert not any(pool["typed"] or pool["fallback"] for pool in pools)
    assert {pool["polarity"] for pool in pools} == {"positive", "negative"}


@pytest.mark.parametrize(
    ("method", "present", "absent"), [("no_dense", "lexical", "dense"), ("no_bm25", "dense", "lexical")]
)
def test_a_channel_can_be_removed(bench: Bench, tmp_path: Path, method: str, present: str, absent: str) -> None:
    view = bench.run(tmp_path / "run", method)
    matches = [m for one in recalls(view) for pool in one["pools"] for m in pool["matches"]]
    assert matches
    assert all(match[absent] is None and match[present] is not None for match in matches)
    assert all(match["score"] == pytest.approx(match[f"{present}_normalised"], abs=1e-12) for match in matches)
    assert (view.identity.encoder is None) == (method == "no_dense")


def always(sql: str) -> ScriptedCompleter:
    return ScriptedCompleter([ScriptedReply((), f"<answer>{sql}</answer>")])


def _random_seed(view: RunView) -> int | None:
    assert view.method.recall is not None
    return view.method.recall.random_seed


def test_random_same_type_draws_by_the_seed(bench: Bench, tmp_path: Path) -> None:
    first = bench.run(tmp_path / "run", "random_same_type", model=always("SELECT 1"))
    assert _random_seed(first) == 0
    assert _random_seed(bench.run(tmp_path / "other", "random_same_type", seed=3)) == 3
    matches = [m for one in recalls(first) for pool in one["pools"] for m in pool["matches"]]
    assert all(match["dense"] is None and match["lexical"] is None for match in matches)
    ranked = bench.run(tmp_path / "ranked", "merit", model=always("SELECT 1"))
    drawn, best = ([[p["size"] for p in one["pools"]] for one in recalls(view)] for view in (first, ranked))
    assert drawn == best  # the same pools, other entries of them
    assert [one["pools"] for one in recalls(first)] != [one["pools"] for one in recalls(ranked)]


def test_cross_database_only_recalls_from_other_databases(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "run", "cross_database_only")
    sources = {one.entry.id: one.entry.provenance.db_id for one in entries_in(view.path / "memory")}
    here = {turn.episode.task.question.id: turn.episode.task.question.db_id for turn in view.turns}
    found = [
        (here[one["question_id"]], sources[m["entry"]])
        for one in recalls(view)
        for pool in one["pools"]
        for m in pool["matches"]
    ]
    assert found
    assert all(database != source for database, source in found)


def test_type_reliability_gives_a_bonus_to_unreliable_types_only(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "run", "merit_type_reliability", model=FickleModel(luck=9), budget=2)
    kinds = {
        (turn.episode.task.question.id, step): attempt.failure.type
        for turn in view.turns
        for step, attempt in enumerate(turn.episode.attempts, 1)
        if attempt.failure
    }
    bonuses = set()
    for one in recalls(view):
        reliable = kinds[one["question_id"], one["step"]] in ("SYNTAX", "SCHEMA_LINKING", "EXECUTION")
        for pool in one["pools"]:
            assert reliable or not pool["typed"]
            for match in pool["matches"]:
                bonuses.add((reliable, match["bonus"]))
    assert bonuses == {(True, 0.0), (False, 0.0), (False, 0.1)}


def test_transductive_batch_reads_the_whole_stream_but_never_itself(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "run", "transductive_batch")
    assert metrics(view)["online"] is False
    sources = {one.entry.id: one.entry.provenance for one in entries_in(view.path / "memory")}
    found = [
        (one["position"], one["question_id"], sources[str(m["entry"])])
        for one in recalls(view)
        for pool in one["pools"]
        for m in pool["matches"]
    ]
    assert any(source.position > position for position, _, source in found)
    assert all(source.question_id != question for _, question, source in found)
    gathered = [turn for turn in view.turns if turn.phase is Phase.GATHER]
    alone = bench.run(tmp_path / "alone", "iterative")
    assert [turn.episode.attempts for turn in gathered] == [turn.episode.attempts for turn in alone.turns]


def test_positions_decide_for_everybody_else(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "run", "merit")
    sources = {one.entry.id: one.entry.provenance for one in entries_in(view.path / "memory")}
    found = [
        (one["position"], sources[str(m["entry"])].position)
        for one in recalls(view)
        for pool in one["pools"]
        for m in pool["matches"]
    ]
    assert found
    assert all(source < position for position, source in found)


# Regimes.


def test_without_an_oracle_nothing_is_correct_and_only_failed_directions_are_kept(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "run", "merit", model=FickleModel(luck=4), regime="dbms_only", budget=1)
    statuses = {attempt.verdict.status for turn in view.turns for attempt in turn.episode.attempts}
    assert Status.CORRECT not in statuses
    assert Status.DENOTATION_MISMATCH not in statuses
    for turn in view.turns:
        *before, last = turn.episode.attempts
        assert all(attempt.verdict.status is not Status.EXECUTED for attempt in before)
        assert last.verdict.status is Status.EXECUTED or len(before) == 1
    kept = [one.entry for one in entries_in(view.path / "memory")]
    assert {(entry.polarity, entry.grade) for entry in kept} == {("negative", "executed")}
    found = metrics(view)
    assert found["initial_correct"] == 4  # the judge knows, the agent does not
    assert sum(turn.final_correct for turn in view.turns) == found["correct"]


# Bad input.


def test_first_answers_of_other_data_are_refused(bench: Bench, tmp_path: Path) -> None:
    line = {
        "format": 1,
        "id": 0,
        "db_id": "shop",
        "question": "How many birds are there?",
        "sql": "",
        "reply": "",
        "prompt_tokens": 1,
        "output_tokens": 1,
    }
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(line) + "\n")
    with pytest.raises(
        InputError,
        match=r"other.jsonl, line 1: the question of question 0 is 'How many birds are there\?' there and .* made for other data",
    ):
        bench.run(tmp_path / "run", initial=other)
    other.write_text(json.dumps({**line, "id": 99}) + "\n")
    with pytest.raises(InputError, match="line 1: the dataset has no question with id 99"):
        bench.run(tmp_path / "run", initial=other)
    assert not (tmp_path / "run").exists()


def test_missing_first_answers_are_counted(bench: Bench, tmp_path: Path) -> None:
    short = tmp_path / "short.jsonl"
    short.write_text("\n".join(bench.initial.read_text().splitlines()[:5]))
    with pytest.raises(InputError, match="7 of 12 questions have no first answer"):
        bench.run(tmp_path / "run", initial=short)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"seed": 1}, "the seed is 0 there and 1 here; give the seed 0"),
        ({"budget": 3}, "the budget is 7 there and 3 here; give the budget 7"),
        ({"method": "iterative"}, "the method is merit there and iterative here; give the method merit"),
    ],
)
def test_a_folder_of_another_run_is_refused_with_the_field(
    bench: Bench, tmp_path: Path, changed: dict[str, Any], field: str
) -> None:
    bench.run(tmp_path / "run")
    before = files_of(tmp_path / "run")
    with pytest.raises(
        RunUnusable, match=f"holds another run: {field} to go on with that one, or choose another place"
    ):
        bench.run(tmp_path / "run", **changed)
    assert files_of(tmp_path / "run") == before


def test_other_first_answers_are_another_run(bench: Bench, tmp_path: Path) -> None:
    bench.run(tmp_path / "run")
    with pytest.raises(RunUnusable, match="the hash of the first answers is"):
        bench.run(tmp_path / "run", initial=write_initial(tmp_path / "new.jsonl", ["broken"]))


def test_a_folder_that_holds_something_else_is_left_alone(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("precious")
    with pytest.raises(RunUnusable, match=r"holds thesis.tex and no run"):
        bench.run(tmp_path / "mine")
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == ["thesis.tex"]


def test_bird_questions_need_their_evidence(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, layout="bird")
    bench.run(tmp_path / "run")
    questions = json.loads((bench.root / "dev.json").read_text())
    for question in questions:
        del question["evidence"]
    (bench.root / "dev.json").write_text(json.dumps(questions))
    with pytest.raises(InputError, match=r"question \d+: the field 'evidence' is missing"):
        bench.run(tmp_path / "other")


def test_examples_may_not_be_questions_of_the_stream(bench: Bench, tmp_path: Path) -> None:
    examples = tmp_path / "examples.jsonl"
    examples.write_text("".join(json.dumps({"question": item.text, "sql": "SELECT 1"}) + "\n" for item in ITEMS[:4]))
    with pytest.raises(InputError, match="is a question of the stream itself"):
        bench.run(tmp_path / "run", "vanilla", examples=examples)
    examples.write_text(json.dumps({"question": "new", "sql": "SELECT 1"}) + "\n")
    with pytest.raises(InputError, match="1 examples, but the method shows 4"):
        bench.run(tmp_path / "run", "vanilla", examples=examples)
    (bench.root / "train.json").unlink()
    with pytest.raises(InputError, match="give a file of examples"):
        bench.run(tmp_path / "run", "vanilla")


def test_an_edited_manifest_is_noticed(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "run")
    manifest = replace(view.manifest, identity=replace(view.identity, seed=5)).record()
    (view.path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(RunUnusable, match="the field 'run' does not follow"):
        read_run(view.path)


def test_models_have_an_identity(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "run")
    assert view.identity.model == FickleModel().identity


def test_a_run_to_whose_memory_others_added_does_not_remove_that(bench: Bench, tmp_path: Path) -> None:
    run = tmp_path / "run"
    bench.run(run, "merit", model=FickleModel(luck=2), limit=4)
    with Memory(run / "memory", None) as memory:
        memory.commit(make_entry(1))
    before = files_of(run)
    with pytest.raises(RunUnusable, match="holds entries that this run did not leave, and going on would remove them"):
        bench.run(run, "merit", model=FickleModel(luck=2), limit=8)
    assert files_of(run) == before


def test_a_run_whose_entries_a_person_deleted_does_not_bring_them_back(bench: Bench, tmp_path: Path) -> None:
    view = bench.run(tmp_path / "run", model=FickleModel(luck=3))
    log = view.path / "memory" / "memory.jsonl"
    with closing(FileStore(log.parent)) as store:
        curate.delete(store, entries_in(log.parent)[0].entry.id, "wrong")
    before = log.read_bytes()
    with pytest.raises(RunUnusable, match="deleted or confirmed by a person"):
        bench.run(tmp_path / "run", model=FickleModel(luck=3))
    assert log.read_bytes() == before


@pytest.mark.parametrize("seed", [2**63, -(2**63) - 1, 2**53 + 1])
def test_a_seed_that_no_manifest_can_hold_is_refused_before_a_call(tmp_path: Path, seed: int) -> None:
    with pytest.raises(InputError, match=r"^seed: expected a number from -9007199254740992 to 9007199254740992, not "):
        make_bench(tmp_path).spec(seed=seed)


@pytest.mark.parametrize("limit", [0, -4])
def test_a_limit_below_one_question_is_refused(tmp_path: Path, limit: int) -> None:
    with pytest.raises(InputError, match=f"^limit: expected a number of questions, 1 or more, not {limit}$"):
        make_bench(tmp_path).spec(limit=limit)
