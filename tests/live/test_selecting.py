"""A schema that does not fit: prompts show the part that a question needs, and learn from what was confirmed."""

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from merit.live import open_live
from merit.live.asking.selecting import LearnedAnswers
from merit.memory import FileStore, Grade, Precedent, Provenance, VolatileStore, with_id
from merit.settings import BudgetSettings, DatabaseSettings, MemorySettings, Settings
from merit.types import EVERYONE, Completion, Deletion, ModelIdentity, Restoration, Sampling, Staleness, Status

ANSWER = "SELECT count(*) FROM zz_visits WHERE place_code = 'X'"


class Model:
    """Gives answers in turn, the last one again and again; keeps what it was asked."""

    concurrency = 1
    recorded = False
    identity = ModelIdentity("told")

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers or (ANSWER,))
        self.prompts: list[str] = []

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:  # noqa: ARG002 - the same at any temperature
        self.prompts.append(prompt)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return Completion(f"<answer>{answer}</answer>", 1, 1)

    async def close(self) -> None:
        pass


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("MERIT_CACHE", str(tmp_path / "cache"))
    database = tmp_path / "large.sqlite"
    with closing(sqlite3.connect(database)) as db:
        for number in range(60):
            columns = ", ".join(f"field_{number}_{column} TEXT" for column in range(8))
            db.execute(f"CREATE TABLE archive_{number} (id INTEGER PRIMARY KEY, {columns})")
        db.execute("CREATE TABLE invoices (id INTEGER PRIMARY KEY, customer TEXT, total REAL)")
        db.execute("CREATE TABLE zz_visits (id INTEGER PRIMARY KEY, place_code TEXT)")
        db.commit()
    return Settings(
        tmp_path / "merit.toml",
        DatabaseSettings("large", f"sqlite:///{database}"),
        budget=BudgetSettings(schema_tokens=400),
    )


def test_only_what_a_question_needs_is_shown(settings: Settings, tmp_path: Path) -> None:
    model = Model()
    with open_live(settings, tmp_path / "own", model) as agent:
        agent.ask("What is the total of all invoices of a customer?")
    assert "CREATE TABLE invoices" in model.prompts[0]
    assert model.prompts[0].count("CREATE TABLE archive_") < 30
    assert re.search(r"-- Not shown: \d+ columns of these tables and \d+ other tables\.", model.prompts[0])
    assert "-- '" not in model.prompts[0]  # no example values, which the budget does not count


def test_a_confirmed_question_tells_which_table_a_similar_one_needs(settings: Settings, tmp_path: Path) -> None:
    question = "How many people came by at the northern gate?"
    model = Model()
    with open_live(settings, tmp_path / "own", model) as agent:
        first = agent.ask(question)
        assert "CREATE TABLE zz_visits" not in model.prompts[0]
        agent.confirm(first.id)
        model.prompts.clear()
        agent.ask("How many people came by at the southern gate?")
        assert "CREATE TABLE zz_visits" in model.prompts[0]
    model.prompts.clear()
    with open_live(settings, tmp_path / "own", model) as agent:  # and so it is when it is opened again
        agent.ask("How many people came by at the eastern gate?")
        assert "CREATE TABLE zz_visits" in model.prompts[0]


def test_a_question_that_a_person_keeps_tells_only_them_which_table_is_needed(
    settings: Settings, tmp_path: Path
) -> None:
    model = Model()
    later = "How many came by at a gate?"
    personal = replace(settings, memory=MemorySettings(scope="personal"))
    with open_live(personal, tmp_path / "own", model) as agent:
        agent.confirm(agent.ask("How many people came by at the northern gate?", author="ada").id, author="ada")
        for author, shown in [("bob", False), ("ada", True), ("", False), ("ada", True), ("bob", False)]:
            assert ("zz_visits" in agent.select(later, author=author).text) is shown
        model.prompts.clear()
        agent.ask(later, author="bob")
        assert "zz_visits" not in model.prompts[0]
        entry = agent.history()[0]
        agent.withdraw(entry.id, author="ada")
        assert "zz_visits" not in agent.select(later, author="ada").text


@pytest.mark.parametrize("lacking", ["SELECT count(*) FROM zz_visit_log", "SELECT place_codes FROM invoices"])
def test_a_name_that_is_missing_has_more_shown_and_is_counted(settings: Settings, tmp_path: Path, lacking: str) -> None:
    model = Model(lacking, ANSWER)
    with open_live(settings, tmp_path / "own", model) as agent:
        answer = agent.ask("How many people came by at the northern gate?")
        assert "CREATE TABLE zz_visits" not in model.prompts[0]
        assert all("CREATE TABLE zz_visits" in prompt for prompt in model.prompts[1:])
        assert answer.widened == agent.history()[0].widened == 1
    assert answer.sql == ANSWER


def test_another_failure_has_nothing_more_shown(settings: Settings, tmp_path: Path) -> None:
    model = Model("SELECT lower(", ANSWER)
    with open_live(settings, tmp_path / "own", model) as agent:
        assert agent.ask("How many people came by at the northern gate?").widened == 0
    assert not any("CREATE TABLE zz_visits" in prompt for prompt in model.prompts)


def test_only_what_was_learned_here_and_may_be_recalled_tells_anything() -> None:
    def entry(name: str, database: str = "shop") -> Precedent:
        source = Provenance("live", name, database, 1, 0, f"live:{name}")
        return Precedent(name, name, "", "SELECT 1", Status.CORRECT, Status.CORRECT, Grade.CONFIRMED, source)

    store = VolatileStore()
    store.append([entry("a"), entry("b"), entry("c"), entry("d"), entry("e", "elsewhere")])
    store.append([Deletion("a", "wrong"), Staleness("b", True, "gone"), Staleness("c", True, "gone")])
    last = store.append([Staleness("c", False, "it is back")])
    learned = LearnedAnswers(store, lambda: last, "shop")
    learned.follow()
    assert list(learned.answers(EVERYONE)) == ["c", "d"]
    store.append([Deletion("d", "withdrawn"), Restoration("a", "confirmed")])
    learned.follow()
    assert list(learned.answers(EVERYONE)) == ["a", "c"]


def test_what_another_process_purges_tells_nothing_any_more(tmp_path: Path) -> None:
    with closing(FileStore(tmp_path)) as store, closing(FileStore(tmp_path)) as other:
        source = Provenance("live", "q", "shop", 1, 0, "live:q")
        about = ("", "SELECT 1", Status.CORRECT, Status.CORRECT, Grade.CONFIRMED, source)
        kept, gone = (with_id(Precedent("", question, *about)) for question in ("kept?", "gone?"))
        last = store.append([kept, gone])
        learned = LearnedAnswers(store, lambda: last, "shop")
        learned.follow()
        other.erase([gone.id])
        learned.follow()
        assert list(learned.answers(EVERYONE)) == [kept.id]


def test_a_schema_that_fits_is_shown_whole(settings: Settings, tmp_path: Path) -> None:
    model = Model()
    with open_live(replace(settings, budget=BudgetSettings()), tmp_path / "own", model) as agent:
        agent.ask("What is the total of all invoices?")
    assert model.prompts[0].count("CREATE TABLE ") == 62


def test_calls_are_all_calls_of_a_question(settings: Settings, tmp_path: Path) -> None:
    model = Model()
    with open_live(replace(settings, budget=BudgetSettings(calls=1)), tmp_path / "own", model) as agent:
        agent.ask("How many?")
    assert len(model.prompts) == 1
