"""A benchmark in causal order: first answers, runs, their folders, and the proof that they are what they claim."""

from merit.stream.accounting import account
from merit.stream.against_data import AuditData
from merit.stream.ahead import window
from merit.stream.audit import audit_run
from merit.stream.cluster import run_grid_on_ray
from merit.stream.covered import Gap, run_covered
from merit.stream.findings import Report
from merit.stream.folder import RunFolder, RunView, read_run
from merit.stream.grid import Grid, read_grid, run_grid
from merit.stream.initial import read_initial
from merit.stream.order import beginnings, stream_order
from merit.stream.predict import first_answers, predict_all
from merit.stream.replies import Replies
from merit.stream.run import Progress, run_stream
from merit.stream.setup import Setup, family_named, open_setup, usable_questions
from merit.stream.turn import Phase, Turn
from merit.stream.workshop import DataSpec, RunSpec, Workshop

__all__ = [
    "AuditData",
    "DataSpec",
    "Gap",
    "Grid",
    "Phase",
    "Progress",
    "Replies",
    "Report",
    "RunFolder",
    "RunSpec",
    "RunView",
    "Setup",
    "Turn",
    "Workshop",
    "account",
    "audit_run",
    "beginnings",
    "family_named",
    "first_answers",
    "open_setup",
    "predict_all",
    "read_grid",
    "read_initial",
    "read_run",
    "run_covered",
    "run_grid",
    "run_grid_on_ray",
    "run_stream",
    "stream_order",
    "usable_questions",
    "window",
]
