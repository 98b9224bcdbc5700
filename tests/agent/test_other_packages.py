"""Methods of other packages: the tutorial's, as a package of its own, through grid, audit, report and page."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from making.benchmark import ITEMS, build, write_initial
from making.commands import good, refused
from merit.agent.known_methods import installed
from merit.memory import entries_in
from merit.types import Grade, Polarity

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "own-method.md"
SCRIPT = [
    {"contains": ["This SQL failed", ITEMS[0].text], "reply": f"<answer>{ITEMS[0].reference}</answer>"},
    {"contains": ["This SQL failed"], "reply": "<answer>SELECT name FROM item</answer>"},
    {"reply": "<answer>SELECT 1</answer>"},
]


UNBOUNDED = """    def recall(self, method, moment):
        return RecallPolicy(positives=1, negatives=0, dense_weight=float("nan"))
"""
SPEECHLESS = "class Speechless(Exception):\n    def __str__(self):\n        raise RuntimeError\n"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def install(folder: Path, source: str, version: str = "0.1", name: str = "one_example") -> None:
    """The tutorial's package in a folder on the path, as pip would leave it there."""
    folder.mkdir(exist_ok=True)
    (folder / "one_example.py").write_text(source)
    info = folder / "one_example-0.1.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: one-example\nVersion: {version}\n")
    (project,) = blocks("toml")
    (points,) = re.findall(r'^one_example = "(.*)"$', project, re.MULTILINE)
    (info / "entry_points.txt").write_text(f"[merit.methods]\n{name} = {points}\n")


