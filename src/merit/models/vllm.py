"""A model in this process by vLLM (extra `[vllm]`): many prompts at a time on a GPU, without a server in between.

vLLM puts all prompts under way into one batch, which changes the last bits of a sum and with them, now and then, a
word; VLLM_BATCH_INVARIANT=1 has it use kernels that do not, where the GPU has them. Either way an answer is asked for
once and kept. MERIT_GPU_MEMORY is the share of the GPU's memory it takes (0.9), for a GPU that others use too.
"""

import os
from importlib import import_module
from itertools import count
from typing import Any, ClassVar

from merit.errors import InputError, ModelFailed
from merit.models.greedy import NEUTRAL, Neutral, is_greedy
from merit.models.priority import PrioritySemaphore
from merit.models.weights import Weights, first_line
from merit.types import Completion, ModelIdentity, Sampling

_ENVIRONMENT = {
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",  # stdout is for merit's own output, which programs read
    "VLLM_NO_USAGE_STATS": "1",  # nothing is sent anywhere by default
}


class VllmCompleter:
    """One engine, with at most `concurrency` prompts under way."""

    recorded = False
    neutral: ClassVar[Neutral] = {name: value for name, value in NEUTRAL.items() if name != "repeat_penalty"}

    def __init__(self, name: str, *, context_tokens: int | None = None, concurrency: int = 32) -> None:
        share = _share(os.environ.get("MERIT_GPU_MEMORY", "0.9"))
        for variable, value in _ENVIRONMENT.items():
            os.environ.setdefault(variable, value)
        try:
            library = import_module("vllm")
            engine = import_module("vllm.v1.engine.async_llm")
            self._faults = import_module("vllm.v1.engine.exceptions")
            self._sampling = import_module("vllm.sampling_params")
        except ImportError as error:
            raise ModelFailed(
                f"vLLM is missing ({first_line(error)}); run, in merit's own folder: pip install '.[vllm]'"
            ) from None
        self._weights = Weights(name, context_tokens)
        try:
            arguments = library.AsyncEngineArgs(
                model=self._weights.location,
                max_model_len=self._weights.context,
                gpu_memory_utilization=share,
                disable_log_stats=True,
            )
            self._engine: Any = engine.AsyncLLM.from_engine_args(arguments)
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelFailed(f"{name}: vLLM cannot load it ({first_line(error)})") from None
        self._numbers = count()
        self.concurrency = concurrency
        self._slots = PrioritySemaphore(concurrency)
        kind = str(self._engine.model_config.dtype).removeprefix("torch.")
        steady = "-batch-invariant" if os.environ.get("VLLM_BATCH_INVARIANT") == "1" else ""
        revision = f"{self._weights.revision}-vllm{library.__version__}-{kind}{steady}"
        self.identity = ModelIdentity(f"vllm:{self._weights.name}", revision)

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The model's answer through its own chat template."""
        tokens = self._weights.tokens(prompt, sampling)
        parameters = self._sampling.SamplingParams(
            temperature=sampling.temperature,
            max_tokens=sampling.max_tokens,
            seed=sampling.seed,
            output_kind=self._sampling.RequestOutputKind.FINAL_ONLY,
            **(self.neutral if is_greedy(sampling) else {}),
        )
        async with self._slots:
            try:
                prompt_tokens = {"type": "token", "prompt_token_ids": tokens}
                outputs = self._engine.generate(prompt_tokens, parameters, f"merit-{next(self._numbers)}")
                answers = [output.outputs[0] async for output in outputs]
            except (self._faults.EngineDeadError, self._faults.EngineGenerateError, ValueError) as error:
                why = first_line(error.__cause__ or error)
                raise ModelFailed(f"{self.identity.name}: vLLM cannot answer ({why})") from None
        return Completion(answers[-1].text, len(tokens), len(answers[-1].token_ids))

    async def close(self) -> None:
        """End the engine's process."""
        self._engine.shutdown()


def _share(given: str) -> float:
    """How much of the GPU's memory the engine may have."""
    try:
        share = float(given)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise InputError(f"MERIT_GPU_MEMORY is {given!r}; it should be a share of the GPU's memory, such as 0.5")
    return share
