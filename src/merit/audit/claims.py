"""What a run's manifest, stream, predictions and metrics claim, held against its turns and this merit."""

import os

from merit.agent import Method, Origin, find_method, only_sure, unavailable
from merit.errors import AuditFailed, InputError, counted
from merit.memory.store import has_memory
from merit.prompts import VERSIONS, parse_sql, templates_hash
from merit.reading import LINES_BYTES, parse_json, read_text, shown
from merit.runs import RunView, account, check_arithmetic, in_use
from merit.runs.paths import ENTRIES, MEMORY, METRICS, PREDICTIONS, RETRIEVALS, REVIEWS, STREAM
from merit.runs.questions import stream_text
from merit.runs.text import json_text, read_lines, to_json
from merit.runs.turn import prediction_line
from merit.types import Regime


def check_folder(view: RunView) -> None:
    """What can be said of a run before its turns are gone through."""
    _check_whole(view)
    _check_identity(view)
    _check_stream(view)


def _check_whole(view: RunView) -> None:
    """A run is finished, and none of its files is gone; what follows holds their lines against each other."""
    if not os.path.lexists(view.path / METRICS):
        go_on = "go on with it by the same `merit run`"
        way_out = "another process is at it: wait for it" if in_use(view.path) else go_on
        done = counted(len(view.turns), "turn")
        raise AuditFailed(f"{view.path}: the run is not finished (no {METRICS}, {done} so far); {way_out}")
    kept = any(turn.left for turn in view.turns) and not has_memory(view.path / MEMORY)
    reviews = [REVIEWS] if view.identity.review else []
    for name in (RETRIEVALS, PREDICTIONS, *reviews, *([ENTRIES] if kept else [])):
        if not os.path.lexists(view.path / name):
            raise AuditFailed(
                f"{view.path / name}: is missing, though the run is finished; put it back, or run it again"
            )


def _check_identity(view: RunView) -> None:
    """What the manifest says must fit what this merit knows and what the folder holds."""
    identity, method, length = view.identity, view.method, view.identity.length
    encoder_expected = "an" if method.encodes else "no"
    wrong = None
    family = identity.prompts.family
    if family not in VERSIONS.values() or identity.prompts.sha256 != templates_hash(family):
        wrong = "the run was made with other prompt templates than this merit's; audit it with its own"
    elif (other := _another(method, identity.seed, identity.regime)) is not None:
        wrong = other
    elif identity.dataset.questions != len(view.questions):
        wrong = f"{counted(identity.dataset.questions, 'question')}, but the stream has {len(view.questions)}"
    elif (identity.encoder is None) == method.encodes:
        wrong = f"the method {method.name} should have {encoder_expected} encoder"
    elif len(identity.demonstrations) != method.demonstrations:
        wrong = f"the method {method.name} should have {counted(method.demonstrations, 'example')}"
    elif identity.review and (method.recall is None or not method.online):
        wrong = f"the method {method.name} cannot learn from a reviewer"
    elif (length is None) != method.online or (length or 0) > len(view.questions):
        wrong = f"the length {length} cannot be that of {method.name} over {counted(len(view.questions), 'question')}"
    elif method.grounds and not all(asked.tables for asked in view.questions.values()):
        wrong = f"{STREAM} has no tables for some databases, and the method {method.name} grounds by them"
    elif any((asked.live is not None) != (family == VERSIONS["live"]) for asked in view.questions.values()):
        wrong = f"{STREAM} does not have what prompts of the family {family} show of databases"
    if wrong:
        raise AuditFailed(f"{view.path}: {wrong}")


def _check_stream(view: RunView) -> None:
    """A stream says what a run writes and nothing else; its first answers are what their replies say."""
    path = view.path / STREAM
    if read_text(path, LINES_BYTES) != stream_text(view.questions):
        raise AuditFailed(f"{path}: is not what a run writes")
    for question_id, recorded in view.questions.items():
        first_answer = recorded.first_answer
        if first_answer.sql not in (
            first_answer.reply,
            parse_sql(first_answer.reply),
        ):  # a file of predictions has no other reply
            raise AuditFailed(f"{path}: question {question_id!r}: the first answer is not the SQL in its reply")


def _another(method: Method, seed: int, regime: Regime) -> str | None:
    """Why a method is not one that this merit, or a package beside it, has under its name."""
    if method.origin is not None and (why := unavailable(method.name, method.origin)):
        return why
    try:
        found = find_method(method.name).seeded(seed)
        known = only_sure(found) if regime is Regime.REVIEWED else found
    except InputError:
        return f"{shown(method.name)} is not a method of this merit"
    if known.origin != method.origin:
        there, here = (_source(origin) for origin in (method.origin, known.origin))
        return (
            f"the method {method.name} was of {there}, and the one that is installed is of {here}; install it as it "
            "was, and audit the run with that"
        )
    return None if known == method else f"the method {method.name} is another one in this merit"


def _source(origin: Origin | None) -> str:
    return f"{origin.package} {origin.version} ({origin.sha256})" if origin else "merit itself"


def check_predictions(view: RunView) -> None:
    """Every final SQL, and no other."""
    expected = [prediction_line(turn) for turn in view.answers]
    path = view.path / PREDICTIONS
    lines = read_lines(path)
    for number, (line, wanted) in enumerate(zip(lines, expected, strict=False), 1):
        if line != wanted:
            raise AuditFailed(f"{path}, line {number}: is not the final SQL of that turn")
    if len(lines) != len(expected):
        raise AuditFailed(f"{path}: {counted(len(lines), 'line')} for {counted(len(expected), 'answered question')}")


def check_metrics(view: RunView) -> None:
    """Every number, counted again."""
    path = view.path / METRICS
    metrics = account(view.turns, view.method, view.identity.regime)
    check_arithmetic(metrics, view.method, view.identity.regime, view.identity.budget)
    if read_text(path) == json_text(metrics):
        return
    recorded = parse_json(read_text(path), path)
    names = sorted({*metrics, *recorded}) if isinstance(recorded, dict) else []
    for name in names:
        if to_json(metrics.get(name)) != to_json(recorded.get(name)):
            says = f"{name} is {shown(recorded.get(name))}, but the trajectories give {shown(metrics.get(name))}"
            raise AuditFailed(f"{path}: {says}")
    raise AuditFailed(f"{path}: is not what a run writes")
