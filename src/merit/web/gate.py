"""What every request passes first: its names, its origin, its size and time; and what every response carries."""

import time
from collections.abc import Callable, Collection

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from merit.tracing import span
from merit.web.bodies import BODY_S, in_time
from merit.web.logs import log
from merit.web.metrics import Metrics
from merit.web.names import Names
from merit.web.replies import refusal

BODY_BYTES = 1 << 20
IMPORT_BYTES = 64 << 20
_IMPORT_S = 600.0
_IMPORT = "/api/memory/import"
_SIGN_IN = "/api/session"
_READING = ("GET", "HEAD", "OPTIONS")
_DATA = ("/api/", "/runs/data/")  # paths that no page of another site may even ask for
_CLOSING = {"Connection": "close"}  # what follows such a request may be another sender's request
_NO_PAGE = "default-src 'none'; frame-ancestors 'none'"  # for whatever is not a page
_HEADERS = {
    b"content-security-policy": _NO_PAGE.encode(),
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
}


class Gate:
    """Refuses what does not belong here before any route sees it; notes, logs and protects what does."""

    def __init__(
        self,
        app: ASGIApp,
        names: Names,
        metrics: Metrics,
        methods_at: Callable[[str], Collection[str]],
        lacks_valid_token: Callable[[Scope], bool],
    ) -> None:
        """`methods_at` says what can be done at a path, `lacks_valid_token` whether a token is needed and missing."""
        self._app = app
        self._methods_at = methods_at
        self._names = names
        self._lacks_valid_token = lacks_valid_token
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, noted = time.perf_counter(), _Noted()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                noted.status = message["status"]
                noted.seconds = time.perf_counter() - started
                given = {name.lower() for name, _ in message["headers"]}
                added = [(name, value) for name, value in _HEADERS.items() if name not in given]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        try:
            if (refused := self._refused(scope)) is not None:
                status, reason, sentence = refused
                self._metrics.count("merit_refused_total", reason=reason)
                await refusal(status, sentence, _CLOSING if reason == "framing" else None)(scope, receive, sending)
            else:
                with span("http request", {"http.request.method": _method(scope)}) as current:
                    await self._app(scope, self._body(scope, receive), sending)
                    current.set_attribute("http.route", _route(scope))
                    current.set_attribute("http.response.status_code", noted.status)
        finally:
            if (leave := scope.get("state", {}).get("leave")) is not None:
                leave()
            self._note(scope, noted, time.perf_counter() - started)

    def _body(self, scope: Scope, receive: Receive) -> Receive:
        """Receives a body within its limits; one without the token that it needs is left unread, except to sign in."""
        if scope["path"] != _SIGN_IN and scope["method"] not in _READING and self._lacks_valid_token(scope):
            return _unread
        return _limited(scope, receive)

    def _refused(self, scope: Scope) -> tuple[int, str, str] | None:
        """Status, reason and sentence, where a request is refused at once."""
        hosts = _values(scope, b"host")
        if len(hosts) != 1 or not self._names.answers_to(hosts[0]):
            return 421, "host", "this server does not answer to that name; see --public-url of `merit serve`"
        if scope["method"] in ("GET", "HEAD") and _has_body(scope) and "GET" in self._methods_at(scope["path"]):
            return 400, "body", "a GET has no body"
        length = _values(scope, b"content-length")
        if length and _values(scope, b"transfer-encoding"):  # a proxy may take the other one for the body's end
            return 400, "framing", "a request has Content-Length or Transfer-Encoding, not both"
        if length and length[0].isascii() and length[0].isdigit() and int(length[0][:12]) > _most_bytes(scope):
            return 413, "size", f"the body has more than {_most_bytes(scope) >> 20} MiB"
        if not self._same_origin(scope, hosts[0]):
            return 403, "origin", "a page of another site cannot use this server"
        return None

    def _same_origin(self, scope: Scope, host: str) -> bool:
        """Whether no other site's page sends this; programs send neither header, and are known by their tokens."""
        writes = scope["method"] not in _READING
        if not writes and not scope["path"].startswith(_DATA):
            return True
        fetched = _values(scope, b"sec-fetch-site")
        if any(site not in ("same-origin", "none") for site in fetched):
            return False
        origins = _values(scope, b"origin")
        return all(self._names.same_origin(origin, host) for origin in origins)

    def _note(self, scope: Scope, noted: "_Noted", seconds: float) -> None:
        route, status = _route(scope), str(noted.status or 499)  # 499: the client went before there was a response
        self._metrics.count("merit_requests_total", method=_method(scope), route=route, status=status)
        self._metrics.observe("merit_request_seconds", noted.seconds or seconds, route=route)
        author = scope.get("state", {}).get("author")
        log(
            "request",
            method=_method(scope),
            route=route,
            status=int(status),
            ms=round(1000 * seconds, 1),
            **({"author": author} if author else {}),
        )


class _Noted:
    """What became of a request."""

    def __init__(self) -> None:
        self.status = 0
        self.seconds = 0.0  # until the response began


async def _unread() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


def _limited(scope: Scope, receive: Receive) -> Receive:
    """Receives a body up to its largest size and within its time."""
    left = _most_bytes(scope)
    timed = in_time(receive, _IMPORT_S if scope["path"] == _IMPORT else BODY_S)

    async def receiving() -> Message:
        nonlocal left
        try:
            message = await timed()
        except TimeoutError:
            raise HTTPException(408, "the body did not arrive in time; send it again") from None
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413, f"the body has more than {_most_bytes(scope) >> 20} MiB")
        return message

    return receiving


def _most_bytes(scope: Scope) -> int:
    return IMPORT_BYTES if scope["path"] == _IMPORT else BODY_BYTES


def _has_body(scope: Scope) -> bool:
    lengths = _values(scope, b"content-length")
    return bool(_values(scope, b"transfer-encoding")) or any(length.strip() != "0" for length in lengths)


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


_METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"}


def _method(scope: Scope) -> str:
    """One of the few methods that there are, so that nothing else can be a label."""
    return scope["method"] if scope["method"] in _METHODS else "other"


def _route(scope: Scope) -> str:
    """The template of the route, such as /api/answers/{answer}; never the path itself."""
    return getattr(scope.get("route"), "path", "other")
