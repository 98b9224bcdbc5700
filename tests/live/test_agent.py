"""Ask, and learn from what a person says: on a real database, with a model that does as it is told."""

import asyncio
import json
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from making.endpoint import ChatServer, as_json, completion
from merit.errors import InputError, MeritError
from merit.live import AnswerStatus, LiveAgent, connect
from merit.memory import Grade, entries_in
from merit.types import Completion, ModelIdentity, Polarity, Sampling

COUNT = "SELECT count(*) FROM orders"
PAID = "SELECT count(*) FROM orders WHERE state = 'paid'"


class Model:
    """Answers by what a prompt holds; keeps what it was asked."""

    concurrency = 1
    recorded = False

    def __init__(self, answer: Callable[[str, Sampling], str]) -> None:
        self.identity = ModelIdentity("told")
        self.prompts: list[str] = []
        self._answer = answer

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        self.prompts.append(prompt)
        return Completion(f"<answer>{self._answer(prompt, sampling)}</answer>", 10, 5)

    async def close(self) -> None:
        pass


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT, total REAL);"
            "INSERT INTO orders VALUES (1, 'paid', 5), (2, 'open', 7), (3, 'paid', 9);"
        )
    return path


Opener = Callable[[Model], LiveAgent]


@pytest.fixture
def opened(database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opener]:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    agents: list[LiveAgent] = []

    def make(model: Model) -> LiveAgent:
        agents.append(connect(f"sqlite:///{database}", model=model, folder=tmp_path / "own", encoder="wordllama"))
        return agents[-1]

    yield make
    for agent in agents:
        agent.close()


def test_an_answer_has_sql_rows_and_how_far_candidates_agree(opened: Opener) -> None:
    answer = opened(Model(lambda *_: COUNT)).ask("How many orders are there?")
    assert (answer.sql, answer.status, answer.agreement) == (COUNT, AnswerStatus.ANSWERED, 1.0)
    assert answer.rows is not None
    assert answer.rows.rows == [(3,)]


def test_too_little_agreement_is_said(opened: Opener) -> None:
    model = Model(lambda _, sampling: f"SELECT {sampling.seed or 0}")
    answer = opened(model).ask("What?")
    assert answer.status is AnswerStatus.UNSURE
    assert answer.agreement < 0.5


def test_what_the_database_refuses_is_grounded(opened: Opener) -> None:
    answer = opened(Model(lambda *_: "SELECT count(*) FROM order_s WHERE orders.state = 'paid'")).ask("How many?")
    assert answer.rows is not None
    assert answer.rows.rows == [(2,)]
    assert answer.attempts[0].written is not None


def test_nothing_that_ran_is_a_failure_in_words(opened: Opener) -> None:
    answer = opened(Model(lambda *_: "SELECT nothing_like_it FROM nowhere_at_all")).ask("What?")
    assert (answer.status, answer.rows) == (AnswerStatus.FAILED, None)
    assert answer.error == "no such table: nowhere_at_all"


def test_a_write_is_refused_by_the_database(opened: Opener, database: Path) -> None:
    answer = opened(Model(lambda *_: "DELETE FROM orders")).ask("Remove all")
    assert answer.status is AnswerStatus.FAILED
    with closing(sqlite3.connect(database)) as db:
        assert db.execute(COUNT).fetchone() == (3,)


def test_a_confirmed_answer_is_shown_to_the_next_question_and_only_then(opened: Opener) -> None:
    model = Model(lambda *_: PAID)
    agent = opened(model)
    first = agent.ask("How many paid orders are there?")
    assert not any("ANSWERS TO EARLIER QUESTIONS" in prompt for prompt in model.prompts)
    agent.ask("How many paid orders were there?")
    assert not any("ANSWERS TO EARLIER QUESTIONS" in prompt for prompt in model.prompts), "not confirmed yet"
    kept = agent.confirm(first.id, author="ada")
    answer = agent.ask("How many orders are paid?")
    assert answer.recalled == kept.entries
    assert "Confirmed answer 1]\nQuestion: How many paid orders are there?" in model.prompts[-1]


