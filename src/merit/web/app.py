"""The application: routes put together, errors as sentences, and what begins and ends with the server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.routing import APIRoute
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException

from merit import __version__
from merit.errors import MeritError
from merit.web.authentication import lacks_valid_token, site_of
from merit.web.gate import Gate
from merit.web.logs import log
from merit.web.page import check_libraries, policy, shell
from merit.web.replies import JsonReply, RefusedRequest, refusal, status_of
from merit.web.routes import (
    answers,
    assets,
    health,
    judging,
    memory,
    proof,
    rows,
    run_pages,
    schema,
    session,
    transfer,
)
from merit.web.site import Site
from merit.web.upkeep import Upkeep

_ROUTERS = (session, answers, rows, judging, transfer, memory, schema, proof, health, run_pages, assets)
_ERROR = {
    "content": {
        "application/json": {
            "schema": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
        }
    }
}
# FastAPI's own spans and logs would hold addresses with what people search for, and messages of errors.
_NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
_WORDS = {
    400: "It cannot be done as it is asked for.",
    401: "A token is needed, or the given one is not valid.",
    403: "The token does not allow this, or a page of another site asks.",
    404: "There is nothing under this id or path.",
    408: "The body did not arrive in time.",
    409: "It was done already, or does not fit the state of things.",
    413: "The body is too large.",
    421: "The server does not answer to this Host.",
    422: "A field or parameter is missing or cannot be what it is.",
    429: "Too many requests or questions at a time; see Retry-After.",
    501: "A package that this needs is not installed.",
    503: "The database, the memory or the model is out of reach, or the server is stopping.",
}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": words, **_ERROR} for status, words in _WORDS.items()
}


def make_app(site: Site) -> FastAPI:
    """The page and the API over a site."""
    check_libraries()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        upkeep = Upkeep(site)
        upkeep.start()
        try:
            yield
        finally:
            await upkeep.stop()
            await site.proof.stop()
            await site.asks.drain(0)
            if site.agent is not None:
                await site.agent.close_async()

    app = FastAPI(
        title="merit",
        summary="Ask a database, watch, confirm and correct.",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        default_response_class=JsonReply,
        responses=_RESPONSES,
        redirect_slashes=False,
        telemetry=_NO_TELEMETRY,
    )
    app.state.site = site
    app.add_middleware(
        Gate,
        names=site.names,
        metrics=site.metrics,
        methods_at=_methods_at,
        lacks_valid_token=lambda scope: lacks_valid_token(Request(scope), site),
    )
    for kind, handler in _HANDLERS.items():
        app.add_exception_handler(kind, handler)
    for part in _ROUTERS:
        app.include_router(part.router)
    app.add_api_route("/", _page, include_in_schema=False, response_model=None)
    return app


async def _page(request: Request) -> Response:
    site = site_of(request)
    if site.agent is None and not site.needs_token:
        return RedirectResponse("/runs/", 307)
    return HTMLResponse(shell(), headers={"Content-Security-Policy": f"{policy()}; frame-ancestors 'none'"})


async def _refused(_: Request, error: Exception) -> JsonReply:
    assert isinstance(error, RefusedRequest)
    return refusal(error.status, error.sentence, error.headers)


async def _failed(request: Request, error: Exception) -> JsonReply:
    return refusal(status_of(error), site_of(request).without_paths(str(error)))


async def _invalid(_: Request, error: Exception) -> JsonReply:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    if first["type"] == "json_invalid":
        return refusal(422, "the body is not valid JSON")
    if first["type"] == "string_pattern_mismatch" and first["loc"][0] == "path":
        return refusal(422, f"{where}: this is not an id; give one as the API returned it")
    return refusal(422, f"{where or 'the body'}: {first['msg'][:300]}")


async def _http(request: Request, error: Exception) -> JsonReply:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        error.headers = {"Allow": ", ".join(sorted(_methods_at(request.url.path)))}
    words = {404: "there is nothing here", 405: "this method is not for this path"}
    return refusal(error.status_code, words.get(error.status_code, str(error.detail)), error.headers)


def _methods_at(path: str) -> set[str]:
    """What can be done at a path, by whichever route."""
    routes = [route for part in _ROUTERS for route in part.router.routes if isinstance(route, APIRoute)]
    methods = {method for route in routes if route.path_regex.fullmatch(path) for method in route.methods or ()}
    return methods or {"GET"}


async def _broken(request: Request, error: Exception) -> JsonReply:
    log("failed", level=40, exception=type(error).__name__, route=getattr(request.scope.get("route"), "path", ""))
    return refusal(500, "the server failed; its log says more")


_HANDLERS: dict[type[Exception], Any] = {
    RefusedRequest: _refused,
    MeritError: _failed,
    RequestValidationError: _invalid,
    HTTPException: _http,
    Exception: _broken,
}
