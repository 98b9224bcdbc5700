"""Models in this process: transformers on a tiny model with random weights, vLLM as far as it is not there."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from making.asking import ask_together
from merit.errors import ContextOverflow, InputError, ModelFailed
from merit.models import open_completer
from merit.models.transformers import TransformersCompleter
from merit.models.weights import content_hash
from merit.types import Completion, Sampling

GREEDY = Sampling(max_tokens=12)
with_transformers = pytest.mark.skipif(
    find_spec("torch") is None or find_spec("transformers") is None,
    reason="torch and transformers are not installed (extra [transformers])",
)


@pytest.mark.parametrize(
    ("uri", "module", "said", "extra"),
    [
        ("transformers:m", "torch", "transformers or torch is missing", "transformers"),
        ("transformers:m?context=2048", "torch", "transformers or torch is missing", "transformers"),
        ("vllm:m", "vllm", "vLLM is missing", "vllm"),
    ],
)
def test_an_extra_that_is_missing_is_named_with_its_command(
    uri: str, module: str, said: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    with pytest.raises(ModelFailed) as caught:
        open_completer(uri)
    why = f"import of {module} halted; None in sys.modules"
    assert str(caught.value) == f"{said} ({why}); run, in merit's own folder: pip install '.[{extra}]'"


@pytest.mark.parametrize("kind", ["transformers", "vllm"])
@pytest.mark.parametrize("options", ["context=", "context=many", "dtype=float16"])
def test_the_only_option_is_the_context(kind: str, options: str) -> None:
    uri = f"{kind}:org/model?{options}"
    with pytest.raises(InputError) as caught:
        open_completer(uri)
    assert str(caught.value) == f"{uri}: the only option is ?context=TOKENS, with at least 512 tokens"


@pytest.mark.parametrize("share", ["", "0", "1.5", "half"])
def test_vllm_takes_a_share_of_the_gpu(share: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERIT_GPU_MEMORY", share)
    with pytest.raises(InputError, match=f"MERIT_GPU_MEMORY is '{share}'; it should be a share of the GPU's memory"):
        open_completer("vllm:m")


def test_a_folder_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    large = bytearray(20 << 20)
    (tmp_path / "model.safetensors").write_bytes(large)
    first = content_hash(tmp_path)
    assert content_hash(tmp_path) == first
    (tmp_path / "config.json").write_text("[]")
    assert content_hash(tmp_path) != first
    (tmp_path / "config.json").write_text("{}")
    large[:] = bytes(index % 251 for index in range(1024)) * (20 << 10)  # trained a little: no weight is what it was
    (tmp_path / "model.safetensors").write_bytes(large)
    assert content_hash(tmp_path) != first
    (tmp_path / "model.safetensors").write_bytes(bytes(12_345_678) + b"\1" + bytes((20 << 20) - 12_345_679))
    assert content_hash(tmp_path) != first  # a single weight is another one
    (tmp_path / "model.safetensors").write_bytes(large)
    (tmp_path / "model.safetensors").rename(tmp_path / "other.safetensors")
    assert content_hash(tmp_path) != first


# A real, tiny model


def build_model(folder: Path, *, template: str | None = None, seed: int = 0) -> Path:
    """A Qwen2 of a few thousand random weights, with a tokenizer of bytes and a chat template."""
    torch, library, tokenizers = (import_module(name) for name in ("torch", "transformers", "tokenizers"))
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate([*letters, "<user>", "<model>", "<end>"])}
    bytes_only: Any = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, []))
    bytes_only.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.decoder = tokenizers.decoders.ByteLevel()
    tokenizer = library.PreTrainedTokenizerFast(
        tokenizer_object=bytes_only, eos_token="<end>", additional_special_tokens=["<user>", "<model>"]
    )
    usual = "{% for m in messages %}<user>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<model>{% endif %}"
    tokenizer.chat_template = usual if template is None else template
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    config = library.Qwen2Config(
        vocab_size=len(vocabulary), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=600, eos_token_id=vocabulary["<end>"], initializer_range=0.4,
    )  # fmt: skip
    library.Qwen2ForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_model(tmp_path_factory.mktemp("weights") / "tiny")


@pytest.fixture
def model(tiny: Path) -> Iterator[TransformersCompleter]:
    completer = open_completer(f"transformers:{tiny}")
    assert isinstance(completer, TransformersCompleter)
    yield completer
    asyncio.run(completer.close())


@with_transformers
def test_a_model_is_known_by_its_weights_and_what_runs_it(tiny: Path, model: TransformersCompleter) -> None:
    torch, transformers = version("torch"), version("transformers")
    assert model.identity.name == "transformers:tiny"
    assert model.identity.revision.startswith(f"{content_hash(tiny)}-transformers{transformers}-torch{torch}-float")


@with_transformers
def test_tokens_are_the_tokenizers_own_and_the_template_is_applied(model: TransformersCompleter) -> None:
    [found] = ask_together(model, ("count ✓", GREEDY))
    assert found.prompt_tokens == len("count ✓".encode()) + 2  # a byte each, <user> and <model>
    assert 1 <= found.output_tokens <= 12
    assert "<end>" not in found.text


@with_transformers
def test_the_output_limit_holds(model: TransformersCompleter) -> None:
    for limit in (1, 5, 40):
        [found] = ask_together(model, ("p", Sampling(max_tokens=limit)))
        assert found.output_tokens <= limit


@with_transformers
def test_an_answer_does_not_depend_on_what_else_is_asked(model: TransformersCompleter) -> None:
    hot = Sampling(temperature=1.0, max_tokens=12, seed=3)
    asked = [(f"question {number} " * number, sampling) for number in range(1, 7) for sampling in (GREEDY, hot)]
    alone = [ask_together(model, one)[0] for one in asked]
    assert ask_together(model, *asked) == alone
    assert ask_together(model, *reversed(asked)) == alone[::-1]


@with_transformers
def test_a_seed_decides_what_is_drawn(model: TransformersCompleter) -> None:
    drawn = [
        ask_together(model, ("p", Sampling(temperature=1.5, max_tokens=30, seed=seed)))[0].text for seed in (1, 2, 3, 1)
    ]
    assert drawn[0] == drawn[3]
    assert len(set(drawn)) == 3


@with_transformers
def test_a_model_that_brings_penalties_answers_greedily_all_the_same(tiny: Path, tmp_path: Path) -> None:
    [plain] = ask_together(TransformersCompleter(str(tiny)), ("p", Sampling(max_tokens=40)))
    strict = build_model(tmp_path / "strict")
    given = json.loads((strict / "generation_config.json").read_text())
    (strict / "generation_config.json").write_text(
        json.dumps({**given, "do_sample": True, "repetition_penalty": 5.0, "top_k": 2, "temperature": 0.1})
    )
    [found] = ask_together(TransformersCompleter(str(strict)), ("p", Sampling(max_tokens=40)))
    assert found == plain


@with_transformers
def test_a_prompt_is_cut_on_the_left_where_asked(model: TransformersCompleter) -> None:
    """The tokens of a byte each, `<user>` before them and `<model>` after them."""
    cut = Sampling(max_tokens=12, max_prompt_tokens=40)
    ends_alike = [ask_together(model, (f"{before}{'x' * 39}", cut))[0] for before in ("", "y" * 100, "z" * 5000)]
    assert [completion.prompt_tokens for completion in ends_alike] == [40, 40, 40]
    assert len({completion.text for completion in ends_alike}) == 1
    [whole] = ask_together(model, ("y" * 30, cut))
    assert whole == ask_together(model, ("y" * 30, GREEDY))[0]


@with_transformers
def test_a_prompt_and_its_answer_must_fit_into_the_context(tiny: Path, model: TransformersCompleter) -> None:
    ask_together(model, ("x" * 586, GREEDY))
    with pytest.raises(ContextOverflow) as caught:
        ask_together(model, ("x" * 587, GREEDY))
    said = "a prompt of 589 tokens and an answer of up to 12 do not fit into the context of 600"
    assert str(caught.value) == f"tiny: {said}"
    with pytest.raises(ContextOverflow, match="context of 512$"):
        ask_together(TransformersCompleter(str(tiny), context_tokens=512), ("x" * 500, GREEDY))


@with_transformers
def test_who_stops_waiting_stops_the_model(model: TransformersCompleter) -> None:
    async def scene() -> Completion:
        long = asyncio.create_task(model.complete("p", Sampling(temperature=2.0, max_tokens=590, seed=1)))
        await asyncio.sleep(0.05)
        long.cancel()
        with suppress(asyncio.CancelledError):
            await long
        return await model.complete("p", GREEDY)

    assert [asyncio.run(scene())] == ask_together(model, ("p", GREEDY))


@with_transformers
def test_what_is_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: no such folder; give a model folder or a name on the hub"):
        open_completer(f"transformers:{tmp_path / 'nowhere'}")
    with pytest.raises(ModelFailed, match="transformers cannot load it") as caught:
        open_completer(f"transformers:{tmp_path}")
    assert "\n" not in str(caught.value)
    bare = build_model(tmp_path / "bare", template="")
    with pytest.raises(ModelFailed, match="its tokenizer has no chat template; use an instruction-tuned model"):
        open_completer(f"transformers:{bare}")
    build_model(tmp_path / "torn")
    (tmp_path / "torn" / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(ModelFailed, match="transformers cannot load it"):
        open_completer(f"transformers:{tmp_path / 'torn'}")
