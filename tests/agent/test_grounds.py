"""Grounding in an episode: what the database refuses and its mended form are one candidate."""

import asyncio
from dataclasses import replace
from pathlib import Path

from making.memories import WordEncoder
from making.one_episode import CONFIRMED, TASK, Counting
from merit.agent import METHODS, Agent, Episode, FirstAnswer, Method, Task, finalise, repair
from merit.memory import Memory, Repair
from merit.prompts import SPIDER
from merit.types import Cause, Column, Question, Schema, Status, Table, Verdict

SHOP = Schema("shop", (Table("item", (Column("name", "text"), Column("price", "number"))),))
GROUNDED = METHODS["grounded"]
REFUSED = "SELECT names FROM item"
MENDED = "SELECT name FROM item"


class Strict:
    """Refuses whatever names a column that is not there; what is right is told."""

    def __init__(self, right: str) -> None:
        self.right = right
        self.judged: list[str] = []

    async def judge(self, _question: Question, sql: str) -> Verdict:
        self.judged.append(sql)
        if "names" in sql:
            return Verdict(Status.EXECUTION_ERROR, "no such column: names", Cause.DBMS)
        return Verdict(Status.CORRECT if sql == self.right else Status.DENOTATION_MISMATCH)


def episode(
    folder: Path, method: Method, oracle: Strict, replies: tuple[str, ...] = (), tables: Schema | None = SHOP
) -> Episode:
    task: Task = replace(TASK, first_answer=FirstAnswer(REFUSED, REFUSED), tables=tables)
    with Memory(folder / "memory", WordEncoder()) as memory:
        agent = Agent(method, 2, SPIDER, Counting(replies), oracle, memory)
        return asyncio.run(repair(agent, task))


def test_what_the_database_refuses_is_mended_without_a_model(tmp_path: Path) -> None:
    oracle = Strict(MENDED)
    done = episode(tmp_path, GROUNDED, oracle)
    assert len(done.attempts) == 1
    assert done.final.sql == MENDED
    assert done.final.verdict.correct
    assert oracle.judged == [REFUSED, MENDED]


def test_the_first_answer_stays_what_the_model_wrote(tmp_path: Path) -> None:
    done = episode(tmp_path, GROUNDED, Strict(MENDED))
    assert done.first.sql == REFUSED
    assert done.first.verdict.status is Status.EXECUTION_ERROR
    assert done.attempts[0].written is not None
    assert [change.why for change in done.attempts[0].written.changes] == [
        "names: there is no such column; item has name"
    ]


def test_other_methods_leave_it_alone(tmp_path: Path) -> None:
    done = episode(tmp_path, METHODS["zero_shot"], Strict(MENDED))
    assert (done.final.sql, done.final.written) == (REFUSED, None)


def test_without_a_schema_nothing_is_grounded(tmp_path: Path) -> None:
    assert episode(tmp_path, GROUNDED, Strict(MENDED), tables=None).final.sql == REFUSED


def test_a_draw_that_is_grounded_to_an_earlier_candidate_is_set_aside(tmp_path: Path) -> None:
    oracle = Strict("SELECT price FROM item")
    again = ("SELECT NAMES FROM item", MENDED, "SELECT item.names FROM item", "SELECT price FROM item")
    done = episode(tmp_path, METHODS["precedent_grounded"], oracle, tuple(f"<answer>{sql}</answer>" for sql in again))
    assert [attempt.repeat for attempt in done.attempts] == [False, True, True, False, False]
    assert done.attempts[1].sql == MENDED, "what stands must be a text that runs"
    assert done.final.verdict.correct


def test_what_grounding_repaired_is_a_change_like_any_other(tmp_path: Path) -> None:
    method = replace(METHODS["merit"], grounds=True)
    entry = finalise(episode(tmp_path, method, Strict(MENDED)), method, "run", CONFIRMED)
    assert isinstance(entry, Repair)
    assert (entry.before, entry.after, entry.db_error) == (REFUSED, MENDED, "no such column: names")
