"""Scopes over the network: what is for one person alone reaches nobody else, except those who curate."""

import pytest

from making.live import PAID
from making.serving import Served, ServeShop
from merit.settings import MemorySettings
from merit.web.access_tokens import Right


@pytest.fixture
def personal(serve_shop: ServeShop) -> tuple[Served, str, str, str]:
    """A shop in which what people say is theirs alone, with two people and a curator."""
    server = serve_shop(None, {"memory": MemorySettings(scope="personal")})
    both = [Right.ASK, Right.CONFIRM]
    ann, bob = (server.site.tokens.add(name, both) for name in ("ann", "bob"))
    return server, ann, bob, server.site.tokens.add("eve", [*both, Right.CURATE])


def test_what_is_personal_is_seen_by_its_author_and_curators_alone(personal: tuple[Served, str, str, str]) -> None:
    server, ann, bob, curator = personal
    question = {"question": "How many orders are paid?"}
    answer = server.post("/api/answers", question, token=ann).json["id"]
    entry = server.post(f"/api/answers/{answer}/confirm", token=ann).json["entries"][0]
    resting = server.post("/api/answers", question, token=ann).json
    assert resting["recalled"] == [entry]
    assert server.post("/api/answers", question, token=bob).json["recalled"] == []

    def entries(token: str) -> list[str]:
        return [one["id"] for one in server.get("/api/memory", token=token).json["entries"]]

    assert (entries(ann), entries(bob), entries(curator)) == ([entry], [], [entry])
    assert server.get(f"/api/memory/{entry}", token=bob).status == 404
    assert server.get(f"/api/memory/{entry}", token=ann).json["scope"] == "personal:ann"
    for path in ("", "/rows", "/rows.csv", "/rows.parquet"):
        assert server.get(f"/api/answers/{resting['id']}{path}", token=bob).status == 403
        assert server.get(f"/api/answers/{resting['id']}{path}", token=ann).status == 200
    seen = [one["id"] for one in server.get("/api/answers", token=bob).json["answers"]]
    assert resting["id"] not in seen
    assert PAID not in server.get("/api/memory/export?format=jsonl", token=bob).body.decode()
    assert server.get("/api/schema", token=bob).json["tables"][0]["entries"] == 0
    assert server.get("/api/schema/orders", token=bob).json["used_by_entries"] == []
    for word in ("confirm", "reject", "withdraw"):
        assert server.post(f"/api/answers/{resting['id']}/{word}", token=bob).status == 403
    follow_up = {"question": "and open?", "earlier": [resting["id"]]}
    assert server.post("/api/answers", follow_up, token=bob).status == 403
    assert server.post(f"/api/answers/{resting['id']}/without-memory", token=bob).status == 403
    assert server.post(f"/api/answers/{resting['id']}/check-sql", {"sql": PAID}, token=bob).status == 403


def test_a_curator_promotes_it(personal: tuple[Served, str, str, str]) -> None:
    server, ann, bob, curator = personal
    question = {"question": "How many orders are paid?"}
    answer = server.post("/api/answers", question, token=ann).json["id"]
    entry = server.post(f"/api/answers/{answer}/confirm", token=ann).json["entries"][0]
    assert server.post(f"/api/memory/{entry}/promote", token=ann).status == 403
    (new,) = server.post(f"/api/memory/{entry}/promote", token=curator).json["entries"]
    assert server.post("/api/answers", question, token=bob).json["recalled"] == [new]
    assert server.post(f"/api/memory/{entry}/promote", token=curator).status == 409
