"""A chat endpoint, asked over real connections: what passes is waited out, what does not is reported at once."""

import asyncio
import gzip
import math
import shutil
import socket
import ssl
import subprocess
import threading
import time
import traceback
import tracemalloc
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import pytest

from making.clock import COMES_S, STALL_S
from making.endpoint import (
    OVERFLOWS,
    UNAUTHORIZED,
    UNKNOWN_MODEL,
    Action,
    Asked,
    Behaviour,
    ChatServer,
    Reply,
    answer,
    as_json,
    at_first,
    completion,
    cut_off,
    drip,
    empty_choices,
    faulty,
    garbled,
    no_usage,
    page,
    refusal,
    reset,
    silence,
    status,
    truncated_json,
)
from merit.errors import BudgetSpent, ContextOverflow, InputError, ModelFailed
from merit.models import Allowance, AnswerStore, CachingCompleter, Usage
from merit.models.connection import Patience, _reschedule, usual_patience
from merit.models.endpoint import EndpointCompleter
from merit.models.priority import CALL, Call
from merit.models.responses import page_note
from merit.types import Completion, Sampling

GREEDY = Sampling()
QUICK = Patience(
    request_s=60.0,
    connect_s=60.0,
    faults_s=60.0,
    first_faults_s=60.0,
    first_pause_s=0.01,
    longest_pause_s=0.05,
    longest_wait_s=60.0,
    tries=20,
)
HURRIED = replace(QUICK, request_s=0.25)
KEY = "sk-very-secret-0123456789"

PASSING: dict[str, Behaviour] = {
    "500": status(500),
    "502": status(502),
    "503": status(503),
    "429": status(429),
    "429 with Retry-After": status(429, "0"),
    "503 with a date to come back at": status(503, "Wed, 21 Oct 2015 07:28:00 GMT"),
    "reset": reset,
    "cut off": cut_off,
    "truncated JSON": truncated_json,
    "garbled": garbled,
    "no choices": empty_choices,
    "a web page": page,
    "no message": lambda _: as_json({**completion("", 1, 1), "choices": [{}]}),
    "a list": lambda _: as_json([]),
    "an error that calls itself a success": lambda _: as_json({"error": {"message": "overloaded"}}),
}


def ask_all(
    prompts: Sequence[str], *, patience: Patience = QUICK, concurrency: int = 32, sampling: Sampling = GREEDY
) -> list[Completion | BaseException]:
    """What becomes of prompts that are asked all at a time."""

    async def ask() -> list[Completion | BaseException]:
        completer = EndpointCompleter("m", concurrency=concurrency, patience=patience)
        try:
            return await asyncio.gather(*(completer.complete(p, sampling) for p in prompts), return_exceptions=True)
        finally:
            await completer.close()

    return asyncio.run(ask())


def ask_one(prompt: str = "p", *, patience: Patience = QUICK, sampling: Sampling = GREEDY) -> Completion:
    [found] = ask_all([prompt], patience=patience, sampling=sampling)
    if isinstance(found, BaseException):
        raise found
    return found


def seconds(call: Callable[[], object]) -> float:
    started = time.monotonic()
    call()
    return time.monotonic() - started


def dead_url() -> str:
    with socket.create_server(("127.0.0.1", 0)) as place:
        return f"http://127.0.0.1:{place.getsockname()[1]}/v1"


# What is sent, and what comes back


def test_a_prompt_is_one_user_message_and_nothing_else(chat: ChatServer) -> None:
    ask_one("How many\nsingers? ✓", sampling=Sampling(temperature=0.7, max_tokens=99))
    [asked] = chat.asked
    assert asked.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "How many\nsingers? ✓"}],
        "temperature": 0.7,
        "max_tokens": 99,
    }


def test_a_seed_is_sent_only_when_given(chat: ChatServer) -> None:
    ask_one()
    ask_one(sampling=Sampling(seed=0))
    ask_one(sampling=Sampling(seed=7))
    assert [asked.body.get("seed", "none") for asked in chat.asked] == ["none", 0, 7]


def test_text_and_tokens_are_the_endpoints(chat: ChatServer) -> None:
    chat.behaviour = lambda _: as_json(completion(" SELECT 1\n", 123, 45))
    assert ask_one() == Completion(" SELECT 1\n", 123, 45)


def test_an_answer_without_content_is_empty(chat: ChatServer) -> None:
    chat.behaviour = lambda _: as_json(completion(None, 123, 0))
    assert ask_one() == Completion("", 123, 0)


def test_so_is_a_message_that_does_not_even_name_it(chat: ChatServer) -> None:
    chat.behaviour = lambda _: as_json({**completion("", 5, 0), "choices": [{"message": {"refusal": "no"}}]})
    assert ask_one() == Completion("", 5, 0)


def test_an_answer_may_come_in_parts(chat: ChatServer) -> None:
    parts = [{"type": "text", "text": "SELECT "}, {"type": "image", "url": "x"}, {"type": "text", "text": "1"}]
    reply = completion("", 5, 2)
    reply["choices"][0]["message"]["content"] = parts
    chat.behaviour = lambda _: as_json(reply)
    assert ask_one() == Completion("SELECT 1", 5, 2)


def test_half_a_character_in_an_answer_is_replaced(chat: ChatServer) -> None:
    chat.behaviour = lambda _: as_json(completion("SELECT '\ud83d'", 1, 1))  # "\ud83d" in the JSON
    assert ask_one().text == "SELECT '?'"


def test_half_a_character_in_a_prompt_is_replaced(chat: ChatServer) -> None:
    ask_one("How many \ud83d?")
    assert chat.asked[0].prompt == "How many ??"


