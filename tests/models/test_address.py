"""An endpoint's address and what opens it: sent where they belong, and shown nowhere."""

import base64
import html
import json
import re
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merit.errors import InputError
from merit.models.address import Address
from merit.models.redaction import redacted

KEY = "sk-very-secret-0123456789"
PASSWORD = "p@ss/w?rd&#"


def address(monkeypatch: pytest.MonkeyPatch, base: str, key: str = "") -> Address:
    monkeypatch.setenv("OPENAI_BASE_URL", base)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    return Address.of_environment()


def test_without_a_variable_openai_is_asked_and_messages_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    for base in ("", "  "):
        found = address(monkeypatch, base)
        assert found.shown == "https://api.openai.com/v1"
        assert found.named == "https://api.openai.com/v1 (OPENAI_BASE_URL is not set)"
    assert address(monkeypatch, "http://h/v1").named == "http://h/v1"


def test_an_address_is_sent_as_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    assert address(monkeypatch, " http://h:8000/v1/ ").url("/models") == "http://h:8000/v1/models"
    assert address(monkeypatch, "http://h/v1?api-version=2#x").url("/models") == "http://h/v1/models?api-version=2"


def test_a_user_in_an_address_goes_into_a_header_and_into_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    found = address(monkeypatch, f"http://me:{quote(PASSWORD, safe='')}@h:1/v1")
    assert (found.shown, found.named, found.url("/x")) == ("http://h:1/v1", "http://h:1/v1", "http://h:1/v1/x")
    assert found.headers == {"Authorization": "Basic " + base64.b64encode(f"me:{PASSWORD}".encode()).decode()}
    assert PASSWORD not in repr(found)
    assert "Basic" not in repr(found)


def test_a_user_and_a_key_are_one_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="take the user out of the address, or unset the key") as caught:
        address(monkeypatch, "http://me:hidden-word@h/v1", KEY)
    assert "hidden-word" not in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "base",
    [
        "http://me:hidden-word@[::1/v1",
        "http://me:hidden-word@h:port/v1",
        "me:hidden-word@h:8000/v1",
        "http://me:hidden/word@hidden-word@h:port",
        "ftp://hidden-word@h/v1",
        "localhost:8000/v1?api_key=hidden-word",
        "http://h:port/v1?a=b\nhidden-word",
        "http://me:hidden-word\n@h/v1",
        "sk-hidden-word-0123",
        "http://me:42/hidden-word@h/v1",
        "http://me:42#hidden-word@h/v1",
        "http://me:hidden-word/v1",  # its host was left out
    ],
)
def test_an_address_that_is_none_is_told_without_its_secrets(monkeypatch: pytest.MonkeyPatch, base: str) -> None:
    with pytest.raises(InputError, match="OPENAI_BASE_URL is '.*it should be an address such as") as caught:
        address(monkeypatch, base)
    assert "hidden" not in str(caught.value)
    assert "word" not in str(caught.value)


SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": lambda secret: secret,
    "after bearer": lambda secret: f"Bearer {secret}",
    "in another case": lambda secret: secret.upper(),
    "in an address": lambda secret: f"http://h/v1?x={quote(secret, safe='')}",
    "in JSON": lambda secret: json.dumps({"key": secret}),
    "in a page": html.escape,
    "encoded": lambda secret: base64.b64encode(secret.encode()).decode(),
    "many times, where it is cut": lambda secret: f"{secret}, " * 50,
    "in two lines": lambda secret: f"{secret}\n{secret}",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("secret", [KEY, "EMPTY-key", 'quo"te\\d', "a b c d", "ab&cd<ef"])
def test_a_key_is_told_in_no_spelling(monkeypatch: pytest.MonkeyPatch, secret: str, spelling: str) -> None:
    said = address(monkeypatch, "http://h/v1", secret).redacted(f"no: {SPELLINGS[spelling](secret)}.")
    assert said.startswith("no: ")
    assert "***" in said
    for other in SPELLINGS.values():
        assert other(secret).lower() not in said.lower()
    assert len(said) <= 300


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_nor_is_what_an_address_holds(monkeypatch: pytest.MonkeyPatch, spelling: str) -> None:
    base = f"http://token-of-mine:{quote(PASSWORD, safe='')}@h/v1?api_key=telling&v={quote(PASSWORD, safe='')}"
    found = address(monkeypatch, base)
    for secret in (
        "token-of-mine",
        PASSWORD,
        "telling",
        base64.b64encode(f"token-of-mine:{PASSWORD}".encode()).decode(),
    ):
        said = found.redacted(f"no: {SPELLINGS[spelling](secret)}.")
        assert SPELLINGS[spelling](secret).lower() not in said.lower()
        assert secret.lower() not in said.lower()


