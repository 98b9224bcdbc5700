"""The hash of the code that decides what is in a run.

Runs made by code with another hash are other runs: none of them goes on with the other. So only the rooms that decide a
run's content count. The command line, reports, audits and everything that only decides how long a run takes do not.
"""

from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

from merit.files import hash_listing

# Rooms that decide what a run asks, recalls, judges and writes, each with those of its modules that do not.
DECIDING: dict[str, frozenset[str]] = {
    "agent": frozenset({"confidence"}),
    "data": frozenset({"survey"}),
    "failure": frozenset(),
    "grounding": frozenset(),
    "memory": frozenset({"curate"}),
    "models": frozenset({"address", "connection", "fetch", "redaction", "retrying_client", "spending", "wait_notice"}),
    "oracle": frozenset({"acceptance", "check", "explain", "subset"}),
    "prompts": frozenset(),
    "reading": frozenset(),  # replaces what cannot be written or sent
    "vectors": frozenset(),
    "runs": frozenset({"code", "kept_entries", "manifest_reading", "paths", "run_mismatch", "timings"}),
    "sql": frozenset(),
    "stream": frozenset(
        {"ahead", "cluster", "covered", "grid", "grid_review", "predict", "replies", "spec", "workshop"}
    ),
    "types": frozenset(),
    "values": frozenset(),
}
# Rooms that decide nothing of it. A dataset's content has a hash of its own, wherever it comes from.
NOT_DECIDING = frozenset(
    {
        "__init__",
        "__main__",
        "audit",
        "benchmark",
        "bundled",
        "cache",
        "cli",
        "context",
        "errors",
        "files",
        "formats",
        "inspect_solver",
        "inspect_tasks",
        "mcp",
        "mutation",
        "report",
        "library",
        "live",
        "scoring",
        "selection",
        "settings",
        "spreadsheet",
        "toml",
        "tracing",
        "web",
        "yaml",
    }
)
_SOURCES = (".py", ".txt")  # code, and the templates of prompts


@cache
def code_hash() -> str:
    """The hash of this merit's own code."""
    return hash_code(files("merit"))


def hash_code(package: Traversable) -> str:
    """One hash over the sources of a merit package that decide a run's content."""
    sources = sorted(
        ((name, source) for name, source in _sources(package) if decides(name)), key=lambda named: named[0]
    )
    return hash_listing((name, sha256(source.read_bytes()).hexdigest()) for name, source in sources)[:16]


def decides(name: str) -> bool:
    """Whether a source file, by its path in the package, decides what is in a run."""
    room, _, module = name.partition("/")
    room = room.partition(".")[0]
    return room in DECIDING and module.removesuffix(".py") not in DECIDING[room]


def _sources(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    for path in folder.iterdir():
        if path.is_dir() and path.name != "__pycache__":
            yield from _sources(path, f"{prefix}{path.name}/")
        elif path.name.endswith(_SOURCES):
            yield f"{prefix}{path.name}", path
