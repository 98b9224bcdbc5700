"""Answers of a model on another machine: those at hand are returned, and what is missing is written down."""

import gzip
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from merit.errors import NotRecorded
from merit.models.answers import AnswerStore, answer_key
from merit.models.exported import open_recording
from merit.types import Completion, ModelIdentity, Sampling

_STAND_IN = 715_225_739  # a number that no answer returns by chance


class OfflineCompleter:
    """Answers from files, and notes what they do not hold."""

    concurrency = 64
    recorded = True

    def __init__(self, identity: ModelIdentity, files: Iterable[Path]) -> None:
        self.identity = identity
        self._stores: dict[Path, AnswerStore] = {}
        self.wanted: dict[bytes, tuple[str, Sampling]] = {}
        self.read(files)

    def read(self, files: Iterable[Path]) -> None:
        """Read more files of answers; one that was read before is not read again."""
        self._stores |= {path: open_recording(path) for path in files if path not in self._stores}

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer that is at hand; otherwise the prompt is wanted."""
        key = answer_key(self.identity, prompt, sampling)
        for store in self._stores.values():
            if (answer := store.get(key)) is not None:
                return answer
        self.wanted[key] = (prompt, sampling)
        raise NotRecorded(f"no answer to the prompt {key.hex()[:12]} yet", key.hex())

    async def close(self) -> None:
        """Nothing: the files serve many agents, one after the other."""

    def write_wanted(self, path: Path) -> int:
        """Write down what is wanted, and how many prompts that are."""
        write_wanted(path, self.wanted.values())
        return len(self.wanted)


class LookAhead:
    """Notes what a question can still need: where no answer is at hand, a statement that runs stands in for it.

    So the prompts are those of a question in which nothing more fails. No two stand-ins return the same, so that the
    votes on them decide nothing.
    """

    recorded = True

    def __init__(self, completer: OfflineCompleter, most: int) -> None:
        """`most` is how many answers the question can need; those after them are not noted."""
        self._completer = completer
        self._left = most

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the model."""
        return self._completer.identity

    @property
    def concurrency(self) -> int:
        """How many prompts the model answers at a time."""
        return self._completer.concurrency

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer that is at hand, or a stand-in for it."""
        if not self._left:
            raise NotRecorded("the question needs no more answers", "")
        self._left -= 1
        try:
            return await self._completer.complete(prompt, sampling)
        except NotRecorded:
            return Completion(f"<answer>SELECT {_STAND_IN + self._left}</answer>", 1, 1)

    async def close(self) -> None:
        """Nothing: the answers serve many questions."""


def write_wanted(path: Path, wanted: Iterable[tuple[str, Sampling]]) -> None:
    """Write down prompts; the file appears when it is whole."""
    whole = path.with_name(f"{path.name}.new")
    with gzip.open(whole, "wt", compresslevel=6, encoding="utf-8") as file:
        for prompt, sampling in wanted:
            file.write(json.dumps({"prompt": prompt, **asdict(sampling)}, ensure_ascii=False) + "\n")
    whole.replace(path)


def read_wanted(path: Path) -> list[tuple[str, Sampling]]:
    """The prompts of a file of wanted answers."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records: list[dict[str, Any]] = [json.loads(line) for line in file]
    return [(record.pop("prompt"), Sampling(**record)) for record in records]
