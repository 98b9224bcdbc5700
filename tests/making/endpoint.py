"""An endpoint on this machine that answers as OpenAI's does, or goes wrong in whatever way a test asks for.

    with ChatServer(faulty(0.3)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)

A behaviour is asked once per request and says what becomes of it. The usual answer is a function of the request's body
alone, so two servers give the same answers and a run with faults can be compared with one without.
"""

import hashlib
import json
import random
import select
import socket
import ssl
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as the server saw it."""

    body: dict[str, Any]
    authorization: str | None
    attempt: int  # among the requests with this body, from 1
    at: float  # on the monotonic clock
    path: str = "/v1/chat/completions"

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])

    @property
    def texts(self) -> list[str]:
        """What embeddings are wanted of."""
        return list(self.body["input"])


@dataclass(frozen=True, slots=True)
class Reply:
    """A response; with `byte_s` its body drips, with `cut_at` the connection ends after that many bytes of it."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    byte_s: float = 0.0
    cut_at: int | None = None
    reason: str | None = None  # the words beside the status, if not the usual ones


@dataclass(frozen=True, slots=True)
class Silence:
    """No response, until the client goes away."""


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset instead of a response."""


Action = Reply | Silence | Reset
Behaviour = Callable[[Asked], Action]


def as_json(value: object, status: int = 200, **headers: str) -> Reply:
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})


def completion(text: str | None, prompt_tokens: int, output_tokens: int) -> dict[str, Any]:
    """The body of a chat completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": output_tokens,
            "total_tokens": prompt_tokens + output_tokens,
        },
    }


def answer(asked: Asked) -> Reply:
    """What a healthy endpoint answers: a text that depends on everything that was asked, tokens counted as words."""
    if "input" in asked.body:
        return embeddings([[float(len(text)), 1.0, 2.0] for text in asked.texts])
    text = f"SELECT '{hashlib.sha256(json.dumps(asked.body, sort_keys=True).encode()).hexdigest()}'"
    return as_json(completion(text, len(asked.prompt.split()), 2))


def embeddings(vectors: Sequence[object]) -> Reply:
    """Embeddings, in another order than they were asked for."""
    data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    return as_json({"object": "list", "data": data[::-1]})


# Faults that may pass.


def status(code: int, retry_after: str | None = None) -> Behaviour:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return lambda _: Reply(code, b"<html>not now</html>", {"Content-Type": "text/html", **headers})


def silence(_: Asked) -> Silence:
    return Silence()


def reset(_: Asked) -> Reset:
    return Reset()


