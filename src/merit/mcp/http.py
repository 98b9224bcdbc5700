"""Streamable HTTP: the server as an ASGI application behind a gate that knows hosts, origins and tokens."""

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from merit.errors import InputError
from merit.live import LiveAgent
from merit.mcp.server import MeritServer
from merit.mcp.sessions import IDLE_S, OpenSessions
from merit.web.access_tokens import Token, TokenStore
from merit.web.bodies import in_time
from merit.web.limits import FAILURES_PER_MINUTE, RateLimit
from merit.web.names import Names

PATH = "/mcp"
_MOST_BYTES = 1_000_000  # of a request: a statement has at most 100,000
_MOST_SESSIONS = 1000
_REQUESTS_PER_MINUTE = 2400  # of one person, a quarter of them at once: agents call several tools at a time
NewGate = Callable[[ASGIApp], ASGIApp]
_BEARER = {"WWW-Authenticate": "Bearer"}
_SESSION = "mcp-session-id"


@dataclass(frozen=True, slots=True)
class McpGate:
    """Lets a request through that names this server, comes from no other site, and has a token where one is needed."""

    app: ASGIApp
    names: Names
    tokens: TokenStore
    had_tokens: bool  # at the start: revoking the last token opens nothing
    failures: RateLimit = field(default_factory=lambda: RateLimit(FAILURES_PER_MINUTE))
    sessions: OpenSessions = field(default_factory=OpenSessions)
    requests: RateLimit = field(default_factory=lambda: RateLimit(_REQUESTS_PER_MINUTE))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            if (refusal := self._refusal(headers)) is not None:
                await refusal(scope, receive, send)
                return
            if (token := self._token(headers)) is not None:
                scope["user"] = _user(token)  # the SDK lets a session be used only by the user who began it
            elif self.needs_token or "authorization" in headers:
                await self._without_token(scope)(scope, receive, send)
                return
            person, session = token.name if token is not None else "", headers.get(_SESSION, "")
            if wait := self.requests.wait_s(person):
                await _too_often(wait)(scope, receive, send)
                return
            if scope["method"] == "POST" and not session and self.sessions.full(person):
                sentence = "too many of your sessions are open; close some, or wait until they are forgotten"
                await _refused(429, sentence, {"Retry-After": "60"})(scope, receive, send)
                return
            receive, send = _unless_gone(receive), self._noting_session(person, scope["method"], send)
        await self.app(scope, receive, send)

    @property
    def needs_token(self) -> bool:
        """Whether a request needs a token; also where the first token was made after the server started."""
        return self.had_tokens or bool(self.tokens.listed())

    def _noting_session(self, person: str, method: str, send: Send) -> Send:
        """Sends a response, and notes the session that it names."""

        async def sending(message: Message) -> None:
            session = (
                Headers(raw=message["headers"]).get(_SESSION) if message["type"] == "http.response.start" else None
            )
            if session is not None and message["status"] < 400:
                (self.sessions.ended if method == "DELETE" else self.sessions.used)(person, session)
            await send(message)

        return sending

    def _refusal(self, headers: Headers) -> JSONResponse | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.names.answers_to(hosts[0]):
            return _refused(421, "this server does not go by that name")
        if not all(self.names.same_origin(origin, hosts[0]) for origin in headers.getlist("origin")):
            return _refused(403, "pages of other sites may not use this server")
        return None

    def _token(self, headers: Headers) -> Token | None:
        return self.tokens.find_bearer(headers.get("authorization", ""))

    def _without_token(self, scope: Scope) -> JSONResponse:
        """The refusal of a request without a valid token; after many from one address, that it is too often."""
        if wait := self.failures.wait_s((scope.get("client") or ("",))[0]):
            return _too_often(wait)
        sentence = "a token is needed that is valid here; send it as 'Authorization: Bearer TOKEN'"
        return _refused(401, sentence, _BEARER)


def _unless_gone(receive: Receive) -> Receive:
    """Receives a body; a client that is too slow is taken to be gone."""
    timed = in_time(receive)

    async def receiving() -> Message:
        try:
            return await timed()
        except TimeoutError:
            return {"type": "http.disconnect"}

    return receiving


def _user(token: Token) -> AuthenticatedUser:
    return AuthenticatedUser(AccessToken(token="", client_id=token.name, scopes=list(token.may)))


def _too_often(wait: float) -> JSONResponse:
    seconds = str(math.ceil(wait))
    return _refused(429, f"too many requests; wait {seconds} s, and go on", {"Retry-After": seconds})


def _refused(status: int, sentence: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": sentence}, status, headers)


def new_gate(names: Names, tokens: TokenStore) -> NewGate:
    """A gate that asks for tokens wherever there are some; where other machines can call, there must be some."""
    needed = bool(tokens.listed())
    if not needed and not names.local:
        raise InputError(
            f"{names.host}: other machines could call, and there is no token; make one with `merit token add NAME`, or "
            "leave --host out"
        )
    return lambda app: McpGate(app, names, tokens, needed)


def http_app(server: MeritServer, agent: LiveAgent, gate: NewGate) -> ASGIApp:
    """The application behind a gate; it closes the agent when it ends."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=_MOST_BYTES,
        session_idle_timeout=IDLE_S,
        max_sessions=_MOST_SESSIONS,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the gate does it
    )
    begin = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(of: Starlette) -> AsyncIterator[None]:
        try:
            async with begin(of):
                yield
        finally:
            await agent.close_async()

    app.router.lifespan_context = lifespan
    return gate(app)
