"""The rooms of the house, and who may look into whom (ARCHITECTURE.md)."""

import ast
from pathlib import Path

import pytest

import merit
from merit import errors

SOURCE = Path(merit.__file__).parent
# A room may import the rooms of earlier floors; rooms on one floor do not know each other.
FLOORS = [
    {"errors", "types"},
    {"cache", "reading", "tracing", "writing"},
    {"data", "models", "sql"},
    {"bundled"},
    {"oracle"},
    {"failure", "memory", "mutation"},
    {"prompts"},
    {"agent"},
    {"score"},
    {"stream"},
    {"report"},
    {"cli"},
]
ABOVE_ALL = {"__init__", "__main__"}


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def floor(name: str) -> int:
    return next(level for level, rooms in enumerate(FLOORS) if name in rooms)


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "merit":
            parts = node.module.split(".")
            names |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("merit.")}
    return {name for name in names if not name.startswith("_")}


FILES = sorted(path for path in SOURCE.rglob("*.py") if room(path) not in ABOVE_ALL)


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(SOURCE)) for path in FILES])
def test_a_room_imports_only_downwards(path: Path) -> None:
    here = room(path)
    for other in imported(path) - {here}:
        assert floor(other) < floor(here), f"{here} looks into {other}"


def test_only_the_oracle_reads_references() -> None:
    readers = {room(path) for path in FILES if "reference_field" in path.read_text() and path.name != "dataset.py"}
    assert readers == {"oracle"}


def test_the_report_knows_no_oracle() -> None:
    """Reference answers come into a page only as what a command hands over, for somebody who asked for them."""
    assert [str(path) for path in FILES if room(path) == "report" and imported(path) & {"oracle", "bundled"}] == []


def test_files_stay_readable() -> None:
    assert [path.name for path in FILES if len(path.read_text().splitlines()) > 300] == []


def test_every_error_is_exported_and_drawn() -> None:
    classes = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert classes == set(errors.__all__)
    assert all(name in str(errors.__doc__) for name in classes)
    assert all(issubclass(vars(errors)[name], errors.MeritError) for name in classes)
