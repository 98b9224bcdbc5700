"""A person's own database in tests: a small shop, a model that does as it is told, and an agent for both."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from merit.live import LiveAgent, open_live
from merit.settings import DatabaseSettings, ModelSettings, Settings
from merit.types import Completion, ModelIdentity, Sampling

COUNT = "SELECT count(*) AS number FROM orders"
PAID = "SELECT count(*) AS number FROM orders WHERE state = 'paid'"


class Model:
    """Answers by what a prompt holds; keeps what it was asked."""

    concurrency = 1
    recorded = False

    def __init__(self, answer: Callable[[str, Sampling], str] | str) -> None:
        self.identity = ModelIdentity("told")
        self.prompts: list[str] = []
        self._answer = answer if not isinstance(answer, str) else lambda *_: answer

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        self.prompts.append(prompt)
        return Completion(f"<answer>{self._answer(prompt, sampling)}</answer>", 10, 5)

    async def close(self) -> None:
        pass


def make_shop(path: Path, script: str = "") -> Path:
    """A database with three orders, and what a script adds."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT, total REAL);"
            "INSERT INTO orders VALUES (1, 'paid', 5), (2, 'open', 7), (3, 'paid', 9);" + script
        )
    return path


def open_shop(
    folder: Path, model: Model, rows: str = "prompt", method: str = "precedent_grounded", **more: Any
) -> LiveAgent:
    """An agent for the shop in a folder, which is made where it is missing; `more` are fields of `Settings`."""
    path = folder / "shop.sqlite"
    if not path.exists():
        make_shop(path)
    database = DatabaseSettings("shop", f"sqlite:///{path}", rows=rows)
    settings = Settings(folder / "merit.toml", database, ModelSettings(), **more)
    return open_live(settings, folder / "own", model, method=method)
