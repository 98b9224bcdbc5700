"""Who sends a request, and whether that person may do what it asks for."""

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer
from fastapi.security.base import SecurityBase

from merit.errors import MeritError
from merit.web.access_tokens import Right, Token
from merit.web.replies import RefusedRequest
from merit.web.site import Site

_BEARER: SecurityBase = HTTPBearer(auto_error=False, scheme_name="token", description="From `merit token add`.")
_COOKIE: SecurityBase = APIKeyCookie(
    name="merit", auto_error=False, scheme_name="session", description="From POST /api/session, for a browser."
)
_CHALLENGE = {"WWW-Authenticate": "Bearer"}


@dataclass(frozen=True, slots=True)
class Person:
    """The person who sends a request: the name under which everything is recorded, and their rights."""

    author: str
    may: frozenset[Right]


def site_of(request: Request) -> Site:
    """What the server serves."""
    site: Site = request.app.state.site
    return site


async def served(request: Request) -> Site:
    """The same, for a route; not in a thread of its own."""
    return site_of(request)


def cookie_name(site: Site) -> str:
    """A browser does not tell ports apart, so the name does; with TLS it promises that no other host can set it."""
    return "__Host-merit" if site.names.secure else f"merit-{site.names.port}"


def signed_in(request: Request, site: Site) -> Token | None:
    """The token that a request carries in its header or stands for by its cookie; a wrong header is refused."""
    header = request.headers.get("authorization")
    if header is not None:
        token = site.tokens.find_bearer(header)
        if token is None:
            raise wrong_token(request, site)
        return token
    cookie = request.cookies.get(cookie_name(site))
    return site.sessions.find(cookie) if cookie else None


def lacks_valid_token(request: Request, site: Site) -> bool:
    """Whether a token is needed and a request has no valid one; nothing is counted here."""
    try:
        if not site.needs_token:
            return False
        if (header := request.headers.get("authorization")) is not None:
            return site.tokens.find_bearer(header) is None
        cookie = request.cookies.get(cookie_name(site))
        return not cookie or site.sessions.find(cookie) is None
    except MeritError:
        return True  # the route says why


def wrong_token(request: Request, site: Site) -> RefusedRequest:
    """The refusal of a token; after many from one address, that it is too often. A right one is never kept out."""
    address = request.client.host if request.client else ""
    if wait := site.failures.wait_s(address):
        return _too_often(wait)
    return RefusedRequest(401, "this token is not valid here; it may have been revoked", _CHALLENGE)


async def person_or_none(request: Request) -> Person | None:
    """Who sends a request; None where a token is needed and none is given."""
    site = site_of(request)
    token = signed_in(request, site)
    if token is not None:
        found = Person(token.name, frozenset(token.may))
    elif site.needs_token:
        return None
    else:
        found = Person(site.author, frozenset(Right))
    take_place(request, site, found.author)
    return found


def take_place(request: Request, site: Site, author: str) -> None:
    """Count a request as this person's; refused where there are too many."""
    request.state.author = author
    if wait := site.requests.wait_s(author):
        raise _too_often(wait)
    leave = site.at_a_time.enter(author)
    if leave is None:
        raise RefusedRequest(429, "too many of your requests are under way; wait for them", {"Retry-After": "1"})
    request.state.leave = leave  # the gate calls it, once there is a response


def _too_often(wait: float) -> RefusedRequest:
    seconds = math.ceil(wait)
    return RefusedRequest(429, f"too many requests; wait {seconds} s, and go on", {"Retry-After": str(seconds)})


async def person(
    found: Annotated[Person | None, Depends(person_or_none)],
    _header: Annotated[object, Security(_BEARER)],  # these two are for the description of the API
    _cookie: Annotated[object, Security(_COOKIE)],
) -> Person:
    """Who sends a request; refused without a token where one is needed."""
    if found is None:
        raise RefusedRequest(401, "a token is needed; sign in with one", _CHALLENGE)
    return found


def allowed(right: Right) -> Callable[[Person], Awaitable[Person]]:
    """A person who has a right; refused otherwise."""

    async def check(found: Annotated[Person, Depends(person)]) -> Person:
        if right not in found.may:
            raise RefusedRequest(403, f"your token does not allow this; it needs the right {right.value!r}")
        return found

    return check


MaybePerson = Annotated[Person | None, Depends(person_or_none)]
Reader = Annotated[Person, Depends(person)]
Asking = Annotated[Person, Depends(allowed(Right.ASK))]
Judging = Annotated[Person, Depends(allowed(Right.CONFIRM))]
Curating = Annotated[Person, Depends(allowed(Right.CURATE))]
Served = Annotated[Site, Depends(served)]
