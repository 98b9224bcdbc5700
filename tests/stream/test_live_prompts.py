"""The prompt family for live use: tables with example values, and the values that a question mentions."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from making.benchmark import FickleModel
from making.memories import WordEncoder
from making.runs import Bench, make_bench
from making.tampering import reidentify, restream
from merit.audit import audit_run
from merit.errors import AuditFailed, InputError
from merit.prompts import SPIDER, VERSIONS, LiveContext, initial, templates_hash
from merit.runs import RunView, read_run
from merit.stream import RunSpec


class Live(Bench):
    """The small benchmark, asked with the prompts for live use."""

    def spec(self, method: str = "merit", **options: object) -> RunSpec:
        spec = super().spec(method, **options)
        return replace(spec, data=replace(spec.data, prompts="live"))


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> tuple[Live, RunView, list[str]]:
    made = make_bench(tmp_path_factory.mktemp("bench"))
    bench, model = Live(made.root, made.initial, made.layout), FickleModel()
    view = bench.run(tmp_path_factory.mktemp("runs") / "run", "precedent_grounded", model=model)
    return bench, view, model.prompts


MENTIONED = "VALUES IN THE DATABASE THAT THE QUESTION MENTIONS:\nclass.title = 'red'\n"


def test_a_first_prompt_shows_tables_and_the_values_that_the_question_mentions(
    live: tuple[Live, RunView, list[str]],
) -> None:
    task = next(turn.episode.task for turn in live[1].turns if "red class" in turn.episode.task.question.text)
    asked = initial(replace(SPIDER, live=True), task.question, task.schema, live=task.live)
    assert asked.version == "spider-live-initial-v1"
    assert "CREATE TABLE class (\n  class_id number" in asked.text
    assert MENTIONED in asked.text
    assert "'Ada'" not in asked.text


def test_two_wordings_with_example_values_take_turns(live: tuple[Live, RunView, list[str]]) -> None:
    task = next(turn.episode.task for turn in live[1].turns if "red class" in turn.episode.task.question.text)
    first, second, third = (
        initial(replace(SPIDER, live=True), task.question, task.schema, (), task.live, draw).text for draw in (1, 2, 3)
    )
    assert first == third
    assert "  teacher text -- 'Ada', 'Bea'" in first
    assert "  teacher text -- 'Ada', 'Bea'" in second
    assert MENTIONED not in first
    assert MENTIONED in second
    assert any("Given this SQLite database" in prompt for prompt in live[2])


def test_the_run_names_its_prompts_and_holds(live: tuple[Live, RunView, list[str]]) -> None:
    bench, view, _ = live
    assert view.identity.prompts.family == "merit-live-v1"
    with bench.data() as data:
        assert audit_run(view, encoder=WordEncoder(), data=data).judged


def test_entries_keep_the_schema_of_the_paper(live: tuple[Live, RunView, list[str]]) -> None:
    lines = (live[1].path / "memory" / "memory.jsonl").read_text().splitlines()
    assert any("Database: shop" in line for line in lines)
    assert not any("CREATE TABLE" in line for line in lines)


def test_forged_values_are_noticed(live: tuple[Live, RunView, list[str]], tmp_path: Path) -> None:
    bench, view, _ = live
    run = Path(shutil.copytree(view.path, tmp_path / "run"))
    restream(run, lambda stream: stream["questions"][4].update(mentions=["item.name = 'the answer'"]))
    with bench.data() as data, pytest.raises(AuditFailed, match="what was shown of 'shop' is not what it holds"):
        audit_run(read_run(run), encoder=WordEncoder(), data=data)


@pytest.mark.parametrize(("made", "claimed"), [("paper", "live"), ("live", "paper")])
def test_a_run_of_one_family_cannot_be_said_to_be_of_the_other(
    live: tuple[Live, RunView, list[str]], tmp_path: Path, made: str, claimed: str
) -> None:
    bench = live[0] if made == "live" else Bench(live[0].root, live[0].initial, live[0].layout)
    run = bench.run(tmp_path / "run", "zero_shot").path
    family = VERSIONS[claimed]
    reidentify(run, lambda identity: identity["prompts"].update(family=family, sha256=templates_hash(family)))
    with pytest.raises(AuditFailed, match=f"does not have what prompts of the family {family} show"):
        audit_run(read_run(run))


def test_values_without_tables_are_refused(live: tuple[Live, RunView, list[str]], tmp_path: Path) -> None:
    run = Path(shutil.copytree(live[1].path, tmp_path / "run"))
    restream(run, lambda stream: stream.pop("live"))
    with pytest.raises(InputError, match="what was shown of its database is not there"):
        read_run(run)


def test_a_stream_says_each_database_once(live: tuple[Live, RunView, list[str]]) -> None:
    stream = json.loads((live[1].path / "stream.json").read_text())
    assert set(stream["live"]) == {"shop", "school"}


def test_without_mentions_nothing_follows_the_tables() -> None:
    assert LiveContext("CREATE TABLE t ();", "").text() == "CREATE TABLE t ();"
