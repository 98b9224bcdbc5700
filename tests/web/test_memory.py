"""The memory over the network: looked through, changed by hand under an author, imported, exported; and tables."""

import io
import subprocess
import sys
import zipfile
from typing import Any

import pytest

from making.live import COUNT, PAID
from making.serving import Served, ServeShop, until
from merit.errors import InputError
from merit.memory import Grade
from merit.settings import AskingSettings

PAIRS = b"question,sql\nHow many orders?,SELECT count(*) FROM orders\nWhich are open?,SELECT id FROM orders WHERE state = 'open'\nBroken?,SELECT x FROM nowhere\n"


def confirmed(server: Served, question: str = "How many orders are paid?") -> str:
    answer = server.post("/api/answers", {"question": question}).json["id"]
    return str(server.post(f"/api/answers/{answer}/confirm").json["entries"][0])


def entries(server: Served, query: str = "") -> list[str]:
    return [one["id"] for one in server.get(f"/api/memory?{query}").json["entries"]]


def test_entries_are_searched_by_what_they_are(shop: Served) -> None:
    paid = confirmed(shop)
    count = confirmed(shop, "How many are there in all?")
    assert entries(shop) == [count, paid]
    assert entries(shop, "words=paid") == entries(shop, "words=STATE") == [paid]
    assert entries(shop, "kind=precedent&grade=confirmed&author=me&database=shop") == [count, paid]
    for nothing in (
        "kind=negative",
        "grade=tested",
        "author=bob",
        "database=other",
        "state=stale",
        "state=retracted",
        "scope=x",
    ):
        assert entries(shop, nothing) == []
    first = shop.get("/api/memory?limit=1").json
    assert (first["next"], entries(shop, f"limit=1&before={first['next']}")) == (count, [paid])


def test_retracting_shows_its_consequences_and_can_be_taken_back(shop: Served) -> None:
    entry = confirmed(shop)
    later = shop.post("/api/answers", {"question": "How many orders are paid?"}).json
    assert later["recalled"] == [entry]
    path = f"/api/memory/{entry}"
    assert [use["answer"] for use in shop.get(path).json["uses"]] == [later["id"]]
    dry = shop.ask("DELETE", f"{path}?dry_run=true").json
    assert (dry["retracted"], [use["answer"] for use in dry["uses"]]) == (False, [later["id"]])
    assert entries(shop) == [entry]
    assert shop.ask("DELETE", f"{path}?reason=refunds").json["retracted"] is True
    assert entries(shop) == []
    assert shop.get(path).json["deleted"] == "retracted by me: refunds"
    assert shop.ask("DELETE", path).status == 409
    assert shop.post("/api/answers", {"question": "How many orders are paid?"}).json["recalled"] == []
    assert shop.post(f"{path}/restore").json["state"] == "live"
    assert shop.post(f"{path}/restore").status == 409
    assert entries(shop) == [entry]


def test_an_edit_is_executed_confirmed_by_its_author_and_takes_the_old_ones_place(shop: Served) -> None:
    entry = confirmed(shop)
    path = f"/api/memory/{entry}"
    wrong = shop.ask("PUT", path, {"question": "q", "sql": "SELECT x FROM nowhere"})
    assert (wrong.status, "does not run" in wrong.json["error"]) == (400, True)
    assert shop.ask("PUT", path, {"question": "How many orders are paid?", "sql": PAID}).status == 409
    new = shop.ask("PUT", path, {"question": "How many orders were paid?", "sql": COUNT}).json
    assert (new["sql"], new["grade"], new["author"]) == (COUNT, "confirmed", "me")
    assert entries(shop) == [new["id"]]
    assert shop.get(path).json["deleted"] == f"edited by me: as {new['id']}"
    assert shop.ask("PUT", path, {"question": "q", "sql": COUNT}).status == 409  # it is retracted
    assert shop.post("/api/answers", {"question": "How many orders were paid?"}).json["recalled"] == [new["id"]]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("entry", ["pre-0000", "..%2fx", "review%2f..", "x", "%00", "pre-" + "0" * 40])
def test_an_id_that_names_nothing_is_not_found(shop: Served, method: str, entry: str) -> None:
    assert shop.ask(method, f"/api/memory/{entry}").status in (404, 422)


def test_a_file_is_imported_reviewed_and_confirmed(shop: Served) -> None:
    dry = shop.post("/api/memory/import?dry_run=true&name=pairs.csv", PAIRS).json
    assert (len(dry["imported"]), len(dry["left_out"]), dry["format"]) == (2, 1, "csv")
    assert entries(shop, "state=all") == []
    found = shop.post("/api/memory/import?format=csv&name=../../pairs.csv", PAIRS).json
    assert len(found["imported"]) == 2
    item = shop.get(f"/api/memory/{found['imported'][0]}").json
    assert (item["grade"], item["author"], item["provenance"]["episode"]) == ("executed", "me", "import:me:pairs.csv")
    waiting = shop.get("/api/memory/review").json
    assert (waiting["count"], {one["is_entry"] for one in waiting["waiting"]}) == (2, {True})
    new = shop.post(f"/api/memory/{found['imported'][0]}/confirm").json
    assert (new["grade"], new["author"]) == ("confirmed", "me")
    assert shop.get("/api/memory/review").json["count"] == 1
    assert shop.post(f"/api/memory/{new['id']}/confirm").status == 409


