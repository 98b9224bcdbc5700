"""What a run is on disk, as typed values: manifest, stream, turns, retrievals, metrics. Needs no model or database.

- `paths` names the files and finds folders with them. `folder` is a run that goes on: one process at a time, every file
  appended to line by line or written whole. A turn is committed when its line in `trajectories.jsonl` is whole, which
  is written last; what a crash left of an unfinished turn is cut off. What differs from time to time is in
  `timings.json` alone.
- `manifest` has the types and writes them; `manifest_reading` alone reads them, within bounds that a new run must keep
  too. `code` hashes the rooms that decide what is in a run, so that a change to a report or a help text does not stop a
  run from being resumed. `run_mismatch` says in which setting two runs differ.
- `questions` is `stream.json`, `turn` a line of `trajectories.jsonl` and `predictions.jsonl`, `retrievals` the log of
  recalls, `reviews` what a simulated reviewer sees and says, `kept_entries` what a run kept. `view.read_run` reads all.
- `plan` shuffles the questions by seed and lists the turns: one pass, or two for the control `transductive_batch`.
- `accounting` counts what the paper counts, from the turns alone, and checks its arithmetic.
"""

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
