"""What greedy means: penalties and cut-offs that change nothing, stated with a request instead of left to a server.

vLLM applies a model's own `generation_config.json` (Qwen2.5-Instruct: a repetition penalty of 1.05) and llama.cpp what
its command line or a GGUF file says, at temperature 0 too. Neutral values say nothing that "greedy" does not say
already, so they are not part of an answer's key.
"""

from collections.abc import Mapping

from merit.types import Sampling

Neutral = Mapping[str, float]
STANDARD_NEUTRAL: Neutral = {"top_p": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}  # known to all servers
# repetition_penalty is vLLM's name, repeat_penalty llama.cpp's; -1 is how both say that all tokens may be chosen
NEUTRAL: Neutral = {**STANDARD_NEUTRAL, "repetition_penalty": 1.0, "repeat_penalty": 1.0, "top_k": -1, "min_p": 0.0}


def is_greedy(sampling: Sampling) -> bool:
    """Whether the likeliest token is always taken."""
    return sampling.temperature == 0.0
