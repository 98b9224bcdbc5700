"""Asking a model as no run does: prompts given by hand."""

import asyncio

from merit.types import Completer, Completion, Sampling


def ask(completer: Completer, prompt: str, sampling: Sampling | None = None) -> Completion:
    """The answer to one prompt (greedy where nothing else is said), after which the model is closed."""

    async def once() -> Completion:
        try:
            return await completer.complete(prompt, sampling or Sampling())
        finally:
            await completer.close()

    return asyncio.run(once())


def ask_together(completer: Completer, *asked: tuple[str, Sampling]) -> list[Completion]:
    """The answers to prompts that are asked all at a time; the model stays open."""

    async def every() -> list[Completion]:
        return await asyncio.gather(*(completer.complete(*one) for one in asked))

    return asyncio.run(every())
