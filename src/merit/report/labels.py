"""Failures for people to label, as a CSV file, and their labels back."""

import csv
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import numpy as np

from merit.errors import InputError
from merit.failure import classify
from merit.files import atomic_write
from merit.reading import LINES_BYTES, MIB, read_text
from merit.report.validation import Label, Strata
from merit.runs import RunView, Turn
from merit.spreadsheet import as_written, check_columns, csv_text
from merit.types import Cause, FailureType, Status, Verdict

_NEEDED = ("dataset", "run", "question_id", "db_id", "question", "evidence", "sql", "status", "error", "cause", "human")
POPULATION = "population"  # all failures of the run by type, in every line; earlier files do not have it
COLUMNS = (*_NEEDED[:-1], POPULATION, "human")
CLASSIFIER = "classifier"  # the last column, where it is written
_MOST_DIGITS = 10  # of the size of a stratum
Record = dict[str, str]


def sample(view: RunView, size: int | None, seed: int) -> list[Turn]:
    """Failed first answers in a seeded order: all, or a sample with every failure type in proportion."""
    failed = _failed(view)
    generator = np.random.default_rng(seed)
    shuffled = [failed[index] for index in generator.permutation(len(failed))]
    if size is None or size >= len(shuffled):
        return shuffled
    strata = {kind: [turn for turn in shuffled if _type(turn) is kind] for kind in FailureType}
    quotas = _allot({kind: len(turns) for kind, turns in strata.items() if turns}, size)
    chosen = {id(turn) for kind, quota in quotas.items() for turn in strata[kind][:quota]}
    return [turn for turn in shuffled if id(turn) in chosen]


def strata(view: RunView) -> Strata:
    """How many first answers of a run failed, by type: the population that a sample is drawn from."""
    sizes = Counter(_type(turn) for turn in _failed(view))
    return {kind: sizes[kind] for kind in FailureType if sizes[kind]}


def records(view: RunView, turns: Sequence[Turn], *, classifier: bool) -> list[Record]:
    """The lines to fill in."""
    lines, population = [], "; ".join(f"{kind} {size}" for kind, size in strata(view).items())
    for turn in turns:
        question, first = turn.episode.task.question, turn.episode.first
        values = (
            view.identity.dataset.title,
            view.manifest.run,
            str(question.id),
            question.db_id,
            question.text,
            question.evidence or "",
            first.sql,
            first.verdict.status.value,
            first.verdict.error or "",
            first.verdict.cause.value if first.verdict.cause else "",
            population,
            "",
        )
        record = dict(zip(COLUMNS, values, strict=True))
        lines.append({**record, CLASSIFIER: _type(turn).value} if classifier else record)
    return lines


def write_records(path: Path, lines: Sequence[Record]) -> None:
    """Write the file whole or not at all; formulas are escaped for spreadsheets."""
    columns = list(lines[0]) if lines else COLUMNS
    content = csv_text([columns, *([line[name] for name in columns] for line in lines)]).encode()
    if len(content) > LINES_BYTES:
        raise InputError(f"{path}: would have more than the {LINES_BYTES // MIB} MiB that merit reads again; use --n")
    with atomic_write(path) as file:
        file.write(content)


def read_records(path: Path, needed: Sequence[str] = _NEEDED) -> list[tuple[int, Record]]:
    """The lines of a file and their numbers; a cell may go over several lines, and the first one counts."""
    read_text(path, LINES_BYTES)  # reports an unreadable file; not used, since it changes line ends inside cells
    text = path.read_bytes().decode("utf-8-sig")
    rows = csv.reader(StringIO(text, newline=""), strict=True)
    line = 0  # the last one before the row that is read
    usual = csv.field_size_limit(LINES_BYTES)  # a cell holds what a model answered, however long
    try:
        names = next(rows, [])
        missing = [name for name in needed if name not in names]
        if missing:
            raise InputError(
                f"{path}: the column {missing[0]!r} is missing, which `merit label` writes; name a file of labels, "
                "separated by commas"
            )
        check_columns(names, f"{path}, line 1")
        lines = []
        line = rows.line_num
        for row in rows:
            if len(row) not in (0, len(names)):
                raise InputError(f"{path}, line {line + 1}: not as many cells as the header has")
            if row:
                cells = {name: as_written(cell) for name, cell in zip(names, row, strict=True)}
                lines.append((line + 1, cells))
            line = rows.line_num
        return lines
    except csv.Error as error:
        raise InputError(f"{path}, line {line + 1}: not valid CSV ({error})") from None
    finally:
        csv.field_size_limit(usual)


