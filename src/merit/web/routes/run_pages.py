"""The pages of run folders, which `merit view` shows: the report's page over runs that may go on."""

from typing import Annotated

from fastapi import Path, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from merit.report.page.followed_runs import FollowedRuns
from merit.report.page.shell import policy, shell
from merit.web.authentication import MaybePerson, Reader, Served
from merit.web.replies import JsonRouter, RefusedRequest
from merit.web.site import Site

router = JsonRouter(tags=["runs"])


@router.get("/runs/", response_class=HTMLResponse, include_in_schema=False)
def page(site: Served, found: MaybePerson) -> Response:
    """The page; a browser that is not signed in is sent to the sign-in page."""
    runs = _runs(site)
    if found is None:
        return RedirectResponse("/", 303)
    text = "".join(shell(f"merit · {runs.folder.name}", live=True, asks=site.agent is not None))
    return HTMLResponse(
        text.encode("utf-8", "replace"),
        headers={"Content-Security-Policy": f"{policy(True)}; frame-ancestors 'none'"},
    )


@router.get("/runs/data/{name:path}", response_class=Response)
def data(
    name: Annotated[str, Path(max_length=1000)],
    site: Served,
    _: Reader,
    start: Annotated[int, Query(alias="from", ge=0, lt=10**9)] = 0,
) -> Response:
    """A part of the data of the runs' page."""
    content = _runs(site).answer(name, start)
    if content is None:
        raise RefusedRequest(404, "there is nothing here")
    return Response(content.encode("utf-8", "replace"), media_type="application/json")


def _runs(site: Site) -> FollowedRuns:
    if site.runs is None:
        raise RefusedRequest(404, "this server shows no runs; start it with --runs FOLDER")
    return site.runs
