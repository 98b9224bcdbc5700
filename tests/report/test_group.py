"""Who is compared with whom, and what is said where they are not."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from making.outcomes import RAN, RIGHT, WRONG, Tried, write_run
from making.reports import course, letters, questions
from merit.agent import METHODS
from merit.memory import RecallPolicy
from merit.report import Report, ReportTable, build
from merit.runs import RunView
from merit.types import QuestionId

ASKED = questions(8)
KNOWN = letters(8, 1, ("iterative", "merit"))


def run(path: Path, method: str, seed: int = 0, **changes: Any) -> RunView:
    words = KNOWN[method, seed]
    courses = {one: course(method, seed, one, word) for one, word in words.items()}
    return write_run(path, ASKED, method, courses, seed=seed, **changes)


def table(report: Report, name: str) -> ReportTable:
    return next(one for one in report.tables if one.id == name)


CHANGES: dict[str, Any] = {
    "initial_sha256": "2" * 64,
    "protocol": "db",
    "distinct": "dropped",
    "regime": "dbms_only",
    "budget": 6,
    "timeout_s": 5.0,
    "model": {"name": "other", "revision": "r1"},
    "model.revision": {"name": "qwen", "revision": "r2"},
    "prompts": {"family": "v3", "sha256": "q" * 64},
    "dataset": {"name": "spider", "split": "dev", "sha256": "e" * 64, "questions": 8},
}
NAMED = {
    "initial_sha256": "the hash of the first answers",
    "protocol": "the protocol",
    "distinct": "DISTINCT",
    "regime": "the regime",
    "budget": "the budget",
    "timeout_s": "the time limit",
    "model": "the model",
    "model.revision": "the model's revision",
    "prompts": "prompts sha256",
    "dataset": "the hash of the data",
}


@pytest.mark.parametrize("field", CHANGES)
def test_runs_that_differ_are_reported_apart_and_what_differs_is_said(field: str, tmp_path: Path) -> None:
    change = {field.split(".")[0]: CHANGES[field]}
    if field == "budget":  # nothing may take more steps than that
        change["finished"] = False
    views = [run(tmp_path / "a", "merit"), run(tmp_path / "b", "iterative"), run(tmp_path / "c", "merit", 1, **change)]
    report = build(views)
    assert [sorted(group.runs) for group in report.groups] == [["iterative", "merit"], ["merit"]]
    (said,) = (note for note in report.notes if "not compared" in note)
    assert said.startswith(f"{tmp_path / 'c'}: not compared with {tmp_path / 'b'}: {NAMED[field]} is ")
    assert len({group.label for group in report.groups}) == 2
    main = table(report, "main")
    assert [one["dataset"].text for one in main.rows] == [report.groups[0].label] * 2 + [report.groups[1].label]
    assert main.rows[2]["accuracy"].mark is None
    assert {one["dataset"].text for one in table(report, "paired").rows} == {report.groups[0].label}


def test_encoders_matter_only_where_both_encode(tmp_path: Path) -> None:
    other = {"name": "bge", "revision": "e1", "dimension": 8}
    views = [
        run(tmp_path / "iterative", "iterative"),
        run(tmp_path / "merit", "merit"),
        run(tmp_path / "merit1", "merit", 1),
        run(tmp_path / "bge", "merit", encoder=other),
    ]
    report = build(views)
    assert [(sorted(group.runs), sorted(group.runs["merit"])) for group in report.groups] == [
        (["iterative", "merit"], [0, 1]),
        (["iterative", "merit"], [0]),
    ]
    assert [note for note in report.notes if "not compared" in note] == [
        f'{tmp_path / "bge"}: not compared with {tmp_path / "iterative"}: the encoder is "wordllama" there and "bge" here'
    ]
    assert [group.label for group in report.groups] == ["Spider, encoder wordllama", "Spider, encoder bge"]


def labels(tmp_path: Path, *changes: dict[str, Any]) -> list[str]:
    return [one.label for one in build([run(tmp_path / f"{i}", "merit", **c) for i, c in enumerate(changes)]).groups]


def test_groups_are_called_by_what_a_person_tells_them_apart_by_and_no_more(tmp_path: Path) -> None:
    """Data and first answers differ as well, but their hashes say nothing to anybody."""
    other = {
        "dataset": {"name": "spider", "split": "dev", "sha256": "e" * 64, "questions": 9},
        "initial_sha256": "2" * 64,
    }
    assert labels(tmp_path / "a", {}, {**other, "regime": "dbms_only"}) == [
        "Spider, questions 8",
        "Spider, questions 9",
    ]
    assert labels(tmp_path / "b", {}, other, {"regime": "dbms_only"}) == [
        "Spider, questions 8, told right or wrong",
        "Spider, questions 9, told right or wrong",
        "Spider, questions 8, told only what runs",
    ]
    assert labels(tmp_path / "c", {}, {"initial_sha256": "2" * 64}) == [
        "Spider, hash of the first answers 11111111...",
        "Spider, hash of the first answers 22222222...",
    ]
    assert labels(tmp_path / "d", *({"initial_sha256": "1" * 60 + end} for end in ("aaaa", "bbbb"))) == [
        "Spider, group 1", "Spider, group 2",
    ]  # fmt: skip


def test_readers_meet_no_names_of_fields(tmp_path: Path) -> None:
    views = [run(tmp_path / "a", "merit"), run(tmp_path / "b", "merit", regime="dbms_only")]
    report = build([*views, run(tmp_path / "c", "merit", initial_sha256="2" * 64), run(tmp_path / "d", "iterative")])
    texts = [*report.notes, *(group.about for group in report.groups)]
    for made in report.tables:
        texts += [made.title, made.note, *(cell.text for one in made.rows for cell in one.values())]
        texts += [text for column in made.columns for text in (column.label, column.note)]
    for figure in report.figures:
        texts += [figure.title, figure.note, *(series.name for series in figure.series)]
    read = " ".join(texts).replace(str(tmp_path), "")
    names = set(re.findall(r"\b[a-z0-9]+(?:_[a-z0-9]+)+\b", read)) - set(METHODS)
    assert names == {"denotation_confirmed", "dbms_only"}  # what an option takes, in the note that tells runs apart
    assert 'the regime is "denotation_confirmed" there and "dbms_only" here' in read
    assert not any(name in text for text in texts if "not compared" not in text for name in names)


def test_runs_of_different_code_are_compared_and_that_is_said(tmp_path: Path) -> None:
    code = "d" * 16
    views = [run(tmp_path / "a", "merit"), run(tmp_path / "b", "iterative"), run(tmp_path / "c", "merit", 1, code=code)]
    report = build(views)
    assert len(report.groups) == 1
    assert [note for note in report.notes if "code" in note] == [
        "Spider: its runs were made by 2 versions of merit's code: cccccccc made 2, dddddddd made 1"
    ]
    assert not any("code" in note for note in build(views[:2]).notes)


def test_a_part_of_the_stream_is_not_compared_with_all_of_it(tmp_path: Path) -> None:
    report = build([run(tmp_path / "all", "merit"), run(tmp_path / "part", "iterative", answered=3)])
    assert f"{tmp_path / 'part'}: not compared with {tmp_path / 'all'}: answered is 8 there and 3 here" in report.notes
    assert "n = 3 of the 8 questions" in report.groups[1].about


def test_datasets_stand_beside_each_other(tmp_path: Path) -> None:
    bird = {"name": "bird", "split": "dev", "sha256": "b" * 64, "questions": 8}
    report = build([run(tmp_path / "bird", "merit", dataset=bird, distinct=None), run(tmp_path / "spider", "merit")])
    assert [group.label for group in report.groups] == ["Spider", "BIRD"]
    assert not any("not compared" in note for note in report.notes)
    assert [figure.id for figure in report.figures] == [
        "accuracy", "frontier-spider", "frontier-bird", "learning-spider", "learning-bird", "steps-spider", "steps-bird",
    ]  # fmt: skip


def test_the_same_run_twice_counts_once(tmp_path: Path) -> None:
    report = build([run(tmp_path / "a", "merit"), run(tmp_path / "b", "merit", code="d" * 16)])
    assert report.refused == (f"{tmp_path / 'b'}: left out, {tmp_path / 'a'} is of the same method and seed",)
    assert table(report, "main").rows[0]["seeds"].value == 1


def test_a_method_that_was_changed_is_another_method(tmp_path: Path) -> None:
    changed = replace(METHODS["merit"], recall=replace(RecallPolicy(), positives=2))
    courses = {one: course("merit", 1, one, word) for one, word in KNOWN["merit", 1].items()}
    report = build([run(tmp_path / "a", "merit"), write_run(tmp_path / "b", ASKED, changed, courses, seed=1)])
    assert report.refused == (
        f"{tmp_path / 'b'}: left out, it is another method than {tmp_path / 'a'}: "
        "method recall positives is 3 there and 2 here",
    )


def test_random_recall_of_two_seeds_is_one_method(tmp_path: Path) -> None:
    known = letters(8, 1, ("random_same_type",))
    views = [
        write_run(
            tmp_path / str(seed), ASKED, method, {q: course(method, seed, q, w) for q, w in words.items()}, seed=seed
        )
        for (method, seed), words in known.items()
    ]
    report = build(views)
    assert report.refused == ()
    assert table(report, "ablation").rows[0]["seeds"].value == 3


def test_nothing_to_pair_with_is_said(tmp_path: Path) -> None:
    report = build([run(tmp_path / "a", "merit"), run(tmp_path / "b", "iterative")], against="reflexion")
    said = "Spider: nothing is paired, there is no run of reflexion; --against can name iterative, merit"
    assert said in report.notes
    assert "paired" not in [one.id for one in report.tables]
    report = build([run(tmp_path / "c", "merit"), run(tmp_path / "d", "iterative")], against="iterative")
    assert table(report, "paired").title == "Paired comparison with Iterative"
    assert table(report, "paired").rows[0]["method"].text == "MERIT"


def test_questions_without_difficulty_have_no_such_table(tmp_path: Path) -> None:
    plain = questions(8, difficulty=False)
    courses = {one: course("merit", 0, one, word) for one, word in KNOWN["merit", 0].items()}
    report = build([write_run(tmp_path / "a", plain, "merit", courses)])
    assert "by_difficulty" not in [one.id for one in report.tables]
    assert report.notes == ("Spider: no accuracy by difficulty, its questions carry none",)


def test_what_the_agent_was_not_told_is_judged_all_the_same(tmp_path: Path) -> None:
    """Under dbms_only nothing is ever CORRECT; right and wrong are what the judge knows."""
    courses: dict[QuestionId, list[Tried]] = {
        0: [Tried("SELECT right", RAN)],
        1: [Tried("SELECT wrong", RAN)],
        2: [Tried("SELECT bad", WRONG), Tried("SELECT right", RAN)],
    }
    view = write_run(
        tmp_path / "a", questions(3), "merit", courses, regime="dbms_only",
        right=lambda _, attempt: attempt.sql == "SELECT right",
    )  # fmt: skip
    report = build([view])
    (main,), (failures,) = table(report, "main").rows, table(report, "failures").rows
    assert (main["initial"].text, main["accuracy"].text, main["gain"].text) == ("33.33", "66.67", "+33.33")
    assert (failures["failures"].value, failures["result_mismatch"].text, failures["other"].text) == (
        2,
        "50.00",
        "50.00",
    )
    assert [one["part"].text for one in table(report, "by_failure").rows] == ["Result mismatch", "(not observed)"]


def test_a_run_that_kept_no_times_has_dashes(tmp_path: Path) -> None:
    view = run(tmp_path / "a", "merit", times=None)
    (cost,) = table(build([view]), "cost").rows
    assert [cost[key].text for key in ("wall_s", "embedding_s", "database_s")] == ["--"] * 3
    (tmp_path / "a" / "timings.json").write_text('{"format": 1, "sessions": [{"wall_s": "long"}]}')
    (cost,) = table(build([view]), "cost").rows
    assert cost["wall_s"].text == "--"


def timed(path: Path, **session: Any) -> dict[str, Any]:
    times = {"format": 1, "sessions": [{"turns": 1, "wall_s": 9.0, **session}]}
    (cost,) = table(build([run(path, "merit", times=times)]), "cost").rows
    return {key: cost[key].value for key in ("model_s", "embedding_s", "retrieval_s", "database_s")}


def test_seconds_are_of_the_run_and_of_its_looking_ahead(tmp_path: Path) -> None:
    """A run that looked ahead finds its answers there: its own waiting is next to nothing, and would be misread."""
    work = {kind: {"count": 1, "seconds": s} for kind, s in (("judge", 0.5), ("recall", 0.25), ("model", 0.1))}
    ahead = {kind: {"count": 9, "seconds": s} for kind, s in (("judge", 4.0), ("recall", 2.0), ("model", 300.0))}
    sent = {"calls": 7, "seconds": 40.0}
    encoded = {"texts": 3, "seconds": 1.5}
    now = timed(tmp_path / "now", work=work, ahead=ahead, sent=sent, embedding_of_process=encoded)
    assert now == {"model_s": 40.0, "embedding_s": 1.5, "retrieval_s": 2.25, "database_s": 4.5}
    alone = timed(tmp_path / "alone", work=work, ahead={})  # whoever shares no model waits for it himself
    assert alone == {"model_s": 0.1, "embedding_s": 0.0, "retrieval_s": 0.25, "database_s": 0.5}


def test_seconds_that_older_runs_did_not_keep_are_dashes(tmp_path: Path) -> None:
    work = {"judge": {"count": 1, "seconds": 0.5}, "model": {"count": 1, "seconds": 0.1}}
    process = timed(tmp_path / "process", work=work, sent_by_process={"seconds": 9000.0}, embedding={"seconds": 1.5})
    assert process == {"model_s": None, "embedding_s": 1.5, "retrieval_s": None, "database_s": None}
    unseen = timed(tmp_path / "unseen", work=work, sent={"seconds": 40.0})
    assert unseen == {"model_s": 40.0, "embedding_s": 0.0, "retrieval_s": None, "database_s": None}


def test_a_run_of_right_answers_only_divides_by_nothing(tmp_path: Path) -> None:
    courses = {one.id: [Tried("SELECT 1", RIGHT)] for one in ASKED}
    report = build([write_run(tmp_path / name, ASKED, name, courses) for name in ("merit", "iterative")])
    assert table(report, "main").rows[0]["accuracy"].text == "100.00"
    assert table(report, "failures").rows[0]["other"].text == "--"
    assert table(report, "repair").rows[0]["steps"].text == "0.000"
    assert {"by_failure", "learning"}.isdisjoint(one.id for one in report.tables)
    (paired,) = table(report, "paired").rows
    assert (paired["delta"].text, paired["interval"].text) == ("0.00", "[0.00, 0.00]")


def test_nothing_at_all(tmp_path: Path) -> None:
    report = build([], refused=["why not"])
    assert (report.tables, report.figures, report.groups, report.refused) == ((), (), (), ("why not",))