def read_labels(*paths: Path) -> list[Label]:
    """Human labels with the classifier's; lines without a label are skipped, duplicates are refused."""
    seen: dict[tuple[str, str], str] = {}
    return [label for path in paths for label in _read_labels(path, seen)]


def _read_labels(path: Path, seen: dict[tuple[str, str], str]) -> list[Label]:
    labels: list[Label] = []
    for number, record in read_records(path, ("human",)):
        if human := record["human"].strip():
            where = f"{path}, line {number}"
            key = run, question = record.get("run", ""), record.get("question_id", "")
            if run and question and seen.setdefault(key, where) != where:
                raise InputError(f"{where}: question {question} of the run {run} is labelled already, in {seen[key]}")
            named, classified = failure_type(human, "human", where), record.get(CLASSIFIER, "").strip()
            kind = failure_type(classified, CLASSIFIER, where) if classified else _classified(record, where)
            population = _population(record.get(POPULATION, ""), where)
            labels.append(Label(record.get("dataset") or path.stem, named, kind, run, population))
    if not labels:
        raise InputError(f"{path}: nothing is labelled yet; fill in the column 'human', or use `merit label`")
    return labels


def failure_type(text: str, column: str, where: str) -> FailureType:
    """The failure type in a cell, in any case and with spaces, slashes or hyphens."""
    name = text.strip().upper().replace(" ", "_").replace("/", "_").replace("-", "_")
    if name not in list(FailureType):
        raise InputError(f"{where}: the column {column!r} says {text!r}; use {', '.join(FailureType)}")
    return FailureType(name)


def _classified(record: Record, where: str) -> FailureType:
    """The classifier's type for a line without that column."""
    try:
        cause = Cause(record["cause"]) if record.get("cause") else None
        return classify(Verdict(Status(record["status"]), record["error"] or None, cause)).type
    except (KeyError, ValueError):
        raise InputError(
            f"{where}: no failure to classify; it needs a column {CLASSIFIER!r}, or 'status', 'error' and 'cause'"
        ) from None


def _population(text: str, where: str) -> Strata | None:
    """The sizes of the strata in a cell, as `records` writes them; None for an empty one."""
    sizes: dict[FailureType, int] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, _, size = part.rpartition(" ")
        kind = failure_type(name, POPULATION, where)
        if kind in sizes or not _is_size(size):
            raise InputError(
                f"{where}: the column {POPULATION!r} should have each type once, as in SYNTAX 4; UNKNOWN 2"
            )
        sizes[kind] = int(size)
    return sizes or None


def _is_size(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS and int(text) > 0


def _failed(view: RunView) -> list[Turn]:
    return [turn for turn in view.answers if turn.episode.first.failure]


def _type(turn: Turn) -> FailureType:
    failure = turn.episode.first.failure
    assert failure is not None  # only failures are labelled
    return failure.type


def _allot(sizes: dict[FailureType, int], size: int) -> dict[FailureType, int]:
    """How many to draw from each stratum: in proportion by largest remainder, at least one if possible."""
    total = sum(sizes.values())
    exact = {kind: size * count / total for kind, count in sizes.items()}
    quotas = {kind: int(share) for kind, share in exact.items()}
    remainders = sorted(sizes, key=lambda kind: quotas[kind] - exact[kind])
    for kind in remainders[: size - sum(quotas.values())]:
        quotas[kind] += 1
    for kind in sizes if size >= len(sizes) else ():
        if not quotas[kind]:
            quotas[max(quotas, key=lambda other: quotas[other])] -= 1
            quotas[kind] = 1
    return quotas
