"""A model in this process by transformers (extra `[transformers]`): any architecture it knows, on a GPU or without.

Prompts are answered one by one. A batch would be faster, but padding and other shapes change the last bits of a sum and
with them, now and then, a word: an answer would depend on what else happened to be asked. For speed there is vLLM.
"""

import asyncio
import threading
from importlib import import_module
from typing import Any, ClassVar

from merit.errors import ModelFailed
from merit.models.greedy import Neutral
from merit.models.priority import PrioritySemaphore
from merit.models.weights import Weights, first_line
from merit.types import Completion, ModelIdentity, Sampling


class TransformersCompleter:
    """One model in memory, one prompt at a time."""

    concurrency = 1
    recorded = False
    neutral: ClassVar[Neutral] = {"repetition_penalty": 1.0}  # cut-offs apply to draws alone

    def __init__(self, name: str, *, context_tokens: int | None = None) -> None:
        try:
            torch, library = import_module("torch"), import_module("transformers")
        except ImportError as error:
            raise ModelFailed(
                f"transformers or torch is missing ({first_line(error)}); "
                "run, in merit's own folder: pip install '.[transformers]'"
            ) from None
        library.utils.logging.set_verbosity_error()
        library.utils.logging.disable_progress_bar()
        self._torch: Any = torch
        self._weights = Weights(name, context_tokens)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        dtype = (
            "auto" if device == "cuda" else torch.float32
        )  # half precision is slow where there is no hardware for it
        try:
            loaded = library.AutoModelForCausalLM.from_pretrained(self._weights.location, dtype=dtype)
            self._model: Any = loaded.to(device).eval()
        except (OSError, ValueError, KeyError, ImportError, RuntimeError, _torn_file()) as error:
            raise ModelFailed(f"{name}: transformers cannot load it ({first_line(error)})") from None
        self._ends = _ends(self._model, self._weights.tokenizer)
        # Only what a caller asks for: many models bring penalties and cut-offs that would apply to greedy answers too.
        self._model.generation_config = library.GenerationConfig(
            eos_token_id=self._ends, pad_token_id=self._ends[0], **self.neutral
        )
        made_with = f"transformers{library.__version__}-torch{torch.__version__}-{self._model.dtype}-{device}"
        revision = f"{self._weights.revision}-{made_with.replace('torch.', '')}"
        self.identity = ModelIdentity(f"transformers:{self._weights.name}", revision)
        self._slot = PrioritySemaphore(1)
        self._lock = threading.Lock()  # a cancelled call leaves the model working until its next word

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The model's answer through its own chat template."""
        tokens = self._weights.tokens(prompt, sampling)
        stop = threading.Event()
        async with self._slot:
            try:
                return await asyncio.to_thread(self._complete, tokens, sampling, stop)
            finally:
                stop.set()  # a cancelled call's answer is not needed: stop at the next word

    async def close(self) -> None:
        """Free the model."""
        self._model = None

    def _complete(self, tokens: list[int], sampling: Sampling, stop: threading.Event) -> Completion:
        torch, model = self._torch, self._model
        prompt = torch.tensor([tokens], device=model.device)
        sampled = {"do_sample": True, "temperature": sampling.temperature, "top_k": 0, "top_p": 1.0}
        with self._lock, torch.inference_mode():
            torch.manual_seed(sampling.seed or 0)
            try:
                output = model.generate(
                    prompt,
                    attention_mask=torch.ones_like(prompt),
                    max_new_tokens=sampling.max_tokens,
                    stopping_criteria=[lambda ids, _: torch.full((len(ids),), stop.is_set(), device=ids.device)],
                    **(sampled if sampling.temperature > 0 else {"do_sample": False}),
                )
            except RuntimeError as error:  # torch raises this for a full or failing device
                raise ModelFailed(f"{self.identity.name}: cannot answer ({first_line(error)})") from None
        answer: list[int] = output[0, len(tokens) :].tolist()
        text = self._weights.tokenizer.decode(answer, skip_special_tokens=True)
        return Completion(text, len(tokens), len(answer))


def _ends(model: Any, tokenizer: Any) -> list[int]:
    """The tokens an answer ends with, as the model or else its tokenizer says."""
    given = model.generation_config.eos_token_id
    if given is None:
        given = tokenizer.eos_token_id
    if given is None:
        raise ModelFailed(f"{tokenizer.name_or_path}: neither the model nor its tokenizer says how an answer ends")
    return [given] if isinstance(given, int) else list(given)


def _torn_file() -> type[Exception]:
    """What safetensors raises for a damaged file of weights; it is derived from Exception alone."""
    error: type[Exception] = import_module("safetensors").SafetensorError
    return error
