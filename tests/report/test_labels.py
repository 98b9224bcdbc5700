"""Human labels: the sample, the file, and how well the classifier agrees."""

import csv
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from making.outcomes import LATE, NO_COLUMN, RIGHT, SYNTAX, WRONG, Course, Tried, write_run
from merit.errors import InputError
from merit.report import Report, ReportTable, build, read_labels
from merit.report.labels import COLUMNS, read_records, records, sample, strata, write_records
from merit.report.names import FAILURES
from merit.report.validation import Label, weighted
from merit.runs import RunView
from merit.types import FailureType, Question, QuestionId

FIRST = [WRONG] * 30 + [NO_COLUMN] * 15 + [SYNTAX] * 4 + [LATE] + [RIGHT] * 10


@pytest.fixture
def view(tmp_path: Path) -> RunView:
    asked = [Question(i, "shop", f'Is "{i}", really,\nthere?') for i in range(len(FIRST))]
    courses: dict[QuestionId, Course] = {i: [Tried(f"SELECT {i}", verdict)] for i, verdict in enumerate(FIRST)}
    return write_run(tmp_path / "run", asked, "zero_shot", courses)


def types(view: RunView, size: int | None, seed: int = 0) -> Counter[str]:
    return Counter(one["classifier"] for one in records(view, sample(view, size, seed), classifier=True))


def test_without_a_size_all_failures_are_there(view: RunView) -> None:
    assert types(view, None) == {"RESULT_MISMATCH": 30, "SCHEMA_LINKING": 15, "SYNTAX": 4, "EXECUTION": 1}
    assert types(view, 1000) == types(view, None)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (49, (29, 15, 4, 1)),  # 29.4, 14.7, 3.92 and 0.98
        (14, (8, 4, 1, 1)),  # 8.4, 4.2, 1.12 and 0.28; the last place is for the type that would be left out
        (4, (1, 1, 1, 1)),
        (2, (1, 1, 0, 0)),  # too few for all: 1.2, 0.6, 0.16 and 0.04
    ],
)
def test_a_sample_has_every_type_in_proportion(size: int, expected: tuple[int, ...], view: RunView) -> None:
    found = types(view, size)
    assert sum(found.values()) == size
    assert tuple(found[kind] for kind in ("RESULT_MISMATCH", "SCHEMA_LINKING", "SYNTAX", "EXECUTION")) == expected


def test_a_sample_has_its_size(view: RunView) -> None:
    for size in range(1, 51):
        found = [turn.episode.task.question.id for turn in sample(view, size, 0)]
        assert len(set(found)) == len(found) == size


def test_a_sample_is_decided_by_its_seed(view: RunView) -> None:
    assert sample(view, 20, 1) == sample(view, 20, 1)
    assert sample(view, 20, 1) != sample(view, 20, 2)


