"""What a run is on disk, as typed values: manifest, stream, turns, retrievals, metrics. Needs no model or database."""

from merit.runs.accounting import account, check_arithmetic
from merit.runs.folder import RunFolder, in_use
from merit.runs.manifest import (
    DatasetIdentity,
    Identity,
    MadeWith,
    Manifest,
    PromptsIdentity,
    difference,
    run_id,
)
from merit.runs.manifest_reading import LONGEST_TIMEOUT_S, decode_identity, new_manifest, read_manifest
from merit.runs.paths import find_runs, is_finished, run_folders
from merit.runs.plan import beginnings, stream_order
from merit.runs.questions import Questions, StreamQuestion
from merit.runs.reviews import AnswerReview, ReviewPolicy, is_drawn
from merit.runs.turn import Phase, Turn
from merit.runs.view import RunView, read_run

__all__ = [
    "LONGEST_TIMEOUT_S",
    "AnswerReview",
    "DatasetIdentity",
    "Identity",
    "MadeWith",
    "Manifest",
    "Phase",
    "PromptsIdentity",
    "Questions",
    "ReviewPolicy",
    "RunFolder",
    "RunView",
    "StreamQuestion",
    "Turn",
    "account",
    "beginnings",
    "check_arithmetic",
    "decode_identity",
    "difference",
    "find_runs",
    "in_use",
    "is_drawn",
    "is_finished",
    "new_manifest",
    "read_manifest",
    "read_run",
    "run_folders",
    "run_id",
    "stream_order",
]
