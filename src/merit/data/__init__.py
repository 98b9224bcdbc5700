"""Benchmark files: questions, and the databases they are about. Must never return an answer."""

from merit.data.dataset import Dataset, check_label, detect, load, splits_in, with_journals
from merit.data.layout import LAYOUTS, PROTOCOLS, Layout, check_distinct, protocol_title
from merit.data.predictions import parse_predictions, read_predictions
from merit.data.survey import survey

__all__ = [
    "LAYOUTS",
    "PROTOCOLS",
    "Dataset",
    "Layout",
    "check_distinct",
    "check_label",
    "detect",
    "load",
    "parse_predictions",
    "protocol_title",
    "read_predictions",
    "splits_in",
    "survey",
    "with_journals",
]
