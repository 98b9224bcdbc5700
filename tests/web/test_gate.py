"""What every request passes: its size and time; what every response carries; and what is logged and counted of it."""

import http.client
import io
import json
import logging
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from making.clock import COMES_S
from making.live import ToldModel
from making.serving import Served, ServeShop, until
from merit import tracing
from merit.errors import InputError
from merit.settings import ServeSettings
from merit.web.limits import RateLimit
from merit.web.logs import start_logging
from merit.web.metrics import Metrics
from merit.web.names import Names, check_public_url
from merit.web.protocol import TimedProtocol
from merit.web.replies import to_json

SECRET = "how many SECRETS are there"


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    names = ("merit", "uvicorn.error")
    before = {name: (list(logging.getLogger(name).handlers), logging.getLogger(name).propagate) for name in names}
    stream = io.StringIO()
    start_logging(stream)
    yield stream
    for name, (handlers, propagate) in before.items():
        logging.getLogger(name).handlers, logging.getLogger(name).propagate = handlers, propagate
        logging.getLogger(name).setLevel(logging.NOTSET)


def test_every_response_is_protected(shop: Served) -> None:
    for path, status in (
        ("/", 200),
        ("/api/session", 200),
        ("/api/nothing", 404),
        ("/nothing", 404),
        ("/health/live", 200),
    ):
        found = shop.get(path)
        assert found.status == status
        assert "frame-ancestors 'none'" in found.headers["content-security-policy"]
        assert "unsafe" not in found.headers["content-security-policy"]
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["cache-control"] == "no-store"
        assert found.headers["referrer-policy"] == "no-referrer"
        assert found.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in found.headers
        assert "server" not in found.headers
    assert shop.get("/docs").status == shop.get("/redoc").status == 404
    assert shop.ask("OPTIONS", "/api/answers", headers={"Origin": "http://evil.example"}).status in (403, 405)


def test_a_body_that_is_too_large_is_refused_whether_or_not_it_says_so(shop: Served) -> None:
    found = shop.post("/api/answers", b"x" * (1 << 21), headers={"Content-Type": "application/json"})
    assert (found.status, found.json["error"]) == (413, "the body has more than 1 MiB")
    connection = http.client.HTTPConnection("127.0.0.1", shop.port, timeout=COMES_S)
    pieces = (b"x" * 65536 for _ in range(40))
    connection.request("POST", "/api/answers", pieces, {"Content-Type": "application/json"}, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()
    assert shop.get("/api/session").status == 200


def test_a_body_that_never_ends_is_not_waited_for(shop: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merit.web.gate.BODY_S", 0.3)
    with socket.create_connection(("127.0.0.1", shop.port), timeout=COMES_S) as connection:
        connection.sendall(
            b"POST /api/answers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
        )
        assert b" 408 " in connection.recv(1000)


def test_a_client_that_takes_nothing_is_let_go(serve_shop: ServeShop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TimedProtocol, "silence_s", 0.3)
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) SELECT hex(zeroblob(500)), i FROM n"
    let_go, lost = set[int](), TimedProtocol.connection_lost

    def note(protocol: TimedProtocol, error: Exception | None) -> None:
        let_go.add(protocol.client[1] if protocol.client else 0)
        lost(protocol, error)

    monkeypatch.setattr(TimedProtocol, "connection_lost", note)
    server = serve_shop(ToldModel(many))
    answer = server.post("/api/answers", {"question": "x"}).json["id"]
    with socket.create_connection(("127.0.0.1", server.port), timeout=COMES_S) as connection:
        connection.sendall(f"GET /api/answers/{answer}/rows HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        connection.recv(1, socket.MSG_PEEK)  # the response has begun
        until(lambda: connection.getsockname()[1] in let_go)
        found = 0
        with suppress(ConnectionError):
            while piece := connection.recv(1 << 20):
                found += len(piece)
        assert found < 9_000_000  # of 10 million: what the system had taken already
    assert server.get("/api/session").status == 200


def test_a_person_sends_only_so_many_requests(serve_shop: ServeShop) -> None:
    server = serve_shop(settings=ServeSettings(requests_per_minute=40))
    ann, bob = (server.site.tokens.add(name, []) for name in ("ann", "bob"))
    statuses = [server.get("/api/answers", token=ann) for _ in range(12)]
    assert statuses[0].status == 200
    assert statuses[-1].status == 429
    assert int(statuses[-1].headers["retry-after"]) >= 1
    assert server.get("/api/answers", token=bob).status == 200


def test_a_person_has_only_so_many_requests_under_way(serve_shop: ServeShop) -> None:
    server = serve_shop()
    ann, bob = (server.site.tokens.add(name, []) for name in ("ann", "bob"))
    leaving = [server.site.at_a_time.enter("ann") for _ in range(16)]
    assert None not in leaving
    assert server.get("/api/answers", token=ann).status == 429
    assert server.get("/api/answers", token=bob).status == 200
    for leave in leaving:
        assert leave is not None
        leave()
    for _ in range(40):  # and every response lets go of its place, an error's too
        assert server.get("/api/answers", token=ann).status == 200
        assert server.get("/api/answers?limit=x", token=ann).status == 422
    until(lambda: not server.site.at_a_time._under_way)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 200_000,
        b'{"question":' * 50_000,
        b"1" * 500_000,
        b'{"question":"\\ud800"}',
        b'{"a":' + b"9" * 5000 + b"}",
    ],
)
def test_json_of_strangers_is_refused_and_not_a_failure(shop: Served, body: bytes) -> None:
    found = shop.post("/api/answers", body, headers={"Content-Type": "application/json"})
    assert found.status in (400, 422)
    assert shop.get("/api/session").status == 200


