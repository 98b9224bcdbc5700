"""Running the server until its client goes away, or until it is stopped."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stdout

import anyio
import uvicorn
from starlette.types import ASGIApp

from merit.live import LiveAgent
from merit.mcp.server import MeritServer
from merit.web.protocol import TimedProtocol

_THREADS = 32  # statements that go on after their question was cancelled must not hold up others
_GRACE_S = 5  # for requests under way when the server is stopped


@contextmanager
def stdout_kept_clean() -> Iterator[None]:
    """Send what is printed to standard error meanwhile, by libraries and their C code too: the client reads stdout."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def serve_stdio(server: MeritServer, agent: LiveAgent) -> None:
    """Serve the program that started this one, until it closes standard input; then close the agent."""

    async def serve() -> None:
        _more_threads()
        _end_at_signals()
        try:
            await server.run_stdio_async()
        finally:
            with anyio.CancelScope(shield=True):
                await agent.close_async()

    with redirect_stdout(sys.__stdout__):  # the SDK takes over the real one, and leaves standard error in its place
        try:
            anyio.run(serve)
        except* BrokenPipeError:
            pass  # the client went away while something was being sent to it


def serve_http(app: ASGIApp, listening: socket.socket) -> None:
    """Serve until a signal ends it."""
    config = uvicorn.Config(
        app,
        http=TimedProtocol,  # ends connections of clients that are too slow
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_S,
    )

    async def serve() -> None:
        _more_threads()
        await uvicorn.Server(config).serve(sockets=[listening])

    asyncio.run(serve())


def _end_at_signals() -> None:
    """End at once: a thread that waits for standard input cannot be woken, and what was answered is on the disk."""
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, os._exit, 128 + number)


def _more_threads() -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "merit"))
