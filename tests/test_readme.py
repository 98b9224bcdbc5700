"""The Python of the README and of the other documents, run as it stands."""

import re
from code import InteractiveConsole
from pathlib import Path

import pytest

import merit
from merit.errors import InputError

pytestmark = pytest.mark.usefixtures("bundled_benchmark")
ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SNIPPETS = {
    f"{page.relative_to(ROOT)}:{number}": snippet
    for page in PAGES
    for number, snippet in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL), 1)
    if "print(" in snippet  # a file to be made, such as that of a method, has a test of its own
}


def run(snippet: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    exec(compile(snippet, "README.md", "exec"), {})  # as it is pasted: with nothing there before


@pytest.mark.parametrize("place", SNIPPETS)
def test_what_a_snippet_prints_is_what_its_comment_says(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (said,) = re.findall(r"^print\(.*\)  # (.*)$", SNIPPETS[place], re.MULTILINE)
    for _ in range(2):  # pasted again, it says the same
        run(SNIPPETS[place], tmp_path, monkeypatch)
        assert capsys.readouterr().out.startswith(said.removesuffix("..."))


@pytest.mark.parametrize("place", SNIPPETS)
def test_every_snippet_can_be_pasted_into_a_prompt(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    prompt = InteractiveConsole()
    for line in SNIPPETS[place].splitlines():  # a block ends with an empty line there
        prompt.push(line)
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out


@pytest.mark.parametrize("place", [place for place, snippet in SNIPPETS.items() if "path/to/spider" in snippet])
def test_so_does_what_a_comment_offers_instead(
    place: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = re.sub(r"((?:dataset|benchmark) = )merit\.\w+\(.*?\)  # or (.*)", r"\1\2", SNIPPETS[place])
    assert other != SNIPPETS[place]
    run(other.replace("path/to/spider", str(root)), tmp_path, monkeypatch)
    assert capsys.readouterr().out.startswith("Verdict(status=<Status.DENOTATION_MISMATCH")


def test_a_benchmark_is_loaded_with_one_call(root: Path) -> None:
    assert merit.load("bundled").layout.name == "bundled"
    assert len(merit.load("bundled").questions) == 360
    assert merit.load("spider", str(root), label="books").title == "books"
    with pytest.raises(InputError, match="give its folder"):
        merit.load("spider")
    with pytest.raises(InputError, match="unknown dataset 'mine'"):
        merit.load("mine")
