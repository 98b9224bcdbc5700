"""Bodies of requests: nobody without a token has one read."""

import socket

import pytest

from making.clock import COMES_S
from making.serving import ServeShop


def test_the_body_of_a_stranger_is_not_waited_for(serve_shop: ServeShop) -> None:
    server = serve_shop()
    token = server.site.tokens.add("ann", [])
    for more, status in ((b"", b" 401 "), (b"Authorization: Bearer merit_wrong\r\n", b" 401 ")):
        with socket.create_connection(("127.0.0.1", server.port), timeout=COMES_S) as connection:
            head = b"POST /api/answers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            connection.sendall(head + more + b"Content-Length: 900000\r\n\r\n{")
            assert status in connection.recv(1000)
    assert server.post("/api/session", {"token": token}).status == 200  # whoever signs in has none yet


def test_a_body_that_is_none_is_no_fault_of_the_server(serve_shop: ServeShop, caplog: pytest.LogCaptureFixture) -> None:
    server = serve_shop()
    for path in ("/api/answers", "/api/nothing"):
        for rest in (b"zz\r\n", b"5\r\nab"):  # no size of a chunk, and a sender that leaves in the middle of one
            with socket.create_connection(("127.0.0.1", server.port), timeout=COMES_S) as connection:
                head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n".encode()
                connection.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n" + rest)
                connection.shutdown(socket.SHUT_WR)
                assert connection.recv(1000).count(b"HTTP/1.1") <= 1
    assert server.get("/api/session").status == 200
    assert [record.getMessage() for record in caplog.records if record.name == "merit.web"] == []
