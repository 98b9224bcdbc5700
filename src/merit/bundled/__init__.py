"""The benchmark that comes with merit: our own databases and questions, built in Spider's layout when first used."""

from merit.bundled.build import NAME, build, built, open_dataset
from merit.bundled.fuzz import SPARSE, Fuzzer
from merit.bundled.recording import Recording, live_recording, recorded
from merit.bundled.source import DIFFICULTIES, DatabaseSource, WrittenQuestion, read_sources, read_suites, write_suites
from merit.bundled.tables import TableShape, read_shapes

__all__ = [
    "DIFFICULTIES",
    "NAME",
    "SPARSE",
    "DatabaseSource",
    "Fuzzer",
    "Recording",
    "TableShape",
    "WrittenQuestion",
    "build",
    "built",
    "live_recording",
    "open_dataset",
    "read_shapes",
    "read_sources",
    "read_suites",
    "recorded",
    "write_suites",
]
