"""Greedy requests state neutral penalties and cut-offs, as many as an endpoint accepts, and no answer's key changes."""

import asyncio
import logging

import pytest

from making.endpoint import Action, Asked, Behaviour, ChatServer, answer, refusal
from merit.errors import ModelFailed
from merit.models import answer_key
from merit.models.endpoint import EndpointCompleter
from merit.types import Completion, ModelIdentity, Sampling

GREEDY = Sampling()
HOT = Sampling(temperature=0.7, seed=3)
OPENAI = {"top_p": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}
ALL = {**OPENAI, "repetition_penalty": 1.0, "repeat_penalty": 1.0, "top_k": -1, "min_p": 0.0}
ASKED = {"model", "messages", "temperature", "max_tokens", "seed"}


def ask(*asked: tuple[str, Sampling]) -> tuple[EndpointCompleter, list[Completion | BaseException]]:
    """What becomes of prompts that are asked one after the other."""

    async def one_by_one() -> tuple[EndpointCompleter, list[Completion | BaseException]]:
        completer = EndpointCompleter("m")
        found: list[Completion | BaseException] = []
        try:
            for prompt, sampling in asked:
                found += await asyncio.gather(completer.complete(prompt, sampling), return_exceptions=True)
            return completer, found
        finally:
            await completer.close()

    return asyncio.run(one_by_one())


def stated(asked: Asked) -> dict[str, float]:
    return {name: value for name, value in asked.body.items() if name not in ASKED}


def strict(*known: str, code: int = 400) -> Behaviour:
    """An endpoint that refuses fields it does not know, as hosted ones do."""

    def behave(asked: Asked) -> Action:
        unknown = [name for name in asked.body if name not in ASKED | set(known)]
        if unknown:
            return refusal(code, f"Unrecognized request argument supplied: {unknown[0]}")(asked)
        return answer(asked)

    return behave


def test_a_greedy_request_states_what_changes_nothing(chat: ChatServer) -> None:
    completer, _ = ask(("p", GREEDY), ("p", HOT))
    assert [stated(asked) for asked in chat.asked] == [ALL, {}]
    assert completer.neutral == ALL


def test_neutral_values_are_no_part_of_a_key() -> None:
    """Answers that were kept before merit stated them are still found."""
    model = ModelIdentity("openai:m", "1")
    assert answer_key(model, "p", GREEDY).hex() == "2833144c181b5665372b095ded8ec86d"
    assert answer_key(model, "p", HOT).hex() == "1b4e8f05ecc98308d455ae5e0a2ada29"


@pytest.mark.parametrize(
    ("behaviour", "accepted", "requests"),
    [(strict(*OPENAI), OPENAI, 2), (strict(code=422), {}, 3)],
    ids=["OpenAI's own only", "none"],
)
def test_what_an_endpoint_refuses_is_left_out_found_once_and_said_once(
    chat: ChatServer, behaviour: Behaviour, accepted: dict[str, float], requests: int, caplog: pytest.LogCaptureFixture
) -> None:
    chat.behaviour = behaviour
    with caplog.at_level(logging.WARNING):
        completer, found = ask(*((f"p{number}", GREEDY) for number in range(3)))
    assert all(isinstance(reply, Completion) for reply in found)
    assert [stated(asked) for asked in chat.asked[requests - 1 :]] == [accepted] * 3
    assert len(chat.asked) == requests + 2
    assert completer.neutral == accepted
    refused = ", ".join(name for name in ALL if name not in accepted)
    assert [record.getMessage() for record in caplog.records] == [
        f"merit: {chat.url}: refuses requests with {refused}, so these are left to the server, also for greedy answers"
    ]


def test_a_request_that_is_bad_in_any_form_teaches_nothing(chat: ChatServer, caplog: pytest.LogCaptureFixture) -> None:
    chat.behaviour = lambda asked: refusal(400, "no")(asked) if asked.prompt == "bad" else answer(asked)
    completer, (bad, good, later) = ask(("bad", GREEDY), ("good", GREEDY), ("bad", GREEDY))
    assert isinstance(bad, ModelFailed)
    assert isinstance(good, Completion)
    assert isinstance(later, ModelFailed)
    assert completer.neutral == ALL
    # Once it is known that the endpoint accepts all, a refusal is about something else and is not tried again.
    assert [asked.prompt for asked in chat.asked] == ["bad"] * 3 + ["good", "bad"]
    assert not caplog.records


def test_an_error_of_another_kind_is_not_about_the_fields(chat: ChatServer) -> None:
    chat.behaviour = refusal(401, "Incorrect API key provided.")
    _, [found] = ask(("p", GREEDY))
    assert isinstance(found, ModelFailed)
    assert len(chat.asked) == 1


def test_defaults_can_be_asked_for(chat: ChatServer) -> None:
    async def once() -> None:
        completer = EndpointCompleter("m")
        await completer.complete_by_default("p", GREEDY)
        await completer.close()

    asyncio.run(once())
    assert stated(chat.asked[0]) == {}