def test_the_file_has_what_a_person_needs_and_hides_the_classifiers_label(view: RunView, tmp_path: Path) -> None:
    write_records(tmp_path / "labels.csv", records(view, sample(view, 5, 0), classifier=False))
    with (tmp_path / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert {row["human"] for row in rows} == {""}
    assert all(row["question"] == f'Is "{row["question_id"]}", really,\nthere?' for row in rows)
    assert all(row["sql"] == f"SELECT {row['question_id']}" for row in rows)
    write_records(tmp_path / "shown.csv", records(view, sample(view, 5, 0), classifier=True))
    assert (tmp_path / "shown.csv").read_text().splitlines()[0].endswith(",human,classifier")


@pytest.mark.parametrize("shown", [True, False])
def test_labels_come_back_beside_the_classifiers_own(shown: bool, view: RunView, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    lines = records(view, sample(view, None, 0), classifier=shown)
    spellings = ["SCHEMA_LINKING", "schema linking", "Schema-Linking ", "filter/value", ""]
    for number, line in enumerate(lines):
        line["human"] = spellings[number % 5]
    write_records(path, lines)
    found = read_labels(path)
    assert len(found) == 40
    assert {one.dataset for one in found} == {"spider"}
    assert Counter(one.human for one in found) == {FailureType.SCHEMA_LINKING: 30, FailureType.FILTER_VALUE: 10}
    own = {str(i): {WRONG: "RESULT_MISMATCH", NO_COLUMN: "SCHEMA_LINKING", SYNTAX: "SYNTAX", LATE: "EXECUTION"}.get(v)
           for i, v in enumerate(FIRST)}  # fmt: skip
    labelled = [line for line in lines if line["human"]]
    assert [one.classifier for one in found] == [own[line["question_id"]] for line in labelled]


BAD = {
    "human\nwhatever\n": "line 2: the column 'human' says 'whatever'; use RESULT_MISMATCH, ",
    "person\nSYNTAX\n": "the column 'human' is missing",
    "human;status\nSYNTAX;x\n": "the column 'human' is missing",
    "human\nSYNTAX\n": "line 2: no failure to classify",
    "human,human\nSYNTAX,TIMEOUT\n": "line 1: the column 'human' is there twice; rename one",
    "human,classifier\nSYNTAX,odd\n": "line 2: the column 'classifier' says 'odd'",
    "human,classifier\nSYNTAX\n": "line 2: not as many cells as the header has",
    "human,status,error\nSYNTAX,CORRECT,\n": "line 2: no failure to classify",
    "human,classifier\n,SYNTAX\n": "nothing is labelled yet",
    'human,classifier\n"SYNTAX,SYNTAX\n': "line 2: not valid CSV",
    'human,"classifier\n': "line 1: not valid CSV",
    'human,note\n\n,"two\nlines"\nodd,"two\nlines"\n': "line 5: the column 'human' says 'odd'",
    "": "the column 'human' is missing",
}


@pytest.mark.parametrize("text", BAD)
def test_a_file_that_is_no_labels_is_one_sentence(text: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises(InputError) as said:
        read_labels(path)
    assert str(said.value).startswith(str(path))
    assert BAD[text] in str(said.value)
    assert "\n" not in str(said.value)


def test_what_a_spreadsheet_saves_is_read(tmp_path: Path) -> None:
    path = tmp_path / "theirs.csv"
    path.write_bytes("\ufeffhuman,classifier\r\nSyntax,UNKNOWN\r\n".encode())
    assert read_labels(path) == [Label("theirs", FailureType.SYNTAX, FailureType.UNKNOWN)]  # of no run that it names
    assert read_records(path, ("human",))[0][0] == 2


def table(report: Report, name: str) -> ReportTable:
    return next(one for one in report.tables if one.id == name)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_number_of_the_validation(seed: int) -> None:
    draw = random.Random(seed)
    kinds = list(FailureType)[: 3 + seed]
    pairs = {name: [(draw.choice(kinds), draw.choice(kinds[1:])) for _ in range(40)] for name in ("bird", "spider")}
    report = build([], labels=[Label(name, *pair) for name, mine in pairs.items() for pair in mine])
    assert [one.id for one in report.tables] == [
        "classifier", "classifier_classes", "confusion_spider", "confusion_bird",
    ]  # fmt: skip
    for name, shown in (("spider", "Spider"), ("bird", "BIRD")):
        mine = pairs[name]
        f1 = {}
        for kind in {one for pair in mine for one in pair}:
            hits = sum(human is kind and ours is kind for human, ours in mine)
            named, there = sum(ours is kind for _, ours in mine), sum(human is kind for human, _ in mine)
            precision, recall = hits / named if named else 0.0, hits / there if there else 0.0
            f1[kind] = 2 * precision * recall / (precision + recall) if hits else 0.0
            (row,) = (
                one
                for one in table(report, "classifier_classes").rows
                if (one["dataset"].text, one["type"].text) == (shown, FAILURES[kind])
            )
            found = [row[key].value for key in ("precision", "recall", "f1", "support")]
            assert found == pytest.approx([precision, recall, f1[kind], there], abs=1e-6)
            (line,) = (one for one in table(report, f"confusion_{name}").rows if one["human"].text == FAILURES[kind])
            for other in f1:
                expected = sum(pair == (kind, other) for pair in mine)
                assert line[other.value.lower()].value == expected
        (row,) = (one for one in table(report, "classifier").rows if one["dataset"].text == shown)
        assert row["labels"].value == 40
        assert row["accuracy"].value == pytest.approx(100 * sum(a is b for a, b in mine) / 40, abs=1e-6)
        assert row["macro_f1"].value == pytest.approx(sum(f1.values()) / len(f1), abs=1e-6)


def test_whatever_a_dataset_is_called_its_table_has_a_file_of_its_own() -> None:
    names = ("../../etc/x y", "etc x_y", "表")
    report = build([], labels=[Label(name, FailureType.SYNTAX, FailureType.SYNTAX) for name in names])
    found = [one.id for one in report.tables if one.id.startswith("confusion")]
    assert sorted(found) == ["confusion_etc-x-y", "confusion_etc-x-y-2", "confusion_unnamed"]


def labels_of(run: str) -> list[Label]:
    labels = [Label("spider", FailureType.SYNTAX, FailureType.SYNTAX, run)] * 3
    return [*labels, Label("spider", FailureType.FILTER_VALUE, FailureType.RESULT_MISMATCH, run)]


def test_the_papers_last_table_joins_runs_and_labels(view: RunView) -> None:
    report = build([view], labels=labels_of(view.manifest.run))
    (row,) = table(report, "failures").rows
    printed = [row[key].text for key in ("result_mismatch", "schema_linking", "other", "accuracy", "macro_f1")]
    assert printed == ["60.00", "30.00", "10.00", "75.00", "0.333"]
    assert not any("human labels" in note for note in report.notes)


def test_labels_of_other_runs_say_nothing_of_these_failures(view: RunView, tmp_path: Path) -> None:
    asked = [one.question for one in view.questions.values()]
    courses: dict[QuestionId, Course] = {one.id: [Tried("SELECT 1", SYNTAX)] for one in asked}
    other = write_run(tmp_path / "other", asked, "zero_shot", courses, initial_sha256="2" * 64)
    wrong = [Label("spider", FailureType.SYNTAX, FailureType.UNKNOWN, "0" * 32)] * 5
    report = build([view, other], labels=[*labels_of(view.manifest.run), *wrong])
    assert [one["accuracy"].text for one in table(report, "failures").rows] == ["75.00", "--"]
    assert [one["labels"].value for one in table(report, "classifier").rows] == [9]
    assert [note for note in report.notes if "human labels" in note] == [
        f"5 human labels are of the run {'0' * 32}, which is not reported: they stand in the tables of the classifier "
        "alone"
    ]
    report = build([view], labels=labels_of(""))
    assert "accuracy" not in table(report, "failures").rows[0]
    assert any(note.startswith("4 human labels are of no run that their file names") for note in report.notes)


def test_a_failure_labelled_twice_is_refused(view: RunView, tmp_path: Path) -> None:
    lines = [{**one, "human": "SYNTAX"} for one in records(view, sample(view, 3, 0), classifier=False)]
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    write_records(first, [*lines, {**lines[1], "human": "UNKNOWN"}])
    run, question = lines[1]["run"], lines[1]["question_id"]
    with pytest.raises(InputError) as said:
        read_labels(first)
    places = [number for number, one in read_records(first) if one["question_id"] == question]
    assert str(said.value) == (
        f"{first}, line {places[1]}: question {question} of the run {run} is labelled already, in "
        f"{first}, line {places[0]}"
    )
    write_records(first, lines)
    write_records(second, lines[1:2])
    assert len(read_labels(first)) == 3
    with pytest.raises(InputError, match=f"^{second}, line .* is labelled already, in {first}, line "):
        read_labels(first, second)


# Weighted by the population

MISMATCH, SCHEMA, BROKEN = FailureType.RESULT_MISMATCH, FailureType.SCHEMA_LINKING, FailureType.SYNTAX
POPULATION = {MISMATCH: 30, SCHEMA: 15, BROKEN: 4, FailureType.EXECUTION: 1}


def labels(kind: FailureType, right: int, wrong: int, **more: object) -> list[Label]:
    """Labels of one stratum, so many of them as the classifier says."""
    other = FailureType.FILTER_VALUE
    fields: dict[str, Any] = {"run": "", "population": POPULATION, **more}
    return [Label("spider", kind, kind, **fields)] * right + [Label("spider", other, kind, **fields)] * wrong


def figures(found: list[Label]) -> tuple[float, float]:
    """Weighted accuracy, and how much of the population it covers."""
    accuracy = weighted(found)
    assert accuracy is not None
    return accuracy.accuracy, accuracy.covered


def test_each_type_counts_by_its_share_among_all_failures(view: RunView) -> None:
    assert strata(view) == POPULATION
    everything = [
        *labels(MISMATCH, 1, 3),
        *labels(SCHEMA, 4, 0),
        *labels(BROKEN, 1, 1),
        *labels(FailureType.EXECUTION, 0, 1),
    ]
    assert figures(everything) == pytest.approx((100 * (30 / 4 + 15 + 4 / 2 + 0) / 50, 100.0))
    (row,) = table(build([], labels=everything), "classifier").rows
    assert (row["weighted"].text, row["accuracy"].text) == ("49.00", "54.55")  # 6 of 11 labels


def test_of_a_sample_in_proportion_both_figures_are_the_same() -> None:
    found = figures(
        [*labels(MISMATCH, 10, 20), *labels(SCHEMA, 15, 0), *labels(BROKEN, 1, 3), *labels(FailureType.EXECUTION, 1, 0)]
    )
    assert found == pytest.approx((100 * 27 / 50, 100.0))


def test_types_without_a_label_are_left_out_and_counted() -> None:
    report = build([], labels=[*labels(MISMATCH, 1, 1), *labels(SCHEMA, 1, 0)])
    shown = table(report, "classifier")
    (row,) = shown.rows
    assert (row["weighted"].text, row["covered"].text) == ("66.67", "90.00")  # 30 of 45; 45 of 50
    assert next(column for column in shown.columns if column.key == "covered").shown
    whole = table(build([], labels=labels(BROKEN, 1, 0, population={BROKEN: 3})), "classifier")
    assert not next(column for column in whole.columns if column.key == "covered").shown


def test_every_run_counts_by_its_own_failures() -> None:
    """A hundred labels of a small run weigh no more than that run."""
    small, large = {"run": "a" * 16, "population": {BROKEN: 100}}, {"run": "b" * 16, "population": {BROKEN: 900}}
    found = figures([*labels(BROKEN, 100, 0, **small), *labels(BROKEN, 1, 3, **large)])
    assert found == pytest.approx((100 * (100 + 900 / 4) / 1000, 100.0))


def test_the_sizes_stay_with_the_sample(view: RunView, tmp_path: Path) -> None:
    """The weighted figure needs no run: `merit label` wrote down what the sample was drawn from."""
    lines = records(view, sample(view, 14, 0), classifier=True)
    for line in lines:
        line["human"] = "SYNTAX" if line["classifier"] == "RESULT_MISMATCH" else line["classifier"]
    write_records(tmp_path / "labels.csv", lines)
    found = read_labels(tmp_path / "labels.csv")
    assert all(label.population == POPULATION for label in found)
    (row,) = table(build([], labels=found), "classifier").rows
    assert (row["weighted"].text, row["accuracy"].text) == ("40.00", "42.86")  # 20 of 50; 6 of 14


def test_the_sizes_of_an_earlier_file_or_a_foreign_sample_come_from_the_runs(view: RunView, tmp_path: Path) -> None:
    run = view.manifest.run
    path = tmp_path / "theirs.csv"
    for header, line in (
        ("run,human,classifier", f"{run},{{}}"),  # a sample of one's own
        ("dataset,human,classifier", "spider,{}"),  # one that names only the data
    ):
        path.write_text(
            f"{header}\n"
            + "".join(
                line.format(pair) + "\n"
                for pair in ("SYNTAX,SYNTAX", "UNKNOWN,RESULT_MISMATCH", "SCHEMA_LINKING,SCHEMA_LINKING")
            )
        )
        (row,) = table(build([view], labels=read_labels(path)), "classifier").rows
        assert row["weighted"].value == pytest.approx(100 * (15 + 4) / 49, abs=1e-6)
        report = build([], labels=read_labels(path))
        assert table(report, "classifier").rows[0]["weighted"].text == "--"
        assert any(
            "no population-weighted accuracy of the failure classifier: how many" in note for note in report.notes
        )
    old = records(view, sample(view, 14, 0), classifier=False)
    for record in old:
        del record["population"]
        record["human"] = "RESULT_MISMATCH"
    write_records(path, old)
    assert len(read_records(path)) == 14
    (row,) = table(build([view], labels=read_labels(path)), "failures").rows
    assert (row["weighted"].text, row["accuracy"].text) == ("60.00", "57.14")  # 8 of 14


def test_runs_that_fail_differently_give_no_population_to_labels_of_neither(view: RunView, tmp_path: Path) -> None:
    asked = [one.question for one in view.questions.values()]
    courses: dict[QuestionId, Course] = {one.id: [Tried("SELECT 1", SYNTAX)] for one in asked}
    other = write_run(tmp_path / "other", asked, "zero_shot", courses, initial_sha256="2" * 64)
    report = build([view, other], labels=labels(BROKEN, 1, 0, population=None))
    assert table(report, "classifier").rows[0]["weighted"].text == "--"


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (labels(BROKEN, 3, 2), "there are 5 labels of the type Syntax, but only 4 failures of it"),
        (labels(FailureType.UNKNOWN, 1, 0), "there are 1 label of the type Unknown, but only 0 failures of it"),
        (
            [*labels(BROKEN, 1, 0), *labels(BROKEN, 1, 0, population={BROKEN: 5})],
            "labels of a run that their file does not name disagree on how many failures of each type there are",
        ),
    ],
)
def test_sizes_that_contradict_the_labels_give_no_figure(found: list[Label], why: str) -> None:
    report = build([], labels=found)
    assert table(report, "classifier").rows[0]["weighted"].text == "--"
    assert f"Spider: no population-weighted accuracy of the failure classifier: {why}" in report.notes


@pytest.mark.parametrize(
    "cell", ["SYNTAX", "SYNTAX 0", "SYNTAX -1", "SYNTAX 4; SYNTAX 5", "SYNTAX 4.5", "SYNTAX " + "9" * 5000]
)
def test_a_population_that_is_none_is_refused_with_its_line(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(f"human,classifier,population\nSYNTAX,SYNTAX,{cell}\n")
    with pytest.raises(InputError, match="line 2: the column 'population' "):
        read_labels(path)
