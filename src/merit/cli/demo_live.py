"""The live part of `merit demo`: one of its databases as if it were a person's own, questions, and a correction.

The answers are recorded in `bundled/live.jsonl`. What the person says is written here and comes from no reference.
"""

import shlex
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merit.bundled import built, live_recording
from merit.cli.options import this_command
from merit.cli.terminal import Console, inline
from merit.errors import NotRecorded
from merit.live import Answer, LiveAgent, MemoryComparison, open_live
from merit.live.auditing.audit import audit_live
from merit.settings import AskingSettings, DatabaseSettings, ModelSettings, Settings
from merit.sql.connect import open_engine
from merit.types import Limits, Rows

DATABASE = "food_coop"
PERSON = "a person"
FIRST = "How many members are paused?"
SECOND = "What was our revenue in 2024?"
RULE = "cancelled orders are no revenue here, which the database does not say"
CORRECTION = (
    "SELECT sum(l.quantity * l.unit_price) FROM orders o JOIN order_lines l ON l.order_id = o.order_id "
    "WHERE o.status <> 'cancelled' AND o.order_date LIKE '2024%'"
)
LATER = "What was our revenue in 2025?"
_ASKING = AskingSettings(candidates=3)
_LABEL = 10  # columns for the names of what is shown


@dataclass(frozen=True, slots=True)
class DemoAnswers:
    """What was answered."""

    first: Answer
    second: Answer
    later: Answer
    without: MemoryComparison  # the later question without what was learned


def play(agent: LiveAgent) -> DemoAnswers:
    """Two questions, a person's word on each, and a later question that what was learned may help."""
    first = agent.ask(FIRST)
    if first.status.ran:
        agent.confirm(first.id, author=PERSON)
    second = agent.ask(SECOND)
    agent.correct(second.id, CORRECTION, author=PERSON)
    later = agent.ask(LATER)
    return DemoAnswers(first, second, later, agent.without_memory(later.id))


@contextmanager
def opened(model: str, encoder: str, folder: Path, cache: Path) -> Iterator[LiveAgent]:
    """An agent for a copy of the database in a new folder, with a memory that is empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    path = folder / f"{DATABASE}.sqlite"
    shutil.copyfile(built(cache) / "database" / DATABASE / path.name, path)
    database = DatabaseSettings(DATABASE, f"sqlite:///{path.absolute()}")
    settings = Settings(folder / "merit.toml", database, ModelSettings(model, encoder), asking=_ASKING)
    with open_live(settings, folder / "own", cache=cache) as agent:
        yield agent


def show_live(console: Console, model: str | None, encoder: str, folder: Path, cache: Path) -> dict[str, Any] | None:
    """Play it with a model, or with the recorded answers; None where these do not cover it."""
    console.print("\n[bold]Live[/]: a database as if it were your own, and a memory that learns from what you say.")
    if model is not None:
        console.block(f"{model} is asked for up to {_ASKING.candidates} candidates a question", 0)
    try:
        with opened(model or f"replay:{live_recording()}", encoder, folder, cache) as agent:
            played = play(agent)
            asked = agent.history()[0]
    except NotRecorded as error:
        console.block(f"the live part: {error}", _LABEL, head="left out")
        return None
    if model is None:
        console.block(f"No model is called: the answers are recorded ones of {asked.model}, run by llama.cpp.", 0)
    with closing(open_engine(f"sqlite:///{folder / DATABASE}.sqlite")) as engine:
        right = engine.execute(CORRECTION, Limits())
    _tell(console, played, right)
    held = audit_live(folder / "own")
    console.block(f"live answers: {'holds' if held.holds else '; '.join(held.contradictions)}", _LABEL, head="audit")
    shown = f"{this_command()} why {played.later.id} --folder {shlex.quote(str(folder / 'own'))}"
    console.print(f"{'next':<{_LABEL}}{inline(shown)}", soft_wrap=True)
    return {
        "model": asked.model,
        "answers": [_record(answer) for answer in (played.first, played.second, played.later)],
        "correction": CORRECTION,
        "without_memory": played.without.record()["without_memory"],
    }


def _tell(console: Console, played: DemoAnswers, right: object) -> None:
    first, second, later = played.first, played.second, played.later
    _show(console, first)
    _note(console, "a person confirms it" if first.status.ran else "nothing to confirm")
    _show(console, second)
    _note(console, f"a person corrects it: {RULE}")
    console.block(CORRECTION, _LABEL, "cyan")
    _note(console, f"gives {_value(right)}; it is run first, and remembered")
    _show(console, later)
    _note(console, f"shown to it: {', '.join(later.recalled) or 'nothing'}, confirmed by a person")
    without = played.without.without
    same = "the same" if played.without.same_rows else _value(without.rows)
    _note(
        console, f"without memory the same model gives {same} ({without.status.value}): {' '.join(without.sql.split())}"
    )


def _show(console: Console, answer: Answer) -> None:
    console.print(f"\n[bold]{inline(answer.question)}[/]")
    console.block(answer.sql or "(no SQL)", _LABEL, "cyan")
    votes = f"{100 * answer.agreement:.0f}% of the votes" if answer.status.ran else answer.error or ""
    _note(console, f"gives {_value(answer.rows)}: {answer.status.value} ({votes})")


def _note(console: Console, text: str) -> None:
    console.block(text, _LABEL)


def _value(rows: object) -> str:
    """The one value of a result, or how many rows it has."""
    if not isinstance(rows, Rows):
        return "nothing"
    if len(rows.rows) == 1 and len(rows.rows[0]) == 1:
        return str(rows.rows[0][0])
    return f"{len(rows.rows)} rows"


def _record(answer: Answer) -> dict[str, Any]:
    rows = answer.rows.rows if answer.rows else []
    return {
        "id": answer.id,
        "question": answer.question,
        "sql": answer.sql,
        "status": answer.status,
        "rows": [list(row) for row in rows],
        "recalled": list(answer.recalled),
    }
