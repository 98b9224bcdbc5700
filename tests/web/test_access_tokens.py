"""Tokens and sessions: kept as hashes, refused at once when revoked, and never in a page or a log."""

import json
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from making.commands import good, refused
from making.serving import Served, ServeShop
from merit.errors import InputError
from merit.web.access_tokens import Right, TokenStore
from merit.web.names import Names
from merit.web.site import Site

ALL = list(Right)


def test_a_token_is_found_by_its_text_and_only_its_hash_is_kept(tmp_path: Path) -> None:
    store = TokenStore(tmp_path)
    text = store.add("ann", [Right.CONFIRM, Right.ASK])
    assert len(text) > 40
    assert text not in store.path.read_text()
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    found = store.find(text)
    assert found is not None
    assert (found.name, found.may) == ("ann", (Right.ASK, Right.CONFIRM))
    for wrong in ("", "merit_", text[:-1], text + "x", text.upper(), found.sha256, "\udcff"):
        assert store.find(wrong) is None


def test_another_process_sees_a_revocation_at_once(tmp_path: Path) -> None:
    one, other = TokenStore(tmp_path), TokenStore(tmp_path)
    text = one.add("ann", ALL)
    for _ in range(20):
        assert other.find(text) is not None
        one.revoke("ann")
        assert other.find(text) is None
        text = one.add("ann", ALL)


@pytest.mark.parametrize("name", ["", " ", "a b", "a\nb", "x" * 65, "ä", "../x", "a:b"])
def test_a_name_that_cannot_be_recorded_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be used"):
        TokenStore(tmp_path).add(name, ALL)


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"format": 2, "tokens": []}', '{"format": 1, "tokens": [{"name": "a"}]}',
     '{"format": 1, "tokens": [{"name": "a", "may": ["all"], "sha256": "' + "0" * 64 + '", "created": ""}]}',
     '{"format": 1, "tokens": [{"name": "a", "may": [], "sha256": "x", "created": ""}]}'],
)  # fmt: skip
def test_a_damaged_file_lets_no_one_in(serve_shop: ServeShop, tmp_path: Path, content: str) -> None:
    server = serve_shop()
    token = server.site.tokens.add("ann", ALL)
    server.site.tokens.path.write_text(content)
    with pytest.raises(InputError, match="tokens.json"):
        server.site.tokens.find(token)
    for found in (server.get("/api/answers", token=token), server.get("/api/answers")):
        assert found.status == 400
        assert str(tmp_path) not in found.json["error"]


def test_the_commands_add_list_and_revoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    added = good("token", "add", "ann", "--may", "ask, confirm")
    token = added.stdout.strip()
    assert TokenStore(tmp_path / ".merit").find(token) is not None
    assert "ann may ask, confirm" in added.stderr
    assert good("token", "list").stdout.startswith("ann\task,confirm\t")
    assert "sha256" not in good("token", "list", "--json").stdout
    good("token", "revoke", "ann")
    assert TokenStore(tmp_path / ".merit").find(token) is None
    assert "there is no token 'ann'" in refused("token", "revoke", "ann")
    assert "there is no right 'all'" in refused("token", "add", "bob", "--may", "all")
    assert "cannot be used" in refused("token", "add", "a b")


def signed_in(server: Served, token: str) -> dict[str, str]:
    found = server.post("/api/session", {"token": token})
    assert found.status == 200
    return {"Cookie": found.headers["set-cookie"].partition(";")[0]}


def test_a_browser_signs_in_and_out(serve_shop: ServeShop) -> None:
    server = serve_shop()
    token = server.site.tokens.add("ann", [Right.ASK])
    assert server.get("/api/session").json == {
        "signed_in": False, "author": None, "may": [], "needs_token": True, "merit": server.get("/api/session").json["merit"],
    }  # fmt: skip
    found = server.post("/api/session", {"token": token})
    cookie = found.headers["set-cookie"]
    assert cookie.startswith(f"merit-{server.port}=")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "Secure" not in cookie
    assert token not in found.body.decode() + cookie
    session = signed_in(server, token)
    assert server.get("/api/session", headers=session).json["author"] == "ann"
    assert server.get("/api/answers", headers=session).status == 200
    assert server.post("/api/answers/abcabcabcabc/confirm", headers=session).status == 403
    assert server.ask("DELETE", "/api/session", headers=session).json["signed_in"] is False
    assert server.get("/api/answers", headers=session).status == 401


