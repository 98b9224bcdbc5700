"""What a person said for themselves alone is shown to nobody else over the network, until somebody promotes it."""

import re

import pytest

from making.live import COUNT, AnsweringModel
from making.serving import Served, ServeShop
from merit.live.record.purging import Purge, purge_all
from merit.settings import MemorySettings
from merit.web.access_tokens import Right

QUESTION = "How many orders are there?"
SECRET = "SELECT count(*) FROM orders WHERE 'zebra' = 'zebra'"


class Office:
    """A server with three people: two who ask and judge, and one who looks after the memory."""

    def __init__(self, serve_shop: ServeShop) -> None:
        self.model = AnsweringModel(lambda prompt: SECRET if "zebra" in prompt else COUNT)
        memory = MemorySettings(scope="personal", team="sales")
        self.server: Served = serve_shop(self.model, {"memory": memory})
        add = self.server.site.tokens.add
        self.ada, self.bob = (add(name, [Right.ASK, Right.CONFIRM]) for name in ("ada", "bob"))
        self.cara = add("cara", list(Right))
        self.answer = self.ask(self.ada)
        path = f"/api/answers/{self.answer}/correct"
        self.entry = self.server.post(path, {"sql": SECRET}, token=self.ada).json["entries"][0]
        self.resting = self.ask(self.ada, "How many orders are there now?")

    def ask(self, token: str, question: str = QUESTION, **more: object) -> str:
        reply = self.server.post("/api/answers", {"question": question, **more}, token=token)
        assert reply.status == 200, reply.body
        return str(reply.json["id"])


@pytest.fixture
def office(serve_shop: ServeShop) -> Office:
    return Office(serve_shop)


def test_no_route_shows_it_to_another_person(office: Office) -> None:
    server = office.server
    paths = [
        path
        for path, methods in server.get("/openapi.json", token=office.bob).json["paths"].items()
        if "get" in methods
    ]
    assert len(paths) > 15
    for answer in (office.answer, office.resting):
        values = {"answer": answer, "entry": office.entry, "ticket": "0" * 16, "table": "orders", "name": "state"}
        for path in [
            *paths,
            "/api/memory?state=all&limit=500",
            "/api/memory?scope=personal",
            "/api/answers?words=zebra",
        ]:
            filled = re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], "x"), path)  # noqa: B023
            reply = server.get(filled, token=office.bob)
            assert b"zebra" not in reply.body, path
            assert reply.status < 500, path
    assert "zebra" in server.get(f"/api/answers/{office.answer}", token=office.ada).body.decode()
    assert "zebra" in server.get("/api/memory", token=office.ada).body.decode()
    assert server.get(f"/api/answers/{office.resting}", token=office.bob).status == 403
    assert server.get(f"/api/memory/{office.entry}", token=office.bob).status == 404


def test_no_question_of_another_person_is_shown_it(office: Office) -> None:
    office.model.prompts.clear()
    office.ask(office.bob)
    stream = office.server.post(
        "/api/answers", {"question": "How many orders?"}, token=office.bob, headers={"Accept": "text/event-stream"}
    )
    assert b"zebra" not in stream.body
    for answer in (office.answer, office.resting):
        reply = office.server.post("/api/answers", {"question": "And now?", "earlier": [answer]}, token=office.bob)
        assert (reply.status, "rests on what is for other people alone" in reply.json["error"]) == (403, True)
    assert office.model.prompts
    assert not any("zebra" in prompt for prompt in office.model.prompts)


@pytest.mark.parametrize("act", ["confirm", "reject", "correct", "withdraw", "check-sql", "without-memory"])
def test_nothing_can_be_said_about_what_rests_on_it(office: Office, act: str) -> None:
    """Otherwise a person could make it everyone's without having seen it."""
    body = {"sql": COUNT} if act in ("correct", "check-sql") else None
    for answer in (office.answer, office.resting):
        reply = office.server.post(f"/api/answers/{answer}/{act}", body, token=office.bob)
        assert reply.status in (400, 403, 409), reply.body
        assert b"zebra" not in reply.body
    assert len(office.server.get("/api/memory", token=office.bob).json["entries"]) == 0


