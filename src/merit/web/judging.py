"""What people say about answers."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from merit.live import LiveAgent
from merit.live.records import Feedback, Withdrawn
from merit.live.uses import uses_of
from merit.web.answers import AnswerId, agent_of
from merit.web.asked import judged_record
from merit.web.people import Judging, Served
from merit.web.replies import JsonRouter
from merit.web.results import Statement
from merit.web.site import Site

router = JsonRouter(prefix="/api", tags=["feedback"])


class Reason(BaseModel):
    """Why something is said; it may be left out."""

    model_config = ConfigDict(extra="forbid", strict=True)

    reason: str = Field(default="", max_length=2000)


@router.post("/answers/{answer}/confirm")
def confirm(answer: AnswerId, site: Served, who: Judging) -> dict[str, Any]:
    """Say that an answer is right: later questions are shown it."""
    agent = agent_of(site)
    return _said(site, agent, agent.confirm(answer, author=who.author))


@router.post("/answers/{answer}/reject")
def reject(answer: AnswerId, site: Served, who: Judging, given: Reason | None = None) -> dict[str, Any]:
    """Say that an answer is wrong."""
    agent = agent_of(site)
    return _said(site, agent, agent.reject(answer, reason=given.reason if given else "", author=who.author))


@router.post("/answers/{answer}/correct")
def correct(answer: AnswerId, given: Statement, site: Served, who: Judging) -> dict[str, Any]:
    """Say how an answer should have been; what does not run is refused."""
    agent = agent_of(site)
    return _said(site, agent, agent.correct(answer, given.sql, author=who.author))


@router.post("/answers/{answer}/withdraw")
def withdraw(answer: AnswerId, site: Served, who: Judging, given: Reason | None = None) -> dict[str, Any]:
    """Take back what was said about an answer; `uses` are the later answers that rest on it."""
    agent = agent_of(site)
    return _said(site, agent, agent.withdraw(answer, reason=given.reason if given else "", author=who.author))


def _said(site: Site, agent: LiveAgent, said: Feedback | Withdrawn) -> dict[str, Any]:
    site.metrics.count("merit_feedback_total", kind=type(said).__name__.lower())
    if isinstance(said, Withdrawn):
        return judged_record(said, [], uses_of(said.entries, agent.parts.history.events()))
    return judged_record(said, agent.contradictions(said.entries) if said.entries else [], [])
