"""Making runs: a benchmark in causal order, from first answers to finished runs.

- `spec.RunSpec` describes a run, for the command line, grids and programs alike. `workshop` opens what runs share:
  `Workshop` by the URIs of model and encoder, `OwnParts` for a program's own objects. `setup` turns both into
  everything that a run needs, and its identity.
- `first_answers` is the file of first answers, `predict` asks for those that are missing, `replies` counts replies
  without SQL.
- `run` goes through the turns: episode, entry committed, turn written. `reviewing` has a recorded answer reviewed: turn
  on disk, reference out of the oracle, entries committed, review written, in this order; a run that goes on makes the
  review of its last turn again where it is missing.
- `ahead` asks early for answers that will be needed (docs/explanation/parallelism.md). It decides nothing, so that
  files are the same at any `--ahead`. Verdicts heard while prefetching are handed to the run, except for time-outs.
- `grid` makes datasets x methods x seeds from one TOML file, `cluster` the same as tasks of a Ray cluster, `covered`
  what a recording covers.
"""

from merit.stream.ahead import window
from merit.stream.cluster import run_grid_on_ray
from merit.stream.covered import Gap, run_covered
from merit.stream.first_answers import read_first_answers
from merit.stream.grid import Grid, read_grid, run_grid
from merit.stream.predict import predict_all, predict_for_runs
from merit.stream.replies import Replies
from merit.stream.run import Progress, run_stream
from merit.stream.setup import Setup, open_setup
from merit.stream.spec import DEFAULT_BUDGET, RunSpec
from merit.stream.workshop import OwnParts, Parts, Workshop

__all__ = [
    "DEFAULT_BUDGET",
    "Gap",
    "Grid",
    "OwnParts",
    "Parts",
    "Progress",
    "Replies",
    "RunSpec",
    "Setup",
    "Workshop",
    "open_setup",
    "predict_all",
    "predict_for_runs",
    "read_first_answers",
    "read_grid",
    "run_covered",
    "run_grid",
    "run_grid_on_ray",
    "run_stream",
    "window",
]
