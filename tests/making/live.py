"""A model that does as it is told, and a small shop to ask about: for tests of live use."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path

from merit.live import LiveAgent
from merit.models import open_encoder
from merit.types import Completion, ModelIdentity, Sampling

COUNT = "SELECT count(*) FROM orders"
PAID = "SELECT count(*) FROM orders WHERE state = 'paid'"
DECLINED = "-- UNANSWERABLE: there is nothing about cars"
encoder_opened_once = cache(open_encoder)  # which takes as long as everything else together
ShopOpener = Callable[..., LiveAgent]  # of a model and tables of merit.toml, by their names


class ToldModel:
    """Gives the replies it was told, in turn, the last one for ever; keeps what it was asked.

    A number stands for a call that takes so many seconds and never ends in time.
    """

    concurrency = 8
    recorded = False

    def __init__(self, *replies: str | float, tokens: tuple[int, int] = (10, 5)) -> None:
        self.identity = ModelIdentity("told")
        self.prompts: list[str] = []
        self._replies = replies
        self._tokens = tokens

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:  # noqa: ARG002 - told beforehand
        reply = self._replies[min(len(self.prompts), len(self._replies) - 1)]
        self.prompts.append(prompt)
        if not isinstance(reply, str):
            await asyncio.sleep(reply)
        return Completion(f"<answer>{reply}</answer>", *self._tokens)

    async def close(self) -> None:
        pass


class AnsweringModel(ToldModel):
    """Answers by what a prompt holds."""

    def __init__(self, answer: Callable[[str], str]) -> None:
        super().__init__("")
        self._answer = answer

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        self.prompts.append(prompt)
        await asyncio.sleep(0)  # lets other questions go on
        del sampling
        return Completion(f"<answer>{self._answer(prompt)}</answer>", *self._tokens)


def make_shop(path: Path) -> Path:
    """A database with three orders."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT, total REAL);"
            "INSERT INTO orders VALUES (1, 'paid', 5), (2, 'open', 7), (3, 'paid', 9);"
        )
    return path
