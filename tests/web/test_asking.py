"""Asking over the network: events as they happen, cancelling, limits, and connections that are lost."""

import asyncio
import http.client
import json
import socket
import threading
import time
from typing import Any

import pytest

from making.clock import COMES_S, STALL_S
from making.live import COUNT, PAID, AnsweringModel, ToldModel
from making.serving import Served, ServeShop, until
from merit.settings import AskingSettings, ServeSettings

STREAM = {"Accept": "text/event-stream"}
ASK = {"question": "How many orders are paid?"}


def ask(server: Served, question: str = "How many orders are paid?", **options: Any) -> Any:
    found = server.post("/api/answers", {"question": question}, **options)
    assert found.status == 200, found.body
    return found.json


def test_events_come_in_their_order_and_say_what_happened(shop: Served) -> None:
    found = shop.post("/api/answers", ASK, headers=STREAM)
    assert found.headers["content-type"].startswith("text/event-stream")
    names = [name for name, _ in found.events]
    assert names[:3] == ["started", "asking", "candidate"]
    assert names[-1] == "answer"
    events = dict(found.events)
    assert events["started"]["tables"] == {"orders": ["id", "state", "total"]}
    assert events["started"]["question"] == ASK["question"]
    assert (events["candidate"]["sql"], events["candidate"]["rows"], events["candidate"]["error"]) == (PAID, 1, None)
    assert events["candidate"]["votes"]["agreeing"] == events["candidate"]["number"]
    answer = events["answer"]
    assert (answer["sql"], answer["rows"], answer["row_count"]) == (PAID, [[2]], 1)
    assert answer["id"] == events["started"]["answer"]


def test_a_repaired_candidate_says_what_was_changed(serve_shop: ServeShop) -> None:
    server = serve_shop(ToldModel("SELECT count(*) FROM order", COUNT))
    first = next(data for name, data in server.post("/api/answers", ASK, headers=STREAM).events if name == "candidate")
    assert first["grounded_from"] == "SELECT count(*) FROM order"
    assert first["changes"][0]["rule"] == "table_name"
    assert "orders" in first["changes"][0]["sentence"]


def test_what_is_recalled_is_told_with_its_score(shop: Served) -> None:
    answer = ask(shop)
    assert shop.post(f"/api/answers/{answer['id']}/confirm").status == 200
    started = dict(shop.post("/api/answers", ASK, headers=STREAM).events)["started"]
    (recalled,) = started["recalled"]
    assert (recalled["sql"], recalled["grade"], recalled["author"], recalled["kind"]) == (
        PAID,
        "confirmed",
        "me",
        "precedent",
    )
    assert recalled["score"] > 0
    assert started["position"] == 1


def test_without_events_the_answer_alone_comes_and_a_failure_is_a_sentence(shop: Served) -> None:
    assert ask(shop)["status"] == "answered"
    assert "traceback" not in shop.post("/api/answers", {"question": " "}).json["error"]
    assert shop.post("/api/answers", {"question": " "}).status == 400
    assert shop.post("/api/answers", {"question": "x", "earlier": ["abcabcabcabc"]}).status == 404


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"question": 1}', b'{"question": "x", "rows": true}', b'{"question": null}', b"\xff", b'"x"'],
)
def test_a_body_that_is_no_question_is_refused_in_a_sentence(shop: Served, body: bytes) -> None:
    found = shop.post("/api/answers", body, headers={"Content-Type": "application/json"})
    assert found.status in (400, 422)
    assert set(found.json) == {"error"}


def test_what_is_wrong_with_a_request_is_said_in_words(shop: Served) -> None:
    found = shop.post("/api/answers", b"{", headers={"Content-Type": "application/json"})
    assert found.json["error"] == "the body is not valid JSON"
    found = shop.post("/api/answers/zzz/confirm")
    assert found.json["error"] == "answer: this is not an id; give one as the API returned it"


def test_without_memory_nothing_is_in_the_history(shop: Served) -> None:
    assert shop.post("/api/answers", {**ASK, "memory": False}).status == 200
    assert shop.get("/api/answers").json == {"answers": [], "next": None}


def test_a_comparison_shows_rows_of_both(shop: Served) -> None:
    answer = ask(shop)
    events = shop.post(f"/api/answers/{answer['id']}/without-memory", headers=STREAM).events
    name, found = events[-1]
    assert name == "comparison"
    assert found["same_rows"] is True
    assert found["with_memory"]["result"]["rows"] == found["without_memory"]["result"]["rows"] == [[2]]
    assert shop.post("/api/answers/abcabcabcabc/without-memory").status == 404


