"""Questions under way: each runs as a task of its own, which a lost connection does not end."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from merit.errors import MeritError, counted
from merit.live.progress import ProgressEvent
from merit.web.replies import RefusedRequest, status_of
from merit.web.server_sent_events import KEEP_ALIVE, ServerSentEvent, sent

_KEEP_ALIVE_S = 10.0
_RETRY_S = "2"
Work = Callable[
    [Callable[[ProgressEvent], object]], Awaitable[ServerSentEvent]
]  # is given what to tell, and ends with an event


@dataclass(slots=True)
class RunningAsk:
    """A question under way, and the events that were not sent yet."""

    ticket: str
    author: str
    events: asyncio.Queue[ServerSentEvent | None] = field(default_factory=asyncio.Queue)
    task: asyncio.Task[None] | None = None
    result: ServerSentEvent | None = None  # the last event
    status: int = 500  # of the response where that is `failed`

    async def stream(self) -> AsyncIterator[bytes]:
        """The events as they come, until the last one; a line now and then keeps the connection open."""
        while True:
            try:
                event = await asyncio.wait_for(self.events.get(), _KEEP_ALIVE_S)
            except TimeoutError:
                yield KEEP_ALIVE
                continue
            if event is None:
                return
            yield event.encoded()


class RunningAsks:
    """All questions under way, limited for each person and in all."""

    def __init__(self, most_each: int, most: int, shown: Callable[[str], str] = str) -> None:
        """`shown` is how a sentence of an error is shown to people."""
        self._shown = shown
        self._most_each = most_each
        self._most = most
        self._running: dict[str, RunningAsk] = {}
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether no more questions are taken."""
        return self._closed

    def __len__(self) -> int:
        return len(self._running)

    def start(self, author: str, work: Work) -> RunningAsk:
        """Begin to ask; refused where a person, or all together, ask too much at a time."""
        if self._closed:
            raise RefusedRequest(503, "the server is stopping; ask again in a moment", {"Retry-After": _RETRY_S})
        own = sum(ask.author == author for ask in self._running.values())
        if own >= self._most_each or len(self._running) >= self._most:
            whose, many = (
                ("you ask", own) if own >= self._most_each else ("all people together ask", len(self._running))
            )
            words = f"{whose} {counted(many, 'question')} at the moment; wait until one is answered, and ask again"
            raise RefusedRequest(429, words, {"Retry-After": _RETRY_S})
        ask = RunningAsk(secrets.token_hex(8), author)
        self._running[ask.ticket] = ask
        ask.task = asyncio.create_task(self._run(ask, work))
        return ask

    def cancel(self, ticket: str, author: str) -> None:
        """Stop a question of this person."""
        ask = self._running.get(ticket)
        if ask is None or ask.author != author or ask.task is None:
            raise RefusedRequest(404, "there is no such question under way; it may be answered already")
        ask.task.cancel()

    async def drain(self, seconds: float) -> None:
        """Take no more questions, let those under way finish within a time, and cancel the rest."""
        self._closed = True
        tasks = [ask.task for ask in self._running.values() if ask.task is not None]
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)

    async def _run(self, ask: RunningAsk, work: Work) -> None:
        loop = asyncio.get_running_loop()

        def tell(event: ProgressEvent) -> None:  # perhaps from another thread
            loop.call_soon_threadsafe(ask.events.put_nowait, sent(event, ask.ticket))

        try:
            ask.result = await work(tell)
        except asyncio.CancelledError:
            ask.result = ServerSentEvent("cancelled", {})
        except MeritError as error:
            ask.result, ask.status = ServerSentEvent("failed", {"error": self._shown(str(error))}), status_of(error)
        finally:
            del self._running[ask.ticket]
            last = ask.result or ServerSentEvent("failed", {"error": "the server failed; its log says more"})
            with suppress(RuntimeError):  # the loop is closed
                for event in (last, None):
                    loop.call_soon(ask.events.put_nowait, event)