def test_a_correction_is_a_confirmed_change_and_a_confirmed_answer(opened: Opener, tmp_path: Path) -> None:
    agent = opened(Model(lambda *_: COUNT))
    answer = agent.ask("How many paid orders are there?")
    agent.correct(answer.id, PAID, author="ada")
    entries = [listed.entry for listed in entries_in(tmp_path / "own" / "memory")]
    assert {entry.polarity for entry in entries} == {Polarity.PRECEDENT, Polarity.POSITIVE}
    assert {entry.grade for entry in entries} == {Grade.CONFIRMED}
    assert {entry.provenance.author for entry in entries} == {"ada"}
    assert f"{COUNT} => {PAID}" in [entry.delta for entry in entries]


def test_a_correction_that_does_not_run_is_refused_and_nothing_is_kept(opened: Opener, tmp_path: Path) -> None:
    agent = opened(Model(lambda *_: COUNT))
    answer = agent.ask("How many?")
    with pytest.raises(InputError, match=r"the correction does not run \(no such column: status\); nothing was kept"):
        agent.correct(answer.id, "SELECT status FROM orders")
    assert entries_in(tmp_path / "own" / "memory") == []
    agent.confirm(answer.id)


def test_a_rejection_keeps_the_direction_that_failed(opened: Opener, tmp_path: Path) -> None:
    def answer(_prompt: str, sampling: Sampling) -> str:
        return COUNT if sampling.seed else "SELECT sum(totals_of_all) FROM orders"

    agent = opened(Model(answer))
    given = agent.ask("What is the total?")
    assert given.sql == COUNT
    agent.reject(given.id, reason="it counts", author="ada")
    (entry,) = [listed.entry for listed in entries_in(tmp_path / "own" / "memory")]
    assert entry.polarity is Polarity.NEGATIVE
    assert entry.delta == f"SELECT sum(totals_of_all) FROM orders => {COUNT}"


def test_a_rejection_of_the_only_candidate_teaches_nothing(opened: Opener, tmp_path: Path) -> None:
    agent = opened(Model(lambda *_: COUNT))
    rejected = agent.reject(agent.ask("What?").id, reason="no")
    assert rejected.entries == ()
    assert entries_in(tmp_path / "own" / "memory") == []


def test_an_answer_is_judged_once(opened: Opener) -> None:
    agent = opened(Model(lambda *_: COUNT))
    answer = agent.ask("How many?")
    agent.confirm(answer.id, author="ada")
    with pytest.raises(InputError, match=rf"{answer.id}: was confirmed already, on .* by ada"):
        agent.reject(answer.id)


def test_an_answer_is_found_by_the_beginning_of_its_id(opened: Opener) -> None:
    agent = opened(Model(lambda *_: COUNT))
    answer = agent.ask("How many?")
    assert agent.confirm(answer.id[:6]).answer == answer.id
    with pytest.raises(InputError, match=r"there is no answer 'zzz'; `merit history` lists them"):
        agent.confirm("zzz")


def test_history_has_no_rows(opened: Opener, tmp_path: Path) -> None:
    agent = opened(Model(lambda *_: "SELECT state FROM orders"))
    agent.ask("Which states are there?")
    (line,) = (tmp_path / "own" / "history.jsonl").read_text().splitlines()
    assert "paid" not in line
    assert json.loads(line)["question"] == "Which states are there?"
    assert [asked.question for asked in agent.history()] == ["Which states are there?"]


def test_without_rows_no_value_reaches_a_prompt(database: Path, tmp_path: Path) -> None:
    model = Model(lambda *_: COUNT)
    with connect(str(database), model=model, folder=tmp_path / "own", rows=False) as agent:
        agent.ask("How many paid orders?")
    assert "'open'" not in "".join(model.prompts)
    assert "VALUES IN THE DATABASE" not in "".join(model.prompts)


