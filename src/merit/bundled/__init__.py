"""The benchmark that comes with merit: our own databases and questions, built in Spider's layout when first used.

`open_dataset` opens every benchmark by name. Ours is built in the cache, in a temporary folder that is then renamed to
a hash of data and code. `fuzz` makes a database from a seed, `recording` opens the recorded answers that come with
merit. The room holds the references of our own benchmark, to build and check it, and hands none out.
"""

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
