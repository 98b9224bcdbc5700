"""Language models by URI, and the ones that need no server: a script, and llama.cpp as far as it is not there."""

import asyncio
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import merit
from making.asking import ask
from merit.errors import InputError, ModelFailed
from merit.models import AnswerStore, answer_key, open_completer
from merit.models.endpoint import EndpointCompleter
from merit.models.llamacpp import LlamaCppCompleter
from merit.models.scripted import ScriptedCompleter, ScriptedReply, read_script
from merit.types import Completer, Completion, ModelIdentity, NeutralCompleter, Sampling, ServedCompleter

GREEDY = Sampling()


def write_script(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_completion_can_always_be_written() -> None:
    assert Completion("a\ud800b \udfff", 1, 1).text == "a?b ?"
    assert Completion("très ✓ 😀\0", 1, 1).text == "très ✓ 😀\0"


@pytest.mark.parametrize(
    "uri",
    ["", "gpt-4", "anthropic:m", ":m"],
)
def test_an_unknown_model_is_named_with_what_there_is(uri: str) -> None:
    expected = (
        f"{uri}: unknown model; use openai:MODEL, llamacpp:FILE.gguf, transformers:NAME, vllm:NAME, scripted:FILE "
        "or replay:FILE"
    )
    with pytest.raises(InputError) as caught:
        open_completer(uri)
    assert str(caught.value) == expected


@pytest.mark.parametrize(
    ("uri", "form"),
    [
        ("openai", "openai:MODEL"),
        ("openai:", "openai:MODEL"),
        ("llamacpp:", "llamacpp:FILE.gguf"),
        ("transformers:", "transformers:NAME"),
        ("vllm:", "vllm:NAME"),
        ("vllm:?context=2048", "vllm:NAME"),
        ("scripted:", "scripted:FILE"),
        ("replay:", "replay:FILE"),
    ],
)
def test_a_model_without_its_name_is_told_how_to_write_it(uri: str, form: str) -> None:
    with pytest.raises(InputError) as caught:
        open_completer(uri)
    assert str(caught.value) == f"{uri}: no model is named; write {form}"


@pytest.mark.parametrize("model", ["qwen2.5-coder:7b", "org/model", "m#1?x=2"])
def test_an_endpoints_model_is_everything_after_the_first_colon(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MERIT_MODEL_REVISION", raising=False)
    completer = open_completer(f"openai:{model}")
    assert isinstance(completer, EndpointCompleter)
    assert completer.identity == ModelIdentity(f"openai:{model}", "")
    asyncio.run(completer.close())


def test_whose_weights_an_endpoint_serves_can_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERIT_MODEL_REVISION", "q4_k_m")
    completer = open_completer("openai:m")
    assert completer.identity == ModelIdentity("openai:m", "q4_k_m")
    asyncio.run(completer.close())


# Scripts


def test_the_first_line_that_fits_answers(tmp_path: Path) -> None:
    script = write_script(
        tmp_path / "script.jsonl",
        {"contains": ["singers", "count"], "reply": "SELECT count(*) FROM singer"},
        {"contains": "singers", "reply": "SELECT name FROM singer"},
        {"reply": "SELECT 1"},
    )
    uri = f"scripted:{script}"
    assert ask(open_completer(uri), "count the singers").text == "SELECT count(*) FROM singer"
    assert ask(open_completer(uri), "name the singers").text == "SELECT name FROM singer"
    assert ask(open_completer(uri), "count the cars") == Completion("SELECT 1", 3, 2)


def test_a_script_does_not_depend_on_sampling_or_order(tmp_path: Path) -> None:
    script = write_script(tmp_path / "s.jsonl", {"contains": "a", "reply": "A"}, {"reply": "B"})

    async def both_ways() -> tuple[list[Completion], list[Completion]]:
        completer = read_script(script)
        prompts = ["a", "b", "ab", ""]
        hot = Sampling(temperature=1.0, max_tokens=1, seed=7)
        forth = [await completer.complete(prompt, GREEDY) for prompt in prompts]
        back = [await completer.complete(prompt, hot) for prompt in reversed(prompts)]
        return forth, back[::-1]

    forth, back = asyncio.run(both_ways())
    assert forth == back
    assert [completion.text for completion in forth] == ["A", "B", "A", "B"]


def test_a_prompt_that_no_line_fits_is_reported_with_the_way_out(tmp_path: Path) -> None:
    script = write_script(tmp_path / "s.jsonl", {"contains": "a", "reply": "A"})
    with pytest.raises(ModelFailed) as caught:
        ask(open_completer(f"scripted:{script}"), "x" * 500 + "\nthe end")
    message = str(caught.value)
    assert message.startswith("scripted:s.jsonl: no line of the script fits the prompt that ends 'xxx")
    assert message.endswith("end the script with a line that has no 'contains'")
    assert "\n" not in message
    assert len(message) < 250


def test_a_script_is_known_by_its_content(tmp_path: Path) -> None:
    first = read_script(write_script(tmp_path / "a.jsonl", {"reply": "A"})).identity
    assert first.name == "scripted:a.jsonl"
    assert read_script(write_script(tmp_path / "a.jsonl", {"reply": "A"})).identity == first
    assert read_script(write_script(tmp_path / "a.jsonl", {"reply": "B"})).identity.revision != first.revision
    assert (
        read_script(write_script(tmp_path / "a.jsonl", {"contains": "", "reply": "A"})).identity.revision
        != first.revision
    )
    one, two = ScriptedCompleter([ScriptedReply(("a", "b"), "x")]), ScriptedCompleter([ScriptedReply(("ab",), "x")])
    assert one.identity != two.identity


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the script is empty"),
        ("\n \n", "the script is empty"),
        ('{"reply": "a"}\nnonsense\n', r"line 2: not valid JSON"),
        ('{"reply": "a"}\n\n{"contains": "x"}\n', "line 3: the field 'reply' is missing"),
        (
            '{"reply": "a"}\n{"reply": "b", "contain": "x"}\n',
            "line 2: the field 'contain' means nothing here; a line of a script",
        ),
        ('{"reply": "a", "Contains": "x", "contains": "y"}\n', "line 1: the field 'Contains' means nothing here"),
        ('{"reply": 1}\n', "line 1: the field 'reply' should be a text, not 1"),
        ('["reply"]\n', "line 1: expected a JSON object"),
        ('{"reply": "a", "contains": 5}\n', "line 1: the field 'contains' should be a text or a list of texts, not 5"),
        ('{"reply": "a", "contains": ["x", 5]}\n', r"line 1: the field 'contains' should be .*, not \['x', 5\]"),
    ],
)
def test_a_script_that_is_none_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "s.jsonl").write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        open_completer(f"scripted:{tmp_path / 's.jsonl'}")
    assert str(caught.value).startswith(str(tmp_path / "s.jsonl"))


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere.jsonl: no such file"):
        open_completer(f"scripted:{tmp_path / 'nowhere.jsonl'}")
    with pytest.raises(InputError, match="is a folder, where a file is expected"):
        open_completer(f"scripted:{tmp_path}")


