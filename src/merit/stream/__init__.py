"""Making runs: a benchmark in causal order, from first answers to finished runs."""

from merit.stream.ahead import window
from merit.stream.cluster import run_grid_on_ray
from merit.stream.covered import Gap, run_covered
from merit.stream.grid import Grid, read_grid, run_grid
from merit.stream.initial import read_initial
from merit.stream.predict import first_answers, predict_all
from merit.stream.run import Progress, run_stream
from merit.stream.setup import Setup, family_named, open_setup, usable_questions
from merit.stream.workshop import DataSpec, RunSpec, Workshop

__all__ = [
    "DataSpec",
    "Gap",
    "Grid",
    "Progress",
    "RunSpec",
    "Setup",
    "Workshop",
    "family_named",
    "first_answers",
    "open_setup",
    "predict_all",
    "read_grid",
    "read_initial",
    "run_covered",
    "run_grid",
    "run_grid_on_ray",
    "run_stream",
    "usable_questions",
    "window",
]
