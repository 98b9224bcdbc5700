"""The application: routes put together, errors as sentences, and what is begun and ended with the server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

from merit import __version__
from merit.errors import InputError, MeritError
from merit.web import answers, session
from merit.web.page import policy, shell
from merit.web.replies import JsonReply, Refused, refusal
from merit.web.site import Site


def make_app(site: Site) -> FastAPI:
    """The page and the API over a site."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await site.asks.drain(0)
            if site.agent is not None:
                await site.agent.close_async()

    app = FastAPI(
        title="merit",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        default_response_class=JsonReply,
    )
    app.state.site = site
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(MeritError, _failed)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    for part in (session, answers):
        app.include_router(part.router, prefix="/api")
    app.add_api_route("/", _page, include_in_schema=False)
    return app


async def _page() -> HTMLResponse:
    return HTMLResponse(shell(), headers={"Content-Security-Policy": f"{policy()}; frame-ancestors 'none'"})


async def _refused(_: Request, error: Exception) -> JsonReply:
    assert isinstance(error, Refused)
    return refusal(error.status, error.sentence, error.headers)


async def _failed(_: Request, error: Exception) -> JsonReply:
    return refusal(400 if isinstance(error, InputError) else 503, str(error))


async def _invalid(_: Request, error: Exception) -> JsonReply:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return refusal(422, f"{where}: {first['msg']}")


async def _http(_: Request, error: Exception) -> JsonReply:
    assert isinstance(error, HTTPException)
    return refusal(error.status_code, str(error.detail), error.headers)
