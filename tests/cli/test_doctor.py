"""`merit doctor` says what a role could do, and its statements make a role that only reads."""

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from making.commands import good, refused
from making.databases import DIALECTS, SERVERS, Place, shop


def as_json(*arguments: object) -> Any:
    return json.loads(good(*arguments, "--json").stdout)


READER = f"merit_reader_{os.getpid()}"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_answers_and_what_it_sees(dialect: str, tmp_path: Path) -> None:
    with shop(dialect, tmp_path) as place:
        found = as_json("doctor", place.url)
        assert found["engine"].lower() == dialect
        assert (found["tables"], found["views"], found["columns"]) == (4, 1, 10)
        assert found["read_only_role"] is (dialect not in SERVERS)
        assert bool(found["remedy"]) is (dialect in SERVERS)
        shown = good("doctor", place.url).stdout
        assert f"{found['engine']} {found['version']}" in shown
        assert all(finding["text"] in shown for finding in found["findings"])
        assert all(statement in shown for statement in found["remedy"])


def as_reader(place: Place, database: str) -> str:
    """The URL of the role that the statements make."""
    at = urlsplit(place.url)
    return at._replace(netloc=f"{READER}:choose%20one@{at.hostname}:{at.port}", path=f"/{database}").geturl()


@pytest.mark.parametrize("dialect", SERVERS)
def test_the_statements_make_a_role_that_only_reads(dialect: str, tmp_path: Path) -> None:
    with shop(dialect, tmp_path) as place:
        remedy = [statement.replace("merit_reader", READER) for statement in as_json("doctor", place.url)["remedy"]]
        try:
            for statement in remedy:
                place.run(statement)
            found = as_json("doctor", as_reader(place, place.url.rpartition("/")[2]))
            assert [finding for finding in found["findings"] if not finding["good"]] == []
            assert found["read_only_role"]
            assert found["remedy"] == []
            assert found["tables"] == 4
            assert "choose" not in json.dumps(found)
        finally:
            if dialect == "postgresql":
                place.run(f"DROP OWNED BY {READER}")
                place.run(f"DROP ROLE {READER}")
            else:
                place.run(f"DROP USER {READER}@'%'")


def test_more_than_reading_is_named(tmp_path: Path) -> None:
    with shop("postgresql", tmp_path) as place:
        place.run(f"CREATE ROLE {READER} LOGIN PASSWORD 'choose one'")
        place.run(f"GRANT SELECT ON customer TO {READER}")
        place.run(f"GRANT INSERT ON orders TO {READER}")
        place.run("CREATE FUNCTION act() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'")
        try:
            found = as_json("doctor", as_reader(place, place.url.rpartition("/")[2]))
            texts = " | ".join(finding["text"] for finding in found["findings"] if not finding["good"])
            assert "it can write public.orders" in texts
            assert "act()" in texts
            assert "it can create temporary tables" in texts
            assert "SUPERUSER" not in texts
        finally:
            place.run(f"DROP OWNED BY {READER}")
            place.run(f"DROP ROLE {READER}")


def test_a_database_that_cannot_be_reached_is_one_sentence(tmp_path: Path) -> None:
    assert "there is no such database file" in refused("doctor", f"sqlite:///{tmp_path}/none")
    said = refused("doctor", "postgresql://ann:hunter2@127.0.0.1:1/db")
    assert "cannot connect" in said
    assert "hunter2" not in said
