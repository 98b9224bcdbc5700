"""What was answered: the history, rows and downloads, and what people say about answers."""

import io
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from making.disks import no_waiting
from making.live import COUNT, PAID, AnsweringModel, ToldModel
from making.serving import Served, ServeShop
from merit.web.routes import rows


def ask(server: Served, question: str = "How many orders are paid?") -> str:
    found = server.post("/api/answers", {"question": question})
    assert found.status == 200, found.body
    return str(found.json["id"])


def test_the_history_is_searched_and_comes_in_pages(shop: Served) -> None:
    ids = [ask(shop, f"How many orders are there, asked for time {number}?") for number in range(5)]
    paid = ask(shop)
    shop.post(f"/api/answers/{paid}/confirm")
    found = shop.get("/api/answers?limit=4").json
    assert [one["id"] for one in found["answers"]] == [paid, *ids[:1:-1]]
    rest = shop.get(f"/api/answers?limit=4&before={found['next']}").json
    assert ([one["id"] for one in rest["answers"]], rest["next"]) == (ids[1::-1], None)

    def ids_of(query: str) -> list[str]:
        return [one["id"] for one in shop.get(f"/api/answers?{query}").json["answers"]]

    assert ids_of("words=PAID") == [paid]
    assert ids_of("words=time+3") == ids_of(f"words={ids[3][:6]}") == [ids[3]]
    assert ids_of("feedback=confirmed") == ids_of("author=me&words=paid") == [paid]
    assert ids_of("feedback=none&words=time") == ids[::-1]
    assert (
        ids_of("status=failed")
        == ids_of("author=bob")
        == ids_of("since=2999-01-01")
        == ids_of("until=1999-01-01")
        == []
    )
    assert len(ids_of("since=1999-01-01&until=2999-01-01")) == 6
    assert ids_of("before=abcdef") == []


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=501",
        "limit=x",
        "status=good",
        "feedback=x",
        "since=yesterday",
        "before=..%2fx",
        "words=" + "x" * 201,
    ],
)
def test_a_search_that_means_nothing_is_refused(shop: Served, query: str) -> None:
    assert shop.get(f"/api/answers?{query}").status == 422


def test_an_answer_in_full(shop: Served) -> None:
    first = ask(shop)
    shop.post(f"/api/answers/{first}/confirm")
    found = shop.get(f"/api/answers/{ask(shop)}").json
    assert (found["sql"], found["author"], found["feedback"]) == (PAID, "me", None)
    assert found["entries"][0]["sql"] == PAID
    assert found["receipt"]["tables"] == {"orders": ["id", "state", "total"]}
    assert found["contradictions"] == []


@pytest.mark.parametrize(
    "identity", ["abc", "..%2f..%2fetc%2fpasswd", "%00", "a" * 33, "ABC", "a%20b", "0" * 12, "%F0%9F%92%A3"]
)
@pytest.mark.parametrize("rest", ["", "/rows", "/rows.csv", "/rows.parquet"])
def test_an_id_that_names_nothing_is_not_found(shop: Served, identity: str, rest: str) -> None:
    found = shop.get(f"/api/answers/{identity}{rest}")
    assert found.status in (404, 422)
    assert set(found.json) == {"error"}