def merit_process(folder: Path, packages: Path | None, *arguments: object) -> str:
    """What a command prints that finds the package as a user's does: on the path of a new process."""
    path = os.pathsep.join(filter(None, [str(packages) if packages else "", os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-m", "merit", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "200"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Installing:
    """Has this process find a package, and forget it: new processes for every test would take most of a minute."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.forget()

    def __call__(self, packages: Path) -> None:
        self.forget()
        self._monkeypatch.syspath_prepend(packages)

    def forget(self) -> None:
        sys.modules.pop("one_example", None)
        installed.cache_clear()


@pytest.fixture
def installing(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installing]:
    """In the folder of the finished grid, without any package at first."""
    monkeypatch.chdir(made)
    with monkeypatch.context() as path:
        fixture = Installing(path)
        yield fixture
    fixture.forget()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package, and a finished grid of its method beside one of ours."""
    folder = tmp_path_factory.mktemp("made")
    build(folder / "data")
    write_initial(folder / "initial.jsonl")
    install(folder / "packages", blocks("python")[0])
    (folder / "script.jsonl").write_text("".join(json.dumps(line) + "\n" for line in SCRIPT))
    (folder / "grid.toml").write_text(
        'out = "runs"\nmodel = "scripted:script.jsonl"\nmethods = ["iterative", "one_example"]\nseeds = [0]\nbudget = 2\n'
        '[[dataset]]\nname = "spider"\ndata = "data"\ninitial = "initial.jsonl"\n'
    )
    merit_process(folder, folder / "packages", "grid", "grid.toml")
    return folder


def run_of(folder: Path) -> Path:
    return folder / "runs" / "spider-dev" / "one_example" / "seed0"


def test_the_tutorials_method_is_short() -> None:
    assert len(blocks("python")[0].splitlines()) < 60


def test_it_is_listed_with_its_package(made: Path) -> None:
    listed = merit_process(made, made / "packages", "methods")
    assert "one_example" in listed
    assert "(from one-example)" in listed
    assert "one_example" not in merit_process(made, None, "methods")


def test_its_run_names_its_origin_and_keeps_only_what_was_confirmed(made: Path) -> None:
    method = json.loads((run_of(made) / "manifest.json").read_text())["identity"]["method"]
    assert method["origin"]["package"] == "one-example"
    assert re.fullmatch("[0-9a-f]{16}", method["origin"]["sha256"])
    other = json.loads((made / "runs/spider-dev/iterative/seed0/manifest.json").read_text())["identity"]["method"]
    assert "origin" not in other
    kept = entries_in(run_of(made) / "memory")
    assert {listed.entry.polarity for listed in kept} == {Polarity.POSITIVE}
    assert {listed.entry.grade for listed in kept} == {Grade.CONFIRMED}


def test_it_is_audited_with_its_package_and_refused_without(made: Path, installing: Installing) -> None:
    told = refused("audit", run_of(made), "--data", "data")
    assert "comes from the package one-example 0.1; install it first" in told
    installing(made / "packages")
    assert "holds" in good("audit", run_of(made), "--data", "data").output


def test_a_prompt_that_it_would_not_make_again_is_found(made: Path, tmp_path: Path, installing: Installing) -> None:
    install(tmp_path / "changed", blocks("python")[0].replace("This SQL failed", "This failed"))
    installing(tmp_path / "changed")
    told = refused("audit", run_of(made))
    assert "the one that is installed is of one-example 0.1" in told
    assert "install it as it was, and audit the run with that" in told


def test_a_package_that_broke_is_told_with_a_way_out(made: Path, tmp_path: Path, installing: Installing) -> None:
    install(tmp_path / "broken", blocks("python")[0] + "\ndef broken(:\n")
    installing(tmp_path / "broken")
    told = refused("audit", run_of(made))
    assert "its method 'one_example' cannot be loaded (SyntaxError: invalid syntax (one_example.py, line " in told
    assert told.endswith("mend or remove it, or install one-example 0.1, from which 'one_example' came")
    good("report", "runs", "--out", tmp_path / "report")  # what is read needs no package


@pytest.mark.parametrize("here", [True, False])
def test_report_and_page_show_it_even_where_it_is_not_installed(
    made: Path, tmp_path: Path, installing: Installing, here: bool
) -> None:
    if here:
        installing(made / "packages")
    out = tmp_path / "report"
    good("report", "runs", "--out", out)
    assert "one_example [one-example]" in (out / "report.md").read_text()
    assert (out / "report.html").stat().st_size > 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (("METHOD = Method(", "METHOD = print("), "should lead to a merit.Method of the same name"),
        (('"one_example",', '"merit",'), "should lead to a merit.Method of the same name"),
        (("from merit import", "from merit import nothing_there,"), "cannot be loaded"),
        (("METHOD = Method(", "raise SystemExit(0)\nMETHOD = Method("), "cannot be loaded (SystemExit: 0)"),
        (("METHOD = Method(", f"{SPEECHLESS}raise Speechless\nMETHOD = Method("), "cannot be loaded (Speechless)"),
        (("positives=1", "positives='1'"), "RecallPolicy: the field 'positives' should be of the type int, not str"),
        (("{Polarity.POSITIVE}", "{7}"), "writes: expected values of merit.Polarity, not 7"),
        (("behaviour=OneExample()", "behaviour=7"), "the field 'behaviour' should be of the type Behaviour, not int"),
        (("behaviour=OneExample()", "draws=True"), "Method: the field 'draws' should be of the type int, not bool"),
    ],
)
def test_a_package_that_does_not_fit_is_named(
    installing: Installing, tmp_path: Path, changed: tuple[str, str], message: str
) -> None:
    source = blocks("python")[0].replace(*changed)
    if "print(" in source:
        source = re.sub(r"METHOD = print\(.*\)", "METHOD = 1", source, flags=re.DOTALL)
    install(tmp_path / "bad", source)
    installing(tmp_path / "bad")
    told = refused("methods")
    assert told.startswith("one-example: ")
    assert message in told


@pytest.mark.parametrize("name", ["../../evil", "a/b", "..", "evil\\"])
def test_a_name_that_leads_out_of_the_grids_folder_is_refused(
    made: Path, tmp_path: Path, installing: Installing, name: str
) -> None:
    source = blocks("python")[0].replace('"one_example",', f"{name!r},")
    install(tmp_path / "bad", source, name=name)
    grid = made / "elsewhere.toml"
    grid.write_text((made / "grid.toml").read_text().replace('"one_example"', json.dumps(name)))
    installing(tmp_path / "bad")
    assert "one-example: the name of a method cannot be" in refused("grid", grid)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            ("last = moment", "raise RuntimeError('\\x1b[2Jlost')\n        last = moment"),
            r"failed (RuntimeError: \x1b[2Jlost)",
        ),
        (("last = moment", "raise SystemExit(0)\n        last = moment"), "failed (SystemExit: 0)"),
        (('return Prompt("one-example-v1", ', "return ("), "returned a value of the type str"),
        (('"\\n".join(lines))', "7)"), "failed (AttributeError: 'int' object has no attribute 'encode')"),
        (("return super().keep(method, episode, regime)", "return 7"), "returned a value of the type int"),
        (("    def keep", f"{UNBOUNDED}\n    def keep"), "(ValueError: 'dense_weight' should be a number from 0 to 1"),
        (
            ("shows = frozenset({Part.HISTORY, Part.REPAIRS})", "shows = 7"),
            "`recall` of its method 'one_example' failed (",
        ),
    ],
)
def test_a_behaviour_that_goes_wrong_is_one_sentence(
    installing: Installing, tmp_path: Path, changed: tuple[str, str], message: str
) -> None:
    source = blocks("python")[0]
    assert changed[0] in source
    install(tmp_path / "bad", source.replace(*changed))
    command = ["run", "spider", "--data", "data", "--initial", "initial.jsonl", "--method", "one_example"]
    installing(tmp_path / "bad")
    told = refused(*command, "--model", "scripted:script.jsonl", "--budget", 2, "--out", tmp_path / "run")
    assert told.startswith("one-example: `")
    assert message in told
    assert told.endswith("; mend or remove it")


