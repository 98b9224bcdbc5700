"""Who is signed in, and what the server is about."""

from typing import Any

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field

from merit import __version__
from merit.web.access_tokens import Right
from merit.web.authentication import MaybePerson, Person, Served, cookie_name, site_of, take_place, wrong_token
from merit.web.replies import JsonReply, JsonRouter
from merit.web.sessions import LASTS_S
from merit.web.site import Site

router = JsonRouter(prefix="/api", tags=["session"])


class SignIn(BaseModel):
    """A token, to be exchanged for a cookie."""

    model_config = ConfigDict(extra="forbid", strict=True)

    token: str = Field(min_length=1, max_length=200)


@router.get("/session")
def get_session(site: Served, found: MaybePerson) -> dict[str, Any]:
    """Who is signed in, and what the server is about; without a token, only that one is needed."""
    return _record(site, found)


@router.post("/session")
def sign_in(given: SignIn, request: Request) -> JsonReply:
    """Sign in with a token: a browser gets a cookie that no script can read."""
    site = site_of(request)
    token = site.tokens.find(given.token)
    if token is None:
        raise wrong_token(request, site)
    take_place(request, site, token.name)
    reply = JsonReply(_record(site, Person(token.name, frozenset(token.may))))
    reply.set_cookie(
        cookie_name(site),
        site.sessions.begin(token),
        max_age=LASTS_S,
        path="/",
        secure=site.names.secure,
        httponly=True,
        samesite="strict",
    )
    return reply


@router.delete("/session")
def sign_out(request: Request) -> JsonReply:
    """Sign out: the cookie is worth nothing any more."""
    site = site_of(request)
    if cookie := request.cookies.get(cookie_name(site)):
        site.sessions.end(cookie)
    reply = JsonReply(_record(site, None if site.needs_token else Person(site.author, frozenset(Right))))
    reply.delete_cookie(cookie_name(site), path="/", secure=site.names.secure, httponly=True, samesite="strict")
    return reply


def _record(site: Site, found: Person | None) -> dict[str, Any]:
    return {
        "signed_in": found is not None,
        "author": found.author if found else None,
        "may": sorted(found.may) if found else [],
        "needs_token": site.needs_token,
        "merit": __version__,
        **(_about(site) if found is not None else {}),
    }


def _about(site: Site) -> dict[str, Any]:
    runs = {"runs": site.runs is not None}
    if site.agent is None:
        return {"database": None, **runs}
    return {**site.agent.parts.about(), "memory": site.memory, **runs}
