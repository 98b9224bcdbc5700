"""The regime reviewed: answers without an oracle, and afterwards a simulated reviewer who sees a share of them."""

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from making.benchmark import ITEMS, FickleModel
from making.memories import WordEncoder
from making.runs import Bench, caching, files_of, make_bench
from merit.agent import SIMULATED_REVIEWER, learned_from
from merit.audit import audit_run
from merit.errors import InputError, RunUnusable
from merit.memory import Grade, Precedent, Repair, entries_in
from merit.models import AnswerStore, CachingCompleter, CachingEncoder
from merit.oracle import SimulatedReviewer
from merit.runs import AnswerReview, ReviewPolicy, RunView, is_drawn, read_run
from merit.stream import OwnParts, open_setup, run_stream
from merit.types import Polarity, Question, QuestionId, Regime, ReviewKind, ReviewOutcome, Status

CORRECTIONS, THUMBS = ReviewKind.CORRECTIONS, ReviewKind.THUMBS
CANARY = "zzcanary7391zz"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


def reviewed(bench: Bench, out: Path, share: float, kind: ReviewKind = CORRECTIONS, **options: Any) -> RunView:
    method = options.pop("method", "precedent")
    model = options.pop("model", None) or FickleModel(luck=3)
    return bench.run(out, method, model=model, regime="reviewed", review=ReviewPolicy(share, kind), **options)