def test_a_server_that_began_with_tokens_needs_one_for_ever(serve_shop: ServeShop, tmp_path: Path) -> None:
    token = TokenStore(tmp_path / "own").add("ann", ALL)
    server = serve_shop()
    session = signed_in(server, token)
    assert server.get("/api/answers", headers=session).status == 200
    TokenStore(tmp_path / "own").revoke("ann")
    for options in ({"headers": session}, {"token": token}, {}):
        assert server.get("/api/answers", **options).status == 401
    TokenStore(tmp_path / "own").add("ann", ALL)  # another one of the same name
    assert server.get("/api/answers", headers=session).status == 401


def test_sessions_outlive_a_restart_and_are_kept_as_hashes(serve_shop: ServeShop, tmp_path: Path) -> None:
    token = TokenStore(tmp_path / "own").add("ann", ALL)
    session = signed_in(serve_shop(), token)
    again = serve_shop()
    name, _, text = session["Cookie"].partition("=")
    assert text not in (tmp_path / "own" / "sessions.json").read_text()
    assert stat.S_IMODE((tmp_path / "own" / "sessions.json").stat().st_mode) == 0o600
    assert name.startswith("merit-")
    assert again.get("/api/answers", headers={"Cookie": f"merit-{again.port}={text}"}).status == 200


def test_a_session_ends_after_some_weeks(serve_shop: ServeShop, tmp_path: Path) -> None:
    token = TokenStore(tmp_path / "own").add("ann", ALL)
    server = serve_shop()
    session = signed_in(server, token)
    path = tmp_path / "own" / "sessions.json"
    record: dict[str, Any] = json.loads(path.read_text())
    record["sessions"][0]["expires"] = int(time.time()) - 1
    path.write_text(json.dumps(record))
    assert server.get("/api/answers", headers=session).status == 401


def test_with_tls_a_cookie_is_for_this_host_alone(serve_shop: ServeShop) -> None:
    server = serve_shop(public_url="https://merit.example")
    token = server.site.tokens.add("ann", ALL)
    cookie = server.post("/api/session", {"token": token}).headers["set-cookie"]
    assert cookie.startswith("__Host-merit=")
    assert "Secure" in cookie


@pytest.mark.parametrize(
    ("host", "public", "needs"),
    [("127.0.0.1", "", False), ("::1", "", False), ("localhost", "", False), ("0.0.0.0", "", True), ("192.168.1.2", "", True),
     ("::", "", True), ("127.0.0.1", "https://merit.example", True), ("127.0.0.1", "http://localhost:9", False)],
)  # fmt: skip
def test_other_machines_get_in_with_tokens_only(tmp_path: Path, host: str, public: str, needs: bool) -> None:
    site = Site(Names(host, 1, public), tmp_path, "me")
    assert site.needs_token is needs
    if needs:
        with pytest.raises(InputError, match="there is no token yet"):
            site.check()
        TokenStore(tmp_path).add("ann", ALL)
        Site(Names(host, 1, public), tmp_path, "me").check()
    else:
        site.check()


def test_wrong_tokens_are_slowed_down_and_right_ones_are_not(serve_shop: ServeShop) -> None:
    server = serve_shop()
    token = server.site.tokens.add("ann", ALL)
    statuses = [server.get("/api/answers", token="wrong").status for _ in range(20)]
    assert statuses[0] == 401
    assert statuses[-1] == 429
    assert server.get("/api/answers", token=token).status == 200


def test_the_author_is_the_tokens_name(serve_shop: ServeShop) -> None:
    server = serve_shop()
    token = server.site.tokens.add("ann", ALL)
    answer = server.post("/api/answers", {"question": "How many?"}, token=token).json["id"]
    assert server.post(f"/api/answers/{answer}/confirm", token=token).json["feedback"]["author"] == "ann"
    record = server.get(f"/api/answers/{answer}", token=token).json
    assert (record["author"], record["feedback"]["author"]) == ("ann", "ann")


def test_the_file_is_never_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("{}")
    (tmp_path / "tokens.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"tokens\.lock"):
        TokenStore(tmp_path).add("ann", ALL)


def test_help_says_what_rights_there_are() -> None:
    assert "ask,confirm,curate" in good("token", "add", "--help").output
