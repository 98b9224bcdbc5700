"""A run held against the dataset it names: which questions took part, what was shown of them, which examples."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from merit.benchmark import Benchmark
from merit.data import Dataset
from merit.errors import AuditFailed, InputError
from merit.oracle import fixed_demonstrations
from merit.prompts import VERSIONS
from merit.reading import LINES_BYTES, read_text
from merit.runs import DatasetIdentity, RunView, StreamQuestion, difference
from merit.runs.paths import MANIFEST, STREAM
from merit.runs.questions import stream_questions, stream_text
from merit.sql import SQLITE_VERSION
from merit.types import QuestionId


@dataclass(frozen=True, slots=True)
class AuditData:
    """The data that a run should have been made over, with its judge."""

    benchmark: Benchmark
    examples: Sequence[Path] = ()  # files that fixed examples may come from, besides the training split


def check_against(view: RunView, data: AuditData) -> None:
    """Everything in a run that its data decides must be what the data says."""
    identity, benchmark = view.identity, data.benchmark
    dataset = benchmark.dataset
    where = f"{view.path / MANIFEST}: is not of the data in {dataset.root}"
    questions = identity.dataset.questions  # those are compared one by one
    here = replace(DatasetIdentity.of(dataset, benchmark.content_hash, questions), label="")
    there = replace(identity.dataset, label="")  # a dataset may be called anything
    if differs := difference(there.record(), here.record(), "dataset"):
        raise AuditFailed(f"{where}: {differs}")
    if identity.protocol != benchmark.protocol:
        raise AuditFailed(f"{where}: the protocol is {identity.protocol!r} there and {benchmark.protocol!r} here")
    if identity.distinct != benchmark.distinct:
        raise AuditFailed(f"{where}: DISTINCT is {identity.distinct} there and {benchmark.distinct} here")
    first_answers = {question_id: recorded.first_answer for question_id, recorded in view.questions.items()}
    usable = benchmark.usable_questions()
    live = identity.prompts.family == VERSIONS["live"]
    context = benchmark.live_context(usable) if live else {}
    expected = stream_questions(dataset, usable, first_answers, context)
    if not any(recorded.tables for recorded in view.questions.values()):  # a run of an earlier version
        expected = {question_id: replace(asked, tables=None) for question_id, asked in expected.items()}
    if read_text(view.path / STREAM, LINES_BYTES) != stream_text(expected):
        raise AuditFailed(f"{view.path / STREAM}: {_first_difference(view, expected, dataset)}")
    _check_examples(view, data)


def engine_note(view: RunView) -> str:
    """What to do where a statement may behave differently because the database engine is another one."""
    made, here = view.manifest.made_with.sqlite, SQLITE_VERSION
    if made == here:
        return ""
    return f"; the run was made with SQLite {made}, and this is {here}: a merit that comes with that version can tell"


def _first_difference(view: RunView, expected: Mapping[QuestionId, StreamQuestion], dataset: Dataset) -> str:
    """Where a stream differs from the one that the data gives; no text of either is repeated."""
    recorded = view.questions
    known = {question.id for question in dataset.questions}
    for question_id in recorded:
        if question_id not in known:
            return f"question {question_id!r} is not in the dataset"
        if question_id not in expected:
            return f"question {question_id!r} cannot be judged with this data, but takes part{engine_note(view)}"
    for question_id in expected:
        if question_id not in recorded:
            return f"question {question_id!r} of the dataset is left out{engine_note(view)}"
    if list(recorded) != list(expected):
        return "the questions are not in the dataset's order"
    for question_id, wanted in expected.items():
        there, here = asdict(recorded[question_id].question), asdict(wanted.question)
        for name, value in here.items():
            if there[name] != value:
                return f"question {question_id!r}: {name!r} is not the dataset's"
        if recorded[question_id].schema != wanted.schema:
            return f"question {question_id!r}: the schema of {wanted.question.db_id!r} is not the dataset's"
        if recorded[question_id].live != wanted.live:
            return f"question {question_id!r}: what was shown of {wanted.question.db_id!r} is not what it holds"
    return "is not what a run over this data writes"


def _check_examples(view: RunView, data: AuditData) -> None:
    """Fixed examples are the training split's, or those of a file that the auditor has."""
    count = view.method.demonstrations
    if not count:
        return
    refusals = []
    for source in (*data.examples, None):
        try:
            shown = fixed_demonstrations(data.benchmark.dataset, count, source)
        except InputError as error:
            refusals.append(str(error))
            continue
        if shown == view.identity.demonstrations:
            return
    why = f" ({refusals[0]})" if refusals else ""
    raise AuditFailed(
        f"{view.path / MANIFEST}: the examples are not those of the training split or of --examples{why}; "
        "give the file they were taken from with --examples"
    )
