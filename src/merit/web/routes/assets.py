"""The libraries of the page, from the packages that carry them."""

from fastapi import APIRouter
from fastapi.responses import Response

from merit.web.page import library
from merit.web.replies import RefusedRequest

router = APIRouter(include_in_schema=False)
_A_DAY = "private, max-age=86400"  # the page names each by its hash, so another version is never taken for it


@router.get("/assets/{name}")
def get_library(name: str) -> Response:
    """One file of a library; its bytes are those that merit was tested with."""
    found = library(name)
    if found is None:
        raise RefusedRequest(404, "there is no such file")
    kind, content = found
    return Response(content, media_type=kind, headers={"Cache-Control": _A_DAY, "X-Content-Type-Options": "nosniff"})