def test_who_curates_reviews_and_promotes_it(office: Office) -> None:
    server, path = office.server, f"/api/memory/{office.entry}/promote"
    waiting = server.get("/api/memory/review", token=office.cara).json["waiting"]
    assert [item["id"] for item in waiting if item["scope"] == "personal:ada"] == [office.entry]
    assert not [item for item in server.get("/api/memory/review", token=office.bob).json["waiting"] if item["scope"]]
    assert server.post(path, token=office.bob).status == 403
    promoted = server.post(path, token=office.cara).json
    assert promoted["promoted"] == office.entry
    shown = server.get(f"/api/memory/{promoted['entries'][0]}", token=office.bob).json
    assert (shown["scope"], shown["author"], shown["sql"]) == ("team:sales", "ada", SECRET)
    assert (
        promoted["entries"][0] in server.post("/api/answers", {"question": QUESTION}, token=office.bob).json["recalled"]
    )
    assert server.post(path, token=office.cara).status == 409
    withdrawn = server.post(f"/api/answers/{office.answer}/withdraw", token=office.ada).json
    assert set(withdrawn["entries"]) >= {office.entry, *promoted["entries"]}
    assert server.post("/api/answers", {"question": QUESTION}, token=office.bob).json["recalled"] == []


def test_it_stays_a_persons_when_a_curator_edits_it(office: Office) -> None:
    body = {"question": QUESTION, "sql": SECRET.replace("zebra", "okapi")}
    edited = office.server.ask("PUT", f"/api/memory/{office.entry}", body, token=office.cara).json
    assert edited["scope"] == "personal:ada"
    assert b"okapi" not in office.server.get("/api/memory", token=office.bob).body


def test_an_answer_whose_prompt_told_a_personal_rejection_is_as_personal(office: Office) -> None:
    """The reason stands in the prompt, and so the statement may say it to others."""
    server, question = office.server, "How many orders are open?"
    wrong = office.ask(office.bob, question)
    reason = {"reason": "zebra is secret"}
    assert server.post(f"/api/answers/{wrong}/reject", reason, token=office.bob).status == 200
    again = office.ask(office.bob, question)
    assert "zebra" in server.get(f"/api/answers/{again}", token=office.bob).json["sql"]
    for path in (f"/api/answers/{again}", f"/api/answers/{again}/rows"):
        assert server.get(path, token=office.ada).status == 403
    answers = server.get("/api/answers?limit=500", token=office.ada).json["answers"]
    assert again not in [answer["id"] for answer in answers]
    reply = server.post("/api/answers", {"question": "And now?", "earlier": [again]}, token=office.ada)
    assert reply.status == 403


def test_an_answer_stays_personal_where_the_entry_that_it_rests_on_was_purged(
    office: Office, serve_shop: ServeShop
) -> None:
    answer = f"/api/answers/{office.resting}"
    shown = office.server.get(answer, token=office.ada).json["recalled"]
    purge_all(office.server.site.folder, Purge(entries=tuple(shown)))
    server = serve_shop(office.model, {"memory": MemorySettings(scope="personal")})
    assert [server.get(answer, token=token).status for token in (office.ada, office.bob)] == [200, 403]


def test_the_uses_of_an_entry_name_no_answer_that_is_hidden(office: Office) -> None:
    promoted = office.server.post(f"/api/memory/{office.entry}/promote", token=office.cara).json["entries"][0]
    use = office.ask(office.bob, "How many orders are there today?")

    def uses(token: str) -> list[str]:
        listed = office.server.get(f"/api/memory/{promoted}", token=token).json["uses"]
        return [item["answer"] for item in listed]

    assert use in uses(office.ada)
    assert office.server.post(f"/api/answers/{use}/correct", {"sql": COUNT}, token=office.bob).status == 200
    assert office.server.get(f"/api/answers/{use}", token=office.ada).status == 403
    assert use not in uses(office.ada)
    assert use in uses(office.bob)
