"""The code hash: what decides a run's content changes it, and nothing else does."""

import shutil
from pathlib import Path

import pytest

import merit
from merit.runs.code import DECIDING, NOT_DECIDING, code_hash, decides, hash_code

SOURCE = Path(merit.__file__).parent
SOURCES = sorted(
    str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*") if path.suffix in (".py", ".txt") and path.is_file()
)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of merit's package, nothing else of it."""
    package = tmp_path_factory.mktemp("package") / "merit"
    for name in SOURCES:
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SOURCE / name, package / name)
    return package


def changed(package: Path, name: str) -> str:
    """The hash after a comment was added to a file, which is then as it was."""
    text = (package / name).read_bytes()
    (package / name).write_bytes(text + b"\n# changed\n")
    try:
        return hash_code(package)
    finally:
        (package / name).write_bytes(text)


def test_the_same_sources_have_the_same_hash(copied: Path) -> None:
    assert hash_code(copied) == code_hash() == hash_code(SOURCE)


@pytest.mark.parametrize(
    "name",
    [
        "cli/run.py",
        "cli/options.py",
        "report/page/pack.py",
        "audit/audit.py",
        "runs/paths.py",
        "runs/code.py",
        "stream/ahead.py",
        "stream/grid.py",
        "scoring.py",
        "errors.py",
        "memory/curate.py",
    ],
)
def test_what_decides_nothing_leaves_it_as_it_is(name: str, copied: Path) -> None:
    assert changed(copied, name) == code_hash()


@pytest.mark.parametrize(
    "name",
    [
        "prompts/render.py",
        "prompts/templates/repair.txt",
        "agent/episode.py",
        "agent/method.py",
        "memory/rank.py",
        "failure/classify.py",
        "oracle/rule.py",
        "oracle/judge.py",
        "runs/plan.py",
        "runs/turn.py",
        "runs/accounting.py",
        "stream/run.py",
        "stream/first_answers.py",
        "models/token_counts.py",
        "data/schema.py",
        "reading.py",
    ],
)
def test_what_decides_a_runs_content_changes_it(name: str, copied: Path) -> None:
    assert changed(copied, name) != code_hash()


def test_a_file_that_is_new_or_gone_changes_it(copied: Path) -> None:
    new = copied / "prompts" / "another.py"
    new.write_text("")
    assert hash_code(copied) != code_hash()
    new.unlink()
    assert hash_code(copied) == code_hash()


def test_every_room_is_classified() -> None:
    rooms = {name.partition("/")[0].removesuffix(".py") for name in SOURCES}
    assert set(DECIDING) | NOT_DECIDING == rooms
    assert set(DECIDING) & NOT_DECIDING == set()


def test_modules_that_are_left_out_are_there() -> None:
    left_out = {f"{room}/{module}.py" for room, modules in DECIDING.items() for module in modules}
    assert left_out <= set(SOURCES)
    assert not any(decides(name) for name in left_out)