def test_a_short_secret_hides_itself_and_no_word_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert address(monkeypatch, "http://h/v1", "x").redacted("the key x is not in the index") == (
        "the key *** is not in the index"
    )


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("see http://you:them@other/v1 for it", "see http://***@other/v1 for it"),
        ("POST http://h/v1?API_KEY=abc&x=1 failed", "POST http://h/v1?API_KEY=***&x=1 failed"),
        ("got Authorization: Bearer abc-123-def-456, sorry", "got Authorization: Bearer ***, sorry"),
        ("Incorrect API key sk-proj-abcdefgh", "Incorrect API key ***"),
        ("a bearer token is missing", "a bearer token is missing"),
    ],
)
def test_what_looks_like_a_secret_of_others_is_not_told_either(
    monkeypatch: pytest.MonkeyPatch, said: str, told: str
) -> None:
    assert address(monkeypatch, "http://h/v1").redacted(said) == told


@given(st.text())
def test_what_is_told_is_one_printable_line(said: str) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        told = address(monkeypatch, "http://h/v1").redacted(f"\x1b]0;title\x07\x9b31m‮ {said}")
    assert told.isprintable()
    assert told.startswith("\\x1b]0;title\\x07\\x9b31m\\u202e")
    assert re.search(r"\s\s", told) is None
    told.encode()


@pytest.mark.parametrize("name", ["http_proxy", "HTTPS_PROXY", "all_proxy"])
def test_nor_is_what_opens_a_proxy(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "http://me:SEC/RETPW@127.0.0.1:9")
    assert "RETPW" not in Address.of_environment().redacted("InvalidURL http://me:SEC/RETPW@127.0.0.1:9 (SEC/RETPW)")


SENT_TO_PROXIES = {
    "http://me:pl%40in%2FPW77@h:9": ("me:pl@in/PW77", "utf-8"),
    "http://me:p%C3%A4ss-w%C3%B6rd@h:9": ("me:päss-wörd", "latin-1"),
    "http://my-token-7@h:9": ("my-token-7:", "utf-8"),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("proxy", SENT_TO_PROXIES)
def test_a_proxy_may_repeat_what_it_got_in_any_spelling(
    monkeypatch: pytest.MonkeyPatch, proxy: str, spelling: str
) -> None:
    monkeypatch.setenv("https_proxy", proxy)
    sent, encoding = SENT_TO_PROXIES[proxy]
    basic = base64.b64encode(sent.encode(encoding)).decode().rstrip("=")
    for hide in (address(monkeypatch, "http://h/v1").redacted, redacted):
        assert hide(f"Basic {basic}") == "Basic ***"
        for secret in (sent, sent.partition(":")[2] or sent.rstrip(":")):
            said = hide(f"no: {SPELLINGS[spelling](secret)}.")
            assert "***" in said
            assert secret.lower() not in said.lower()


def test_a_proxy_that_is_no_text_is_no_fault_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://me:secret-\udcff@h:9")  # a byte that is not UTF-8
    assert redacted("got me:secret-\udcff, sorry") == "got ***, sorry"


def test_without_a_user_in_a_proxy_nothing_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://h:9")
    assert redacted("a : b, http://h:9") == "a : b, http://h:9"


def test_a_password_with_a_slash_is_told_how_to_be_spelled(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="; write / and # before its @ as %2F and %23"):
        address(monkeypatch, "http://bob:42/hunter2@127.0.0.1:9/v1")


def test_a_query_without_a_name_is_a_secret_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1?TOPSECRET123")
    assert "TOPSECRET123" not in Address.of_environment().redacted("401 at /v1/chat?TOPSECRET123 refused TOPSECRET123")


@pytest.mark.parametrize(
    "said", ["://" * 100_000, "a " * 5_000 + "x" * 10_000_000, "?key=" * 50_000, "bearer " * 50_000]
)
def test_a_long_reply_is_cut_before_it_is_searched(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    """With a pattern over the whole body, 300 KB of "://" took a minute."""
    started = time.process_time()
    assert len(address(monkeypatch, "http://h/v1").redacted(said)) <= 300
    assert time.process_time() - started < 10.0


@pytest.mark.parametrize("before", [4, 5, 6, 7])
def test_a_cut_leaves_no_half_secret(monkeypatch: pytest.MonkeyPatch, before: int) -> None:
    said = " " * before + "abcdefgh-secret " * 1_000
    assert "abc" not in address(monkeypatch, "http://h/v1", "abcdefgh-secret").redacted(said)


@pytest.mark.parametrize("cut", [12, 17, 24])
def test_a_part_of_a_key_is_not_told_either(monkeypatch: pytest.MonkeyPatch, cut: int) -> None:
    """Libraries cut a reply where they like before they put it into a message."""
    key = "hfA1b2C3d4E5f60718293a4b5"
    for part in (key[:cut], key[-cut:], key.lower()[3 : cut + 3]):
        assert address(monkeypatch, "http://h/v1", key).redacted(f"got '{part}' there") in ("got '***' there",)
    assert address(monkeypatch, "http://h/v1", key).redacted("an A1b2C3d of its own") == "an A1b2C3d of its own"
