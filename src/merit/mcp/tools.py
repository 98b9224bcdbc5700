"""The tools: ask, repair, recall, describe and feedback. Each checks the caller's rights first."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Literal

from mcp.server.mcpserver import AcceptedElicitation, Elicit, ElicitationResult, MCPServer, Resolve
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from merit.errors import InputError
from merit.live import LiveAgent, Withdrawn
from merit.live.asking.recalling import recall as recall_entries
from merit.live.describing import describe as describe_schema
from merit.live.judging.suggesting import suggest
from merit.mcp.callers import Caller, FindCaller, ToolContext
from merit.mcp.consent import (
    CannotElicit,
    Consent,
    ProposedFeedback,
    Verdict,
    can_ask,
    question_to_person,
    recorded,
)
from merit.mcp.results import (
    MOST_ROWS,
    AnswerResult,
    DescribeResult,
    FeedbackResult,
    RecallResult,
    answer_result,
    describe_result,
    recall_result,
)
from merit.prompts.fence import escaped
from merit.web.access_tokens import Right

_AT_A_TIME = 16  # questions; others wait, and their time has not begun
_EACH = 8  # of them, of one person
_LONGEST_PROGRESS = 200  # characters
_DRAIN_S = 1.0  # for progress that was not sent yet when the answer is there

_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
# An answer is written to the history and a model is asked; nothing is overwritten.
_ASKS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True)
# Rejecting and withdrawing take entries out of the memory.
_JUDGES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)

_RECORDED: dict[Verdict, Literal["confirmed", "rejected", "corrected", "withdrawn"]] = {
    "confirm": "confirmed",
    "reject": "rejected",
    "correct": "corrected",
    "withdraw": "withdrawn",
}
RowLimit = Annotated[int, Field(ge=0, le=MOST_ROWS)]


class _Progress:
    """Tells the caller how far a question is; it may be told so from another thread."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._said: asyncio.Queue[str | None] = asyncio.Queue()

    def __call__(self, event: object) -> None:
        sentence = escaped(" ".join(str(event).split()), _LONGEST_PROGRESS)  # it may quote the database or the model
        self._loop.call_soon_threadsafe(self._said.put_nowait, sentence)

    @asynccontextmanager
    async def sending(self) -> AsyncIterator["_Progress"]:
        """Send while a question is asked; a caller that does not read does not hold it up."""
        sender = asyncio.create_task(self._send())
        try:
            yield self
            self._said.put_nowait(None)
            await asyncio.wait({sender}, timeout=_DRAIN_S)
        finally:
            sender.cancel()

    async def _send(self) -> None:
        number = 0
        while (sentence := await self._said.get()) is not None:
            number += 1
            await self._context.report_progress(number, message=sentence)


def add_asking(server: MCPServer, agent: LiveAgent, caller_of: FindCaller) -> None:
    """Add `ask` and `repair`."""
    places = asyncio.Semaphore(_AT_A_TIME)
    own_places = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(_EACH))  # by the person's name

    async def answered(context: ToolContext, question: str, sql: str | None, rows: int) -> CallToolResult:
        caller = caller_of(context)
        caller.need(Right.ASK)
        async with own_places[caller.author], places, _Progress(context).sending() as progress:
            answer = await agent.ask_async(question, progress=progress, author=caller.author, sql=sql)
        result = answer_result(answer, rows, show_rows=agent.parts.values is not None)
        return structured(result, result.text())

    async def ask(question: str, ctx: ToolContext, rows: RowLimit = 20) -> Annotated[CallToolResult, AnswerResult]:
        return await answered(ctx, question, None, rows)

    async def repair(
        question: str, sql: str, ctx: ToolContext, rows: RowLimit = 20
    ) -> Annotated[CallToolResult, AnswerResult]:
        return await answered(ctx, question, sql, rows)

    server.add_tool(
        ask,
        description="Answer a question from the database, read-only: candidates vote, and confirmed answers are "
        "recalled. Rely on status 'answered' only.",
        annotations=_ASKS,
    )
    server.add_tool(
        repair,
        description="Check your own SQL for a question: it is executed read-only, repaired with the database's error "
        "and the memory, and voted on. Returns the SQL that stands.",
        annotations=_ASKS,
    )