@pytest.mark.parametrize(
    "path",
    [
        "//api/session",
        "/api//session",
        "/api/session/",
        "/API/session",
        "/api/../api/session",
        "/%61pi/session/x",
        "/api/session%2f",
    ],
)
def test_a_path_has_one_spelling(shop: Served, path: str) -> None:
    assert shop.get(path).status == 404


def test_a_bucket_fills_up_again() -> None:
    now = [0.0]
    limit = RateLimit(60, lambda: now[0])
    assert [limit.wait_s("ann") for _ in range(15)] == [0.0] * 15
    assert limit.wait_s("ann") == pytest.approx(1.0)
    now[0] = 1.0
    assert limit.wait_s("ann") == 0.0
    assert limit.wait_s("ann") > 0
    for number in range(20_000):
        limit.wait_s(str(number))
    assert len(limit._buckets) <= 10_000


def test_logs_have_no_data_and_no_line_can_be_forged(serve_shop: ServeShop, logged: io.StringIO) -> None:
    server = serve_shop(ToldModel("SELECT 'SECRETS' AS x"))
    token = server.site.tokens.add("ann", ["ask", "confirm"])  # type: ignore[list-item]
    answer = server.post("/api/answers", {"question": SECRET}, token=token).json["id"]
    server.post(f"/api/answers/{answer}/correct", {"sql": "SELECT 'SECRETS'"}, token=token)
    server.get("/api/answers?words=SECRETS", token=token)
    server.get("/api/%0a%7b%22forged%22%3a1%7d", token=token)
    server.get("/api/SECRETS", headers={"Authorization": "Bearer SECRETS", "User-Agent": "SECRETS"})
    server.post("/api/session", {"token": "SECRETS"})
    text = logged.getvalue()
    assert "SECRET" not in text
    assert token not in text
    lines = [json.loads(line) for line in text.splitlines()]
    requests = [line for line in lines if line["event"] == "request"]
    assert {line["author"] for line in requests if "author" in line} == {"ann"}
    assert {"route": "/api/answers", "status": 200, "method": "POST"}.items() <= requests[0].items()
    assert "/api/answers/{answer}/correct" in {line["route"] for line in requests}


def test_an_error_that_nobody_expected_is_told_and_logged_without_its_words(
    serve_shop: ServeShop, logged: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve_shop()

    def broken(*_: object) -> None:
        raise RuntimeError("SECRETS of a row")

    monkeypatch.setattr("merit.web.routes.answers.search_history", broken)
    found = server.get("/api/answers")
    assert (found.status, found.json) == (500, {"error": "the server failed; its log says more"})
    assert "SECRETS" not in logged.getvalue()
    assert "RuntimeError" in logged.getvalue()
    assert server.get("/api/session").status == 200


def test_spans_have_no_data_whoever_collects_them(serve_shop: ServeShop) -> None:
    own, foreign = InMemorySpanExporter(), InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(foreign))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("opentelemetry.trace._TRACER_PROVIDER", provider)  # as another program around merit sets it
        tracing.start(own)
        server = serve_shop(ToldModel("SELECT 'SECRETS' AS x"))
        server.post("/api/answers", {"question": SECRET})
        server.get("/api/answers?words=SECRETS")
        server.get("/api/answers/SECRETS")
        tracing.stop()
    assert foreign.get_finished_spans() == ()
    spans = own.get_finished_spans()
    assert {"http request", "attempt"} <= {span.name for span in spans}
    assert "/api/answers" in {(span.attributes or {}).get("http.route") for span in spans}
    assert not [span for span in spans if "SECRET" in f"{span.name} {span.attributes} {span.events}"]