@pytest.fixture(scope="module")
def half(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> RunView:
    """A run of which about half the answers were reviewed, with corrections."""
    return reviewed(bench, tmp_path_factory.mktemp("half") / "run", 0.6)


def said(view: RunView) -> dict[Any, ReviewOutcome]:
    return {turn.episode.task.question.id: turn.review.said for turn in view.turns if turn.review}


def test_the_reviewer_sees_what_is_drawn_by_seed_and_question(half: RunView) -> None:
    drawn = {number for number in range(len(ITEMS)) if is_drawn(ReviewPolicy(0.6), 0, number)}
    assert set(said(half)) == drawn
    assert 0 < len(drawn) < len(ITEMS)


def test_a_larger_share_draws_all_that_a_smaller_one_draws_and_more() -> None:
    def drawn(share: float, seed: int = 0) -> set[int]:
        return {number for number in range(2000) if is_drawn(ReviewPolicy(share), seed, number)}

    assert drawn(0) < drawn(0.1) < drawn(0.3) < drawn(1) == set(range(2000))
    assert abs(len(drawn(0.3)) - 600) < 60
    assert drawn(0.3) != drawn(0.3, seed=1)
    assert not is_drawn(None, 0, 1)


def test_right_answers_are_confirmed_and_wrong_ones_corrected(half: RunView) -> None:
    for turn in half.turns:
        if turn.review is None:
            continue
        reference = ITEMS[int(turn.episode.task.question.id)].reference
        assert turn.review.said is (ReviewOutcome.CONFIRMED if turn.final_correct else ReviewOutcome.CORRECTED)
        assert turn.review.sql == (None if turn.final_correct else reference)
    assert set(said(half).values()) == {ReviewOutcome.CONFIRMED, ReviewOutcome.CORRECTED}


def test_what_is_learned_is_what_live_use_learns(half: RunView) -> None:
    entries = {listed.entry.id: listed.entry for listed in entries_in(half.path / "memory")}
    for turn in half.turns:
        learned = [entries.pop(name) for name in turn.left]
        assert turn.entry is None
        assert {entry.grade for entry in learned} <= {Grade.CONFIRMED}
        assert {entry.provenance.author for entry in learned} <= {SIMULATED_REVIEWER}
        assert {entry.provenance.position for entry in learned} <= {turn.episode.task.position}
        answers = [entry.sql for entry in learned if isinstance(entry, Precedent)]
        changes = [(entry.before, entry.after) for entry in learned if isinstance(entry, Repair)]
        final = turn.episode.final.sql
        if turn.review is None:
            assert learned == []
        elif turn.review.said is ReviewOutcome.CONFIRMED:
            assert (answers, changes) == ([final], [])
        else:
            assert (answers, changes) == ([turn.review.sql], [(final, turn.review.sql)])
    assert entries == {}


def test_thumbs_teach_answers_and_failed_directions_and_hold_no_reference(bench: Bench, tmp_path: Path) -> None:
    view = reviewed(bench, tmp_path / "run", 1, THUMBS, model=FickleModel(luck=4))
    assert set(said(view).values()) == {ReviewOutcome.CONFIRMED, ReviewOutcome.REJECTED}
    entries = {listed.entry.id: listed.entry for listed in entries_in(view.path / "memory")}
    negatives = 0
    for turn in view.turns:
        assert turn.review is not None
        assert turn.review.sql is None
        if turn.review.said is ReviewOutcome.CONFIRMED:
            continue
        failed = [one for one in turn.episode.attempts if one.verdict.status is Status.EXECUTION_ERROR]
        changed = [one.sql for one in failed if one.sql != turn.episode.final.sql]
        assert set(turn.review.learned) == ({Polarity.NEGATIVE} if changed else set())
        for name in turn.left:
            entry = entries[name]
            assert isinstance(entry, Repair)
            assert (entry.before, entry.after) == (changed[-1], turn.episode.final.sql)
            negatives += 1
    assert negatives


def test_only_what_a_reviewer_said_of_earlier_answers_is_recalled(half: RunView) -> None:
    known = {name: turn.episode.task.position for turn in half.turns for name in turn.left}
    recalled = 0
    for line in (half.path / "retrievals.jsonl").read_text().splitlines():
        record = json.loads(line)
        for match in (match for pool in record["pools"] for match in pool["matches"]):
            assert known[match["entry"]] < record["position"]
            recalled += 1
    assert recalled
    assert half.method.recall is not None
    assert half.method.recall.least_grade is Grade.TESTED


def test_the_manifest_says_who_reviewed_how_much(half: RunView) -> None:
    identity = json.loads((half.path / "manifest.json").read_text())["identity"]
    assert identity["regime"] == "reviewed"
    assert identity["review"] == {"share": 0.6, "kind": "corrections", "author": "simulated reviewer"}


def test_with_a_share_of_nothing_nothing_is_learned(bench: Bench, tmp_path: Path) -> None:
    """It is the same as voting without an oracle and without a memory."""
    view = reviewed(bench, tmp_path / "none", 0)
    alone = bench.run(tmp_path / "alone", "resample", model=FickleModel(luck=3), regime="dbms_only")
    assert not list(entries_in(view.path / "memory"))
    assert [turn.episode.final.sql for turn in view.turns] == [turn.episode.final.sql for turn in alone.turns]


def test_accuracy_is_counted_before_feedback_in_every_part(half: RunView) -> None:
    found = json.loads((half.path / "metrics.json").read_text())
    right = [turn.final_correct for turn in half.turns]
    seen = [turn.final_correct for turn in half.turns if turn.review]
    assert found["correct"] == sum(right)
    review = found["review"]
    assert review["reviewed"] == {"questions": len(seen), "accuracy": round(100 * sum(seen) / len(seen), 2)}
    assert review["confirmed"] == sum(seen)
    assert review["corrected"] == len(seen) - sum(seen)
    assert review["second_half"] == {"questions": 6, "accuracy": round(100 * sum(right[6:]) / 6, 2)}
    assert review["first_half"]["questions"] + review["second_half"]["questions"] == len(right)
    assert found["entries"] == {"positive": review["corrected"], "negative": 0, "precedent": len(seen)}


@pytest.mark.parametrize(
    ("method", "kind"), [("precedent_grounded", CORRECTIONS), ("merit", THUMBS), ("dynamic_rag", CORRECTIONS)]
)
def test_an_honest_run_holds(bench: Bench, tmp_path: Path, method: str, kind: ReviewKind) -> None:
    view = reviewed(bench, tmp_path / "run", 0.7, kind, method=method)
    with bench.data() as data:
        found = audit_run(view, encoder=WordEncoder(), data=data)
    assert (found.reviews, found.questions) == (len(said(view)), len(ITEMS))
    assert found.corrections == sum(word is ReviewOutcome.CORRECTED for word in said(view).values())
    assert found.shared_references == 0


@pytest.mark.parametrize("prompts", ["paper", "live"])
def test_both_prompt_families_show_corrections(bench: Bench, tmp_path: Path, prompts: str) -> None:
    model = FickleModel(luck=10**9)
    spec = bench.spec("precedent", regime=Regime.REVIEWED, review=ReviewPolicy(1))
    spec = replace(spec, data=replace(spec.data, prompts=prompts))
    with OwnParts(caching(model), CachingEncoder(WordEncoder(), None)) as parts:
        asyncio.run(run_stream(open_setup(spec, parts), tmp_path / "run"))
    view = read_run(tmp_path / "run")
    first = view.turns[0].review
    assert first is not None
    assert sum(str(first.sql) in prompt for prompt in model.prompts) > 7
    with bench.data() as data, replace(spec.data, prompts=prompts).open(keep_results=False) as opened:
        assert audit_run(view, encoder=WordEncoder(), data=replace(data, benchmark=opened)).reviews == len(ITEMS)


def test_looking_ahead_changes_nothing(bench: Bench, tmp_path: Path) -> None:
    for ahead in (0, 8):
        model = CachingCompleter(FickleModel(luck=3), AnswerStore(None))
        reviewed(bench, tmp_path / f"{ahead}", 0.6, model=model, ahead=ahead)
    assert files_of(tmp_path / "0") == files_of(tmp_path / "8")


def test_a_shorter_run_is_the_beginning_of_a_longer_one(bench: Bench, half: RunView, tmp_path: Path) -> None:
    reviewed(bench, tmp_path / "run", 0.6, limit=5)
    reviewed(bench, tmp_path / "run", 0.6)
    assert files_of(tmp_path / "run") == files_of(half.path)


# A kill at any moment


class _KilledError(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize("at", ["before the reference leaves", "before the entries", "before the line", "in the line"])
def test_a_kill_between_an_answer_and_its_review_costs_nothing(
    bench: Bench, half: RunView, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    with monkeypatch.context() as patch:
        _kill(patch, at, len(said(half)) // 2)
        with pytest.raises(_KilledError):
            reviewed(bench, tmp_path / "run", 0.6)
    if at == "in the line":
        with (tmp_path / "run" / "reviews.jsonl").open("a") as file:
            file.write('{"format":1,"run":"')
    reviewed(bench, tmp_path / "run", 0.6)
    assert files_of(tmp_path / "run") == files_of(half.path)


def _kill(patch: pytest.MonkeyPatch, at: str, moment: int) -> None:
    """Have the run end at one of its reviews."""
    left = iter(range(moment, -1, -1))

    def killing(function: Any) -> Any:
        def instead(*given: Any, **named: Any) -> Any:
            if next(left) == 0:
                raise _KilledError
            return function(*given, **named)

        return instead

    if at == "before the reference leaves":
        patch.setattr(SimulatedReviewer, "review", killing(SimulatedReviewer.review))
    elif at == "before the entries":
        patch.setattr("merit.stream.reviewing.learned_from", killing(learned_from))
    else:
        patch.setattr("merit.stream.reviewing.AnswerReview", killing(AnswerReview))


def test_half_of_what_a_review_left_is_made_again(bench: Bench, half: RunView, tmp_path: Path) -> None:
    """As after a loss of power: a line of the memory is gone, or the review's, with all that came later or none of it."""
    whole = files_of(half.path)
    for name in ("memory/memory.jsonl", "reviews.jsonl"):
        for lines in (1, len(whole[name].splitlines()) - 1):
            out = tmp_path / f"{lines}-{Path(name).name}"
            shutil.copytree(half.path, out)
            kept = b"".join(whole[name].splitlines(keepends=True)[:lines])
            (out / name).write_bytes(kept)
            shutil.rmtree(out / "memory" / "index", ignore_errors=True)
            reviewed(bench, out, 0.6)
            assert files_of(out) == whole, (name, lines)


def test_no_reference_leaves_before_its_answer_is_on_disk(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = SimulatedReviewer.review
    seen: list[QuestionId] = []

    def watched(self: SimulatedReviewer, question: Question, *, right: bool) -> tuple[ReviewOutcome, str | None]:
        recorded = [json.loads(line) for line in (tmp_path / "run" / "trajectories.jsonl").read_text().splitlines()]
        assert recorded[-1]["question_id"] == question.id
        assert recorded[-1]["final_correct"] is right
        said_before = [json.loads(line) for line in (tmp_path / "run" / "reviews.jsonl").read_text().splitlines()]
        assert [one["question_id"] for one in said_before] == seen
        seen.append(question.id)
        return original(self, question, right=right)

    monkeypatch.setattr(SimulatedReviewer, "review", watched)
    reviewed(bench, tmp_path / "run", 1)
    assert len(seen) == len(ITEMS)


# Who may see a reference


@pytest.mark.parametrize(("share", "kind"), [(0.5, CORRECTIONS), (1, THUMBS), (0, CORRECTIONS)])
def test_a_reference_is_seen_only_after_its_question_and_only_if_it_was_reviewed(
    tmp_path: Path, share: float, kind: ReviewKind
) -> None:
    """Every reference holds a canary, and one of its own number."""
    bench = make_bench(tmp_path, canary=CANARY)
    model = FickleModel(luck=10**9)  # never right, so it never says what a reference says
    view = reviewed(bench, tmp_path / "run", share, kind, model=model)
    seen = 0
    known: set[str] = set()  # the corrections of answers that were recorded
    prompts = iter(model.prompts)
    for turn in view.turns:
        for _ in turn.episode.attempts[1:]:
            prompt = next(prompts)
            shown = prompt.count(f"'{CANARY}' = '{CANARY}'")
            assert shown == sum(prompt.count(sql) for sql in known)
            seen += shown
        if turn.review and turn.review.sql:
            assert turn.review.sql not in known
            known.add(turn.review.sql)
    assert bool(seen) == (kind is CORRECTIONS and share > 0)
    written = [
        path for path in (tmp_path / "run").rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()
    ]
    assert bool(written) == bool(seen)


# What makes no sense


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"regime": "reviewed"}, "needs the share of answers that the reviewer sees"),
        ({"regime": "dbms_only", "review": ReviewPolicy(0.3)}, "there is a reviewer only in the regime reviewed"),
        ({"method": "resample", "review": ReviewPolicy(0.3)}, "resample recalls nothing"),
        ({"method": "transductive_batch", "review": ReviewPolicy(0.3)}, "reads what the whole stream left"),
    ],
)
def test_what_makes_no_sense_is_refused(bench: Bench, tmp_path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        bench.run(tmp_path / "run", **{"method": "precedent", "regime": "reviewed", **options})
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("share", "kind"), [(1.1, "corrections"), (-0.1, "thumbs"), (float("nan"), "thumbs")])
def test_a_share_is_from_nothing_to_all(share: float, kind: str) -> None:
    with pytest.raises(InputError, match="share: expected a number from 0 to 1"):
        ReviewPolicy(share, ReviewKind(kind))


def test_a_run_with_another_share_is_another_run(bench: Bench, half: RunView) -> None:
    with pytest.raises(RunUnusable, match="the share of answers that are reviewed is 0.6 there and 0.2 here"):
        bench.spec("precedent", regime=half.identity.regime, review=ReviewPolicy(0.2)).check_place(half.path)
