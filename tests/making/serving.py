"""A server in a thread of its own, on a free port, and requests to it."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from making.clock import COMES_S
from merit.live import LiveAgent
from merit.report import build
from merit.report.page import FollowedRuns
from merit.settings import ServeSettings
from merit.web.names import Names
from merit.web.running import listen, make_server
from merit.web.site import Site


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]  # by names in lower case
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[tuple[str, Any]]:
        """Server-sent events, with their data."""
        blocks = [block for block in self.body.decode().split("\n\n") if block and not block.startswith(":")]
        pairs = [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]
        return [(pair["event"], json.loads(pair["data"])) for pair in pairs]


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs."""

    site: Site
    port: int
    stop: Callable[[], None]  # as a signal does

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str = "",
        headers: Mapping[str, str] | None = None,
        timeout: float = COMES_S,
    ) -> Reply:
        """Send a request and wait for all of its response; a body that is not bytes is sent as JSON."""
        sent = dict(headers or {})
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if body is not None and not isinstance(body, bytes):
            sent.setdefault("Content-Type", "application/json")
        if token:
            sent["Authorization"] = f"Bearer {token}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, data, sent)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, found, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **options: Any) -> Reply:
        return self.ask("GET", path, **options)

    def post(self, path: str, body: object = None, **options: Any) -> Reply:
        return self.ask("POST", path, body, **options)


ServeShop = Callable[..., Served]  # of a model and tables of merit.toml


@contextmanager
def served(
    folder: Path,
    agent: LiveAgent | None = None,
    runs: FollowedRuns | None = None,
    *,
    public_url: str = "",
    host: str = "127.0.0.1",
    settings: ServeSettings | None = None,
) -> Iterator[Served]:
    """A server over an agent or runs; `folder` is that of the project."""
    with listen("127.0.0.1", 0) as listening:
        port = int(listening.getsockname()[1])
        site = Site(Names(host, port, public_url), folder, "me", agent, runs, "memory", settings or ServeSettings())
        ready = threading.Event()
        server = make_server(site, ready.set)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            assert ready.wait(COMES_S)
            yield Served(site, port, lambda: setattr(server, "should_exit", True))
        finally:
            server.should_exit = True
            thread.join(COMES_S)
            assert not thread.is_alive()


def runs_in(folder: Path) -> FollowedRuns:
    """The runs of a folder, looked at once."""
    live = FollowedRuns(folder, lambda runs, refused: build(runs, refused=refused))
    live.look()
    return live


def until(seen: Any, seconds: float = COMES_S) -> None:
    """Wait until something is so."""
    over = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < over, "nothing came"
        time.sleep(0.02)
