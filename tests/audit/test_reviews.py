"""The audit of reviewed runs: forged draws, corrections and entries are caught, also where all files agree."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from making.benchmark import ITEMS, FickleModel
from making.memories import WordEncoder
from making.runs import Bench, make_bench
from making.tampering import ENTRIES, LOG, Record, reidentify, rewrite, settle
from merit.audit import AuditData, audit_run
from merit.errors import AuditFailed, InputError, MeritError, RunUnusable
from merit.oracle import SimulatedReviewer
from merit.runs import ReviewPolicy, is_drawn, read_run
from merit.runs import folder as run_folder
from merit.types import Question, ReviewOutcome

REVIEWS = "reviews.jsonl"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def data(bench: Bench) -> Iterator[AuditData]:
    with bench.data() as opened:
        yield opened


def make(bench: Bench, out: Path, share: float = 0.6) -> Path:
    review = ReviewPolicy(share)
    return bench.run(out, "precedent", model=FickleModel(luck=4), regime="reviewed", review=review).path


@pytest.fixture(scope="module")
def honest(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(bench, tmp_path_factory.mktemp("honest") / "run")


@pytest.fixture
def run(honest: Path, tmp_path: Path) -> Path:
    shutil.copytree(honest, tmp_path / "run")
    return tmp_path / "run"


def audit(path: Path, data: AuditData | None = None) -> Any:
    return audit_run(read_run(path), encoder=WordEncoder(), data=data)


def corrected(records: list[Record]) -> Record:
    return next(record for record in records if record["said"] == "corrected")


def test_corrections_of_answers_that_are_not_drawn_are_caught(bench: Bench, tmp_path: Path) -> None:
    """All answers were reviewed, and the manifest says that some were: all files agree but for the draw."""
    forged = make(bench, tmp_path / "run", 1)
    reidentify(forged, lambda identity: identity["review"].update(share=0.5))
    with pytest.raises(AuditFailed, match="its answer was reviewed, but is not drawn"):
        audit(forged)


def test_answers_that_are_drawn_and_were_not_reviewed_are_caught(bench: Bench, tmp_path: Path) -> None:
    forged = make(bench, tmp_path / "run", 0.2)
    reidentify(forged, lambda identity: identity["review"].update(share=0.9))
    with pytest.raises(AuditFailed, match="its answer is drawn for review, but was not reviewed"):
        audit(forged)


def test_answers_that_were_picked_are_caught(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the share says, but others: those of another seed."""
    with monkeypatch.context() as patch:
        patch.setattr(run_folder, "is_drawn", lambda policy, seed, question: is_drawn(policy, seed + 1, question))
        forged = make(bench, tmp_path / "run")
    with pytest.raises(AuditFailed, match="by the seed and the share that the manifest names"):
        audit(forged)


