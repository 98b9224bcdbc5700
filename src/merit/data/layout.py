"""The official layouts of benchmarks on disk, and the ways in which each can be judged."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from merit.errors import InputError
from merit.reading import shown
from merit.types import Distinct


@dataclass(frozen=True, slots=True)
class Layout:
    """Where one benchmark keeps its files; several names are tried in order."""

    name: str
    questions: Mapping[str, tuple[str, ...]]  # by split
    tables: Mapping[str, str]
    databases: Mapping[str, str]
    suites: tuple[str, ...]
    reference_field: str  # the field of a question that only the oracle may read
    distinct: Distinct | None  # what `merit score` does with DISTINCT unless told; None where the rule has no choice


SPIDER = Layout(
    name="spider",
    questions={"dev": ("dev.json",), "train": ("train_spider.json", "train.json")},
    tables={"dev": "tables.json", "train": "tables.json"},
    databases={"dev": "database", "train": "database"},
    suites=("test_suite", "test_suite_database"),
    reference_field="query",
    distinct=Distinct.DROPPED,
)
BIRD = Layout(
    name="bird",
    questions={"dev": ("dev.json",), "train": ("train.json",)},
    tables={"dev": "dev_tables.json", "train": "train_tables.json"},
    databases={"dev": "dev_databases", "train": "train_databases"},
    suites=(),
    reference_field="SQL",
    distinct=None,
)
BUNDLED = replace(SPIDER, name="bundled", distinct=Distinct.KEPT)  # the one that comes with merit
PROTOCOLS = ("db", "suite")
LAYOUTS = {layout.name: layout for layout in (SPIDER, BIRD, BUNDLED)}


def check_distinct(layout: Layout, distinct: object) -> None:
    """Complain about a choice that a benchmark's rule does not have; None leaves it to the benchmark."""
    if distinct is not None and layout.distinct is None:
        raise InputError(f"distinct: the rule of {layout.name} never drops DISTINCT; leave the option out")
    if distinct is not None and distinct not in list(Distinct):
        raise InputError(f"distinct: should be {' or '.join(Distinct)}, not {shown(distinct)}")


def protocol_title(protocol: str, distinct: Distinct | None) -> str:
    """A protocol as tables and captions name it, such as "suite, DISTINCT kept"."""
    return f"{protocol}, DISTINCT {distinct}" if distinct else protocol
