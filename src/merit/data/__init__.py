"""Benchmark files: questions, and the databases they are about. Must never return an answer."""

from merit.data.dataset import (
    LAYOUTS,
    PROTOCOLS,
    Dataset,
    check_label,
    detect,
    load,
    splits_in,
    with_journals,
)
from merit.data.predictions import parse_predictions, read_predictions
from merit.data.survey import survey

__all__ = [
    "LAYOUTS",
    "PROTOCOLS",
    "Dataset",
    "check_label",
    "detect",
    "load",
    "parse_predictions",
    "read_predictions",
    "splits_in",
    "survey",
    "with_journals",
]
