"""Every route: without a token, with a wrong one, with one that is too weak, and from another site's page."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from making.serving import Served, ServeShop, runs_in
from merit.web.access_tokens import Right
from merit.web.app import make_app

OPEN = {
    ("GET", "/api/session"),
    ("POST", "/api/session"),
    ("DELETE", "/api/session"),
    ("GET", "/health/live"),
    ("GET", "/health/ready"),
    ("GET", "/"),  # the page, which holds nothing of a database
    ("GET", "/assets/{name}"),  # public libraries
    ("GET", "/openapi.json"),
    ("HEAD", "/openapi.json"),
}
TO_THE_DOOR = ("GET", "/runs/")  # who is not signed in is sent to the page
NEEDS = {
    ("POST", "/api/answers"): Right.ASK,
    ("DELETE", "/api/answers/running/{ticket}"): Right.ASK,
    ("POST", "/api/answers/{answer}/without-memory"): Right.ASK,
    ("POST", "/api/answers/{answer}/confirm"): Right.CONFIRM,
    ("POST", "/api/answers/{answer}/reject"): Right.CONFIRM,
    ("POST", "/api/answers/{answer}/correct"): Right.CONFIRM,
    ("POST", "/api/answers/{answer}/withdraw"): Right.CONFIRM,
    ("POST", "/api/answers/{answer}/check-sql"): Right.CONFIRM,
    ("DELETE", "/api/memory/{entry}"): Right.CURATE,
    ("PUT", "/api/memory/{entry}"): Right.CURATE,
    ("POST", "/api/memory/{entry}/restore"): Right.CURATE,
    ("POST", "/api/memory/{entry}/confirm"): Right.CURATE,
    ("POST", "/api/memory/{entry}/promote"): Right.CURATE,
    ("POST", "/api/memory/import"): Right.CURATE,
    ("POST", "/api/proof"): Right.CURATE,
}  # fmt: skip
BODIES: dict[str, Any] = {
    "/api/answers": {"question": "How many?"},
    "/api/answers/{answer}/correct": {"sql": "SELECT 1"},
    "/api/answers/{answer}/check-sql": {"sql": "SELECT 1"},
    "/api/memory/{entry}": {"question": "q", "sql": "SELECT 1"},
    "/api/memory/import": b"question,sql\nq,SELECT 1\n",
    "/api/session": {"token": "wrong"},
}


@pytest.fixture
def server(serve_shop: ServeShop, tmp_path: Path) -> Served:
    server = serve_shop(runs=runs_in(tmp_path))
    server.site.tokens.add("somebody", [])
    return server


def operations(server: Served) -> list[tuple[str, str]]:
    """Every method at every path, also of what the description of the API leaves out."""
    routes = routes_in(make_app(server.site))
    return sorted((method, re.sub(r":\w+}", "}", route.path)) for route in routes for method in route.methods)


def routes_in(part: Any) -> Iterator[Any]:
    for route in part.routes:
        included = getattr(route, "original_router", None)  # FastAPI keeps what was included as one route
        yield from [route] if included is None else routes_in(included)


def filled(path: str) -> str:
    values = {
        "answer": "0123456789ab",
        "entry": "pre-0123456789abcdef",
        "ticket": "0" * 16,
        "table": "orders",
        "name": "state",
    }
    return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], path)


def send(server: Served, method: str, path: str, **options: Any) -> int:
    body = BODIES.get(path) if method in ("POST", "PUT") else None
    return server.ask(method, filled(path), body, **options).status


def test_every_route_is_known_here(server: Served) -> None:
    found = set(operations(server))
    assert set(NEEDS) | OPEN | {TO_THE_DOOR} <= found
    described = make_app(server.site).openapi()["paths"]
    assert {(method.upper(), path) for path, methods in described.items() for method in methods} < found
    writes = {one for one in found if one[0] not in ("GET", "HEAD")} - OPEN
    assert writes == set(NEEDS)
    assert len(found) > 30


def test_without_a_token_nothing_but_the_door_is_open(server: Served) -> None:
    statuses = {one: send(server, *one) for one in operations(server)}
    assert statuses.pop(TO_THE_DOOR) == 303
    assert {one for one, status in statuses.items() if status != 401} == OPEN - {("POST", "/api/session")}
    assert statuses["POST", "/api/session"] == 401  # since its token is wrong


def test_a_wrong_token_or_cookie_is_worth_nothing(server: Served) -> None:
    cookie = {"Cookie": f"merit-{server.port}=wrong"}
    for one in operations(server):
        assert send(server, *one, token="merit_wrong") in (401, 429) or one in OPEN
        assert send(server, *one, headers=cookie) == (303 if one == TO_THE_DOOR else 401) or one in OPEN
        assert send(server, *one, headers={"Authorization": "Basic eDp5"}) in (401, 429) or one in OPEN


@pytest.mark.parametrize("right", list(Right))
def test_a_weak_token_does_only_what_it_may(server: Served, right: Right) -> None:
    others = server.site.tokens.add("weak", [one for one in Right if one is not right])
    own = server.site.tokens.add("own", [right])
    for one in operations(server):
        if NEEDS.get(one) is right:
            assert send(server, *one, token=others) == 403, one
            assert send(server, *one, token=own) not in (401, 403), one
        elif one not in NEEDS and one not in OPEN:
            assert send(server, *one, token=own) not in (401, 403), one


def test_a_page_of_another_site_writes_nothing(serve_shop: ServeShop) -> None:
    server = serve_shop()  # without tokens: whoever sends a request may do everything
    here = f"http://127.0.0.1:{server.port}"
    for one in sorted(NEEDS):
        for headers in (
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://127.0.0.1:1"},  # another server on this machine
            {"Origin": here.replace("http", "https")},
            {"Origin": f"{here}.evil.example"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Origin": here, "Sec-Fetch-Site": "cross-site"},
        ):
            assert send(server, *one, headers=headers) == 403, (one, headers)
        own = {"Origin": here, "Sec-Fetch-Site": "same-origin"}
        assert send(server, *one, headers=own) != 403, one
    assert server.get("/api/answers", headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    assert server.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status == 200  # a link to the page


def test_behind_a_proxy_its_origin_and_name_are_the_public_ones(serve_shop: ServeShop) -> None:
    server = serve_shop(public_url="https://merit.example")
    token = server.site.tokens.add("ann", list(Right))
    good = {"Host": "merit.example", "Origin": "https://merit.example"}
    assert server.post("/api/answers", {"question": "How many?"}, token=token, headers=good).status == 200
    for wrong in (
        {**good, "Origin": "http://evil.example"},
        {**good, "Origin": "https://merit.example.evil.example"},
        {**good, "Origin": "http://merit.example:80"},
    ):
        assert server.post("/api/answers", {"question": "?"}, token=token, headers=wrong).status == 403
    assert server.get("/api/session", headers={"Host": "other.example"}).status == 421
    forwarded = {"Host": "evil.example", "X-Forwarded-Host": "merit.example", "Forwarded": "host=merit.example"}
    assert server.get("/api/session", headers=forwarded).status == 421
