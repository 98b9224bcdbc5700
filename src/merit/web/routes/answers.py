"""Asking, and looking at what was answered."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import Header, Path, Query
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from merit.live.progress import ProgressEvent
from merit.live.record.browsing import HistorySearch, search_history
from merit.web.authentication import Asking, Reader, Served
from merit.web.records import first_rows, short_record
from merit.web.replies import JsonReply, JsonRouter, linked, refusal
from merit.web.running_asks import RunningAsk
from merit.web.server_sent_events import ServerSentEvent, short_answer
from merit.web.site import agent_of
from merit.web.visibility import answer_for, looking_as, sight_of

router = JsonRouter(prefix="/api", tags=["answers"])
_STREAM = "text/event-stream"
AnswerId = Annotated[str, Path(pattern="^[0-9a-f]{12,32}$")]
Words = Annotated[str, Query(max_length=200)]
Name = Annotated[str, Query(max_length=64)]
Limit = Annotated[int, Query(ge=1, le=500)]
Day = Annotated[str, Query(pattern=r"^(\d{4}-\d{2}-\d{2}(T[\d:.+Z-]{0,30})?)?$", description="ISO 8601, in UTC.")]
Status = Literal["", "answered", "unsure", "unanswerable", "failed", "not_executed"]
Judged = Literal["", "confirmed", "rejected", "corrected", "none"]


class Question(BaseModel):
    """A question to the database."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(min_length=1, max_length=10_000)
    earlier: list[Annotated[str, Field(max_length=64)]] = Field(
        default=[], max_length=20, description="Answers of the same conversation, oldest first."
    )
    memory: bool = True
    execute: bool = True


_JUDGED = ("confirm", "reject", "correct", "withdraw", "check_sql", "without_memory")
_LINKED = ("why", "rows", "rows_csv", "rows_parquet", *_JUDGED)


@router.post("/answers", response_model=None, responses=linked("id", "answer", _LINKED))
async def ask(asked: Question, site: Served, who: Asking, accept: Annotated[str, Header()] = "") -> Response:
    """Ask a question: events as they happen with `Accept: text/event-stream`, else the answer once it is there."""
    agent = agent_of(site)

    async def work(tell: Callable[[ProgressEvent], object]) -> ServerSentEvent:
        answer = await agent.ask_async(
            asked.question,
            execute=asked.execute,
            memory=asked.memory,
            progress=tell,
            earlier=asked.earlier,
            author=who.author,
        )
        if answer.rows is not None and asked.memory:
            site.rows.keep(answer.id, answer.rows)
        site.metrics.count("merit_asks_total", status=answer.status.value)
        site.metrics.observe("merit_ask_seconds", answer.seconds)
        site.metrics.count("merit_model_calls_total", answer.calls)
        site.metrics.count("merit_model_tokens_total", answer.prompt_tokens, direction="prompt")
        site.metrics.count("merit_model_tokens_total", answer.output_tokens, direction="output")
        return ServerSentEvent("answer", short_answer(answer))

    return await answered(site.asks.start(who.author, work), accept)


async def answered(ask: RunningAsk, accept: str) -> Response:
    """The events of a question under way, or its last one."""
    if _STREAM in accept:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(ask.stream(), media_type=_STREAM, headers=headers)
    async for _ in ask.stream():
        pass
    last = ask.result or ServerSentEvent("failed", {"error": "the server failed; its log says more"})
    if last.name == "cancelled":
        return refusal(409, "the question was cancelled")
    return refusal(ask.status, last.data["error"]) if last.name == "failed" else JsonReply(last.data)


@router.delete("/answers/running/{ticket}")
async def cancel(ticket: Annotated[str, Path(pattern="^[0-9a-f]{16}$")], site: Served, who: Asking) -> dict[str, Any]:
    """Stop a question under way; the ticket comes with its first event."""
    site.asks.cancel(ticket, who.author)
    return {"cancelled": ticket}


@router.get("/answers")
def history(
    site: Served,
    who: Reader,
    words: Words = "",
    status: Status = "",
    feedback: Judged = "",
    author: Name = "",
    since: Day = "",
    until: Day = "",
    limit: Limit = 50,
    before: Annotated[str, Query(pattern="^[0-9a-f]{0,32}$", description="`next` of the page before.")] = "",
) -> dict[str, Any]:
    """What was asked, newest first."""
    parts = agent_of(site).parts
    search = HistorySearch(tuple(words.split()), status, feedback, author, since, until)
    page = search_history(parts.history, search, limit, before, sight_of(site, who))
    return {"answers": [short_record(*item) for item in page.items], "next": page.after}


@router.get("/answers/{answer}")
def why(answer: AnswerId, site: Served, who: Reader) -> dict[str, Any]:
    """An answer in full: what entered its prompts, what decided, what was said about it, and what stands against it."""
    agent = agent_of(site)
    found = agent.why(answer, author=looking_as(site, who, answer))
    entries = [*found.asked.kept, *(found.feedback.entries if found.feedback is not None else ())]
    against = agent.contradictions(entries, author=who.author) if entries else []
    return {**found.record(), "contradictions": [contradiction.record() for contradiction in against]}


@router.post("/answers/{answer}/without-memory", response_model=None)
async def without_memory(
    answer: AnswerId, site: Served, who: Asking, accept: Annotated[str, Header()] = ""
) -> Response:
    """Ask the question of an answer again without anything that was learned; the last event is `comparison`."""
    agent = agent_of(site)
    answer_for(site, who, answer)

    async def work(tell: Callable[[ProgressEvent], object]) -> ServerSentEvent:
        found = await agent.without_memory_async(answer, progress=tell, author=looking_as(site, who, answer))
        record = found.record()
        record["with_memory"]["result"] = first_rows(found.rows)
        record["without_memory"]["result"] = first_rows(found.without.rows)
        return ServerSentEvent("comparison", record)

    return await answered(site.asks.start(who.author, work), accept)