def test_a_base_url_may_end_in_a_slash(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", chat.url + "/")
    ask_one()
    assert chat.requests == 1


def test_connections_are_kept(chat: ChatServer) -> None:
    assert not any(isinstance(found, BaseException) for found in ask_all([f"p{i}" for i in range(20)], concurrency=1))
    assert (chat.requests, chat.connections) == (20, 1)


# The key


def test_a_key_is_sent_as_a_bearer_token(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    ask_one("without")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    ask_one("with")
    assert [asked.authorization for asked in chat.asked] == [None, f"Bearer {KEY}"]


def echo_of_the_key(asked: Asked) -> Action:
    return refusal(401, f"Invalid token passed: {asked.authorization}")(asked)


def errors_with_a_key(monkeypatch: pytest.MonkeyPatch, chat: ChatServer, behaviours: Sequence[Behaviour]) -> list[str]:
    """What is said, with all its causes, when an endpoint that was given a key behaves in each of these ways."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    async def ask() -> list[str]:
        completer = EndpointCompleter("m", patience=Patience(request_s=0.2, first_pause_s=0.01, tries=2))
        said = []
        for chat.behaviour in behaviours:
            with pytest.raises(ModelFailed) as caught:
                await completer.complete("p", GREEDY)
            assert "\n" not in str(caught.value)
            said.append("".join(traceback.format_exception(caught.value)))
        await completer.close()
        return said

    return asyncio.run(ask())


def test_a_reply_that_holds_it_where_a_number_should_be_is_cut_and_without_it(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = completion("x", 1, 1)
    reply["usage"]["prompt_tokens"] = f"{KEY} " * 1000
    [said] = errors_with_a_key(monkeypatch, chat, [lambda _: as_json(reply)])
    assert KEY not in said
    assert len(said.splitlines()[-1]) < 600


def test_the_key_appears_in_no_error(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    behaviours = [*PASSING.values(), silence, *OVERFLOWS.values(), UNAUTHORIZED, UNKNOWN_MODEL]
    assert not any(KEY in said for said in errors_with_a_key(monkeypatch, chat, behaviours))


def test_not_even_where_the_endpoint_repeats_it(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    [said] = errors_with_a_key(monkeypatch, chat, [echo_of_the_key])
    assert KEY not in said
    assert "Invalid token passed: Bearer ***" in said


def test_an_answer_that_repeats_the_key_is_not_kept(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    [said] = errors_with_a_key(
        monkeypatch, chat, [lambda asked: as_json(completion(f"SELECT '{asked.authorization}'", 1, 1))]
    )
    assert KEY not in said
    assert "its answer repeats the key or password that it was sent, so nothing of it is kept" in said


def test_a_key_that_was_made_up_may_be_a_word_of_an_answer(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    chat.behaviour = lambda _: as_json(completion("SELECT 'none'", 1, 1))
    assert ask_one("p").text == "SELECT 'none'"


def echo(asked: Asked) -> str:
    """What an endpoint was told, as it may tell it again: in any line, with a title for the terminal."""
    return f"\x1b]0;{asked.authorization}\x07 {asked.authorization}"


ECHOES: dict[str, Behaviour] = {
    "in the body": lambda asked: refusal(403, echo(asked))(asked),
    "in the status line": lambda asked: Reply(403, b"no", reason=echo(asked)),
    "in a redirect": lambda asked: Reply(302, b"", {"Location": f"http://127.0.0.1:9/{asked.authorization}"}),
    "in a header": lambda asked: Reply(500, b"no", {"X-Echo": echo(asked), "Retry-After": str(asked.authorization)}),
    "in what is no header": lambda asked: Reply(200, b"", {f"{asked.authorization}\x00": echo(asked)}),
    "in a bad encoding": lambda asked: Reply(200, b"no", {"Content-Encoding": echo(asked)}),
    "in a length that is none": lambda asked: Reply(200, b"no", {"Content-Length": echo(asked)}),
    "in an answer": lambda asked: as_json({"choices": {echo(asked): 1}}),
    "in a number of tokens": lambda asked: as_json(
        {**completion("x", 1, 1), "usage": {"prompt_tokens": echo(asked), "completion_tokens": 1}}
    ),
}


@pytest.mark.parametrize("place", ECHOES)
def test_wherever_that_is(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    [said] = errors_with_a_key(monkeypatch, chat, [ECHOES[place]])
    assert KEY not in said + caplog.text
    assert said.splitlines()[-1].isprintable()


@pytest.mark.parametrize("base", ["//me:hidden-word@", "//hidden-word@"])
def test_a_password_in_the_address_is_sent_and_not_shown(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, base: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", chat.url.replace("//", base) + "?api_key=telling-word")
    assert ask_one().output_tokens == 2
    assert chat.asked[0].authorization is not None
    assert chat.asked[0].path == "/v1/chat/completions?api_key=telling-word"
    for behaviour in (echo_of_the_key, lambda asked: refusal(403, asked.path)(asked), status(307), reset, page):
        chat.behaviour = behaviour
        with pytest.raises(ModelFailed) as caught:
            ask_one(patience=Patience(first_pause_s=0.01, tries=1))
        said = "".join(traceback.format_exception(caught.value))
        assert "hidden-word" not in said
        assert "telling-word" not in said
        assert str(chat.asked[0].authorization).split()[1] not in said


def test_a_redirect_is_not_followed_and_said_so(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ChatServer() as other:
        chat.behaviour = lambda _: Reply(307, b"", {"Location": f"{other.url}/chat/completions"})
        with pytest.raises(ModelFailed) as caught:
            ask_one()
        assert other.asked == []
    assert f"it redirects to {other.url}/chat/completions, which merit does not follow" in str(caught.value)


def test_nor_by_those_who_ask_whether_it_lives(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ChatServer() as other:
        chat.models = Reply(302, b"", {"Location": f"{other.url}/models"})
        chat.latency_s = 0.8
        ask_one(patience=replace(LISTENING, quiet_s=0.1))
        assert chat.probed_with
        assert set(chat.probed_with) == {f"Bearer {KEY}"}
        assert other.probes == 0


@pytest.mark.parametrize("key", [f"{KEY}\nX-Header: x", f"{KEY}é", f"{KEY}\x7f", f"{KEY}\udce9"])
def test_a_key_that_cannot_be_sent_is_reported_but_not_shown(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(InputError) as caught:
        EndpointCompleter("m")
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert "OPENAI_API_KEY" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("given", "sent"), [(f" {KEY}\n", f"Bearer {KEY}"), ("", None), (" \n", None)])
def test_what_surrounds_a_key_is_left_out(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, given: str, sent: str | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", given)
    ask_one()
    assert chat.asked[0].authorization == sent


# Tokens that nobody counted


@pytest.mark.parametrize(
    "usage",
    [None, {}, [], 0, {"prompt_tokens": None, "completion_tokens": None}, {"prompt_tokens": 5}]
    + [{"completion_tokens": 5}, {"prompt_tokens": 0, "completion_tokens": 0}],
)
def test_an_endpoint_that_counts_no_tokens_has_them_estimated_and_marked(chat: ChatServer, usage: object) -> None:
    chat.behaviour = lambda _: as_json({**completion("SELECT 1", 1, 1), "usage": usage})
    assert ask_one("x" * 35) == Completion("SELECT 1", 10, 3, tokens_estimated=True)
    assert chat.requests == 1


def test_nor_need_it_name_them(chat: ChatServer) -> None:
    reply = completion("é", 1, 1)
    del reply["usage"]
    chat.behaviour = lambda _: as_json(reply)
    assert ask_one("p") == Completion("é", 1, 1, tokens_estimated=True)


def test_tokens_that_it_counts_are_not_marked(chat: ChatServer) -> None:
    assert not ask_one().tokens_estimated


def test_an_estimate_is_not_kept_as_if_it_had_been_counted(chat: ChatServer, tmp_path: Path) -> None:
    chat.behaviour = no_usage

    async def ask(store: AnswerStore) -> tuple[Completion, Usage]:
        once = CachingCompleter(EndpointCompleter("m", patience=QUICK), store)
        share = once.for_run()
        found = await share.complete("x" * 35, GREEDY)
        assert ("estimated" in share.account()) == bool(share.sent.estimated)
        await once.close()
        return found, share.sent

    expected = Completion("SELECT 1", 10, 3, tokens_estimated=True)
    first, sent = asyncio.run(ask(AnswerStore(tmp_path / "a.sqlite")))
    assert (first, sent.estimated, sent.prompt_tokens) == (expected, 1, 10)
    again, sent = asyncio.run(ask(AnswerStore(tmp_path / "a.sqlite")))
    assert (again, sent.estimated, sent.reused) == (expected, 0, 1)
    with closing(AnswerStore.recording(tmp_path / "a.sqlite")) as kept:
        [(_, _, found)] = kept.items()
    assert found == Completion("SELECT 1", 0, 0)


def test_a_budget_of_estimated_tokens_says_so() -> None:
    with pytest.raises(BudgetSpent, match="by this command, as merit estimates, since the endpoint does not count"):
        Allowance(max_tokens=5).check(Usage(prompt_tokens=9, estimated=1))
    with pytest.raises(BudgetSpent, match=r"by this command\)"):
        Allowance(max_tokens=5).check(Usage(prompt_tokens=9))


# How much is read


def test_an_answer_without_end_is_not_read_to_its_end(chat: ChatServer) -> None:
    chat.behaviour = lambda _: Reply(200, b" " * (17 << 20))
    with pytest.raises(ModelFailed, match="sent more than 16 MiB, which no completion has; check OPENAI_BASE_URL"):
        ask_one()
    assert chat.requests == 1


@pytest.mark.parametrize("code", [200, 500])
def test_a_small_body_does_not_become_a_large_one(chat: ChatServer, code: int) -> None:
    packed = gzip.compress(bytes(1 << 30), 1)  # 4.5 MB that unpack to a GB
    chat.behaviour = lambda _: Reply(code, packed, {"Content-Encoding": "gzip"})
    tracemalloc.start()
    with pytest.raises(ModelFailed, match="sent more than 16 MiB"):
        ask_one()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most - len(packed) < 64 << 20
    assert chat.requests == 1


def test_what_unpacks_to_nothing_is_not_read_to_its_end(chat: ChatServer) -> None:
    packer = zlib.compressobj()
    begun = packer.flush(zlib.Z_SYNC_FLUSH)
    empty_blocks = b"\0\0\0\xff\xff" * (4 << 20)

    def padded(asked: Asked) -> Reply:
        rest = packer.compress(answer(asked).body) + packer.flush()
        return Reply(200, begun + empty_blocks + rest, {"Content-Encoding": "deflate"})

    chat.behaviour = padded
    with pytest.raises(ModelFailed, match="sent more than 16 MiB"):
        ask_one()
    assert chat.requests == 1


@pytest.mark.parametrize("junk", [1, 1 << 20])
def test_bytes_after_the_end_of_a_packed_answer_are_a_fault(chat: ChatServer, junk: int) -> None:
    """They are not gathered and copied with each part that comes."""
    chat.behaviour = lambda asked: Reply(
        200, gzip.compress(answer(asked).body) + bytes(junk), {"Content-Encoding": "gzip"}
    )
    with pytest.raises(ModelFailed, match="bytes after the end of what is packed"):
        ask_one(patience=replace(QUICK, tries=2))
    assert chat.requests == 2


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "GZIP", "identity"])
def test_a_packed_answer_is_read(chat: ChatServer, encoding: str) -> None:
    packs: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress, "identity": bytes}
    pack = packs[encoding.lower()]

    def packed(asked: Asked) -> Reply:
        whole = answer(asked)
        return replace(whole, body=pack(whole.body), headers={**whole.headers, "Content-Encoding": encoding})

    expected = ask_one()
    chat.behaviour = packed
    assert ask_one() == expected


# What may pass


@pytest.mark.parametrize("fault", PASSING)
def test_a_passing_fault_is_asked_again_and_changes_nothing(chat: ChatServer, fault: str) -> None:
    async def twice() -> list[Completion]:
        completer = EndpointCompleter("m", patience=QUICK)
        good = await completer.complete("p", GREEDY)
        chat.behaviour = at_first(PASSING[fault], times=3)  # the first one was good
        found = [good, await completer.complete("p", GREEDY)]
        await completer.close()
        return found

    good, found = asyncio.run(twice())
    assert found == good
    assert chat.requests == 4
    assert all(asked.body == chat.asked[0].body for asked in chat.asked)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(
            {
                "choices": [{"message": {"content": [{"type": "text"}]}}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1},
            },
            id="a part without its text",
        ),
        pytest.param(
            {"choices": [{"message": {"content": 5}}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}},
            id="content is a number",
        ),
        pytest.param(
            {"choices": [{"message": {"content": ["x"]}}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}},
            id="a part that is none",
        ),
        pytest.param(
            {
                "choices": [{"message": {"content": "x"}}],
                "usage": {"prompt_tokens": float("inf"), "completion_tokens": 1},
            },
            id="infinitely many tokens",
        ),
        *(
            pytest.param(completion("x", *tokens), id=f"{tokens} tokens")
            for tokens in [(-500, 1), (1, -1), (2**40, 1), (10**30, 1)]
        ),
    ],
)
def test_a_reply_that_is_no_completion_ends_in_a_sentence(chat: ChatServer, reply: object) -> None:
    chat.behaviour = lambda _: as_json(reply)
    with pytest.raises(ModelFailed, match="2 tries .what came is not a valid completion: "):
        ask_one(patience=Patience(first_pause_s=0.01, first_faults_s=60.0, tries=2))


@pytest.mark.parametrize("before", [b"Unauthorized, the key that was sent was: ", b"", b"x" * 75, b"x" * 4060])
def test_what_is_not_json_is_shown_without_the_key(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, before: bytes
) -> None:
    key = "".join(f"{number:02x}" for number in range(40))
    monkeypatch.setenv("OPENAI_API_KEY", key)
    chat.behaviour = lambda _: Reply(200, before + key.encode())
    with pytest.raises(ModelFailed, match="what came is not JSON") as caught:
        ask_one(patience=Patience(first_pause_s=0.01, first_faults_s=60.0, tries=2))
    assert not any(key[at : at + 8] in str(caught.value) for at in range(len(key) - 8))


def test_a_reply_nested_too_deep_ends_in_a_sentence(chat: ChatServer) -> None:
    chat.behaviour = lambda _: Reply(200, b"[" * 200_000)
    with pytest.raises(ModelFailed, match=r"2 tries .what came is not JSON: \[\[\["):
        ask_one(patience=Patience(first_pause_s=0.01, first_faults_s=60.0, tries=2))


@pytest.mark.parametrize("fault", ["silence", "drip"])
def test_an_answer_that_does_not_come_in_time_is_asked_for_again(chat: ChatServer, fault: str) -> None:
    chat.behaviour = at_first({"silence": silence, "drip": drip(0.01)}[fault])
    assert 0.25 <= seconds(lambda: ask_one(patience=HURRIED)) < 2 * STALL_S
    assert chat.requests >= 2


def test_a_slow_drip_that_ends_in_time_is_an_answer(chat: ChatServer) -> None:
    expected = ask_one()
    chat.behaviour = drip(0.0005)
    assert ask_one() == expected
    assert chat.requests == 2


@pytest.mark.parametrize(("rate", "seed"), [(0.2, 1), (0.3, 2)])
def test_passing_faults_change_no_result(chat: ChatServer, rate: float, seed: int) -> None:
    prompts = [f"question {i}" for i in range(80)]
    expected = ask_all(prompts)
    assert not any(isinstance(found, BaseException) for found in expected)
    assert len({found.text for found in expected if isinstance(found, Completion)}) == len(prompts)
    assert chat.requests == len(prompts)
    chat.behaviour = faulty(rate, [*PASSING.values(), silence, drip(0.01)], seed)
    assert ask_all(prompts, patience=HURRIED) == expected
    assert chat.requests > len(prompts) * (2 + rate / 2)


@pytest.mark.timed
def test_an_endpoint_says_when_to_come_back_and_means_everybody(chat: ChatServer) -> None:
    chat.behaviour = lambda asked: at_first(status(429, "0.5"))(asked) if asked.prompt == "first" else answer(asked)

    async def later() -> None:
        completer = EndpointCompleter("m", patience=QUICK)
        first = asyncio.create_task(completer.complete("first", GREEDY))
        await asyncio.sleep(0.25)
        await asyncio.gather(first, *(completer.complete(f"p{i}", GREEDY) for i in range(5)))
        await completer.close()

    asyncio.run(later())
    assert chat.requests == 7
    assert min(asked.at for asked in chat.asked[1:]) - chat.asked[0].at >= 0.5


def http_date(at: float) -> str:
    return format_datetime(datetime.fromtimestamp(at, UTC), usegmt=True)


def test_a_date_to_come_back_at_is_kept(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    date = math.ceil(time.time() + 0.25)
    came: list[float] = []

    def behave(asked: Asked) -> Action:
        came.append(time.time())
        return at_first(status(503, http_date(date)))(asked)

    chat.behaviour = behave
    try:
        ask_one()
    finally:
        monkeypatch.undo()
        time.tzset()
    assert len(came) == 2
    assert date - 0.02 <= came[1] < date + STALL_S


@pytest.mark.parametrize(
    "value",
    [
        "soon",
        "",
        "-5",
        "nan",
        "inf",
        "1e999",
        "Wed, 21 Oct 2015",
        "Wed, 99 Oct 2015 07:28:00 GMT",
        "Wed, 21 Oct 2015 07:28:00 +9999",
        "Wed, 21 Oct 9999999999999999999999 07:28:00 GMT",
    ],
)
def test_a_time_to_come_back_at_that_is_none_is_ignored(chat: ChatServer, value: str) -> None:
    chat.behaviour = at_first(status(503, value))
    patience = replace(QUICK, longest_wait_s=600.0)
    assert seconds(lambda: ask_one(patience=patience)) < 2 * STALL_S
    assert chat.requests == 2


@pytest.mark.parametrize("value", ["3600", http_date(time.time() + 3600)], ids=["seconds", "date"])
def test_nobody_waits_for_an_hour(chat: ChatServer, value: str) -> None:
    chat.behaviour = at_first(status(503, value))
    patience = replace(QUICK, longest_wait_s=0.3)
    assert 0.3 <= seconds(lambda: ask_one(patience=patience)) < 2 * STALL_S


@pytest.mark.timed
def test_waiting_as_told_is_not_counted_as_fault(chat: ChatServer) -> None:
    chat.behaviour = at_first(status(429, "0.4"), times=2)
    patience = Patience(first_pause_s=0.01, faults_s=0.3)
    assert ask_one(patience=patience)
    assert chat.requests == 3


def at_most_every(seconds_s: float, retry_after: str | None) -> Behaviour:
    """A healthy endpoint with a limit on its rate."""
    lock, free_at = threading.Lock(), [0.0]

    def behave(asked: Asked) -> Action:
        with lock:
            if time.monotonic() < free_at[0]:
                return status(429, retry_after)(asked)
            free_at[0] = time.monotonic() + seconds_s
            return answer(asked)

    return behave


@pytest.mark.timed
@pytest.mark.parametrize("retry_after", ["0.05", None])
def test_an_endpoint_that_limits_the_rate_is_not_failing(chat: ChatServer, retry_after: str | None) -> None:
    chat.behaviour = at_most_every(0.05, retry_after)
    patience = Patience(faults_s=5.0, first_pause_s=0.01, longest_pause_s=0.02, tries=3, call_s=0.2)
    found = ask_all([f"p{i}" for i in range(20)], patience=patience)
    assert not any(isinstance(one, BaseException) for one in found)
    assert chat.requests > 60  # more than three for each, on the average


@pytest.mark.timed
@pytest.mark.parametrize("retry_after", ["0", None])
def test_one_that_limits_the_rate_to_nothing_is_given_up(chat: ChatServer, retry_after: str | None) -> None:
    patience = Patience(faults_s=0.3, first_pause_s=0.01, longest_pause_s=0.02, tries=4)

    async def ask() -> float:
        completer = EndpointCompleter("m", patience=patience)
        await completer.complete("p", GREEDY)
        chat.behaviour, started = status(429, retry_after), time.monotonic()
        with pytest.raises(ModelFailed, match=r"tries \(status 429: <html>not now"):
            await completer.complete("q", GREEDY)
        await completer.close()
        return time.monotonic() - started

    assert 0.25 <= asyncio.run(ask()) < STALL_S


@pytest.mark.timed
def test_who_waits_as_told_takes_no_place_and_urgent_calls_go_first(chat: ChatServer) -> None:
    chat.behaviour = lambda asked: (status(429, "0.6") if asked.at - chat.asked[0].at < 0.3 else answer)(asked)
    patience = Patience(first_pause_s=0.05, longest_pause_s=0.05)

    async def ask() -> None:
        completer = EndpointCompleter("m", concurrency=2, patience=patience)

        async def early(prompt: str) -> None:
            CALL.set(Call(urgent=False))
            await completer.complete(prompt, GREEDY)

        looking_ahead = [asyncio.create_task(early(f"p{i}")) for i in range(8)]
        await asyncio.sleep(0.3)
        await asyncio.gather(completer.complete("urgent", GREEDY), *looking_ahead)
        await completer.close()

    asyncio.run(ask())
    after = [asked for asked in chat.asked if asked.at - chat.asked[0].at >= 0.3]
    assert after[0].prompt == "urgent"
    assert after[0].at - chat.asked[0].at >= 0.6
    assert len(after) == 9


@pytest.mark.timed
def test_one_slow_fault_is_not_the_end(chat: ChatServer) -> None:
    """A busy CPU server takes minutes for an answer; when one is lost, it is asked for again."""
    chat.latency_s = 0.25  # longer than faults_s, much shorter than request_s
    chat.behaviour = at_first(status(503))
    assert ask_one(patience=Patience(request_s=5.0, faults_s=0.15, first_pause_s=0.01))


# What does not pass


def test_a_dead_port_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    url = dead_url()
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    started = time.monotonic()
    with pytest.raises(ModelFailed) as caught:
        ask_one(patience=Patience(faults_s=0.3, first_pause_s=0.02, longest_pause_s=0.1, tries=1000))
    assert 0.3 <= time.monotonic() - started < 2 * STALL_S
    message = str(caught.value)
    assert message.startswith(f"{url}: no answer after ")
    assert message.endswith("every answer so far is kept: run the same again when the endpoint is back")
    assert "\n" not in message


def test_an_endpoint_that_comes_back_in_time_answers(chat: ChatServer) -> None:
    down_until = time.monotonic() + 0.3
    chat.behaviour = lambda asked: status(503)(asked) if time.monotonic() < down_until else answer(asked)
    prompts = [f"p{i}" for i in range(10)]
    patience = Patience(faults_s=60.0, first_faults_s=60.0, first_pause_s=0.02, longest_pause_s=0.1, tries=1000)
    assert not any(isinstance(found, BaseException) for found in ask_all(prompts, patience=patience))


def test_a_call_that_always_fails_ends_while_others_succeed(chat: ChatServer) -> None:
    chat.behaviour = lambda asked: status(500)(asked) if asked.prompt == "cursed" else answer(asked)
    patience = Patience(faults_s=60.0, first_faults_s=60.0, first_pause_s=0.01, longest_pause_s=0.02, tries=7)
    cursed, *others = ask_all(["cursed", *(f"p{i}" for i in range(30))], patience=patience, concurrency=4)
    assert isinstance(cursed, ModelFailed)
    assert "7 tries (status 500: <html>not now</html>)" in str(cursed)
    assert sum(asked.prompt == "cursed" for asked in chat.asked) == 7
    assert not any(isinstance(found, BaseException) for found in others)


@pytest.mark.timed
def test_an_address_that_takes_no_connection_fails_from_the_start_of_the_first_try(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        others = [socket.socket() for _ in range(4)]
        for other in others:
            other.setblocking(False)
            other.connect_ex(full.getsockname())
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{full.getsockname()[1]}/v1")
        with pytest.raises(ModelFailed, match=r"2 tries \(no connection within 0.4 s"):
            ask_one(patience=Patience(connect_s=0.4, faults_s=0.5, first_pause_s=0.01))
        for other in others:
            other.close()


def test_a_host_that_is_not_known_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://nowhere.invalid/v1")
    with pytest.raises(ModelFailed, match=r"\(the host nowhere.invalid is not known, or there is no network\)"):
        ask_one(patience=Patience(faults_s=0.1, first_pause_s=0.01))


@pytest.mark.timed
def test_nobody_is_patient_anew_with_an_endpoint_that_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", dead_url())
    patience = Patience(faults_s=0.3, first_pause_s=0.02, longest_pause_s=0.05)

    async def tries() -> list[bool]:
        completer, at_once = EndpointCompleter("m", patience=patience), []
        for pause_s in (0.0, 0.0, 0.5):
            await asyncio.sleep(pause_s)
            with pytest.raises(ModelFailed) as caught:
                await completer.complete("p", GREEDY)
            at_once.append("after 1 tries" in str(caught.value))
        await completer.close()
        return at_once

    assert asyncio.run(tries()) == [False, True, False]  # later it may be back


def test_a_quota_that_is_used_up_is_reported_at_once_with_the_endpoints_reason(chat: ChatServer) -> None:
    said = "You exceeded your current quota, please check your plan"
    chat.behaviour = refusal(429, said, type="insufficient_quota")
    with pytest.raises(ModelFailed, match=f"answered 429 for model m .*{said}"):
        ask_one()
    assert chat.requests == 1


@pytest.mark.parametrize("code", [500, 200])
def test_the_endpoints_own_reason_is_told_without_the_key(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chat.behaviour = refusal(code, f"{KEY} requires more memory (8.0 GiB)\nthan is there")
    with pytest.raises(ModelFailed, match=rf"2 tries \(status {code}: .*\*\*\* requires more memory") as caught:
        ask_one(patience=Patience(first_pause_s=0.01, first_faults_s=60.0, tries=2))
    assert KEY not in str(caught.value)
    assert chat.requests == 2


@pytest.mark.parametrize("server", OVERFLOWS)
def test_a_prompt_that_is_too_long_is_told_apart_and_not_asked_again(chat: ChatServer, server: str) -> None:
    chat.behaviour = OVERFLOWS[server]
    with pytest.raises(ContextOverflow, match="^openai:m: a prompt does not fit into the model's context"):
        ask_one()
    assert chat.requests == 1


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [(UNAUTHORIZED, 401), (UNKNOWN_MODEL, 404), (refusal(400, "bad\nrequest"), 400), (status(307), 307)],
)
def test_a_refusal_is_reported_at_once(chat: ChatServer, behaviour: Behaviour, code: int) -> None:
    chat.behaviour = behaviour
    with pytest.raises(ModelFailed) as caught:
        ask_one()
    message = str(caught.value)
    assert not isinstance(caught.value, ContextOverflow)
    assert message.startswith(f"{chat.url}: answered {code} for model m (")
    assert message.endswith("; check OPENAI_BASE_URL, OPENAI_API_KEY and the model's name")
    assert "\n" not in message
    assert chat.requests == (3 if code == 400 else 1)  # a 400 may be about neutral values: asked again without them


def refused(chat: ChatServer, model: str = "m") -> str:
    async def ask() -> None:
        completer = EndpointCompleter(model, patience=QUICK)
        try:
            await completer.complete("p", GREEDY)
        finally:
            await completer.close()

    with pytest.raises(ModelFailed) as caught:
        asyncio.run(ask())
    return str(caught.value)


def test_where_a_model_is_unknown_a_few_that_are_there_are_named(chat: ChatServer) -> None:
    chat.behaviour = UNKNOWN_MODEL
    chat.models = ["a", "b\x1b[31m"]
    assert "it offers a, b\\x1b[31m); check" in refused(chat)
    chat.models = [f"model-{i}" for i in range(9)]
    assert "; it offers model-0, model-1, model-2, model-3, model-4 and 4 more); check" in refused(chat)
    chat.models = ["a", "m"]
    assert "offers" not in refused(chat)


@pytest.mark.parametrize("models", [b"", b"[]", b'{"data": 5}', b'{"data": [{"id": 5}, 7]}', b"[" * 100_000])
def test_an_endpoint_need_not_say_which(chat: ChatServer, models: bytes) -> None:
    chat.behaviour, chat.models = UNKNOWN_MODEL, Reply(200, models)
    assert refused(chat).endswith("); check OPENAI_BASE_URL, OPENAI_API_KEY and the model's name")


def test_a_path_without_v1_is_suspected(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", chat.url.removesuffix("/v1"))
    assert "; is /v1 missing from OPENAI_BASE_URL?); check" in refused(chat)


def test_v1_is_not_missing_where_it_is() -> None:
    assert page_note("http://localhost:8000").endswith("; is /v1 missing from OPENAI_BASE_URL?")
    for address in ("http://localhost:8000/v1", "https://host/v1/project", "https://host/v1beta/openai"):
        assert "missing" not in page_note(address)


@pytest.mark.parametrize("head", ["<html>", "<!DOCTYPE html>", "\n <!doctype HTML>"])
def test_so_is_a_web_page(chat: ChatServer, head: str) -> None:
    chat.behaviour = lambda _: Reply(200, f"{head}welcome".encode())
    says = r"\(a web page instead of JSON; does OPENAI_BASE_URL name a model server\?\)"  # /v1 is there
    with pytest.raises(ModelFailed, match=says):
        ask_one(patience=Patience(first_pause_s=0.01, first_faults_s=60.0, tries=2))
    chat.behaviour = lambda _: Reply(404, f"{head}not found".encode())
    assert "it is a web page instead of JSON" in refused(chat)


def test_a_long_refusal_is_cut(chat: ChatServer) -> None:
    chat.behaviour = refusal(400, "no " * 100_000)
    with pytest.raises(ModelFailed) as caught:
        ask_one()
    assert len(str(caught.value)) < 500


def test_a_wrong_path_names_the_variable(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", chat.url.removesuffix("/v1"))
    with pytest.raises(ModelFailed, match="answered 404 .*check OPENAI_BASE_URL"):
        ask_one()


@pytest.mark.parametrize(
    "url",
    [
        "http://[::1/v1",
        "http://127.0.0.1:port/v1",
        "localhost:8000/v1",
        "/v1",
        "ftp://127.0.0.1/v1",
        "http:///v1",
        "http://127.0.0.1:0/v1",
        "http://127.0.0.1:99999/v1",
        "http://127.0.0.1\n:8000/v1",
        "http://a..b/v1",
        f"http://{'a' * 70}.example/v1",
        "http://xn--a/v1",
    ],
)
def test_an_address_that_is_none_is_reported_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    # What stands in a port's place and is none may be a password whose host was forgotten.
    shown = {"http://[::1/v1": "http://[:***/v1", "http://127.0.0.1:port/v1": "http://127.0.0.1:***/v1"}.get(url, url)
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(InputError) as caught:
        EndpointCompleter("m")
    assert str(caught.value) == (
        f"OPENAI_BASE_URL is {shown!r}; it should be an address such as http://localhost:8000/v1"
    )


def test_what_surrounds_an_address_is_left_out(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f" {chat.url}/\n")
    ask_one()
    assert chat.requests == 1


@pytest.mark.timed
@pytest.mark.parametrize("behaviour", [silence, drip(0.01)], ids=["silence", "drip"])
def test_an_answer_that_never_comes_is_cut_off(chat: ChatServer, behaviour: Behaviour) -> None:
    chat.behaviour = behaviour
    started = time.monotonic()
    with pytest.raises(ModelFailed, match=r"1 tries \(no answer within 0.3 s\)"):
        ask_one(patience=Patience(request_s=0.3, tries=1))
    assert 0.3 <= time.monotonic() - started < 2 * STALL_S
    assert chat.requests == 1


@pytest.mark.timed
def test_a_server_that_never_answers_is_given_up(chat: ChatServer) -> None:
    chat.behaviour = silence
    patience = Patience(request_s=0.1, faults_s=0.25, first_pause_s=0.01, tries=1000)
    started = time.monotonic()
    assert all(isinstance(found, ModelFailed) for found in ask_all([f"p{i}" for i in range(8)], patience=patience))
    assert 0.25 <= time.monotonic() - started < 2 * STALL_S


# Silence


LISTENING = Patience(request_s=300.0, quiet_s=0.3, probe_s=0.2, probes=3)


@pytest.mark.timed
def test_an_endpoint_that_says_nothing_at_all_is_given_up(chat: ChatServer) -> None:
    chat.behaviour, chat.alive = silence, False
    started = time.monotonic()
    found = ask_all([f"p{i}" for i in range(5)], patience=LISTENING, concurrency=3)  # nor do the others wait in turn
    assert 0.8 <= time.monotonic() - started < STALL_S
    assert chat.probes == 3
    for one in found:
        assert isinstance(one, ModelFailed)
        assert str(one) == (
            f"{chat.url}: takes requests but answers none, not even GET /models; if it is only slow, set "
            "MERIT_PATIENCE_S to the seconds that an answer may take, or use a concurrency of 1; every answer so far is "
            "kept: run the same again when the endpoint is back"
        )


def test_as_it_stands_a_silent_endpoint_is_given_up_within_a_minute() -> None:
    usual = Patience()
    assert usual.quiet_s + usual.probes * usual.probe_s <= 50.0 < usual.request_s


@pytest.mark.timed
def test_an_endpoint_that_is_slow_but_lives_is_waited_for(chat: ChatServer) -> None:
    """Three minutes for an answer, of which here each lasts half a second."""
    chat.latency_s = 1.5
    assert ask_one(patience=LISTENING).output_tokens == 2
    assert chat.requests == 1
    assert chat.probes >= 2


@pytest.mark.timed
def test_nobody_asks_whether_an_endpoint_lives_that_keeps_answering(chat: ChatServer) -> None:
    chat.alive = False
    chat.behaviour = lambda asked: silence(asked) if asked.prompt == "stuck" else answer(asked)

    async def ask() -> None:
        completer = EndpointCompleter("m", patience=LISTENING)
        stuck = asyncio.create_task(completer.complete("stuck", GREEDY))
        for number in range(10):
            await completer.complete(f"p{number}", GREEDY)
            await asyncio.sleep(0.1)
        assert not stuck.done()
        stuck.cancel()
        with suppress(asyncio.CancelledError):
            await stuck
        await completer.close()

    asyncio.run(ask())
    assert chat.probes == 0


@pytest.mark.timed
def test_an_endpoint_nobody_asks_anything_is_left_alone(chat: ChatServer) -> None:
    async def ask() -> None:
        completer = EndpointCompleter("m", patience=LISTENING)
        await completer.complete("p", GREEDY)
        await asyncio.sleep(0.7)
        await completer.complete("q", GREEDY)
        await completer.close()

    asyncio.run(ask())
    assert chat.probes == 0


@pytest.mark.timed
def test_an_endpoint_that_comes_to_itself_is_not_given_up(chat: ChatServer) -> None:
    chat.latency_s, chat.alive = 1.4, False
    threading.Timer(0.6, setattr, [chat, "alive", True]).start()
    assert ask_one(patience=LISTENING).output_tokens == 2


@pytest.mark.timed
def test_one_that_does_one_thing_at_a_time_is_waited_for_three_times_as_long_as_before(chat: ChatServer) -> None:
    chat.alive = False  # it answers no probe while it thinks

    async def ask() -> None:
        completer = EndpointCompleter("m", patience=Patience(request_s=300.0, quiet_s=0.2, probe_s=0.1, probes=3))
        for chat.latency_s in (0.35, 0.75):
            assert await completer.complete("p", GREEDY)
        chat.behaviour = silence
        with pytest.raises(ModelFailed, match="answers none"):
            await completer.complete("q", GREEDY)
        await completer.close()

    assert seconds(lambda: asyncio.run(ask())) < 10.0 + STALL_S
    assert chat.requests == 3


@pytest.mark.timed
def test_nobody_waits_longer_for_a_slow_one_that_used_to_say_that_it_lives(chat: ChatServer) -> None:
    async def ask() -> float:
        completer = EndpointCompleter("m", patience=LISTENING)
        chat.latency_s = 2.5
        await completer.complete("p", GREEDY)
        chat.latency_s, chat.behaviour, chat.alive = 0.0, silence, False
        started = time.monotonic()
        with pytest.raises(ModelFailed, match="answers none"):
            await completer.complete("q", GREEDY)
        await completer.close()
        return time.monotonic() - started

    assert asyncio.run(ask()) < 3 * 2.5  # not three times as long as the answer took


@pytest.mark.timed
def test_a_slow_server_can_be_given_more_time_for_its_first_answer(chat: ChatServer) -> None:
    chat.alive, chat.latency_s = False, 1.4
    assert ask_one(patience=replace(LISTENING, silent_s=3.0)).output_tokens == 2


def test_the_environment_says_how_much() -> None:
    assert usual_patience("") == Patience()
    assert usual_patience(" 120 ") == Patience(silent_s=120.0, first_faults_s=45.0)
    assert usual_patience("600") == Patience(silent_s=600.0, request_s=600.0, first_faults_s=45.0)


@pytest.mark.parametrize("value", ["long", "0", "-1", "nan", "inf", "1e9"])
def test_and_what_is_no_time_is_refused(chat: ChatServer, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MERIT_PATIENCE_S", value)
    with pytest.raises(InputError, match=f"MERIT_PATIENCE_S is '{value}'; it should be a number of seconds"):
        EndpointCompleter("m")


# Queues


@pytest.mark.timed
def test_who_waits_while_others_are_answered_is_not_cut_off(chat: ChatServer) -> None:
    slot = threading.Lock()

    def one_at_a_time(asked: Asked) -> Action:
        with slot:
            time.sleep(0.05)
        return answer(asked)

    chat.behaviour = one_at_a_time
    found = ask_all([f"p{i}" for i in range(24)], patience=replace(QUICK, request_s=0.4))
    assert not any(isinstance(one, BaseException) for one in found)
    assert chat.requests == 24


@pytest.mark.timed
def test_but_not_for_ever(chat: ChatServer) -> None:
    chat.behaviour = lambda asked: at_first(silence)(asked) if asked.prompt == "lost" else answer(asked)

    async def ask() -> None:
        completer = EndpointCompleter("m", patience=replace(QUICK, request_s=0.3, longest_request_s=0.6))
        lost = asyncio.create_task(completer.complete("lost", GREEDY))
        number, started = 0, time.monotonic()
        while not lost.done():
            number += 1
            await completer.complete(f"p{number}", GREEDY)
            await asyncio.sleep(0.05)
            assert time.monotonic() - started < 2 * STALL_S
        assert time.monotonic() - started >= 0.6
        await completer.close()

    asyncio.run(ask())
    assert sum(asked.prompt == "lost" for asked in chat.asked) == 2


def test_a_limit_that_ends_its_call_is_not_moved() -> None:
    async def end() -> None:
        async with asyncio.timeout(0.01) as limit:
            try:
                await asyncio.sleep(5.0)
            finally:
                _reschedule(limit, math.inf)

    with pytest.raises(TimeoutError):
        asyncio.run(end())


# Ways there


def test_a_proxy_of_the_environment_is_used(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    direct = ask_one()
    monkeypatch.setenv("HTTP_PROXY", chat.url.removesuffix("/v1"))
    monkeypatch.setenv("http_proxy", chat.url.removesuffix("/v1"))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://model.example/v1")
    assert ask_one() == direct
    assert chat.proxied == ["http://model.example/v1/chat/completions"]
    monkeypatch.setenv("OPENAI_BASE_URL", chat.url)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "localhost,127.0.0.1")
    assert ask_one() == direct
    assert len(chat.proxied) == 1


@pytest.mark.parametrize("password", ["пароль", "%D0%BF%D0%B0%D1%80%D0%BE%D0%BB%D1%8C", "pw\udcff"])
def test_a_password_that_cannot_be_sent_to_a_proxy_is_said(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, f"http://me:{password}@127.0.0.1:9")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://model.example/v1")
    with pytest.raises(InputError, match=r"http_proxy .*letters beyond Latin-1.*use another password") as caught:
        ask_one()
    assert password not in str(caught.value)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not there to make a certificate")
def test_a_certificate_is_trusted_by_the_environment_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = tmp_path / "made.pem"
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run([*command.split(), "-keyout", made, "-out", tmp_path / "crt.pem"], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "crt.pem", made)
    with ChatServer(tls=tls) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        with pytest.raises(ModelFailed, match=r"1 tries \(ClientConnectorCertificateError .*self.signed"):
            ask_one(patience=Patience(tries=1))
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "crt.pem"))
        assert ask_one().output_tokens == 2
        assert server.requests == 1


# How many at a time


@pytest.mark.parametrize("places", [1, 5, 64])
def test_no_more_are_under_way_than_allowed(chat: ChatServer, places: int) -> None:
    all_taken = threading.Barrier(places, timeout=COMES_S)

    def answer_when_all_places_are_taken(asked: Asked) -> Action:
        all_taken.wait()
        return answer(asked)

    chat.behaviour = answer_when_all_places_are_taken
    found = ask_all([f"p{i}" for i in range(3 * places)], concurrency=places)
    assert not any(isinstance(one, BaseException) for one in found)
    assert chat.most_at_once == places


def test_nor_with_faults(chat: ChatServer) -> None:
    chat.latency_s = 0.01
    chat.behaviour = faulty(0.3, [status(500), status(429, "0.02"), reset, truncated_json])
    found = ask_all([f"p{i}" for i in range(100)], concurrency=8)
    assert not any(isinstance(one, BaseException) for one in found)
    assert chat.requests > 110
    assert chat.most_at_once <= 8


@pytest.mark.timed
def test_a_call_that_pauses_leaves_its_place_to_others(chat: ChatServer) -> None:
    chat.behaviour = lambda asked: at_first(status(500))(asked) if asked.prompt == "slow" else answer(asked)
    patience = Patience(first_pause_s=0.2)

    async def ask() -> list[str]:
        completer = EndpointCompleter("m", concurrency=1, patience=patience)
        finished = []

        async def one(prompt: str) -> None:
            await completer.complete(prompt, GREEDY)
            finished.append(prompt)

        await asyncio.gather(*map(one, ["slow", "a", "b"]))
        await completer.close()
        return finished

    assert asyncio.run(ask()) == ["a", "b", "slow"]


def test_a_cancelled_call_gives_its_place_back(chat: ChatServer) -> None:
    chat.behaviour = lambda asked: silence(asked) if asked.prompt == "stuck" else answer(asked)

    async def ask() -> Completion:
        completer = EndpointCompleter("m", concurrency=1, patience=QUICK)
        stuck = asyncio.create_task(completer.complete("stuck", GREEDY))
        while not chat.requests:
            await asyncio.sleep(0.01)
        stuck.cancel()
        with suppress(asyncio.CancelledError):
            await stuck
        try:
            return await asyncio.wait_for(completer.complete("p", GREEDY), 2.0 + STALL_S)
        finally:
            await completer.close()

    assert asyncio.run(ask()).output_tokens == 2