def test_it_can_be_asked_from_an_event_loop(opened: Opener) -> None:
    agent = opened(Model(lambda *_: COUNT))

    async def both() -> str:
        with pytest.raises(InputError, match="an event loop runs here already"):
            agent.ask("How many?")
        return (await agent.ask_async("How many?")).sql

    assert asyncio.run(both()) == COUNT


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:///nowhere.sqlite", "nowhere.sqlite"),
        ("oracle://host/db", "merit does not know oracle: databases; use sqlite:///file"),
    ],
)
def test_a_database_that_cannot_be_opened_is_told(url: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(MeritError, match=said):
        connect(url, model=Model(lambda *_: COUNT), folder=tmp_path)


def test_a_method_of_related_work_is_for_benchmarks_alone(database: Path, tmp_path: Path) -> None:
    model = Model(lambda *_: COUNT)
    with pytest.raises(InputError, match="the method 'critic' is for runs over a benchmark: .* choose 'precedent_gr"):
        connect(f"sqlite:///{database}", model=model, folder=tmp_path / "agent", method="critic")


def test_an_empty_question_is_refused(opened: Opener) -> None:
    with pytest.raises(InputError, match="the question is empty"):
        opened(Model(lambda *_: COUNT)).ask("  ")


class Table:
    """Stands in for a package that is not among the tests' own."""

    def __init__(self, rows: object, columns: object) -> None:
        self.rows = rows
        self.columns = columns


def test_rows_come_as_a_frame_where_there_is_one(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = opened(Model(lambda *_: "SELECT state, total FROM orders WHERE id = 1")).ask("Which?")
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=Table))
    frame = answer.to_pandas()
    assert (frame.columns, frame.rows) == (["state", "total"], [("paid", 5.0)])
    monkeypatch.setitem(sys.modules, "pyarrow", SimpleNamespace(table=lambda columns, names: Table(columns, names)))
    assert answer.to_arrow().rows == [["paid"], [5.0]]


def test_a_package_that_is_missing_is_named(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = opened(Model(lambda *_: COUNT)).ask("How many?")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="the package pandas is not installed; install it first"):
        answer.to_pandas()


def test_a_model_behind_an_endpoint_is_asked_again_and_again(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    with ChatServer(lambda _: as_json(completion(COUNT, 10, 5))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        with connect(f"sqlite:///{database}", model="openai:m", folder=tmp_path / "own") as agent:
            assert [agent.ask(f"How many orders, {n}?").sql for n in range(2)] == [COUNT, COUNT]

        async def asked() -> str:
            async with connect(f"sqlite:///{database}", model="openai:m", folder=tmp_path / "own") as agent:
                return (await agent.ask_async("How many orders in a loop?")).sql

        assert asyncio.run(asked()) == COUNT


def test_text_that_is_not_utf8_is_refused(opened: Opener) -> None:
    agent = opened(Model(lambda *_: COUNT))
    with pytest.raises(InputError, match="the question is not valid text"):
        agent.ask("How many \udcff?")
    answer = agent.ask("How many?").id
    with pytest.raises(InputError, match="the reason or the author is not valid text"):
        agent.reject(answer, reason="\udcff")
    with pytest.raises(InputError, match="the author is not valid text"):
        agent.confirm(answer, author="\udcff")
    agent.confirm(answer)


def test_a_history_keeps_the_beginning_of_endless_statements(opened: Opener) -> None:
    agent = opened(Model(lambda _, sampling: f"SELECT {sampling.seed} '" + "\x01" * 900_000 + "'"))
    assert agent.ask("What?").status is AnswerStatus.FAILED
    (asked,) = agent.history()
    assert max(len(tried.sql) for tried in asked.tried) < 110_000


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"url": None}, "url: expected the URL of a database"),
        ({"model": print}, "model: expected a name such as 'openai:NAME'"),
        ({"rows": "never"}, "rows: expected True, or False for no value in any prompt, not 'never'"),
        ({"asking": {"candidates": 3}}, "asking: expected a merit.settings.AskingSettings"),
        ({"budget": 5}, "budget: expected a merit.settings.BudgetSettings"),
    ],
)
def test_an_argument_of_another_type_is_refused(
    database: Path, tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    """Above all "never" for rows, as merit.toml writes it: as a value it would be true, and show them."""
    with pytest.raises(InputError, match=said):
        connect(**{"url": f"sqlite:///{database}", "model": None, "folder": tmp_path / "own", **given})


def test_what_is_no_question_answer_or_statement_is_refused(opened: Opener) -> None:
    agent: Any = opened(Model(lambda _prompt, _sampling: COUNT))
    with pytest.raises(InputError, match="question: expected a question as a text, not 5"):
        agent.ask(5)
    answer = agent.ask("How many orders?")
    with pytest.raises(InputError, match="answer: expected the id of an answer, such as answer.id"):
        agent.confirm(answer)
    with pytest.raises(InputError, match="sql: expected SQL as a text, not None"):
        agent.correct(answer.id, None)
    agent.close()
    with pytest.raises(InputError, match="this agent is closed; connect again"):
        agent.ask("How many orders?")


def test_a_path_is_the_place_of_a_sqlite_file(database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    with connect(database, model=None, folder=tmp_path / "own") as agent:
        assert [table.name for table in agent.schema.tables] == ["orders"]
