"""Bodies of requests: nobody without a token has one read."""

import socket

from making.serving import ServeShop


def test_the_body_of_a_stranger_is_not_waited_for(serve_shop: ServeShop) -> None:
    server = serve_shop()
    token = server.site.tokens.add("ann", [])
    for more, status in ((b"", b" 401 "), (b"Authorization: Bearer merit_wrong\r\n", b" 401 ")):
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
            head = b"POST /api/answers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            connection.sendall(head + more + b"Content-Length: 900000\r\n\r\n{")
            assert status in connection.recv(1000)
    assert server.post("/api/session", {"token": token}).status == 200  # whoever signs in has none yet