def noting(change: tuple[str, str] = ("", "")) -> str:
    """The tutorial's method that takes notes, under the name that the package has."""
    source = f"from merit import Method, PaperBehaviour, Prompt\n\n\n{blocks('python')[1]}"
    return source.replace('"explaining",', '"one_example",').replace(*change)


def test_the_tutorials_notes_are_taken_counted_and_audited(made: Path, tmp_path: Path, installing: Installing) -> None:
    install(tmp_path / "noting", noting())
    installing(tmp_path / "noting")
    run = tmp_path / "runs" / "noting"
    asked = ("--model", f"scripted:{made / 'script.jsonl'}", "--initial", made / "initial.jsonl", "--budget", 2)
    good("run", "spider", "--data", made / "data", "--method", "one_example", *asked, "--out", run)
    calls = json.loads((run / "metrics.json").read_text())["calls"]
    assert calls["reflection"] == calls["repair"] > 0
    good("audit", run)
    install(tmp_path / "noting", noting(("one sentence", "one word")))  # as it would be asked now
    installing(tmp_path / "noting")
    assert "install it as it was, and audit the run with that" in refused("audit", run)
    good("report", tmp_path / "runs", "--out", tmp_path / "report")
    assert "one_example [one-example]" in (tmp_path / "report" / "report.md").read_text()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("            return None", "            return 7"), "`note` of its method 'one_example' returned a value"),
        (("moment.attempts[-1].sql", "moment.nothing"), "`note` of its method 'one_example' failed (AttributeError"),
        (('return " ".join(reply.split())[:500]', "return 7"), "`read` of its method 'one_example' returned a value"),
        (("    def read(", "    def unread("), "it takes 'notes', but its behaviour has no `note` and `read`"),
    ],
)
def test_a_note_that_cannot_be_taken_names_the_package(
    made: Path, tmp_path: Path, installing: Installing, change: tuple[str, str], says: str
) -> None:
    install(tmp_path / "noting", noting(change))
    installing(tmp_path / "noting")
    asked = ("--model", f"scripted:{made / 'script.jsonl'}", "--initial", made / "initial.jsonl", "--budget", 2)
    told = refused(
        "run", "spider", "--data", made / "data", "--method", "one_example", *asked, "--out", tmp_path / "run"
    )
    assert says in told
    assert "one_example" in told
