"""Making runs: a benchmark in causal order, from first answers to finished runs."""

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
