"""Running the server: one process, one event loop; told to stop, it finishes or drops what is under way."""

import asyncio
import ctypes
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import uvicorn
from anyio.to_thread import current_default_thread_limiter

from merit.errors import InputError
from merit.web.app import make_app
from merit.web.logs import log, quiet_server
from merit.web.protocol import TimedProtocol
from merit.web.site import Site

_HEAD_BYTES = 32 * 1024  # of a request line and its headers
_THREADS = 64  # statements and files that are waited for at a time
_LAST_S = 5.0  # for responses to end once their questions were dropped
_KEEP_ALIVE_S = 15  # a connection without a request
_ARENAS = -8  # the number of glibc's mallopt for the most heaps


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound already, so that a port that is taken is told before anything is opened."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"{host}, port {port}: cannot be served on ({why}); choose another --port or --host") from None
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else a response waits 40 ms for its second part
    return listening


def share_one_heap() -> None:
    """Have all threads of this process share one heap; called before they start.

    glibc gives threads heaps of their own, and each keeps what its thread freed: a server with 64 threads grew by 0.3
    MB for each 1,000 questions without keeping anything of them. Other systems have nothing to tell.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_ARENAS, 1)


def serve(site: Site, listening: socket.socket, ready: Callable[[], object], *, trusted_proxy: str = "") -> None:
    """Serve until a signal ends it; `ready` is called once requests are answered.

    `trusted_proxy` is the address of a proxy whose word is taken for where a request comes from.
    """
    server = make_server(site, ready, trusted_proxy=trusted_proxy)
    server.run(sockets=[listening])


def make_server(site: Site, ready: Callable[[], object], *, trusted_proxy: str = "") -> uvicorn.Server:
    """The server, to be run."""
    quiet_server()
    config = uvicorn.Config(
        make_app(site),
        http=TimedProtocol,
        h11_max_incomplete_event_size=_HEAD_BYTES,
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=bool(trusted_proxy),
        forwarded_allow_ips=trusted_proxy or None,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=int(site.settings.stop_seconds + _LAST_S),
    )
    return _Server(config, site, ready)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, site: Site, ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._site = site
        self._ready_told = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, "merit"))
        current_default_thread_limiter().total_tokens = _THREADS  # of routes
        await super().startup(sockets)
        log("started", address=self._site.names.address)
        self._ready_told()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let questions under way be answered for some seconds, then drop them; each client is told which."""
        log("stopping", asks=len(self._site.asks))
        draining = asyncio.create_task(self._site.asks.drain(self._site.settings.stop_seconds))
        await super().shutdown(sockets)
        await draining
        log("stopped")
