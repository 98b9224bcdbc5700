"""Running the server: one process, one event loop."""

import socket
from collections.abc import Callable

import uvicorn

from merit.errors import InputError
from merit.web.app import make_app
from merit.web.site import Site


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound already, so that a port that is taken is told before anything is opened."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"{host}, port {port}: cannot be served on ({why}); choose another --port or --host") from None


def serve(site: Site, listening: socket.socket, ready: Callable[[], object]) -> None:
    """Serve until a signal ends it; `ready` is called once requests are answered."""
    config = uvicorn.Config(
        make_app(site), http="h11", ws="none", access_log=False, log_config=None, server_header=False
    )
    server = _Server(config, ready)
    server.run(sockets=[listening])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()
