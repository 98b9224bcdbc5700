"""A run is held against the dataset it names: what it asked, which questions took part, which examples it showed.

The attacker here changes the benchmark, runs over the changed one, and says that it was the true one. Such a run agrees
with itself in every file, so that only the data can tell.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from making.benchmark import ITEMS, FickleModel
from making.runs import Bench, make_bench
from making.tampering import ANSWERS, TURNS, Record, claim_data, reidentify, restream, rewrite, settle, turn_where
from merit.audit import Findings, audit_run
from merit.data import load
from merit.errors import MeritError
from merit.runs import read_run

ANSWER = ITEMS[0].reference


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return make_bench(tmp_path_factory.mktemp("bench"))


def audit(run: Path, bench: Bench, examples: Sequence[Path] = ()) -> Findings:
    with bench.data(examples) as data:
        return audit_run(read_run(run), data=data)


def caught(run: Path, bench: Bench, said: str) -> None:
    with pytest.raises(MeritError) as refusal:
        audit(run, bench)
    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert ANSWER not in str(refusal.value)


def edit(path: Path, change: Callable[[list[Record]], object]) -> None:
    records = json.loads(path.read_text())
    change(records)
    path.write_text(json.dumps(records))


def forged(
    bench: Bench, folder: Path, file: str, change: Callable[[list[Record]], object], method: str = "iterative"
) -> Path:
    """A run over a changed benchmark, said to be over the true one; by itself it holds."""
    shutil.copytree(bench.root, folder / "data")
    edit(folder / "data" / "dev.json", number)
    edit(folder / "data" / file, change)
    other = Bench(folder / "data", first_answers(folder / "data"), bench.layout)
    run = other.run(folder / "run", method, model=FickleModel(luck=4)).path
    claim_data(run, load(bench.layout, bench.root))
    audit_run(read_run(run))
    return run


def first_answers(data: Path) -> Path:
    lines = [{"id": one["question_id"], "sql": "SELECT 1"} for one in json.loads((data / "dev.json").read_text())]
    path = data.with_name("initial.jsonl")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def number(records: list[Record]) -> None:
    """Give every question the id that it has by its place, so that others may come and go."""
    for place, record in enumerate(records):
        record["question_id"] = place


def tell_in_question(records: list[Record]) -> None:
    records[0]["question"] += f"\n-- {ANSWER}"


def tell_in_evidence(records: list[Record]) -> None:
    records[0]["evidence"] = ANSWER


def tell_in_difficulty(records: list[Record]) -> None:
    records[0]["difficulty"] = ANSWER


def tell_in_schema(tables: list[Record]) -> None:
    tables[0]["column_types"][1] += f" -- {ANSWER}"


def leave_out(records: list[Record]) -> None:
    del records[4]


def add(records: list[Record]) -> None:
    records.append({**records[0], "question_id": "easy"})


def put_in_another_order(records: list[Record]) -> None:
    records.reverse()


def make_unjudgeable(records: list[Record]) -> None:
    records[4]["query"] = "SELECT nothing FROM nowhere"


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("dev.json", tell_in_question, "stream.json: question 0: 'text' is not the dataset's"),
        ("dev.json", tell_in_evidence, "stream.json: question 0: 'evidence' is not the dataset's"),
        ("dev.json", tell_in_difficulty, "stream.json: question 0: 'difficulty' is not the dataset's"),
        ("tables.json", tell_in_schema, "stream.json: question 0: the schema of 'shop' is not the dataset's"),
        ("dev.json", leave_out, "stream.json: question 4 of the dataset is left out"),
        ("dev.json", make_unjudgeable, "stream.json: question 4 of the dataset is left out"),
        ("dev.json", add, "stream.json: question 'easy' is not in the dataset"),
        ("dev.json", put_in_another_order, "stream.json: the questions are not in the dataset's order"),
    ],
)
def test_a_run_over_a_changed_benchmark_does_not_hold(
    bench: Bench, tmp_path: Path, file: str, change: Callable[[list[Record]], object], said: str
) -> None:
    caught(forged(bench, tmp_path, file, change), bench, said)


def test_a_run_over_fewer_databases_does_not_hold(bench: Bench, tmp_path: Path) -> None:
    def remove(_: list[Record]) -> None:
        shutil.rmtree(tmp_path / "data" / "database" / "school")

    caught(forged(bench, tmp_path, "dev.json", remove), bench, "stream.json: question 6 of the dataset is left out")


def test_a_question_that_cannot_be_judged_takes_no_part(tmp_path: Path) -> None:
    true = make_bench(tmp_path / "true")
    whole = (true.root / "dev.json").read_text()
    edit(true.root / "dev.json", make_unjudgeable)

    def mend(records: list[Record]) -> None:
        records[4]["query"] = json.loads(whole)[4]["query"]

    assert audit(true.run(tmp_path / "honest", "iterative").path, true).questions == len(ITEMS) - 1
    run = forged(true, tmp_path / "other", "dev.json", mend)
    caught(run, true, "stream.json: question 4 cannot be judged with this data, but takes part")


def test_another_engine_is_named_where_other_questions_can_be_judged(bench: Bench, tmp_path: Path) -> None:
    run = forged(bench, tmp_path, "dev.json", leave_out)
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["made_with"]["sqlite"] = "3.8.3"
    (run / "manifest.json").write_text(json.dumps(manifest))
    caught(run, bench, "question 4 of the dataset is left out; the run was made with SQLite 3.8.3, and this is")


@pytest.mark.parametrize("limit", [None, 5])
@pytest.mark.parametrize("method", ["iterative", "vanilla", "transductive_batch"])
def test_an_honest_run_holds(bench: Bench, tmp_path: Path, method: str, limit: int | None) -> None:
    report = audit(bench.run(tmp_path / "run", method, limit=limit).path, bench)
    assert (report.questions, report.stream) == (limit or len(ITEMS), len(ITEMS))


def test_hints_and_names_of_bird_are_compared_too(tmp_path: Path) -> None:
    true = make_bench(tmp_path / "true", layout="bird")
    assert audit(true.run(tmp_path / "honest", "iterative").path, true).judged
    run = forged(true, tmp_path / "other", "dev.json", tell_in_evidence)
    caught(run, true, "stream.json: question 0: 'evidence' is not the dataset's")


@pytest.fixture
def run(bench: Bench, tmp_path: Path) -> Path:
    return bench.run(tmp_path / "run", "zero_shot").path


@pytest.mark.parametrize(
    ("field", "value"), [("sha256", "0" * 64), ("name", "bird"), ("split", "train"), ("sha256", "")]
)
def test_the_data_is_that_of_the_manifest(bench: Bench, run: Path, field: str, value: str) -> None:
    choice = {"distinct": None} if value == "bird" else {}  # BIRD has no choice
    reidentify(run, lambda identity: identity.update(choice, dataset={**identity["dataset"], field: value}))
    caught(run, bench, f"dataset.{field} is ")


def test_the_protocol_is_the_judges(bench: Bench, run: Path) -> None:
    reidentify(run, lambda identity: identity.update(protocol="suite"))
    caught(run, bench, "the protocol is 'suite'")


def test_what_becomes_of_distinct_is_the_judges(bench: Bench, run: Path) -> None:
    reidentify(run, lambda identity: identity.update(distinct="dropped"))
    caught(run, bench, "DISTINCT is dropped there and kept here")


def restate(run: Path, question_id: int, change: Record) -> None:
    """Change a question in the stream, and what turns and predictions repeat of it."""
    restream(run, lambda stream: stream["questions"][question_id].update(change))
    for file, name in ((TURNS, "question_id"), (ANSWERS, "id")):
        spelt = {name if field == "id" else field: value for field, value in change.items()}

        def follow(records: list[Record], name: str = name, spelt: Record = spelt) -> None:
            turn_where(records, lambda one: one[name] == question_id).update(spelt)

        rewrite(run, file, follow)


def test_an_id_is_a_number_or_a_text(run: Path) -> None:
    """To Python, true is 1."""
    restate(run, 1, {"id": True})
    with pytest.raises(MeritError, match=r"stream\.json: question true: 'id' or 'evidence' cannot be what it is"):
        audit_run(read_run(run))


def test_a_question_is_asked_of_its_own_database(bench: Bench, run: Path) -> None:
    restate(run, 5, {"db_id": "school"})
    audit_run(read_run(run))
    caught(run, bench, "stream.json: question 5: 'db_id' is not the dataset's")


# Examples.


def tell_in_example(records: list[Record]) -> None:
    records[0]["query"] = ANSWER


def test_examples_are_those_of_the_training_split(bench: Bench, tmp_path: Path) -> None:
    run = forged(bench, tmp_path, "train.json", tell_in_example, method="vanilla")
    caught(run, bench, "manifest.json: the examples are not those of the training split")


def test_examples_from_a_file_are_compared_with_it(bench: Bench, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("other.jsonl", "own.jsonl")]
    for file in files:
        lines = [{"question": f"An example {place} of {file.stem}?", "sql": f"SELECT {place}"} for place in range(4)]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = bench.run(tmp_path / "run", "vanilla", examples=files[1]).path
    caught(run, bench, "give the file they were taken from with --examples")
    assert audit(run, bench, files).judged
    with pytest.raises(MeritError, match="the examples are not those of"):
        audit(run, bench, files[:1])


def test_where_there_is_no_training_split_the_file_is_asked_for(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    run = bench.run(tmp_path / "run", "vanilla").path
    (bench.root / "train.json").unlink()
    caught(run, bench, "has none here beside dev; give a file of examples")


# What needs no data: a run's own records contradict each other.


def test_a_stream_is_written_in_one_way_only(run: Path) -> None:
    restream(run, lambda _: None)
    audit_run(read_run(run))
    for change in (lambda stream: stream.update(note=ANSWER), lambda stream: stream["schemas"].update(other=ANSWER)):
        restream(run, change)
        with pytest.raises(MeritError, match=r"stream\.json: is not what a run writes"):
            audit_run(read_run(run))


def test_no_question_is_there_twice(run: Path) -> None:
    restream(run, lambda stream: stream["questions"].append(stream["questions"][0]))
    with pytest.raises(MeritError, match=r"stream\.json: question 0 is there twice"):
        audit_run(read_run(run))


def test_a_first_answer_is_the_sql_in_its_reply(run: Path) -> None:
    restream(run, lambda stream: stream["questions"][0]["draft"].update(sql=ANSWER))
    rewrite(
        run, TURNS, lambda all_: turn_where(all_, lambda one: one["question_id"] == 0)["attempts"][0].update(sql=ANSWER)
    )
    rewrite(run, ANSWERS, lambda all_: turn_where(all_, lambda one: one["id"] == 0).update(sql=ANSWER))
    settle(run)
    with pytest.raises(MeritError, match="question 0: the first answer is not the SQL in its reply"):
        audit_run(read_run(run))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("protocol", "any"),
        ("timeout_s", 0.0),
        ("timeout_s", -1.0),
        ("length", True),
        ("length", 0),
        ("length", -1),
    ],
)
def test_a_manifest_says_only_what_can_be(run: Path, field: str, value: object) -> None:
    reidentify(run, lambda identity: identity.update({field: value}))
    with pytest.raises(MeritError, match=f"the field '{field}' cannot be"):
        audit_run(read_run(run))


@pytest.mark.parametrize("engine", ["merit", "sqlite"])
def test_a_version_is_a_line_of_text(run: Path, engine: str) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["made_with"][engine] = "1\n2"
    (run / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(MeritError, match=f"made_with: the field '{engine}' cannot be"):
        read_run(run)


@pytest.mark.parametrize("part", [{"name": "any"}, {"split": "test"}])
def test_a_dataset_is_one_that_merit_knows(run: Path, part: Record) -> None:
    reidentify(run, lambda identity: identity["dataset"].update(part))
    with pytest.raises(MeritError, match=r"dataset: there is no (split|dataset)"):
        audit_run(read_run(run))


@pytest.mark.parametrize(
    ("method", "length"), [("zero_shot", 12), ("transductive_batch", None), ("transductive_batch", 13)]
)
def test_only_a_control_has_a_length_and_no_longer_than_its_stream(
    bench: Bench, tmp_path: Path, method: str, length: int | None
) -> None:
    run = bench.run(tmp_path / "other", method).path
    reidentify(run, lambda identity: identity.update(length=length))
    with pytest.raises(MeritError, match="the length "):
        audit_run(read_run(run))


def test_a_control_answers_all_that_it_gathered_from(bench: Bench, tmp_path: Path) -> None:
    """It reads what the whole stream left, so it may not stop where it likes."""
    run = bench.run(tmp_path / "other", "transductive_batch", model=FickleModel(luck=1)).path
    last: list[int] = []
    rewrite(run, TURNS, lambda all_: last.append(all_.pop()["recalls"]))
    rewrite(run, ANSWERS, lambda all_: all_.pop())
    rewrite(run, "retrievals.jsonl", lambda all_: all_[len(all_) - last[0] :].clear())
    lines = (run / "retrievals.jsonl").read_text().splitlines(keepends=True)
    (run / "retrievals.jsonl").write_text("".join(lines[: len(lines) - last[0]]))
    settle(run)
    with pytest.raises(MeritError, match="23 turns, but the stream has 24"):
        audit_run(read_run(run))


@pytest.mark.parametrize("field", ["error", "result", "cause"])
def test_a_time_limit_tells_nothing_but_the_time(run: Path, field: str) -> None:
    """What met its limit is not held against the judge, so nothing may be smuggled in with it."""

    def smuggle(records: list[Record]) -> None:
        turn = turn_where(records, lambda one: not one["final_correct"])
        late = {"status": "TIMEOUT", "error": "the query timed out after 5 s", "cause": "timeout"}
        turn["attempts"][0].update(late, type="EXECUTION", subtype="TIMEOUT")

    rewrite(run, TURNS, smuggle)
    settle(run)
    audit_run(read_run(run))
    other = "dbms" if field == "cause" else ANSWER
    rewrite(run, TURNS, lambda all_: turn_where(all_, late_at_first)["attempts"][0].update({field: other}))
    with pytest.raises(MeritError, match="attempt 0: says more of a time limit than"):
        audit_run(read_run(run))


def late_at_first(record: Record) -> bool:
    return bool(record["attempts"][0]["status"] == "TIMEOUT")
