"""The rooms of the house, and who may import whom (ARCHITECTURE.md)."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest

import merit
from merit import errors

SOURCE = Path(merit.__file__).parent
PICTURE = Path(__file__).parents[1] / "ARCHITECTURE.md"

# What each room may import. A room that is not here, or an import that is not, fails until somebody decides about it.
ALLOWED: dict[str, set[str]] = {
    "types": {"errors"},
    "errors": set(),
    "files": {"errors"},
    "reading": {"errors"},
    "cache": {"errors", "files"},
    "toml": {"errors", "reading"},
    "settings": {"errors", "reading", "sql", "toml", "types"},
    "yaml": {"errors", "reading"},
    "spreadsheet": {"errors", "reading"},
    "context": {"errors", "reading", "settings", "types", "yaml"},
    "formats": {"errors", "files", "reading", "spreadsheet", "yaml"},
    "tracing": {"errors"},
    "vectors": {"errors", "types"},
    "sql": {"errors", "files", "reading", "types"},
    "models": {"cache", "errors", "files", "reading", "tracing", "types", "vectors"},
    "data": {"errors", "files", "reading", "spreadsheet", "types"},
    "bundled": {"data", "errors", "files", "reading", "types"},
    "oracle": {"cache", "data", "errors", "files", "reading", "sql", "types"},
    "mutation": {"bundled", "data", "errors", "oracle", "reading", "sql", "types"},
    "failure": {"errors", "sql", "types"},
    "values": {"errors", "files", "reading", "types"},
    "grounding": {"errors", "sql", "types", "values"},
    "memory": {"errors", "files", "reading", "sql", "types", "vectors"},
    "prompts": {"errors", "memory", "reading", "sql", "types"},
    "selection": {"errors", "prompts", "sql", "types", "values", "vectors"},
    "agent": {"errors", "failure", "grounding", "memory", "prompts", "reading", "sql", "tracing", "types"},
    "runs": {"agent", "data", "errors", "failure", "files", "memory", "prompts", "reading", "sql", "types"},
    "benchmark": {"bundled", "cache", "data", "errors", "oracle", "prompts", "sql", "types", "values"},
    "report": {"agent", "errors", "failure", "files", "memory", "prompts", "reading", "runs", "spreadsheet", "types"},
    "scoring": {"benchmark", "data", "errors", "failure", "files", "oracle", "runs", "types"},
}
_MAKING_AND_PROVING = {"agent", "benchmark", "bundled", "data", "errors", "failure", "files", "memory", "models"}
_MAKING_AND_PROVING |= {"oracle", "prompts", "reading", "runs", "sql", "toml", "tracing", "types"}
ALLOWED["stream"] = ALLOWED["audit"] = _MAKING_AND_PROVING  # and neither imports the other
ALLOWED["live"] = {"agent", "cache", "errors", "failure", "files", "memory", "models", "prompts", "reading", "runs"}
ALLOWED["live"] |= {"context", "formats", "selection", "settings", "sql", "types", "values"}
ALLOWED["web"] = {
    "errors",
    "files",
    "formats",
    "live",
    "memory",
    "reading",
    "report",
    "settings",
    "spreadsheet",
    "tracing",
}
ALLOWED["web"] |= {"types"}
ALLOWED["mcp"] = {"errors", "live", "memory", "prompts", "types", "web"}
ALLOWED["inspect_solver"] = {"errors", "live", "prompts", "settings", "types"}
ALLOWED["inspect_tasks"] = {"benchmark", "errors", "inspect_solver", "oracle", "prompts", "types"}
ALLOWED["library"] = {"agent", "benchmark", "cache", "data", "errors", "memory", "models", "prompts", "runs"}
ALLOWED["library"] |= {"scoring", "sql", "stream", "types"}
ALLOWED["cli"] = {*ALLOWED} - {"cli", "library", "inspect_solver", "inspect_tasks"}

# Rooms that no reference answer may reach, and the rooms that hold reference answers.
WITHOUT_REFERENCES = (
    "agent",
    "context",
    "formats",
    "live",
    "web",
    "mcp",
    "inspect_solver",
    "prompts",
    "memory",
    "failure",
    "grounding",
    "values",
    "selection",
    "runs",
    "report",
)
REFERENCES = {"oracle", "bundled"}
ABOVE_ALL = {"__init__", "__main__"}


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(text: str) -> set[str]:
    """The rooms that a source text imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import does not say which room it means"
            parts = (node.module or "").split(".")
            if parts[0] == "merit":
                names |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("merit.")}
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            named = str(node.args[0].value)
            called = ast.unparse(node.func).rpartition(".")[2]
            if called in ("import_module", "__import__") and named.startswith("merit."):
                names.add(named.split(".")[1])
    return {name for name in names if not name.startswith("_")}


def forbidden(here: str, text: str) -> set[str]:
    """The rooms that a source text of a room imports and may not."""
    return imported(text) - {here} - ALLOWED[here]


