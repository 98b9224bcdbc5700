"""Token counts of completions, for servers that do not report them."""

import math
from dataclasses import replace

from merit.types import Completion

AS_CHAT = {"add_special": True, "parse_special": True}  # how llama.cpp makes tokens of a chat's text
LEAVE_OUT = "leave the limit on prompt tokens out"  # what to do where prompts cannot be cut
# Qwen2.5-Coder has 3.7 bytes a token in the prompts of the bundled benchmark, and 3.2 in its answers to them.
_BYTES_PER_TOKEN = 3.5


def with_tokens(prompt: str, completion: Completion) -> Completion:
    """A completion whose tokens are estimated from the texts, and marked as such, where they were not counted."""
    if completion.prompt_tokens or not prompt:
        return completion
    return Completion(completion.text, _estimate(prompt), _estimate(completion.text), tokens_estimated=True)


def without_estimate(completion: Completion) -> Completion:
    """A completion as files of answers hold it: an estimate is made anew, and never kept as if it had been counted."""
    if not completion.tokens_estimated:
        return completion
    return replace(completion, prompt_tokens=0, output_tokens=0, tokens_estimated=False)


def _estimate(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)
