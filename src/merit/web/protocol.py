"""HTTP over one connection, with the times that uvicorn itself does not limit: slow requests and slow readers."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS = 500  # at a time
REQUEST_S = 10.0  # for the head of a request to arrive, however slowly it comes
SILENCE_S = 30.0  # for a client to take something of a response that waits for it
_INVALID = (
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 19\r\n"
    b"connection: close\r\n\r\n"
    b"not a HTTP request\n"
)
_BUSY = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class TimedProtocol(H11Protocol):
    """A connection that ends when its client is too slow."""

    request_s = REQUEST_S
    silence_s = SILENCE_S
    most_connections = CONNECTIONS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._request_timer: asyncio.TimerHandle | None = None
        self._silence_timer: asyncio.TimerHandle | None = None
        self._invalid = False  # what comes is not HTTP

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, unless there are too many connections."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            transport.write(_BUSY)
            transport.close()
        else:
            self._await_request()

    def data_received(self, data: bytes) -> None:
        """Take in what came; a head that is not whole keeps its deadline."""
        if not self._invalid:
            super().data_received(data)
        self._watch()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's words
        """Refuse what is not HTTP; the rest is read for a while, else the system would discard the answer."""
        self._invalid = True
        if self.cycle is not None and not self.cycle.response_complete:  # a body that is none: this is its response
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.write(_INVALID)
        if self.transport.can_write_eof():
            self.transport.write_eof()

    def shutdown(self) -> None:
        """The server stops."""
        if self._invalid:
            self.transport.close()
        else:
            super().shutdown()

    def eof_received(self) -> bool | None:  # type: ignore[override]
        """A client that sends no more may still wait for the response to what it sent."""
        if self.cycle is None or self.cycle.response_complete or self.cycle.more_body:
            return None
        self.cycle.keep_alive = False
        return True

    def on_response_complete(self) -> None:
        """The rest of a body that was refused, or the next request, has its time, too."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """The client takes nothing at the moment."""
        super().pause_writing()
        if self._silence_timer is None:
            self._expect_less(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """The client goes on."""
        super().resume_writing()
        self._silence_timer = _cancel(self._silence_timer)

    def _expect_less(self, waiting: int) -> None:
        """Look again later whether something of what waits was taken."""

        def look() -> None:
            left = self.transport.get_write_buffer_size()
            if left < waiting:
                self._expect_less(left)
            else:
                self.transport.abort()

        self._silence_timer = self.loop.call_later(self.silence_s, look)

    def _watch(self) -> None:
        """Whether something has to come from the client now."""
        if self._invalid or self.cycle is None or self.cycle.response_complete:
            self._await_request()
        else:
            self._request_timer = _cancel(self._request_timer)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._request_timer = _cancel(self._request_timer)
        self._silence_timer = _cancel(self._silence_timer)
        super().connection_lost(exc)

    def _await_request(self) -> None:
        if self._request_timer is None and not self.transport.is_closing():
            self._request_timer = self.loop.call_later(self.request_s, self.transport.abort)


def _cancel(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Stop a timer; there is none afterwards."""
    if timer is not None:
        timer.cancel()
    return None