FILES = sorted(path for path in SOURCE.rglob("*.py") if room(path) not in ABOVE_ALL)
ROOMS = sorted({room(path) for path in FILES})
GRAPH = {here: set().union(*(imported(p.read_text()) for p in FILES if room(p) == here)) - {here} for here in ROOMS}


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(SOURCE)) for path in FILES])
def test_a_room_imports_only_what_it_may(path: Path) -> None:
    assert forbidden(room(path), path.read_text()) == set()


def test_every_room_has_its_rule() -> None:
    assert sorted(ALLOWED) == ROOMS


@pytest.mark.parametrize("here", WITHOUT_REFERENCES)
def test_no_rule_lets_references_in(here: str) -> None:
    """Not even through other rooms."""
    seen: set[str] = set()
    todo = {here}
    while todo:
        seen |= todo
        todo = {there for one in todo for there in ALLOWED[one]} - seen
    assert seen & REFERENCES == set()


def test_rules_lead_only_downwards() -> None:
    """No room may come back to itself."""
    left = dict(ALLOWED)
    while lowest := [here for here, allowed in left.items() if not allowed & left.keys()]:
        for here in lowest:
            del left[here]
    assert left == {}


@pytest.mark.parametrize(
    "text",
    [
        "from merit.oracle import Judge",
        "from merit.oracle.judge import Judge",
        "from merit import oracle",
        "import merit.oracle",
        "import merit.oracle.judge as j",
        "def f() -> None:\n    from merit.oracle import Judge",
        "if TYPE_CHECKING:\n    from merit.oracle import Judge",
        "import importlib\nimportlib.import_module('merit.oracle')",
    ],
)
def test_a_forbidden_import_is_noticed_in_any_spelling(text: str) -> None:
    for here in set(WITHOUT_REFERENCES) - {"agent"}:
        assert forbidden(here, text) == {"oracle"}
    assert forbidden("agent", text.replace("oracle", "bundled")) == {"bundled"}
    assert forbidden("stream", text.replace("oracle", "audit")) == {"audit"}
    assert forbidden("audit", text.replace("oracle", "stream")) == {"stream"}
    for above in ("stream", "audit", "models", "benchmark"):
        assert forbidden("report", text.replace("oracle", above)) == {above}
    for above in ("models", "report", "cli"):
        assert forbidden("runs", text.replace("oracle", above)) == {above}


def floors() -> list[list[str]]:
    """The rooms in the picture of ARCHITECTURE.md, floor by floor, the highest first."""
    picture = re.search(r"^## Rooms\n+```\n(.*?)^```", PICTURE.read_text(), re.MULTILINE | re.DOTALL)
    assert picture is not None
    return [re.split(r" {2,}", line.partition("   |")[0].strip()) for line in picture[1].splitlines()]


def test_the_picture_shows_every_room() -> None:
    assert sorted(name for floor in floors() for name in floor) == ROOMS


def test_every_import_leads_to_a_lower_floor_of_the_picture() -> None:
    level = {name: number for number, floor in enumerate(floors()) for name in floor}
    assert [(here, there) for here in ROOMS for there in GRAPH[here] if level[there] <= level[here]] == []


def test_the_list_of_imports_is_the_real_one() -> None:
    """Errors, types and the small tools of the three lowest floors are left out of it."""
    ground = {name for floor in floors()[-3:] for name in floor}
    told = re.findall(r"^\| `(\w+)` \| (.*?) \|$", PICTURE.read_text(), re.MULTILINE)
    real = [(here, ", ".join(sorted(GRAPH[here] - ground)) or "-") for here in ROOMS if here not in ground]
    assert sorted(told) == real


def test_only_the_oracle_reads_references() -> None:
    readers = {room(path) for path in FILES if "reference_field" in path.read_text() and path.name != "layout.py"}
    assert readers == {"oracle"}


def test_statements_of_strangers_are_parsed_within_bounds() -> None:
    """Plain sqlglot may take hours; `mutation` parses the references of our own benchmark."""
    assert [path.name for path in FILES if "parse_one" in path.read_text() and room(path) != "mutation"] == []


def test_files_stay_readable() -> None:
    assert [path.name for path in FILES if len(path.read_text().splitlines()) > 300] == []


def test_every_error_is_exported_and_drawn() -> None:
    classes = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert classes == set(errors.__all__)
    assert all(name in str(errors.__doc__) for name in classes)
    assert all(issubclass(vars(errors)[name], errors.MeritError) for name in classes)


def is_there(named: str) -> bool:
    """Whether the modules and names that a dotted name leads through are there, as far down as they are modules."""
    place, found = SOURCE, "merit"
    for part in named.split("."):
        if (place / part).is_dir() or (place / f"{part}.py").exists():
            place, found = place / part, f"{found}.{part}"
        else:
            return hasattr(import_module(found), part)
    return True


def test_every_module_that_the_document_names_is_there() -> None:
    """`room.module`, `room.package.module` or `room.module.name`, where room is one of ours."""
    named = {name for name in re.findall(r"`(\w+(?:\.\w+)+)`", PICTURE.read_text()) if name.split(".")[0] in ROOMS}
    assert [
        name for name in sorted(named) if not name.rpartition(".")[2].startswith("json") and not is_there(name)
    ] == []
    assert not is_there("live.asking.nowhere")
    assert not is_there("live.nowhere.asker")