# Recordings, by URI


def record(path: Path, *models: ModelIdentity) -> Path:
    store = AnswerStore(path)
    for model in models:
        store.put(answer_key(model, "p", GREEDY), model, Completion(f"by {model.name}", 1, 2))
    store.close()
    return path


def test_a_recording_is_replayed_by_uri(tmp_path: Path) -> None:
    path = record(tmp_path / "a.sqlite", ModelIdentity("openai:m", "1"))
    assert ask(open_completer(f"replay:{path}"), "p") == Completion("by openai:m", 1, 2)
    path = record(tmp_path / "a.sqlite", ModelIdentity("openai:n"))
    completer = open_completer(f"replay:{path}#openai:n")
    assert completer.identity == ModelIdentity("openai:n")
    assert ask(completer, "p").text == "by openai:n"


def test_one_of_two_revisions_is_replayed_by_uri(tmp_path: Path) -> None:
    path = record(tmp_path / "a.sqlite", ModelIdentity("openai:m", "f16"), ModelIdentity("openai:m", "q4"))
    with pytest.raises(InputError, match="recorded are: openai:m@f16, openai:m@q4$"):
        open_completer(f"replay:{path}#openai:m")
    completer = open_completer(f"replay:{path}#openai:m@q4")
    assert completer.identity == ModelIdentity("openai:m", "q4")
    assert ask(completer, "p").text == "by openai:m"


