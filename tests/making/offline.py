"""Answers of a model on another machine: those at hand are returned, and what is missing is written down."""

import gzip
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from merit.errors import NotRecorded
from merit.models.answers import answer_key
from merit.models.exported import open_recording
from merit.types import Completion, ModelIdentity, Sampling


class OfflineCompleter:
    """Answers from files, and notes what they do not hold."""

    concurrency = 64
    recorded = True

    def __init__(self, identity: ModelIdentity, files: Iterable[Path]) -> None:
        self.identity = identity
        self._stores = [open_recording(path) for path in files]
        self.wanted: dict[bytes, tuple[str, Sampling]] = {}

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        """The answer that is at hand; otherwise the prompt is wanted."""
        key = answer_key(self.identity, prompt, sampling)
        for store in self._stores:
            if (answer := store.get(key)) is not None:
                return answer
        self.wanted[key] = (prompt, sampling)
        raise NotRecorded(f"no answer to the prompt {key.hex()[:12]} yet", key.hex())

    async def close(self) -> None:
        """Nothing: the files serve many agents, one after the other."""

    def write_wanted(self, path: Path) -> int:
        """Write down what is wanted, and how many prompts that are."""
        with gzip.open(path, "wt", encoding="utf-8") as file:
            for prompt, sampling in self.wanted.values():
                file.write(json.dumps({"prompt": prompt, **asdict(sampling)}, ensure_ascii=False) + "\n")
        return len(self.wanted)


def read_wanted(path: Path) -> list[tuple[str, Sampling]]:
    """The prompts of a file of wanted answers."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records: list[dict[str, Any]] = [json.loads(line) for line in file]
    return [(record.pop("prompt"), Sampling(**record)) for record in records]