def truncated_json(asked: Asked) -> Reply:
    """A whole response around half a completion."""
    whole = answer(asked)
    return replace(whole, body=whole.body[: len(whole.body) // 2])


def cut_off(asked: Asked) -> Reply:
    """The connection ends in the middle of the response."""
    return replace(answer(asked), cut_at=10)


def garbled(asked: Asked) -> Reply:
    """A body that is not in the encoding it claims."""
    return replace(answer(asked), headers={"Content-Encoding": "gzip"})


def empty_choices(_: Asked) -> Reply:
    return as_json({**completion("", 1, 1), "choices": []})


def no_usage(_: Asked) -> Reply:
    return as_json({**completion("SELECT 1", 1, 1), "usage": None})


def page(_: Asked) -> Reply:
    """A web page, as captive portals and dashboards give."""
    return Reply(200, b"<html>welcome</html>", {"Content-Type": "text/html"})


def drip(byte_s: float) -> Behaviour:
    """A good answer, one byte at a time."""
    return lambda asked: replace(answer(asked), byte_s=byte_s)


# Faults that will not pass.


def refusal(code: int, message: str, **more: object) -> Behaviour:
    return lambda _: as_json({"error": {"message": message, "code": code, **more}}, code)


OVERFLOWS: dict[str, Behaviour] = {
    "vLLM": refusal(
        400,
        "This model's maximum context length is 4096 tokens. However, you requested 4608 tokens (4096 in the messages, "
        "512 in the completion). Please reduce the length of the messages or completion.",
        type="BadRequestError",
        param=None,
    ),
    "vLLM, newer": refusal(
        400,
        "'max_tokens' or 'max_completion_tokens' is too large: 512. This model's maximum context length is 4096 tokens "
        "and your request has 4096 input tokens (512 > 4096 - 4096).",
        type="BadRequestError",
        param=None,
    ),
    "llama.cpp": refusal(
        400,
        "request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it",
        type="exceed_context_size_error",
        n_prompt_tokens=9001,
        n_ctx=8192,
    ),
    "llama.cpp, older": refusal(
        400,
        "the request exceeds the available context size. try increasing the context size or enable context shift",
        type="invalid_request_error",
    ),
    "vLLM, long prompt": refusal(
        400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096."
    ),
    "TGI": lambda _: as_json(
        {
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` "
            "tokens and 512 `max_new_tokens`",
            "error_type": "validation",
        },
        422,
    ),
    "Anthropic": refusal(400, "prompt is too long: 210000 tokens > 200000 maximum"),
    "behind a page of other words": refusal(400, "x " * 300 + "exceeds the maximum context length"),
    "as a success": lambda _: as_json({"error": {"message": "maximum context length is 4096 tokens"}}),
}
UNAUTHORIZED = refusal(401, "Incorrect API key provided.", type="invalid_request_error")
UNKNOWN_MODEL = refusal(404, "The model `m` does not exist.", type="NotFoundError")


# Behaviours made of behaviours.


def at_first(fault: Behaviour, times: int = 1) -> Behaviour:
    """The first `times` attempts at a request meet a fault, later ones are answered."""
    return lambda asked: fault(asked) if asked.attempt <= times else answer(asked)


def faulty(rate: float, faults: Sequence[Behaviour], seed: int = 0) -> Behaviour:
    """A share of all attempts goes wrong; which ones depends on the seed, the request and its attempt alone."""

    def behave(asked: Asked) -> Action:
        dice = random.Random(f"{seed}/{json.dumps(asked.body)}/{asked.attempt}")
        return dice.choice(faults)(asked) if dice.random() < rate else answer(asked)

    return behave


class ChatServer:
    """An OpenAI-compatible endpoint on a free port, up from `with` to its end; `behaviour` may be changed meanwhile."""

    def __init__(
        self, behaviour: Behaviour = answer, *, latency_s: float = 0.0, tls: ssl.SSLContext | None = None
    ) -> None:
        self.behaviour = behaviour
        self.latency_s = latency_s
        self.alive = True  # whether it answers those who ask for its models
        self.models: Reply | list[str] = []  # what it says it has
        self.paths = {"/v1/chat/completions", "/v1/embeddings"}  # what it offers
        self.probes = 0
        self.probed_with: list[str | None] = []  # authorizations
        self.asked: list[Asked] = []
        self.proxied: list[str] = []
        self.connections = 0
        self.most_at_once = 0
        self.closing = threading.Event()
        self._attempts: Counter[str] = Counter()
        self._under_way = 0
        self._lock = threading.Lock()
        self._server = _Listener(self)
        self._scheme = "https" if tls else "http"
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        """What belongs into OPENAI_BASE_URL."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_port}/v1"

    @property
    def requests(self) -> int:
        """How many requests have come."""
        return len(self.asked)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.hang_up()
        self._server.server_close()

    def connected(self) -> None:
        with self._lock:
            self.connections += 1

    def begin(self, body: dict[str, Any], authorization: str | None, path: str) -> Asked:
        with self._lock:
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
            same = json.dumps(body, sort_keys=True)
            self._attempts[same] += 1
            asked = Asked(body, authorization, self._attempts[same], time.monotonic(), path)
            self.asked.append(asked)
            return asked

    def end(self) -> None:
        with self._lock:
            self._under_way -= 1


class _Listener(ThreadingHTTPServer):
    daemon_threads = False  # so that closing waits for every thread, and so for every socket
    request_queue_size = 256

    def __init__(self, chat: ChatServer) -> None:
        self.chat = chat
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.chat.connected()
        with self._open_lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End connections that clients keep alive, whose threads would wait for another request."""
        with self._open_lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away in the middle are what tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keep-alive
    disable_nagle_algorithm = True
    wbufsize = -1  # a response goes out in one piece
    server: _Listener

    def do_GET(self) -> None:
        chat = self.server.chat
        chat.probes += 1
        chat.probed_with.append(self.headers.get("Authorization"))
        if chat.alive and self.path.partition("?")[0] != "/v1/models":
            self._send(as_json({"detail": "Not Found"}, 404))
        elif chat.alive:
            models = chat.models
            named = models if isinstance(models, Reply) else as_json({"data": [{"id": name} for name in models]})
            self._send(named)
        else:
            self._wait_for_the_client_to_go()
            self.close_connection = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.startswith("http"):  # asked as a proxy
            self.server.chat.proxied.append(self.path)
        elif self.path.partition("?")[0] not in self.server.chat.paths:
            self._send(as_json({"error": {"message": f"no route {self.path}"}}, 404))
            return
        chat = self.server.chat
        asked = chat.begin(body, self.headers.get("Authorization"), self.path)
        try:
            chat.closing.wait(chat.latency_s)
            action = chat.behaviour(asked)
            if isinstance(action, Silence):
                self._wait_for_the_client_to_go()
            elif isinstance(action, Reply) and action.byte_s:
                self._drip(action)
        finally:
            chat.end()  # before the client can know, so that its next request is not counted beside this one
        if isinstance(action, Reply):
            self._send(action)
            return
        self.close_connection = True
        if isinstance(action, Reset):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def _send(self, reply: Reply) -> None:
        """All of a response, or the last byte of one that dripped."""
        if reply.byte_s:
            self.wfile.write(reply.body[-1:])
        else:
            self._send_head(reply)
            self.wfile.write(reply.body[: reply.cut_at])
        self.wfile.flush()
        if reply.cut_at is not None:
            self.close_connection = True

    def _drip(self, reply: Reply) -> None:
        self._send_head(reply)
        for i in range(len(reply.body) - 1):
            self.wfile.write(reply.body[i : i + 1])
            self.wfile.flush()
            self.server.chat.closing.wait(reply.byte_s)

    def _send_head(self, reply: Reply) -> None:
        self.send_response(reply.status, reply.reason)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()

    def _wait_for_the_client_to_go(self) -> None:
        poll = select.poll()
        poll.register(self.connection, select.POLLIN)
        while not self.server.chat.closing.is_set():
            if poll.poll(20):  # it sends nothing more, so this is its end
                return

    def log_message(self, *_: object) -> None:
        """Say nothing."""
