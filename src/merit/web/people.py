"""Who sends a request, and whether that person may do what it asks for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from merit.web.replies import Refused
from merit.web.site import Site
from merit.web.tokens import Right


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody, by the name under which everything is recorded, and their rights."""

    author: str
    may: frozenset[Right]


def site_of(request: Request) -> Site:
    """What the server serves."""
    site: Site = request.app.state.site
    return site


def person_or_none(request: Request) -> Person | None:
    """Who sends a request; None where a token is needed and none is given."""
    site, header = site_of(request), request.headers.get("authorization")
    if header is not None:
        scheme, _, text = header.partition(" ")
        token = site.tokens.find(text.strip()) if scheme.lower() == "bearer" else None
        if token is None:
            raise Refused(401, "this token is not valid here; it may have been revoked", {"WWW-Authenticate": "Bearer"})
        return Person(token.name, frozenset(token.may))
    return None if site.needs_token else Person(site.author, frozenset(Right))


def person(found: Annotated[Person | None, Depends(person_or_none)]) -> Person:
    """Who sends a request; refused without a token where one is needed."""
    if found is None:
        raise Refused(401, "a token is needed; sign in with one", {"WWW-Authenticate": "Bearer"})
    return found


def allowed(right: Right) -> Callable[[Person], Person]:
    """A person who has a right; refused otherwise."""

    def check(found: Annotated[Person, Depends(person)]) -> Person:
        if right not in found.may:
            raise Refused(403, f"your token does not allow this; it needs the right {right.value!r}")
        return found

    return check


Reader = Annotated[Person, Depends(person)]
Asking = Annotated[Person, Depends(allowed(Right.ASK))]
Judging = Annotated[Person, Depends(allowed(Right.CONFIRM))]
Curating = Annotated[Person, Depends(allowed(Right.CURATE))]
Served = Annotated[Site, Depends(site_of)]
