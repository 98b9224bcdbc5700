"""The live page's server: this machine's browser only, unless another address is asked for."""

import ipaddress
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from merit.errors import InputError
from merit.report.page.live import Live
from merit.report.page.shell import policy, shell


class PageServer(ThreadingHTTPServer):
    """Serves the page and its data."""

    daemon_threads = True

    def __init__(self, live: Live, host: str, port: int) -> None:
        self.live = live
        self.host = host
        try:
            self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
            super().__init__((host, port), _Handler)
        except OSError as error:
            why = error.strerror or str(error)
            raise InputError(
                f"{host}, port {port}: cannot be served on ({why}); choose another --port or --host"
            ) from None

    @property
    def address(self) -> str:
        """Where the page is."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.server_address[1]}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Tell of a fault; a browser that went away while it was answered is none."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def welcome(self, host: str | None) -> bool:
        """Whether a request names us; a name that somebody else's DNS points at this machine does not."""
        name = urlsplit(f"//{host or ''}").hostname or ""
        if name in ("localhost", self.host):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: PageServer

    def do_GET(self) -> None:
        if not self.server.welcome(self.headers.get("Host")):
            return self._send(421, "text/plain", "this server does not answer to that name\n")
        url = urlsplit(self.path)
        if url.path == "/":
            return self._send(200, "text/html", "".join(shell(f"merit · {self.server.live.folder.name}", live=True)))
        name = unquote(url.path).removeprefix("/data/")
        found = self.server.live.answer(name, self._start(url.query)) if url.path.startswith("/data/") else None
        if found is None:
            return self._send(404, "text/plain", "there is nothing here\n")
        return self._send(200, "application/json", found)

    def _start(self, query: str) -> int:
        given = parse_qs(query).get("from", ["0"])[0]
        return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0

    def _send(self, status: int, kind: str, text: str) -> None:
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(body)),
            "Content-Security-Policy": f"{policy(True)}; frame-ancestors 'none'",
            "Cross-Origin-Resource-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: the terminal is for people."""
