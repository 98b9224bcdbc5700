"""Benchmark files: what is asked, over which databases. Must never hand out an answer."""

from merit.data.dataset import LAYOUTS, OWN_DATA, PROTOCOLS, Dataset, check_label, detect, load, with_journals
from merit.data.predictions import parse_predictions, read_predictions
from merit.data.survey import survey

__all__ = [
    "LAYOUTS",
    "OWN_DATA",
    "PROTOCOLS",
    "Dataset",
    "check_label",
    "detect",
    "load",
    "parse_predictions",
    "read_predictions",
    "survey",
    "with_journals",
]
