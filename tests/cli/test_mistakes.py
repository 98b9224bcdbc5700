"""Mistakes anywhere: swapped arguments, folders of something else, figures that a narrow terminal would cut."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from making.benchmark import ITEMS, build
from making.commands import good, merit, refused
from making.runs import make_bench
from making.shop import make_shop
from merit.cli import run as running
from merit.cli.options import note_limit
from merit.cli.progress import progress_bar
from merit.cli.tables import show_table
from merit.cli.terminal import Console
from merit.errors import InputError
from merit.models import check_encoder
from merit.models.fetch import fetch_model
from merit.report import Cell, ReportColumn, ReportTable

TOML = '[database]\nname = "shop"\nurl = "sqlite:///shop.sqlite"\n[model]\nuri = "scripted:script.jsonl"\n'


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_bench(tmp_path / "bench").run(tmp_path / "runs" / "merit", limit=3).path


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_shop(tmp_path / "shop.sqlite")
    (tmp_path / "script.jsonl").write_text(json.dumps({"reply": "<answer>SELECT count(*) FROM orders</answer>"}) + "\n")
    (tmp_path / "merit.toml").write_text(TOML)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    for name in ("MERIT_DATABASE", "MERIT_MEMORY", "MERIT_TEAM"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize("width", [40, 60, 66])
def test_a_narrow_terminal_cuts_no_figure(capsys: pytest.CaptureFixture[str], width: int) -> None:
    columns = (
        ReportColumn("method", "Method", numeric=False),
        ReportColumn("accuracy", "Accuracy [95% CI]"),
        ReportColumn("delta", "Δ iterative [95% CI]"),
        ReportColumn("repaired", "Rep."),
        ReportColumn("calls", "Calls"),
    )
    texts = ("Precedent", "60.83 [55.56, 65.83]", "+25.56 [+21.11, +30.28]", "95.0", "1645")
    row = {column.key: Cell(None, text) for column, text in zip(columns, texts, strict=True)}
    console = Console(width=width, force_terminal=True, color_system=None)
    show_table(console, ReportTable("summary", "All methods", "A note.", columns, (row,)))
    shown = capsys.readouterr().out.split()
    assert [word for text in texts for word in text.split() if word not in shown] == []
    assert [word for column in columns[1:] for word in column.label.split() if word not in shown] == []


@pytest.mark.parametrize("command", [("ask", "How many orders?"), ("token", "add", "ann"), ("backup", "all.zip")])
def test_the_folder_of_a_run_is_not_changed(shop: Path, run: Path, command: tuple[str, ...]) -> None:
    before = sorted(run.rglob("*"))
    assert refused(*command, "--folder", run) == (
        f"{run}: is the folder of a run, which is not changed; name another --folder"
    )
    assert sorted(run.rglob("*")) == before
    assert shop


@pytest.mark.parametrize("slip", ["postgres", "m.sqlite"])
def test_a_memory_that_is_no_url_is_not_made(shop: Path, slip: str) -> None:
    assert refused("ask", "How many orders?", "--memory", slip) == (
        f"the memory: '{slip}' should be a URL, postgresql://...; a folder is named with --folder"
    )
    assert not (shop / slip).exists()


def test_a_memory_in_another_database_asks_for_no_driver(shop: Path) -> None:
    said = "the memory: should be a folder, or a PostgreSQL database as in postgresql://ann@host/shop"
    assert refused("ask", "How many orders?", "--memory", "sqlite:///m.sqlite") == said
    assert refused("memory", "list", "mysql://ann:s3cret@host/shop") == said
    assert shop


def test_an_entry_before_its_memory() -> None:
    assert refused("memory", "show", "pre-52", ".merit") == (
        "pre-52: the memory comes first, as in `merit memory show .merit pre-52`"
    )
    assert "the memory comes first, as in `merit memory delete .merit neg-0a`" in refused(
        "memory", "delete", "neg-0a", ".merit", "--reason", "wrong"
    )


@pytest.mark.parametrize("command", ["check", "review", "conflicts"])
def test_a_folder_where_an_option_is_meant(shop: Path, command: str) -> None:
    done = merit("memory", command, str(shop))
    assert done.exit_code == 2
    assert "The folder of memory and history is given with --folder" in done.output


def test_labels_cannot_be_asked_for_without_a_terminal(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_terminal() -> str:
        raise OSError(6, "No such device or address")

    good("label", run, "--out", tmp_path / "labels.csv", "--write-only")
    monkeypatch.setattr("merit.cli.label.click.getchar", no_terminal)
    assert refused("label", run, "--out", tmp_path / "labels.csv", "--fill") == (
        "--fill: there is no terminal to ask in; fill in the column 'human' by hand"
    )


def test_a_file_where_a_folder_is_to_be_made(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    with pytest.raises(InputError, match=r"there: cannot be made \(File exists\); name another folder"):
        fetch_model("qwen2.5-coder-0.5b-instruct", tmp_path / "there")
    assert (tmp_path / "there").read_text() == "mine"


@pytest.mark.parametrize(
    ("uri", "meant"),
    [
        ("wordlama", "wordllama"),
        ("wordllama:big", "wordllama"),
        ("opnai:small", "openai:small"),
        ("sentence-transformer:a/b", "sentence-transformers:a/b"),
    ],
)
def test_a_mistyped_encoder(uri: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"{uri}: unknown encoder; did you mean {meant}\\?"):
        check_encoder(uri)


def test_a_mistyped_question(run: Path) -> None:
    first = good("show", run).output.split()[0]
    assert f"question '{first}x' is not in its stream (did you mean '{first}'?)" in refused("show", run, f"{first}x")


def test_a_team_that_is_not_named_can_be_named_in_three_ways(shop: Path) -> None:
    said = refused("confirm", "a1", "--scope", "team", "--folder", shop)
    assert said.endswith('needs the team\'s name; give --team, set MERIT_TEAM, or write team = "sales"')


def test_a_folder_without_a_history_is_told_from_one_without_the_answer(shop: Path) -> None:
    (shop / "empty").mkdir()
    assert refused("why", "a1", "--folder", shop / "empty") == (
        f"{shop / 'empty'}: there is no history here; ask something first, or name another --folder"
    )


def test_one_question_is_no_plural(capsys: pytest.CaptureFixture[str]) -> None:
    note_limit(5, 1)
    assert capsys.readouterr().err == "merit: --limit 5: there is only 1 question, and it is taken\n"


def test_a_file_where_a_run_is_to_be_kept(tmp_path: Path) -> None:
    data, out = build(tmp_path / "data"), tmp_path / "there"
    (tmp_path / "first.jsonl").write_text("".join(f'{{"id": {i}, "sql": "SELECT 1"}}\n' for i in range(len(ITEMS))))
    out.write_text("mine")
    command = ["run", "spider", "--data", data, "--initial", tmp_path / "first.jsonl", "--method", "iterative"]
    (tmp_path / "script.jsonl").write_text('{"reply": "SELECT 1"}\n')
    said = refused(*command, "--limit", 1, "--model", f"scripted:{tmp_path / 'script.jsonl'}", "--out", out)
    assert said == f"{out}: is a file, and a run is kept in a folder; choose another place"


def test_no_number_of_first_answers_is_shown_before_it_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bar, totals = progress_bar(), []

    async def asked(*_: object) -> None:
        totals.append(bar.tasks[0].total)

    monkeypatch.setattr(running, "predict_for_runs", asked)
    spec: Any = SimpleNamespace(initial=tmp_path / "first.jsonl", data=None)
    shop: Any = SimpleNamespace(model="openai:m", benchmark=lambda _: None)
    asyncio.run(running._answer_first(spec, shop, bar))
    assert totals == [None]


def test_a_demo_of_an_unknown_model_is_refused_before_anything_is_announced(shop: Path) -> None:
    result = merit("demo", "--model", "opnai:x", "--out", shop / "out")
    assert str(result.exception) == "opnai:x: unknown model; did you mean openai:x?"
    assert result.output == ""
    assert not (shop / "out").exists()
