"""What people say about answers."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from merit.live import LiveAgent
from merit.live.record.events import Feedback, Withdrawn, kind_of
from merit.live.record.uses import uses_of
from merit.memory.contents import promoted
from merit.types import Rows
from merit.web.authentication import Judging, Person, Served
from merit.web.records import judged_record, rows_record
from merit.web.replies import JsonRouter, linked
from merit.web.routes.answers import AnswerId
from merit.web.server_sent_events import FIRST_ROWS
from merit.web.site import Site, agent_of
from merit.web.visibility import answer_for, uses_for

router = JsonRouter(prefix="/api", tags=["feedback"])


class Reason(BaseModel):
    """Why something is said; it may be left out."""

    model_config = ConfigDict(extra="forbid", strict=True)

    reason: str = Field(default="", max_length=2000)


class Statement(BaseModel):
    """A statement that is to be run."""

    model_config = ConfigDict(extra="forbid", strict=True)

    sql: str = Field(min_length=1, max_length=100_000)


_LINKED = ("show", "retract", "restore", "confirm_entry", "promote", "edit")


@router.post("/answers/{answer}/confirm", responses=linked("entries/0", "entry", _LINKED))
def confirm(answer: AnswerId, site: Served, who: Judging) -> dict[str, Any]:
    """Say that an answer is right: later questions are shown it."""
    agent = _agent(site, answer, who)
    return _judged(site, agent, who, agent.confirm(answer, author=who.author))


@router.post("/answers/{answer}/reject")
def reject(answer: AnswerId, site: Served, who: Judging, given: Reason | None = None) -> dict[str, Any]:
    """Say that an answer is wrong."""
    agent = _agent(site, answer, who)
    return _judged(site, agent, who, agent.reject(answer, reason=given.reason if given else "", author=who.author))


@router.post("/answers/{answer}/correct")
def correct(answer: AnswerId, given: Statement, site: Served, who: Judging) -> dict[str, Any]:
    """Say how an answer should have been; what does not run is refused."""
    agent = _agent(site, answer, who)
    return _judged(site, agent, who, agent.correct(answer, given.sql, author=who.author))


@router.post("/answers/{answer}/check-sql")
def check_sql(answer: AnswerId, given: Statement, site: Served, who: Judging) -> dict[str, Any]:
    """Run a correction without keeping it: its first rows, or what the database says."""
    agent = agent_of(site)
    answer_for(site, who, answer)
    result = agent.parts.engine.execute(given.sql, agent.limits)
    return rows_record(result, FIRST_ROWS) if isinstance(result, Rows) else {"error": result.message}


@router.post("/answers/{answer}/withdraw")
def withdraw(answer: AnswerId, site: Served, who: Judging, given: Reason | None = None) -> dict[str, Any]:
    """Take back what was said about an answer; `uses` are the later answers that rest on it."""
    agent = _agent(site, answer, who)
    return _judged(site, agent, who, agent.withdraw(answer, reason=given.reason if given else "", author=who.author))


def _agent(site: Site, answer: str, who: Person) -> LiveAgent:
    """The agent, where a person may see the answer."""
    agent = agent_of(site)
    answer_for(site, who, answer)
    return agent


def _judged(site: Site, agent: LiveAgent, who: Person, feedback: Feedback | Withdrawn) -> dict[str, Any]:
    site.metrics.count("merit_feedback_total", kind=kind_of(feedback))
    if isinstance(feedback, Withdrawn):
        family = promoted(feedback.entries, agent.parts.memory.listed())
        uses = uses_of(family, agent.parts.history.events())
        return judged_record(feedback, [], uses_for(site, who, uses))
    return judged_record(
        feedback, agent.contradictions(feedback.entries, author=feedback.author) if feedback.entries else [], []
    )
