"""What a run's manifest, stream, predictions and metrics claim, held against its turns and this merit."""

from collections.abc import Iterable
from pathlib import Path

from merit.agent import METHODS, find_method
from merit.errors import AuditFailed, counted
from merit.memory import MemoryStore, Tombstone
from merit.prompts import VERSION, parse_sql, templates_hash
from merit.reading import parse_json, read_text, shown
from merit.stream.accounting import account, check_arithmetic
from merit.stream.folder import METRICS, PREDICTIONS, STREAM, RunView, json_text, memory_file, read_lines
from merit.stream.setup import stream_text
from merit.stream.turn import Phase, prediction_line, to_json
from merit.types import Polarity, Regime


def check_identity(view: RunView) -> None:
    """What the manifest says must fit what this merit knows and what the folder holds."""
    identity, method, length = view.identity, view.method, view.identity["length"]
    wrong = None
    if identity["prompts"] != {"family": VERSION, "sha256": templates_hash()}:
        wrong = "the run was made with other prompt templates than this merit's; audit it with its own"
    elif _known(method.name) and find_method(method.name).seeded(identity["seed"]) != method:
        wrong = f"the method {method.name} is another one in this merit"
    elif identity["dataset"]["questions"] != len(view.questions):
        wrong = f"{counted(identity['dataset']['questions'], 'question')}, but the stream has {len(view.questions)}"
    elif (identity["encoder"] is None) == method.encodes:
        wrong = f"the method {method.name} should have {'an' if method.encodes else 'no'} encoder"
    elif len(identity["demonstrations"]) != method.demonstrations:
        wrong = f"the method {method.name} should have {counted(method.demonstrations, 'example')}"
    elif (length is None) != method.online or (length or 0) > len(view.questions):
        wrong = f"the length {length} cannot be that of {method.name} over {counted(len(view.questions), 'question')}"
    if wrong:
        raise AuditFailed(f"{view.path}: {wrong}")


def check_stream(view: RunView) -> None:
    """A stream says what a run writes and nothing else; its first answers are what their replies say."""
    path = view.path / STREAM
    if read_text(path) != stream_text(view.questions):
        raise AuditFailed(f"{path}: is not what a run writes")
    for question_id, recorded in view.questions.items():
        draft = recorded.draft
        if draft.sql not in (draft.reply, parse_sql(draft.reply)):  # a file of predictions has no other reply
            raise AuditFailed(f"{path}: question {question_id!r}: the first answer is not the SQL in its reply")


def _known(name: str) -> bool:
    return name.partition(":")[0] in METHODS


def check_all_used(rest: Iterable[tuple[int, str]], path: Path) -> None:
    """No line of a file may be left once every turn has had its own.

    In a memory the usual reason is that a person deleted an entry after the run: then that is said.
    """
    number, line = next(iter(rest), (0, None))
    if line is None:
        return
    deletions = _deletions(path)
    if not deletions:
        raise AuditFailed(f"{path}: has a line that belongs to no turn (line {number})")
    were = counted(len(deletions), "entry was", "entries were")
    raise AuditFailed(
        f"{path}: {were} deleted from this run's memory by `merit memory delete` or `merit memory confirm`, so it is "
        f"no longer what the run left (the first is {shown(deletions[0].id)}, because {shown(deletions[0].reason)}); "
        f"to audit the run, take the lines from {number} on out of the file"
    )


def _deletions(path: Path) -> list[Tombstone]:
    """What was deleted in a file, if it is one of a memory."""
    for polarity in Polarity:
        if path.name == Path(memory_file(polarity)).name:
            store = MemoryStore(path.parent, writable=False)
            return [line.content for line in store.lines(polarity) if isinstance(line.content, Tombstone)]
    return []


def check_predictions(view: RunView) -> None:
    """Every final SQL, and no other."""
    expected = [prediction_line(turn) for turn in view.turns if turn.phase is Phase.ANSWER]
    path = view.path / PREDICTIONS
    found = read_lines(path)
    for number, (line, wanted) in enumerate(zip(found, expected, strict=False), 1):
        if line != wanted:
            raise AuditFailed(f"{path}, line {number}: is not the final SQL of that turn")
    if len(found) != len(expected):
        raise AuditFailed(f"{path}: {counted(len(found), 'line')} for {counted(len(expected), 'answered question')}")


def check_metrics(view: RunView, regime: Regime) -> None:
    """Every number, counted again."""
    path = view.path / METRICS
    if not path.is_file():
        raise AuditFailed(f"{view.path}: the run was not finished (no {METRICS}); run the same command again")
    found = account(view.turns, view.method)
    check_arithmetic(found, view.method, regime, view.identity["budget"])
    if read_text(path) == json_text(found):
        return
    recorded = parse_json(read_text(path), path)
    names = sorted({*found, *recorded}) if isinstance(recorded, dict) else []
    for name in names:
        if to_json(found.get(name)) != to_json(recorded.get(name)):
            says = f"{name} is {shown(recorded.get(name))}, but the trajectories give {shown(found.get(name))}"
            raise AuditFailed(f"{path}: {says}")
    raise AuditFailed(f"{path}: is not what a run writes")