def test_metrics_count_and_need_a_token_where_all_else_does(serve_shop: ServeShop) -> None:
    server = serve_shop()
    answer = server.post("/api/answers", {"question": "How many?"}).json["id"]
    server.post(f"/api/answers/{answer}/confirm")
    server.get("/nothing/at/all")
    found = server.get("/metrics")
    assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
    text = found.body.decode()
    assert 'merit_asks_total{status="answered"} 1' in text
    assert 'merit_feedback_total{kind="confirmed"} 1' in text
    assert 'merit_requests_total{method="POST",route="/api/answers",status="200"} 1' in text
    assert "merit_asks_running 0" in text
    assert "nothing/at/all" not in text
    assert float(text.split("\nprocess_resident_memory_bytes ")[1].split()[0]) > 1e6
    server.site.tokens.add("ann", [])
    assert server.get("/metrics").status == 401


def test_metrics_are_written_as_prometheus_reads_them() -> None:
    metrics = Metrics()
    metrics.observe("merit_ask_seconds", 0.3)
    metrics.observe("merit_ask_seconds", 1000.0)
    metrics.count("merit_refused_total", reason='a"b\\c\nd')
    text = metrics.text({})
    assert 'merit_ask_seconds_bucket{le="0.5"} 1' in text
    assert 'merit_ask_seconds_bucket{le="+Inf"} 2' in text
    assert "merit_ask_seconds_count 2" in text
    assert 'merit_refused_total{reason="a\\"b\\\\c\\nd"} 1' in text


def test_health_says_whether_the_database_answers(shop: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shop.get("/health/live").json == {"live": True}
    assert shop.get("/health/ready").json == {"ready": True}
    monkeypatch.setattr("merit.web.routes.health._LOOK_AGAIN_S", 0.0)
    agent = shop.site.agent
    assert agent is not None
    agent.parts.memory.close()
    found = shop.get("/health/ready")
    assert (found.status, found.json["error"]) == (503, "the database or the memory is out of reach")


@pytest.mark.parametrize(
    ("url", "origin"),
    [("https://Merit.Example/", "https://merit.example"), ("http://h:80", "http://h"), ("https://h:8443", "https://h:8443"),
     ("https://[::1]:443", "https://[::1]")],
)  # fmt: skip
def test_a_public_url_becomes_an_origin(url: str, origin: str) -> None:
    assert check_public_url(url) == origin


@pytest.mark.parametrize(
    "url",
    [
        "merit.example",
        "ftp://h",
        "https://",
        "https://h/path",
        "https://u@h",
        "https://h?x",
        "https://h:x",
        "https://ä",
    ],
)
def test_a_public_url_that_is_no_origin_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="--public-url"):
        check_public_url(url)


@pytest.mark.parametrize(
    "host", ["localhost:1", "127.0.0.1", "[::1]:80", "10.0.0.1:5", "merit.example", "merit.example:443"]
)
def test_names_that_are_answered_to(host: str) -> None:
    assert Names("127.0.0.1", 1, "https://merit.example").answers_to(host)


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "localhost.evil.example", "a@localhost", "localhost:x", "[::1", "localhost/x", "127.0.0.1#"],
)
def test_names_that_are_not(host: str) -> None:
    assert not Names("127.0.0.1", 1, "https://merit.example").answers_to(host)


def test_json_is_exact() -> None:
    assert to_json([2**53 - 1, 2**53, -(2**60), float("nan"), b"\1", True, None]) == (
        '[9007199254740991,"9007199254740992","-1152921504606846976","NaN","01",true,null]'
    )


def test_a_request_with_two_ends_is_refused_and_nothing_behind_it_is_read(shop: Served) -> None:
    """A proxy that goes by the other end would take what follows for part of the body."""
    head = b"POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n"
    behind = b"0\r\n\r\nGET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection(("127.0.0.1", shop.port), timeout=COMES_S) as connection:
        connection.sendall(head + behind)
        received = b""
        with suppress(ConnectionResetError):
            while piece := connection.recv(65536):
                received += piece
    assert received.startswith(b"HTTP/1.1 400 ")
    assert received.count(b"HTTP/1.1 ") == 1


def test_signing_in_counts_as_a_request(serve_shop: ServeShop) -> None:
    shop = serve_shop(settings=ServeSettings(requests_per_minute=60))
    token = shop.site.tokens.add("ada", [])
    found = [shop.post("/api/session", {"token": token}) for _ in range(25)]
    assert found[0].status == 200
    assert found[-1].status == 429
    assert "retry-after" in found[-1].headers


def test_an_earlier_answer_is_named_by_no_more_than_an_id(shop: Served) -> None:
    found = shop.post("/api/answers", {"question": "How many?", "earlier": ["a" * 500_000]})
    assert found.status == 422
    assert len(found.body) < 500
