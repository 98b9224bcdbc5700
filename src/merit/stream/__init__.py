"""A benchmark in causal order: first answers, runs, their folders, and the proof that they are what they claim."""

from merit.stream.audit import Report, audit
from merit.stream.folder import RunFolder, RunView, read_run
from merit.stream.initial import read_initial
from merit.stream.metrics import metrics
from merit.stream.order import stream_order
from merit.stream.predict import predict
from merit.stream.run import Progress, run
from merit.stream.setup import Setup, open_setup
from merit.stream.turn import Phase, Turn

__all__ = [
    "Phase",
    "Progress",
    "Report",
    "RunFolder",
    "RunView",
    "Setup",
    "Turn",
    "audit",
    "metrics",
    "open_setup",
    "predict",
    "read_initial",
    "read_run",
    "run",
    "stream_order",
]
