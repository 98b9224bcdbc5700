"""A memory follows its database on a file and on servers: what a change concerns goes stale, and comes back when it is undone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from making.databases import SERVERS, Place, empty
from making.live import AnsweringModel, encoder_opened_once
from merit.cli.main import cli
from merit.errors import DatabaseUnusable
from merit.live import LiveAgent, connect
from merit.memory import entries_in
from merit.types import Schema

TABLES = [
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(20), city VARCHAR(20))",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, total INTEGER)",
    "INSERT INTO customer VALUES (1, 'Ada', 'Bonn')",
    "INSERT INTO orders VALUES (1, 1, 7)",
]
STATEMENTS = {
    "names": "SELECT name FROM customer",
    "orders": "SELECT count(*) FROM orders",
    "spent": "SELECT c.name, sum(o.total) FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.name",
}
RENAME = "ALTER TABLE customer RENAME COLUMN {} TO {}"
RETYPE = {
    "postgresql": "ALTER TABLE orders ALTER COLUMN total TYPE {}",
    "mariadb": "ALTER TABLE orders MODIFY total {}",
}
ON_ONE = pytest.mark.parametrize("place", ["sqlite"], indirect=True)


@pytest.fixture(params=["sqlite", *SERVERS])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("merit.live.opening.open_encoder", encoder_opened_once)
    with empty(request.param, tmp_path) as place:
        for statement in TABLES:
            place.run(statement)
        with opened(place, tmp_path) as agent:
            for name in STATEMENTS:
                agent.confirm(agent.ask(f"About {name}?").id, author="ada")
        yield place


def opened(place: Place, folder: Path) -> LiveAgent:
    def answer(prompt: str) -> str:
        return STATEMENTS[max(STATEMENTS, key=lambda name: prompt.rfind(f"About {name}?"))]  # the question comes last

    return connect(place.url, model=AnsweringModel(answer), name="shop", folder=folder / "own")


def states(place: Place, folder: Path) -> dict[str, str | None]:
    """Why each entry is stale, after the agent was opened once more."""
    opened(place, folder).close()
    found = {item.entry.question: item.stale for item in entries_in(folder / "own" / "memory")}
    return {name: found[f"About {name}?"] for name in STATEMENTS}


@ON_ONE
def test_the_notice_names_a_command_that_can_be_pasted(
    place: Place, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place.run(RENAME.format("name", "full_name"))
    opened(place, tmp_path).close()
    assert f"`merit memory list {tmp_path}/own/memory --stale` lists what is stale" in caplog.text


def test_exactly_the_affected_entries_go_stale_and_come_back(place: Place, tmp_path: Path) -> None:
    fresh = dict.fromkeys(STATEMENTS)
    assert states(place, tmp_path) == fresh
    place.run("ALTER TABLE customer ADD COLUMN born INTEGER")
    assert states(place, tmp_path) == fresh
    place.run(RENAME.format("name", "full_name"))
    gone = "customer.name is gone"
    assert states(place, tmp_path) == {"names": gone, "orders": None, "spent": gone}
    place.run(RENAME.format("full_name", "name"))
    assert states(place, tmp_path) == fresh
    if change := RETYPE.get(place.dialect):
        place.run(change.format("VARCHAR(20)"))
        why = states(place, tmp_path)
        assert (why["names"], why["orders"]) == (None, None)
        assert str(why["spent"]).startswith("orders.total was int")
        place.run(change.format("INTEGER") + (" USING total::integer" if place.dialect == "postgresql" else ""))
        assert states(place, tmp_path) == fresh
    place.run("DROP TABLE orders")
    lost = "the table orders is gone"
    assert states(place, tmp_path) == {"names": None, "orders": lost, "spent": lost}


def test_an_agent_that_stays_open_notices_a_change(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("merit.live.following.LOOK_S", 0.0)
    with opened(place, tmp_path) as agent:
        entry = entry_of(tmp_path, "names")
        assert entry in agent.ask("Which names? About names?").recalled
        place.run(RENAME.format("name", "full_name"))
        assert entry not in agent.ask("Which names? About names?").recalled
        assert stale_of(tmp_path, entry) == "customer.name is gone"
        assert "full_name" in agent.schema.text()
        waiting = agent.ask("About orders?").id
        place.run(RENAME.format("full_name", "name"))
        agent.confirm(waiting)  # a look, too
        assert stale_of(tmp_path, entry) is None
        assert entry in agent.ask("Which names? About names?").recalled


@ON_ONE
def test_a_schema_is_not_looked_at_all_the_time(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(place, tmp_path) as agent:
        monkeypatch.setattr(agent._parts.engine, "schema", lambda: pytest.fail("it was looked at moments ago"))
        agent.ask("About names?")


@ON_ONE
def test_a_database_that_is_away_at_a_look_stops_no_feedback(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> Schema:
        raise DatabaseUnusable("it is away")

    monkeypatch.setattr("merit.live.following.LOOK_S", 0.0)
    with opened(place, tmp_path) as agent:
        answer = agent.ask("About orders?").id
        monkeypatch.setattr(agent._parts.engine, "schema", away)
        agent.reject(answer)


@ON_ONE
def test_what_is_stale_is_not_recalled(place: Place, tmp_path: Path) -> None:
    with opened(place, tmp_path) as agent:
        assert agent.ask("About names, once more? About names?").recalled
    place.run("DROP TABLE orders")
    place.run(RENAME.format("name", "full_name"))
    with opened(place, tmp_path) as agent:
        assert agent.ask("About names?").recalled == ()


@ON_ONE
def test_a_checkup_runs_everything_again(place: Place, tmp_path: Path) -> None:
    def check(code: int) -> str:
        words = ["memory", "check", "--database", place.url, "--folder", str(tmp_path / "own"), "--name", "shop"]
        result = CliRunner().invoke(cli, words)
        assert result.exit_code == code, result.output
        return result.output

    assert "3 confirmed statements run: 0 went stale, 0 came back, 0 changed columns" in check(0)
    (tmp_path / "own" / "shapes.json").write_text(
        (tmp_path / "own" / "shapes.json").read_text().replace('["name"]', '["name", "age"]')
    )
    said = check(0)
    assert "other columns: name, age before, name now" in said
    assert "0 went stale, 0 came back, 1 changed columns" in said
    (tmp_path / "own" / "shapes.json").write_text("[")  # damaged: as at the first check
    assert "0 changed columns" in check(0)


@ON_ONE
def test_an_answer_from_before_a_change_is_stale_when_it_is_confirmed(place: Place, tmp_path: Path) -> None:
    with opened(place, tmp_path) as agent:
        agent.ask("Which names? About names?")
        waiting = agent.history()[-1].id
    place.run(RENAME.format("name", "full_name"))
    assert states(place, tmp_path)["names"] == "customer.name is gone"
    with opened(place, tmp_path) as agent:
        entry = agent.confirm(waiting).entries[0]
        assert entry not in agent.ask("Which names? About names?").recalled
    assert stale_of(tmp_path, entry) == "customer.name is gone"
    place.run(RENAME.format("full_name", "name"))
    opened(place, tmp_path).close()
    assert stale_of(tmp_path, entry) is None


@ON_ONE
def test_what_a_process_with_an_older_schema_commits_is_noticed(place: Place, tmp_path: Path) -> None:
    with opened(place, tmp_path) as older:
        older.ask("Which names? About names?")
        place.run(RENAME.format("name", "full_name"))
        opened(place, tmp_path).close()  # it looks at everything that is there
        entry = older.confirm(older.history()[-1].id).entries[0]
    assert stale_of(tmp_path, entry) is None  # nothing has looked yet
    with opened(place, tmp_path) as agent:
        assert entry not in agent.ask("Which names? About names?").recalled
    assert stale_of(tmp_path, entry) == "customer.name is gone"


@ON_ONE
def test_what_comes_back_by_a_withdrawal_is_as_stale_as_it_was(place: Place, tmp_path: Path) -> None:
    with opened(place, tmp_path) as agent:
        rejected = agent.ask("About names?")
        entry = next(
            item.entry.id for item in entries_in(tmp_path / "own" / "memory") if item.entry.delta == STATEMENTS["names"]
        )
        agent.reject(rejected.id)
    place.run(RENAME.format("name", "full_name"))
    with opened(place, tmp_path) as agent:
        agent.withdraw(rejected.id)
        assert entry not in agent.ask("About names?").recalled
    assert stale_of(tmp_path, entry) == "customer.name is gone"


@ON_ONE
def test_a_correction_rests_on_the_schema_that_it_ran_on(place: Place, tmp_path: Path) -> None:
    with opened(place, tmp_path) as agent:
        waiting = agent.ask("Which names? About names?").id
    place.run(RENAME.format("name", "full_name"))
    with opened(place, tmp_path) as agent:
        entry = agent.correct(waiting, "SELECT full_name FROM customer").entries[0]
    assert stale_of(tmp_path, entry) is None
    place.run(RENAME.format("full_name", "name"))
    opened(place, tmp_path).close()
    assert stale_of(tmp_path, entry) == "customer.full_name is gone"


def entry_of(folder: Path, name: str) -> str:
    """The entry that a statement became."""
    return next(item.entry.id for item in entries_in(folder / "own" / "memory") if item.entry.delta == STATEMENTS[name])


def stale_of(folder: Path, entry: str) -> str | None:
    """Why an entry is stale."""
    (found,) = [item for item in entries_in(folder / "own" / "memory") if item.entry.id == entry]
    assert found.deleted is None
    return found.stale
