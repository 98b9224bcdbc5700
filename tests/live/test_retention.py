"""Retention: old answers go, and what the memory rests on stays; a process that has both open goes on."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from making.live import COUNT, PAID, ShopOpener, ToldModel
from merit.live import History
from merit.live.record.retention import old_answers, purge_old

LATER = datetime.now(UTC) + timedelta(days=40)


def test_only_answers_that_nothing_rests_on_go(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent = ask_shop(ToldModel(COUNT))
    plain, judged, followed, rejected = (agent.ask(f"How many, {n}?").id for n in range(4))
    agent.confirm(judged)
    agent.reject(rejected)
    follow_up = agent.ask("and now?", earlier=[followed]).id
    agent.confirm(follow_up)
    history = History(tmp_path / "own")
    assert old_answers(history, 30) == ()
    assert old_answers(history, 30, LATER) == (plain,)
    assert old_answers(history, 50, LATER) == ()


def test_an_agent_goes_on_while_old_answers_are_purged(ask_shop: ShopOpener, tmp_path: Path) -> None:
    agent = ask_shop(ToldModel(PAID))
    plain, judged = agent.ask("How many?").id, agent.ask("How many are paid?").id
    agent.confirm(judged)
    age(tmp_path / "own" / "history.jsonl")
    purged = purge_old(tmp_path / "own", 30)
    assert purged.events == 1
    assert [asked.id for asked in agent.history()] == [judged]
    again = agent.ask("How many are paid?")
    assert len(again.recalled) == 1
    assert agent.confirm(again.id).entries
    assert plain not in (tmp_path / "own" / "history.jsonl").read_text()
    assert purge_old(tmp_path / "own", 30).events == 0


def age(path: Path) -> None:
    """Let everything in a history have happened a year ago."""
    this = datetime.now(UTC).year
    path.write_text(path.read_text().replace(f'"time":"{this}-', f'"time":"{this - 1}-'))
