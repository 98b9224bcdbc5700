"""The documents hold: what they tell people to type works, and what they list is what there is."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from merit.cli.main import cli
from merit.errors import InputError
from merit.stream import read_grid

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
READMES = [ROOT / "README.md"]
PAGES = [*READMES, *(path for path in sorted(DOCS.rglob("*.md")) if path not in READMES)]
TUTORIAL = [DOCS / "tutorial" / f"{name}.md" for name in ("first-run", "episode", "audit")]
_FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def commands(page: Path) -> Iterator[list[str]]:
    """Every `merit ...` line of a page's blocks, in words."""
    for _language, block in _FENCE.findall(page.read_text()):
        for line in block.replace("\\\n", " ").splitlines():
            if found := re.fullmatch(r"\s*(?:\$ )?merit( .*)?", line):
                yield shlex.split(found[1] or "", comments=True)


@pytest.mark.parametrize("page", [page for page in PAGES if next(commands(page), None)], ids=name_of)
def test_every_command_is_known_with_its_options(page: Path) -> None:
    for words in commands(page):
        command: click.Command | None = cli
        rest = list(words)
        while rest and isinstance(command, click.Group):
            command = command.get_command(click.Context(command), rest.pop(0))
        assert command is not None, words
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word for word in rest if re.match(r"--[a-z]", word)} <= known, words


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    base = ROOT if page in READMES else page.parent
    assert [link for link in _LINK.findall(page.read_text()) if not (base / link).exists()] == []


@pytest.mark.usefixtures("bundled_benchmark")
def test_what_the_tutorial_prints_is_what_is_printed(tmp_path: Path) -> None:
    """All its commands, in order and in one folder; every line that it shows stands in the output."""
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "COLUMNS": "100", "PATH": f"{scripts}:{os.environ['PATH']}"}
    steps = [
        block for page in TUTORIAL for language, block in _FENCE.findall(page.read_text()) if language == "console"
    ]
    assert len(steps) > 6
    for step in steps:
        for part in re.split(r"^\$ ", step, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            done = subprocess.run(
                ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            printed = [line.strip() for line in (done.stdout + done.stderr).splitlines()]
            refused = any(line.startswith("merit: ") for line in shown)
            assert done.returncode == int(refused), done.stderr
            assert [line for line in shown if line != "..." and line.strip() not in printed] == [], command


def test_the_page_on_grid_files_has_every_field(tmp_path: Path) -> None:
    page = (DOCS / "reference" / "grid-file.md").read_text()
    above, below = page.split("## Fields of a")
    grid = tmp_path / "grid.toml"
    for section, text in (
        (above, 'nonsense = 1\nout = "a"'),
        (below, 'out = "a"\nmodel = "b"\n[[dataset]]\nnonsense = 1'),
    ):
        grid.write_text(text)
        with pytest.raises(InputError, match="known are") as refused:
            read_grid(grid)
        known = str(refused.value).partition("known are ")[2].split(", ")
        assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == known


def test_the_page_on_the_environment_has_every_variable() -> None:
    page = (DOCS / "reference" / "environment.md").read_text()
    sources = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    used = set(re.findall(r"\b_?(?:MERIT|OPENAI|OTEL|XDG|VLLM|RAY)_[A-Z_]*[A-Z]\b", sources))
    assert {name for name in used if f"`{name}`" not in page} == set()


def test_the_glossary_is_in_order_and_links_within_itself() -> None:
    text = (DOCS / "glossary.md").read_text()
    terms = re.findall(r"^### (.+)$", text, re.MULTILINE)
    assert terms == sorted(terms)
    linked = {link for page in PAGES for link in re.findall(r"(?:glossary\.md)#([\w-]+)", page.read_text())}
    linked |= set(re.findall(r"\]\(#([\w-]+)\)", text))
    assert linked <= {term.replace(" ", "-") for term in terms}