def begin(
    server: Served, headers: dict[str, str] | None = None
) -> tuple[http.client.HTTPConnection, Any, dict[str, Any]]:
    """A question under way, and its first event."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=COMES_S)
    sent = {"Content-Type": "application/json", **STREAM, **(headers or {})}
    connection.request("POST", "/api/answers", json.dumps(ASK), sent)
    response = connection.getresponse()
    assert response.readline() == b"event: started\n"
    return connection, response, json.loads(response.readline().removeprefix(b"data: "))


def test_a_question_under_way_can_be_cancelled(serve_shop: ServeShop) -> None:
    server = serve_shop(ToldModel(300.0))
    connection, response, started = begin(server)
    assert server.ask("DELETE", f"/api/answers/running/{started['ticket']}").json == {"cancelled": started["ticket"]}
    assert response.read().decode().endswith("event: cancelled\ndata: {}\n\n")
    connection.close()
    assert server.ask("DELETE", f"/api/answers/running/{started['ticket']}").status == 404
    until(lambda: len(server.site.asks) == 0)


def test_another_person_cannot_cancel_it(serve_shop: ServeShop) -> None:
    server = serve_shop(ToldModel(300.0, COUNT))
    one, other = (server.site.tokens.add(name, ["ask"]) for name in ("ann", "bob"))  # type: ignore[list-item]
    connection, _, started = begin(server, {"Authorization": f"Bearer {one}"})
    path = f"/api/answers/running/{started['ticket']}"
    assert server.ask("DELETE", path, token=other).status == 404
    assert server.ask("DELETE", path, token=one).status == 200
    connection.close()


def test_a_lost_connection_loses_no_answer(serve_shop: ServeShop) -> None:
    release = threading.Event()

    def slow(_: str) -> str:
        release.wait(COMES_S)
        return COUNT

    server = serve_shop(SlowModel(slow))
    connection, _, started = begin(server)
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset, as of a network
    connection.close()
    release.set()
    until(lambda: len(server.site.asks) == 0)
    assert server.get(f"/api/answers/{started['answer']}").json["sql"] == COUNT


class SlowModel(AnsweringModel):
    """Answers in another thread, so that the server goes on meanwhile."""

    async def complete(self, prompt: str, sampling: Any) -> Any:
        await asyncio.to_thread(self._answer, prompt)
        return await super().complete(prompt, sampling)


def test_a_person_asks_only_so_much_at_a_time(serve_shop: ServeShop) -> None:
    server = serve_shop(ToldModel(300.0), settings=ServeSettings(asks_each=2, asks=3))
    ann, bob = (server.site.tokens.add(name, ["ask"]) for name in ("ann", "bob"))  # type: ignore[list-item]
    going = [begin(server, {"Authorization": f"Bearer {ann}"}) for _ in range(2)]
    refused = server.post("/api/answers", ASK, token=ann)
    assert (refused.status, refused.headers["retry-after"]) == (429, "2")
    assert "you ask 2 questions" in refused.json["error"]
    going.append(begin(server, {"Authorization": f"Bearer {bob}"}))
    refused = server.post("/api/answers", ASK, token=bob)
    assert refused.status == 429
    assert "all people together" in refused.json["error"]
    for connection, _, started in going:
        token = ann if started in [one for _, _, one in going[:2]] else bob
        server.ask("DELETE", f"/api/answers/running/{started['ticket']}", token=token)
        connection.close()


@pytest.mark.timed
def test_a_connection_that_waits_hears_of_it(serve_shop: ServeShop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("merit.web.running_asks._KEEP_ALIVE_S", 0.05)
    server = serve_shop(ToldModel(0.5, COUNT), {"asking": AskingSettings(candidates=1)})
    assert b": waiting\n\n" in server.post("/api/answers", ASK, headers=STREAM).body


def test_stopping_finishes_what_ends_in_time_and_tells_the_rest(serve_shop: ServeShop) -> None:
    server = serve_shop(ToldModel(300.0), settings=ServeSettings(stop_seconds=1))
    connection, response, _ = begin(server)
    found: list[bytes] = []
    reading = threading.Thread(target=lambda: found.append(response.read()))
    reading.start()
    started = time.monotonic()
    server.stop()
    reading.join(COMES_S)
    connection.close()
    assert found[0].endswith(b"event: cancelled\ndata: {}\n\n")
    assert time.monotonic() - started < 8 + STALL_S


def test_stopping_waits_for_an_answer(serve_shop: ServeShop) -> None:
    server = serve_shop(SlowModel(lambda _: time.sleep(0.3) or COUNT), settings=ServeSettings(stop_seconds=60))  # type: ignore[func-returns-value]
    connection, response, _ = begin(server)
    found: list[bytes] = []
    reading = threading.Thread(target=lambda: found.append(response.read()))
    reading.start()
    server.stop()
    reading.join(COMES_S)
    connection.close()
    assert b"event: answer\n" in found[0]
