"""Asking, and what was answered."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Header
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from merit.live import LiveAgent
from merit.live.progress import ProgressEvent
from merit.web.asks import RunningAsk
from merit.web.events import Sent, short_answer
from merit.web.people import Asking, Served
from merit.web.replies import JsonReply, Refused, refusal
from merit.web.site import Site

router = APIRouter()
_STREAM = "text/event-stream"


class Question(BaseModel):
    """A question to the database."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(min_length=1, max_length=10_000)
    earlier: list[str] = Field(default=[], max_length=20, description="Answers of the same conversation, oldest first.")
    memory: bool = True
    execute: bool = True


def agent_of(site: Site) -> LiveAgent:
    """The agent; refused where only runs are served."""
    if site.agent is None:
        raise Refused(404, "this server shows runs only; start it with a database to ask")
    return site.agent


@router.post("/answers", response_model=None)
async def ask(asked: Question, site: Served, who: Asking, accept: Annotated[str, Header()] = "") -> Response:
    """Ask a question: events as they happen with `Accept: text/event-stream`, else the answer once it is there."""
    agent = agent_of(site)

    async def work(tell: Callable[[ProgressEvent], object]) -> Sent:
        answer = await agent.ask_async(
            asked.question, execute=asked.execute, memory=asked.memory, progress=tell, earlier=asked.earlier
        )
        return Sent("answer", short_answer(answer))

    return await answered(site.asks.start(who.author, work), accept)


async def answered(ask: RunningAsk, accept: str) -> Response:
    """The events of a question under way, or its last one."""
    if _STREAM in accept:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(ask.stream(), media_type=_STREAM, headers=headers)
    async for _ in ask.stream():
        pass
    last = ask.result or Sent("failed", {"error": "the server failed; its log says more"})
    if last.name == "cancelled":
        return refusal(409, "the question was cancelled")
    return refusal(400, last.data["error"]) if last.name == "failed" else JsonReply(last.data)


@router.delete("/answers/running/{ticket}")
async def cancel(ticket: str, site: Served, who: Asking) -> dict[str, Any]:
    """Stop a question under way; the ticket comes with its first event."""
    site.asks.cancel(ticket, who.author)
    return {"cancelled": ticket}
