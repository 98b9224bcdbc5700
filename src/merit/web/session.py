"""Who is signed in, and what the server is about."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends

from merit import __version__
from merit.web.people import Person, Served, person_or_none
from merit.web.site import Site

router = APIRouter()


@router.get("/session")
def get_session(site: Served, found: Annotated[Person | None, Depends(person_or_none)]) -> dict[str, Any]:
    """Who is signed in, and what the server is about; without a token, only that one is needed."""
    about = _about(site) if found is not None else {}
    return {
        "signed_in": found is not None,
        "author": found.author if found else None,
        "may": sorted(found.may) if found else [],
        "needs_token": site.needs_token,
        "merit": __version__,
        **about,
    }


def _about(site: Site) -> dict[str, Any]:
    runs = {"runs": site.runs is not None}
    if site.agent is None:
        return {"database": None, **runs}
    return {**site.agent.about(), "memory": site.memory, **runs}