def test_replaying_changes_nothing(tmp_path: Path) -> None:
    path = record(tmp_path / "a.sqlite", ModelIdentity("openai:m"))
    before = path.read_bytes()
    completer = open_completer(f"replay:{path}")
    assert list(tmp_path.iterdir()) == [path]
    ask(completer, "p")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before


def test_a_recording_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere.sqlite: no such file"):
        open_completer(f"replay:{tmp_path / 'nowhere.sqlite'}")
    with pytest.raises(InputError, match="is a folder, where a file is expected"):
        open_completer(f"replay:{tmp_path}")
    assert list(tmp_path.iterdir()) == []


# llama.cpp


def test_a_gguf_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere.gguf: no such file; give the path of a .gguf model"):
        open_completer(f"llamacpp:{tmp_path / 'nowhere.gguf'}")
    with pytest.raises(InputError, match="no such file"):
        open_completer(f"llamacpp:{tmp_path}")


def test_without_llamacpp_its_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)  # as if it were not installed
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    with pytest.raises(ModelFailed) as caught:
        open_completer(f"llamacpp:{tmp_path / 'm.gguf'}?context=2048")
    assert str(caught.value) == "llama.cpp is not installed; run, in merit's own folder: pip install '.[llamacpp]'"


@pytest.mark.skipif(find_spec("xllamacpp") is None, reason="llama.cpp is not installed")
@pytest.mark.parametrize("content", [b"", b"GGUF", b"GGUF\x03\0\0\0" + bytes(4000), b"no model at all " * 300])
def test_a_file_that_is_no_model_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.gguf").write_bytes(content)
    with pytest.raises(ModelFailed, match="m.gguf: llama.cpp cannot load it") as caught:
        open_completer(f"llamacpp:{tmp_path / 'm.gguf'}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("threads", ["", "0", "all", "-1", "²"])
def test_a_number_of_threads_that_is_none_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: str
) -> None:
    monkeypatch.setenv("MERIT_LLAMACPP_THREADS", threads)
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    with pytest.raises(InputError, match=f"MERIT_LLAMACPP_THREADS is '{threads}'; it should be a number of threads"):
        open_completer(f"llamacpp:{tmp_path / 'm.gguf'}")


def test_the_number_of_threads_reaches_llamacpp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    monkeypatch.setenv("MERIT_LLAMACPP_THREADS", "3")
    monkeypatch.setattr("xllamacpp.Server", given.append)
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    open_completer(f"llamacpp:{tmp_path / 'm.gguf'}")
    assert (given[0].cpuparams.n_threads, given[0].cpuparams_batch.n_threads) == (3, 3)


@pytest.mark.parametrize("options", ["context=", "context=many", "context=511", "context=-1", "ctx=2048", "context=²"])
def test_the_only_option_of_a_gguf_file_is_its_context(tmp_path: Path, options: str) -> None:
    uri = f"llamacpp:{tmp_path / 'm.gguf'}?{options}"
    with pytest.raises(InputError) as caught:
        open_completer(uri)
    assert str(caught.value) == f"{uri}: the only option is ?context=TOKENS, with at least 512 tokens"


# Extras


def test_whatever_needs_an_extra_gives_the_whole_command() -> None:
    said = [
        (path.name, line.strip())
        for path in Path(merit.__file__).parent.rglob("*.py")
        for line in path.read_text().splitlines()
        if "pip install" in line
        or "merit-sql[" in line  # which is not published: nothing can be installed by that name
    ]
    assert len(said) >= 6
    ways = ("pip install '.[", 'pip install --force-reinstall ."')  # an extra, or everything once more
    wanted = [f"run, in merit's own folder: {way}" for way in ways]
    assert [one for one in said if not any(way in one[1] for way in wanted)] == []


def test_what_a_model_can_do_besides_is_told_by_its_protocols(tmp_path: Path) -> None:
    endpoint, script = EndpointCompleter("m"), read_script(write_script(tmp_path / "s.jsonl", {"reply": "SELECT 1"}))
    assert isinstance(endpoint, ServedCompleter)
    assert isinstance(endpoint, NeutralCompleter)
    assert isinstance(script, Completer)
    assert not isinstance(script, ServedCompleter | NeutralCompleter)
    assert isinstance(object.__new__(LlamaCppCompleter), ServedCompleter) is False
    assert {"neutral", "complete_by_default"} <= set(dir(LlamaCppCompleter))