def odd_rows(path: Path) -> None:
    """A table with values that JSON, CSV and Parquet have trouble with."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE odd (whole INTEGER, half REAL, text TEXT, mixed, bytes BLOB)")
        rows = [
            (2**60, 1e999, "=1+1", 1, b"\x00\xff"),
            (1, -1e999, "<script>alert(1)</script>", "x", None),
            (None, 0.5, 'a"b;c\n\td', None, b""),
        ]
        db.executemany("INSERT INTO odd VALUES (?, ?, ?, ?, ?)", rows)
        db.commit()


@pytest.fixture
def odd(serve_shop: ServeShop, tmp_path: Path) -> tuple[Served, str]:
    server = serve_shop(ToldModel("SELECT *, 1 AS whole FROM odd"))
    odd_rows(tmp_path / "shop.sqlite")
    return server, ask(server)


def test_rows_are_sent_exactly(odd: tuple[Served, str]) -> None:
    server, answer = odd
    found = server.get(f"/api/answers/{answer}/rows").json
    assert found["columns"] == ["whole", "half", "text", "mixed", "bytes", "whole"]
    assert found["rows"][0] == [str(2**60), "Infinity", "=1+1", 1, "00ff", 1]
    assert found["rows"][1][1:3] == ["-Infinity", "<script>alert(1)</script>"]
    assert (found["found"], found["truncated"], found["row_count"]) == ("rows", False, 3)


def test_rows_can_be_downloaded(odd: tuple[Served, str]) -> None:
    server, answer = odd
    csv = server.get(f"/api/answers/{answer}/rows.csv")
    assert csv.headers["content-disposition"] == f'attachment; filename="merit-{answer}.csv"'
    assert "'=1+1" in csv.body.decode()  # no formula
    table: Any = pyarrow.parquet.read_table(io.BytesIO(server.get(f"/api/answers/{answer}/rows.parquet").body))
    assert table.column_names == ["whole", "half", "text", "mixed", "bytes", "whole_2"]
    assert table.column("whole").to_pylist() == [2**60, 1, None]
    assert table.column("mixed").to_pylist() == ["1", "x", None]
    assert table.column("bytes").to_pylist() == [b"\x00\xff", None, b""]


def test_columns_of_one_name_get_numbers_at_once() -> None:
    assert rows._distinct(("a", "a", "a_2", "a", "a_2", "\ud800")) == ["a", "a_2", "a_2_2", "a_3", "a_2_3", "?"]
    with no_waiting(10):
        assert rows._distinct(("a", "b", "a_2") * 5000)[-3:] == ["a_5001", "b_5000", "a_2_5000"]


def test_rows_that_are_not_at_hand_are_computed_again(shop: Served) -> None:
    answer = ask(shop)
    shop.site.rows._kept.clear()
    assert shop.get(f"/api/answers/{answer}/rows").json["rows"] == [[2]]


def test_what_never_ran_has_no_rows(serve_shop: ServeShop) -> None:
    server = serve_shop(ToldModel("-- UNANSWERABLE: there is nothing about cars"))
    found = server.get(f"/api/answers/{ask(server)}/rows")
    assert (found.status, "nothing ran" in found.json["error"]) == (409, True)


def test_many_rows_come_in_part_with_the_answer(serve_shop: ServeShop, tmp_path: Path) -> None:
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n"
    server = serve_shop(ToldModel(many))
    answer = server.post("/api/answers", {"question": "How many?"}).json
    assert (len(answer["rows"]), answer["row_count"], answer["truncated"]) == (200, 10_000, True)
    found = server.get(f"/api/answers/{answer['id']}/rows").json
    assert (len(found["rows"]), found["found"]) == (10_000, "cut")


def test_confirming_teaches_once(shop: Served) -> None:
    answer = ask(shop)
    found = shop.post(f"/api/answers/{answer}/confirm").json
    assert found["feedback"]["kind"] == "confirmed"
    assert len(found["entries"]) == 1
    again = shop.post(f"/api/answers/{answer}/confirm")
    assert (again.status, "confirmed already" in again.json["error"]) == (409, True)
    assert shop.get("/api/memory").json["entries"][0]["id"] == found["entries"][0]


def test_rejecting_correcting_and_withdrawing(shop: Served) -> None:
    answer = ask(shop)
    found = shop.post(f"/api/answers/{answer}/reject", {"reason": "refunds count, too"}).json
    assert (found["feedback"]["kind"], found["feedback"]["reason"]) == ("rejected", "refunds count, too")
    assert shop.post(f"/api/answers/{answer}/withdraw").json["feedback"]["kind"] == "withdrawn"
    wrong = shop.post(f"/api/answers/{answer}/correct", {"sql": "SELECT nothing FROM nowhere"})
    assert wrong.status == 400
    assert "does not run" in wrong.json["error"]
    right = shop.post(f"/api/answers/{answer}/correct", {"sql": COUNT}).json
    assert (right["feedback"]["kind"], len(right["entries"])) == ("corrected", 2)
    assert shop.post(f"/api/answers/{answer}/withdraw", {"reason": ""}).status == 200
    assert shop.post(f"/api/answers/{answer}/withdraw").status == 409


def test_withdrawing_tells_what_rests_on_it(shop: Served) -> None:
    first = ask(shop)
    shop.post(f"/api/answers/{first}/confirm")
    later = ask(shop)
    (use,) = shop.post(f"/api/answers/{first}/withdraw").json["uses"]
    assert (use["answer"], use["depth"]) == (later, 1)


def test_a_contradiction_is_told_when_it_is_made(shop: Served) -> None:
    one, other = ask(shop), ask(shop)
    shop.post(f"/api/answers/{one}/confirm")
    found = shop.post(f"/api/answers/{other}/correct", {"sql": "SELECT 7"}).json
    (contradiction,) = found["contradictions"] or [None]
    assert contradiction is None or contradiction["certain"]


def test_a_correction_is_tried_without_keeping_it(shop: Served) -> None:
    answer = ask(shop)
    assert shop.post(f"/api/answers/{answer}/check-sql", {"sql": COUNT}).json["rows"] == [[3]]
    assert "no such table" in shop.post(f"/api/answers/{answer}/check-sql", {"sql": "SELECT * FROM x"}).json["error"]
    for harm in (
        "DROP TABLE orders",
        "DELETE FROM orders",
        "ATTACH 'x' AS y",
        "SELECT 1; DROP TABLE orders",
        "PRAGMA user_version=3",
    ):
        assert "error" in shop.post(f"/api/answers/{answer}/check-sql", {"sql": harm}).json
    assert shop.get("/api/memory").json["entries"] == []
    assert shop.post("/api/answers/abcabcabcabc/check-sql", {"sql": "SELECT 1"}).status == 404


def test_a_follow_up_sees_what_it_follows(serve_shop: ServeShop) -> None:
    model = AnsweringModel(lambda _: COUNT)
    server = serve_shop(model)
    first = ask(server, "How many orders are there?")
    body = {"question": "and which are paid?", "earlier": [first]}
    assert server.post("/api/answers", body).status == 200
    assert "How many orders are there?" in model.prompts[-1]
