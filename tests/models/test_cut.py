"""Prompts that are cut on the left to a number of tokens: by every backend that has the model's tokenizer, or refused."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from making.asking import ask
from making.endpoint import Action, Asked, Behaviour, ChatServer, as_json, completion, refusal
from merit.errors import ContextOverflow, InputError, ModelFailed
from merit.models import AnswerStore, answer_key
from merit.models.endpoint import EndpointCompleter
from merit.models.replay import ReplayCompleter
from merit.models.scripted import ScriptedCompleter, ScriptedReply
from merit.models.weights import Weights
from merit.types import Completion, ModelIdentity, Sampling

CUT = Sampling(max_prompt_tokens=10)
HEAD, TAIL = "<user>", "<model>"  # of the chat template


def tokens_of(text: str) -> list[int]:
    """A tokenizer in which each letter is a token."""
    return [ord(letter) for letter in text]


def rendered(asked: Asked) -> str:
    return f"{HEAD}{asked.body['messages'][-1]['content']}{TAIL}"


def vllm(asked: Asked) -> Action:
    """What vLLM's server answers; an answer names what was read."""
    if asked.path == "/tokenize":
        tokens = tokens_of(rendered(asked))
        return as_json({"count": len(tokens), "max_model_len": 4096, "tokens": tokens})
    return reading(asked)


def llamacpp(asked: Asked) -> Action:
    """What llama.cpp's server answers: its /tokenize knows no chats."""
    if asked.path == "/tokenize":
        assert "content" not in asked.body or asked.body["parse_special"] is asked.body["add_special"] is True
        return as_json({"tokens": tokens_of(asked.body.get("content", ""))})
    if asked.path == "/apply-template":
        return as_json({"prompt": rendered(asked)})
    return reading(asked)


def reading(asked: Asked) -> Action:
    if asked.path == "/v1/completions":
        read = "".join(map(chr, asked.body["prompt"]))
        usage = {"prompt_tokens": len(asked.body["prompt"]), "completion_tokens": 2}
        return as_json({"choices": [{"text": read}], "usage": usage})
    return as_json(completion(rendered(asked), len(rendered(asked)), 2))


PATHS: dict[Behaviour, set[str]] = {
    vllm: {"/v1/chat/completions", "/v1/completions", "/tokenize"},
    llamacpp: {"/v1/chat/completions", "/v1/completions", "/tokenize", "/apply-template"},
}


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ChatServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


@pytest.mark.parametrize("behaviour", PATHS)
def test_a_server_reads_the_last_tokens_of_a_long_prompt(chat: ChatServer, behaviour: Behaviour) -> None:
    chat.behaviour, chat.paths = behaviour, PATHS[behaviour]
    assert ask(EndpointCompleter("m"), "How many singers are there?", CUT) == Completion("re?<model>", 10, 2)
    sent = chat.asked[-1].body
    assert {name: sent[name] for name in ("model", "temperature", "max_tokens", "repetition_penalty")} == {
        "model": "m", "temperature": 0.0, "max_tokens": 512, "repetition_penalty": 1.0
    }  # fmt: skip
    assert "messages" not in sent


@pytest.mark.parametrize("behaviour", PATHS)
def test_a_prompt_that_is_short_enough_is_sent_as_ever(chat: ChatServer, behaviour: Behaviour) -> None:
    """The template's tokens count: with them, these prompts have 14 and 15 tokens."""
    chat.behaviour, chat.paths = behaviour, PATHS[behaviour]
    most = Sampling(max_prompt_tokens=14)
    assert ask(EndpointCompleter("m"), "1", most) == Completion("<user>1<model>", 14, 2)
    assert chat.asked[-1].path == "/v1/chat/completions"
    assert ask(EndpointCompleter("m"), "12", most) == Completion("user>12<model>", 14, 2)
    assert ask(EndpointCompleter("m"), "12", Sampling()) == Completion("<user>12<model>", 15, 2)  # the default


def test_draws_of_a_cut_prompt_state_nothing(chat: ChatServer) -> None:
    chat.behaviour, chat.paths = vllm, PATHS[vllm]
    ask(EndpointCompleter("m"), "How many singers?", Sampling(0.7, seed=4, max_prompt_tokens=5))
    assert set(chat.asked[-1].body) == {"model", "prompt", "temperature", "max_tokens", "seed"}


def test_a_server_that_cannot_count_is_named_with_what_to_do(chat: ChatServer) -> None:
    with pytest.raises(ModelFailed) as caught:
        ask(EndpointCompleter("m"), "How many singers?", CUT)
    assert str(caught.value) == (
        f"{chat.url}: does not tell the tokens of a prompt (POST /tokenize, answered 404), so prompts cannot be cut; "
        "use the server of vLLM or llama.cpp, or leave the limit on prompt tokens out"
    )
    assert chat.requests == 0  # no prompt was sent whole


def test_nothing_else_is_hidden_behind_that(chat: ChatServer) -> None:
    chat.behaviour, chat.paths = refusal(401, "Incorrect API key provided."), PATHS[vllm]
    with pytest.raises(ModelFailed, match="answered 401 for model m .*check OPENAI_BASE_URL, OPENAI_API_KEY"):
        ask(EndpointCompleter("m"), "How many singers?", CUT)


def test_a_server_that_reads_something_else_is_not_believed(chat: ChatServer) -> None:
    def adding(asked: Asked) -> Action:
        if asked.path != "/v1/completions":
            return vllm(asked)
        usage = {"prompt_tokens": len(asked.body["prompt"]) + 1, "completion_tokens": 2}
        return as_json({"choices": [{"text": "x"}], "usage": usage})

    chat.behaviour, chat.paths = adding, PATHS[vllm]
    with pytest.raises(ModelFailed, match="counted 11 tokens of a prompt that was cut to 10, so it was not read as"):
        ask(EndpointCompleter("m"), "How many singers?", CUT)


def test_a_script_has_no_tokenizer() -> None:
    with pytest.raises(InputError, match="^scripted: a script has no tokenizer to cut prompts by; leave the limit on"):
        ask(ScriptedCompleter([ScriptedReply((), "SELECT 1")]), "p", CUT)


def test_an_answer_to_a_cut_prompt_is_another_answer(tmp_path: Path) -> None:
    model = ModelIdentity("openai:m")
    keys = {answer_key(model, "p", Sampling(max_prompt_tokens=most)) for most in (None, 10, 4096)}
    assert len(keys) == 3
    store = AnswerStore(tmp_path / "a.sqlite")
    store.put(answer_key(model, "p", CUT), model, Completion("cut", 10, 1))
    replayed = ReplayCompleter(store)
    assert ask(replayed, "p", CUT).text == "cut"


class Letters:
    """A tokenizer in which each letter is a token, as transformers' have it."""

    def apply_chat_template(self, messages: list[dict[str, str]], **_: Any) -> str:
        return f"{HEAD}{messages[0]['content']}{TAIL}"

    def __call__(self, text: str, **_: Any) -> dict[str, list[int]]:
        return {"input_ids": tokens_of(text)}


def test_models_in_this_process_are_cut_by_their_own_tokenizer() -> None:
    weights = Weights.__new__(Weights)
    weights.name, weights.tokenizer, weights.context = "m", Letters(), 600
    assert weights.tokens("x" * 700, CUT) == tokens_of("xxx<model>")  # which fits into the context now
    assert weights.tokens("a", Sampling(max_tokens=12)) == tokens_of("<user>a<model>")
    with pytest.raises(ContextOverflow):
        weights.tokens("x" * 700, Sampling(max_prompt_tokens=512))  # with 512 of an answer