@pytest.mark.parametrize(
    ("body", "query"),
    [(b"", ""), (b"\xff\xfe", ""), (b"{", ""), (b"x", "?grade=tested")],
)
def test_a_file_that_has_no_pairs_is_said_without_a_path(shop: Served, body: bytes, query: str) -> None:
    found = shop.post(f"/api/memory/import{query}", body)
    assert found.status in (400, 422)
    assert "/tmp" not in found.json["error"]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "vanna", "wren", "cortex", "dbt"])
def test_what_is_exported_can_be_imported(shop: Served, kind: str) -> None:
    confirmed(shop)
    found = shop.get(f"/api/memory/export?format={kind}")
    assert found.headers["content-disposition"].startswith('attachment; filename="merit-')
    if kind in ("wren", "dbt"):
        assert zipfile.ZipFile(io.BytesIO(found.body)).testzip() is None
    else:
        again = shop.post(f"/api/memory/import?format={kind}&dry_run=true", found.body).json
        assert (again["known"], again["left_out"]) == (1, [])


def test_conflicts_come_first_in_a_review(shop: Served) -> None:
    confirmed(shop, "How many orders are paid?")
    other = b"question,sql\nHow many orders are paid?,SELECT 7\n"
    shop.post("/api/memory/import?grade=confirmed", other)
    (conflict,) = shop.get("/api/memory/conflicts").json["contradictions"]
    assert {one["sql"] for one in conflict["answers"]} == {PAID, "SELECT 7"}
    assert shop.get("/api/memory/review").json["contradictions"] == [conflict]


def test_tables_say_what_is_known_of_them(shop: Served) -> None:
    entry = confirmed(shop)
    (table,) = shop.get("/api/schema").json["tables"]
    assert (table["name"], table["confirmed"], table["entries"]) == ("orders", 1, 1)
    found = shop.get("/api/schema/Orders").json
    assert [column["examples"] for column in found["columns"]][1] == ["paid", "open"]
    assert [one["id"] for one in found["used_by_entries"]] == [entry]
    assert len(found["used_by_answers"]) == 1
    for name in ("nowhere", "..%2f..", "x" * 301, "%00"):
        assert shop.get(f"/api/schema/{name}").status in (404, 422)


def test_without_rows_no_example_is_shown(serve_shop: ServeShop, tmp_path: Any) -> None:
    from merit.settings import DatabaseSettings

    settings = DatabaseSettings("shop", f"sqlite:///{tmp_path / 'shop.sqlite'}", rows="never")
    server = serve_shop(None, {"database": settings})
    assert server.get("/api/session").json["rows"] == "never"
    found = server.get("/api/schema/orders").json
    assert all(column["examples"] == [] for column in found["columns"])


def test_a_proof_says_its_cost_first_runs_once_at_a_time_and_is_kept(serve_shop: ServeShop) -> None:
    server = serve_shop(None, {"asking": AskingSettings(candidates=2)})
    refused = server.post("/api/proof", {})
    assert (refused.status, "no answer was confirmed" in refused.json["error"]) == (409, True)
    confirmed(server)
    confirmed(server, "How many are there in all?")
    cost = server.post("/api/proof", {"dry_run": True}).json
    assert (cost["cost"]["questions"], cost["cost"]["calls"], cost["running"]) == (2, 8, None)
    assert server.post("/api/proof", {"limit": 1}).json["running"]["author"] == "me"
    until(lambda: server.get("/api/proof").json["last"] is not None)
    last = server.get("/api/proof").json
    assert (last["running"], last["error"], last["last"]["questions"], len(last["last"]["turns"])) == (None, None, 1, 1)
    assert last["last"]["verdict"] == "the history is too short to tell"
    assert server.post("/api/proof", {"limit": 0}).status == 422


def test_grades_of_the_api_are_those_of_a_memory() -> None:
    assert [grade.value for grade in Grade] == ["confirmed", "tested", "agreed", "executed"]


def test_what_is_imported_as_confirmed_is_the_word_of_the_person_who_imports_it(shop: Served) -> None:
    """Else a file could confirm in another person's name; what is merely executed keeps the author in the file."""
    for grade, author in (("executed", "ada"), ("confirmed", "me")):
        body = f'question,sql,author\nHow many {grade}?,"SELECT count(*) FROM orders",ada\n'.encode()
        (entry,) = shop.post(f"/api/memory/import?grade={grade}&name=pairs.csv", body).json["imported"]
        assert shop.get(f"/api/memory/{entry}").json["author"] == author


def test_why_a_proof_failed_names_no_path(shop: Served) -> None:
    answer = shop.post("/api/answers", {"question": "How many orders?"}).json["id"]
    shop.post(f"/api/answers/{answer}/confirm")

    async def fail(**_: object) -> None:
        raise InputError(f"{shop.site.folder.resolve()}/history.jsonl, line 1: is damaged")

    assert shop.site.agent is not None
    object.__setattr__(shop.site.agent, "prove_async", fail)
    shop.post("/api/proof")
    until(lambda: shop.get("/api/proof").json["running"] is None)
    assert shop.get("/api/proof").json["error"] == "history.jsonl, line 1: is damaged"


def test_a_purge_by_another_process_is_followed(shop: Served) -> None:
    gone = confirmed(shop)
    kept = confirmed(shop, "How many are there in all?")
    purge = [sys.executable, "-m", "merit", "memory", "purge", str(shop.site.folder), "--entry", gone, "--yes"]
    subprocess.run(purge, check=True, capture_output=True)
    assert entries(shop) == [kept]
    assert shop.get(f"/api/memory/{gone}").status == 404
    later = shop.post("/api/answers", {"question": "How many orders are paid?"})
    assert (later.status, later.json["recalled"]) == (200, [kept])
    assert shop.post(f"/api/answers/{later.json['id']}/confirm").status == 200
