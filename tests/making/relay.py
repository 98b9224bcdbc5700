"""A way to a server that falls silent: connections stay, and nothing comes any more."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit, urlunsplit


class Relay:
    """Passes bytes on in both directions until `silent` is set."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = (parts.hostname or "127.0.0.1", parts.port or {"postgresql": 5432}.get(parts.scheme, 3306))
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._sockets = [self._listening]
        self.silent = threading.Event()
        host = f"127.0.0.1:{self._listening.getsockname()[1]}"
        user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
        self.url = urlunsplit(parts._replace(netloc=user + host))
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """End every connection."""
        for each in self._sockets:
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(self._target)
                self._sockets += [client, server]
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65536):
                if self.silent.is_set():
                    return
                other.sendall(data)


@contextmanager
def relay(url: str) -> Iterator[Relay]:
    """A way to the server of a URL."""
    opened = Relay(url)
    try:
        yield opened
    finally:
        opened.close()
