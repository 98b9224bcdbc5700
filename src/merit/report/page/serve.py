"""The live page's server: this machine's browser only, unless another address is asked for."""

import ipaddress
import socket
import sys
import threading
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from merit.errors import InputError
from merit.report.page.live import LiveRuns
from merit.report.page.shell import policy, shell

CONNECTIONS = 64  # at a time; a browser uses about six
REQUEST_S = 10.0  # for a request to arrive
SILENCE_S = 30.0  # for a piece of an answer to be taken
_PIECE = 1 << 16  # bytes


class PageServer(ThreadingHTTPServer):
    """Serves the page and its data."""

    daemon_threads = True

    def __init__(self, live: LiveRuns, host: str, port: int) -> None:
        self.live = live
        self.host = host
        self._free_connections = threading.Semaphore(CONNECTIONS)
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

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own, as long as there are not too many."""
        if self._free_connections.acquire(blocking=False):
            return super().process_request(request, client_address)
        request.settimeout(1.0)
        with suppress(OSError):
            request.sendall(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        return self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and free the connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free_connections.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an error, except when the browser closed its connection."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def welcome(self, host: str | None) -> bool:
        """Whether a request names this server; other names are refused, which prevents DNS rebinding."""
        try:
            name = urlsplit(f"//{host or ''}").hostname or ""
            if name in ("localhost", self.host):
                return True
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "merit", ""
    timeout = SILENCE_S
    server: PageServer

    def handle_one_request(self) -> None:
        """Read a request within its time, however slowly it comes, and answer it."""
        deadline = threading.Timer(REQUEST_S, self._stop_reading)
        deadline.daemon = True
        deadline.start()
        try:
            super().handle_one_request()
        finally:
            deadline.cancel()

    def _stop_reading(self) -> None:
        with suppress(OSError):  # it is over already
            self.connection.shutdown(socket.SHUT_RD)

    def do_GET(self) -> None:
        lengths = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers or any(length.strip() != "0" for length in lengths):
            return self.send_error(400, "a GET has no body")
        try:
            url = urlsplit(self.path)
        except ValueError:
            return self.send_error(400, "not an address")
        hosts = [*self.headers.get_all("Host", []), *([url.netloc] if url.netloc else [])]
        if not hosts or not all(map(self.server.welcome, hosts)):
            return self.send_error(421, "this server does not answer to that name")
        if url.path == "/":
            return self._send(200, "text/html", "".join(shell(f"merit · {self.server.live.folder.name}", live=True)))
        start = parse_qs(url.query).get("from", ["0"])[0]
        if not (start.isascii() and start.isdigit() and len(start) < 10):
            return self.send_error(400, "'from' is a whole number")
        name = unquote(url.path).removeprefix("/data/")
        content = self.server.live.answer(name, int(start)) if url.path.startswith("/data/") else None
        if content is None:
            return self.send_error(404, "there is nothing here")
        return self._send(200, "application/json", content)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Refuse a request and close its connection."""
        self.close_connection = True
        self.request_version = self.protocol_version  # a request that cannot be read gets a status line too
        self._send(code, "text/plain", f"{message or HTTPStatus(code).phrase}\n")
        with suppress(OSError):  # unread input would make the system discard the answer
            self.connection.shutdown(socket.SHUT_WR)
            while self.connection.recv(_PIECE):  # REQUEST_S ends it
                pass

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
            **({"Connection": "close"} if self.close_connection else {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        for start in range(0, len(body), _PIECE):  # each has its own SILENCE_S
            self.wfile.write(body[start : start + _PIECE])

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing: the terminal shows only what the command says."""