def test_a_correction_that_is_not_the_reference_is_caught_with_the_data(
    bench: Bench, tmp_path: Path, data: AuditData, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run whose reviewer says something else: all its files agree, and without the data that is taken on trust."""

    def lie(_self: SimulatedReviewer, _question: Question, *, right: bool) -> tuple[ReviewOutcome, str | None]:
        return (ReviewOutcome.CONFIRMED, None) if right else (ReviewOutcome.CORRECTED, "SELECT 'edited'")

    with monkeypatch.context() as patch:
        patch.setattr(SimulatedReviewer, "review", lie)
        forged = make(bench, tmp_path / "run")
    assert "that every correction is the reference of its own question (prove it with --data)" in audit(forged).on_trust
    with pytest.raises(AuditFailed, match="the correction is not what the reviewer says of this question"):
        audit(forged, data)


def test_a_reviewer_who_confirms_what_is_wrong_is_caught(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(SimulatedReviewer, "review", lambda _self, _question, right: (ReviewOutcome.CONFIRMED, None))  # noqa: ARG005
        forged = make(bench, tmp_path / "run")
    with pytest.raises(AuditFailed, match="the answer was confirmed, but the reviewer would have corrected it"):
        audit(forged)


def edit_correction(records: list[Record]) -> None:
    corrected(records)["sql"] = "SELECT 'edited'"


def edit_learned(records: list[Record]) -> None:
    corrected(records)["learned"]["precedent"] = "pre-0000000000000000"


def move_to_earlier(records: list[Record]) -> None:
    corrected(records)["position"] = 0
    records[-1]["position"] = 0


def turn_to_rejection(records: list[Record]) -> None:
    corrected(records).update(said="rejected", sql=None, learned={})


def add_a_field(records: list[Record]) -> None:
    records[0]["note"] = "x"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edit_correction, "what was learned does not follow from the answer"),
        (edit_learned, "what was learned does not follow from the answer"),
        (move_to_earlier, "is not the review of this turn"),
        (turn_to_rejection, "the answer was rejected, but the reviewer would have corrected it"),
        (add_a_field, "is not the review of this turn"),
    ],
)
def test_an_edited_review_is_caught(run: Path, change: Callable[[list[Record]], None], said: str) -> None:
    rewrite(run, REVIEWS, change)
    settle(run)
    with pytest.raises(AuditFailed, match=said):
        audit(run)


def edit_sql(records: list[Record]) -> None:
    next(record for record in records if record["kind"] == "precedent")["sql"] = "SELECT 'edited'"


def date_back(records: list[Record]) -> None:
    records[-1]["provenance"]["position"] = 0


def hide_the_author(records: list[Record]) -> None:
    records[0]["provenance"]["author"] = "Ada"


@pytest.mark.parametrize("change", [edit_sql, date_back, hide_the_author])
def test_an_edited_entry_is_caught(run: Path, change: Callable[[list[Record]], None]) -> None:
    rewrite(run, ENTRIES, change)
    with pytest.raises(AuditFailed, match=r"memory.jsonl, line \d+: is not the entry"):
        audit(run)


def test_a_correction_that_was_shown_to_its_own_question_or_an_earlier_one_is_caught(run: Path) -> None:
    """The last correction, put into the first recall of its own question, and of the question before it."""
    view = read_run(run)
    own = next(turn for turn in reversed(view.turns) if turn.review and turn.review.said is ReviewOutcome.CORRECTED)
    for position in (own.episode.task.position, own.episode.task.position - 1):
        forged = run.with_name(f"forged-{position}")
        shutil.copytree(run, forged)

        def show(records: list[Record], position: int = position) -> None:
            record = next(one for one in records if one["position"] == position and one["pools"][0]["matches"])
            record["pools"][0]["matches"][0]["entry"] = own.left[0]

        rewrite(forged, LOG, show)
        with pytest.raises(AuditFailed, match="was recalled before any finished episode had left it"):
            audit(forged)


def test_reviews_of_no_turn_and_out_of_order_cannot_be_read(run: Path) -> None:
    for change in (lambda records: records.append(records[0]), lambda records: records.reverse()):
        rewrite(run, REVIEWS, change)
        with pytest.raises(RunUnusable, match=r"reviews.jsonl, line \d+: is about no answer of this run, or not in"):
            read_run(run)


def test_a_run_without_its_reviews_is_caught(run: Path) -> None:
    (run / REVIEWS).unlink()
    settle(run)
    with pytest.raises(AuditFailed, match=r"reviews.jsonl: is missing, though the run is finished"):
        audit(run)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda identity: identity.pop("review"), "the field 'review' goes with the regime reviewed"),
        (lambda identity: identity.update(regime="dbms_only"), "the field 'review' goes with the regime reviewed"),
        (lambda identity: identity["review"].update(author="Ada"), "the field 'author' cannot be 'Ada'"),
        (lambda identity: identity["review"].update(share=1.5), "expected a number from 0 to 1"),
        (lambda identity: identity["review"].update(kind="praise"), "praise"),
        (lambda identity: identity["method"]["recall"].update(least_grade="agreed"), "is another one in this merit"),
    ],
)
def test_a_manifest_that_hides_or_bends_the_reviewer_is_refused(
    run: Path, change: Callable[[Record], object], said: str
) -> None:
    reidentify(run, change)
    with pytest.raises((InputError, AuditFailed), match=said) as refused:
        audit(run)
    assert isinstance(refused.value, MeritError)


def test_a_correction_with_the_reference_of_another_question_is_counted(tmp_path: Path) -> None:
    """Questions with the same reference: the later ones are shown it, as the correction of an earlier one."""
    bench = make_bench(tmp_path)
    text = (bench.root / "dev.json").read_text()
    for item in ITEMS[1:5]:
        text = text.replace(item.reference, ITEMS[0].reference)
    (bench.root / "dev.json").write_text(text)
    run = bench.run(tmp_path / "run", "precedent", model=FickleModel(10**9), regime="reviewed", review=ReviewPolicy(1))
    with bench.data() as data:
        assert audit(run.path, data).shared_references > 0
