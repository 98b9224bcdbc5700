"""Commands on a terminal of 80 columns."""

import json
from pathlib import Path

import pytest
from rich.progress import Progress

from making.memories import WordEncoder, make_entry
from making.outcomes import NO_COLUMN, RIGHT, WRONG, Tried, write_run
from making.runs import make_bench
from making.terminal import on_terminal, plain
from merit.agent import METHODS, RELATED
from merit.cli import progress as door
from merit.cli.terminal import Console
from merit.memory import Memory
from merit.report.names import FAILURES
from merit.types import Question

WORDS = " ".join(f"interesting{i}" for i in range(30))
SQL = f"SELECT {', '.join(f'column_number_{i}' for i in range(20))} FROM a_table\nWHERE x = '{WORDS}'"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    questions = [Question(i, "shop", f"Which {WORDS}, number {i}?") for i in range(60)]
    courses = {
        one.id: [Tried(SQL, NO_COLUMN), Tried(SQL.replace("a_table", "b_table"), RIGHT if one.id else WRONG)]
        for one in questions
    }
    path = write_run(tmp_path / "run", questions, "iterative", courses).path
    Memory(path / "memory", WordEncoder()).close()
    return path


def lines_of(*arguments: object, keys: tuple[tuple[str, str], ...] = ()) -> list[str]:
    code, output = on_terminal(arguments, keys=keys)
    assert code == 0, output
    lines = plain(output).splitlines()
    assert max(map(len, lines)) <= 80, max(lines, key=len)
    return lines


def check_words(lines: list[str]) -> None:
    """No word of the question or the SQL is broken."""
    words = {word for line in lines for word in line.replace(",", " ").replace("'", " ").split()}
    for wanted in (*WORDS.split(), *(f"column_number_{i}" for i in range(20))):
        assert wanted in words


def test_methods_fit(run: Path) -> None:
    lines = lines_of("methods")
    assert [line.split()[0] for line in lines if line and line[0] != " "] == [*METHODS, *RELATED]


def test_an_episode_fits_and_what_goes_on_is_indented(run: Path) -> None:
    lines = lines_of("show", run, 1)
    check_words(lines)
    start = next(i for i, line in enumerate(lines) if "SELECT column_number_0" in line)
    end = next(i for i, line in enumerate(lines) if "EXECUTION_ERROR" in line)
    assert all(line.startswith("  ") for line in lines[start:end])
    changed = next(i for i, line in enumerate(lines) if line.startswith("  + FROM b_table"))
    assert lines[changed - 1].startswith("  - FROM a_table")
    assert lines[changed + 1].startswith(("    ", "  "))


def test_results_and_faults_are_broken_between_words(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = lines_of("report", "run", "--out", "a_folder_for_this_report")
    assert "a_folder_for_this_report/report.html" in " ".join(lines).split()  # a place to go to stays whole
    (tmp_path / "a_long_name").mkdir()
    run.rename(tmp_path / "a_long_name" / "of_this_run")
    code, output = on_terminal(["show", "a_long_name", "17"])
    said = plain(output).splitlines()
    assert (code, max(map(len, said)) <= 80) == (1, True)
    assert said[0].startswith("merit: a_long_name: holds 1 run and is none itself; name one")
    assert "`merit show a_long_name/of_this_run 17`" in said[1]  # so does a command to copy


def test_an_entry_fits(run: Path, tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", WordEncoder()) as memory:
        entry = memory.commit(make_entry(question=f"Which {WORDS}?", after=SQL.replace("\n", " "), run="a" * 16))
    lines = lines_of("memory", "show", tmp_path / "memory", entry.id)
    check_words(lines)
    assert all(line.startswith("            ") for line in lines[1:] if line[2:3] == " ")
    code, output = on_terminal(["memory", "list", tmp_path / "memory", "--db", "nowhere"])
    assert (code, "no entry matches" in output) == (0, True)


def test_the_questions_of_a_run_are_listed_and_capped(run: Path) -> None:
    lines = lines_of("show", run)
    assert sum("tried" in line for line in lines) == 40
    assert "60 questions are finished (20 more:" in " ".join(lines[40:])
    assert all(line.split()[1] in ("right", "wrong") and "2 tried  shop: Which" in line for line in lines[:40])


def test_more_tries_than_the_budget_are_explained(run: Path, tmp_path: Path) -> None:
    drawn = make_bench(tmp_path / "bench").run(tmp_path / "drawn", "resample")
    assert max(len(turn.episode.attempts) for turn in drawn.turns) > 8
    said = " ".join(" ".join(lines_of("show", drawn.path)).split())
    assert "More than 1 + 7 tried: a draw that repeats an earlier candidate is set aside, and the budget" in said
    assert "set aside" not in " ".join(lines_of("show", run))


def test_labelling_breaks_no_word(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = lines_of("label", run, "--out", "labels.csv", "--n", 3, keys=(("quit", "1"), ("quit", "q")))
    check_words(lines)
    assert any("1 Result mismatch" in line for line in lines)
    assert all(any(name in line for line in lines) for name in FAILURES.values())
    assert "1 of 3 failures are labelled" in lines[-1]


def test_ctrl_d_ends_labelling_as_q_does(run: Path, tmp_path: Path) -> None:
    keys = (("quit", "1"), ("quit", "\x04"))
    code, output = on_terminal(["label", run, "--out", tmp_path / "l.csv", "--n", 3], keys=keys, columns=200)
    assert code == 0, output
    assert "1 of 3 failures are labelled" in output


def test_ctrl_c_while_labelling_says_what_is_kept(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "l.csv"
    keys = (("quit", "1"), ("quit", "\x03"))
    code, output = on_terminal(["label", run, "--out", out, "--n", 3], keys=keys, columns=300)
    assert code == 130, output
    assert f"merit: stopped; 1 of 3 failures are labelled in {out}; the same command goes on\n" in plain(output)


@pytest.mark.parametrize("name", ["merit, seed 0", "precedent:temperature=0.5,precedents=2, seed 0"])
def test_bar_count_and_time_left_are_kept_at_80_columns(name: str) -> None:
    bar = door.progress_bar()
    said = "63.1% right, 45.2% at first, 1,234 repaired, 1,234 remembered, 12,345k tokens"
    bar.add_task(name, total=1034, completed=517, detail=said)
    shown = _rendered(bar)
    assert max(map(len, shown.splitlines())) <= 80
    assert len(shown.splitlines()) == 1
    assert " 517/1034 " in shown
    assert "-:--:--" in shown
    assert "━━━━" in shown
    assert shown.startswith(name[:20])
    assert "63.1%" in shown


def _rendered(bar: Progress) -> str:
    console = Console(width=80, force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(bar.get_renderable(), end="", soft_wrap=False)
    return captured.get().rstrip("\n")


@pytest.mark.timed
def test_a_progress_bar_is_seen_on_a_terminal(root: Path) -> None:
    arguments = ["score", "spider", "--data", root, "--pred", root / "predictions.jsonl", "--timeout", "0.5"]
    code, output = on_terminal(arguments)
    assert code == 0, output
    assert "10/10" in output
    assert "4 right" in output
    code, output = on_terminal([*arguments, "--json"])
    assert '"correct": 4' in output
    assert json.loads(output[output.index("{\n") :])["correct"] == 4