def add_looking(server: MCPServer, agent: LiveAgent, caller_of: FindCaller) -> None:
    """Add `recall` and `describe`, which change nothing: every token allows them."""

    async def recall(question: str, ctx: ToolContext) -> Annotated[CallToolResult, RecallResult]:
        author = caller_of(ctx).author
        result = recall_result(await asyncio.to_thread(recall_entries, agent, question, author=author))
        return structured(result, result.text())

    async def describe(
        ctx: ToolContext, question: str = "", table: str = ""
    ) -> Annotated[CallToolResult, DescribeResult]:
        author = caller_of(ctx).author
        found = await asyncio.to_thread(describe_schema, agent.parts, question, table, author=author)
        result = describe_result(found, agent.parts.engine.dialect)
        return structured(result, result.shown())

    server.add_tool(
        recall,
        description="Show what the memory holds for a question: confirmed answers, and SQL that people rejected.",
        annotations=_READS,
    )
    server.add_tool(
        describe,
        description="CREATE TABLE text of one table, or of what a question needs; without both, of everything if it "
        "is small, else the tables' names.",
        annotations=_READS,
    )


def add_feedback(server: MCPServer, agent: LiveAgent, caller_of: FindCaller, *, suggestions: bool) -> None:
    """Add `feedback`; with `suggestions`, a program's word is kept for review where no person can be asked."""

    async def person(
        ctx: ToolContext, answer: str, verdict: Verdict, sql: str, reason: str
    ) -> Elicit[Consent] | CannotElicit:
        caller = caller_of(ctx)
        caller.need(Right.CONFIRM)
        question = await asyncio.to_thread(
            question_to_person, agent, ProposedFeedback(answer, verdict, sql, reason), caller
        )
        return question if can_ask(ctx) else CannotElicit()

    async def feedback(
        answer: Annotated[str, Field(description="its id")],
        verdict: Verdict,
        consent: Annotated[ElicitationResult[Consent], Resolve(person)],
        ctx: ToolContext,
        sql: Annotated[str, Field(description="for 'correct'")] = "",
        reason: str = "",
    ) -> Annotated[CallToolResult, FeedbackResult]:
        caller, proposed = caller_of(ctx), ProposedFeedback(answer, verdict, sql, reason)
        given: object = consent.data if isinstance(consent, AcceptedElicitation) else None
        if isinstance(given, CannotElicit):
            result = await asyncio.to_thread(_without_person, agent, proposed, caller, suggestions=suggestions)
        elif isinstance(given, Consent) and given.agree:
            result = await asyncio.to_thread(_by_person, agent, proposed, caller)
        else:
            result = _nothing(proposed, "the person did not agree, so nothing was recorded")
        return structured(result, result.text())

    server.add_tool(
        feedback,
        description="Record a person's word about an answer: the person is asked first, and only their yes counts. "
        "Never confirm by yourself.",
        annotations=_JUDGES,
    )


def _by_person(agent: LiveAgent, proposed: ProposedFeedback, caller: Caller) -> FeedbackResult:
    feedback = recorded(agent, proposed, caller)
    entries = [] if isinstance(feedback, Withdrawn) else list(feedback.entries)
    found = agent.contradictions(entries, author=caller.author)
    against = {entry.id for contradiction in found for entry in contradiction.entries} - {*entries}
    notes = [f"contradicts {', '.join(sorted(against))}; see `merit memory conflicts`"] if against else []
    return FeedbackResult(
        answer=feedback.answer,
        recorded=_RECORDED[proposed.verdict],
        by="person",
        author=caller.author,
        entries=entries,
        notes=notes,
    )


def _without_person(
    agent: LiveAgent, proposed: ProposedFeedback, caller: Caller, *, suggestions: bool
) -> FeedbackResult:
    """A program's own word: never a confirmation."""
    if not suggestions or proposed.verdict in ("reject", "withdraw"):
        raise InputError(
            f"this client cannot ask a person, so nothing was recorded; the person can type `merit {proposed.verdict} "
            f"{proposed.answer}`"
        )
    sql = proposed.sql if proposed.verdict == "correct" else ""
    kept = suggest(agent, proposed.answer, sql, program=caller.program, author=caller.author)
    entries = [entry.id for entry in kept.entries]
    note = "it is kept as merely executed, and waits for a person: `merit memory review` lists it"
    notes = [note] if entries else [skipped.reason for skipped in kept.skipped] or ["it is known already"]
    return FeedbackResult(
        answer=proposed.answer,
        recorded="suggested" if entries else "nothing",
        by="program",
        author=caller.program,
        entries=entries,
        notes=notes,
    )


def _nothing(proposed: ProposedFeedback, note: str) -> FeedbackResult:
    return FeedbackResult(answer=proposed.answer, recorded="nothing", by="nobody", author="", entries=[], notes=[note])


def structured(result: BaseModel, text: str) -> CallToolResult:
    """A typed result with its text."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=result.model_dump(mode="json")
    )
