"""The proof of a memory: started from the page, one at a time; its last result is kept in the project's folder."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from merit.errors import Conflict, MeritError
from merit.files import atomic_write
from merit.live import LiveAgent
from merit.live.measuring.proof import Proof
from merit.live.record.events import now
from merit.reading import parse_json, read_text

FILE = "proof.json"


class RunningProof:
    """The proof under way, if there is one, and the result of the last."""

    def __init__(self, folder: Path, shown: Callable[[str], str] = str) -> None:
        """`shown` is how a sentence of an error is shown to people."""
        self._shown = shown
        self._path = folder / FILE
        self._task: asyncio.Task[None] | None = None
        self._running: dict[str, Any] | None = None
        self._error = ""

    def start(self, agent: LiveAgent, limit: int | None, author: str) -> None:
        """Begin to prove."""
        if self._running is not None:
            raise Conflict("a proof is under way already; wait for it")
        self._running = {"author": author, "started": now(), "done": 0, "of_all": None}
        self._error = ""
        self._task = asyncio.create_task(self._prove(agent, limit, author, self._running))

    def record(self) -> dict[str, Any]:
        """How far it is, the last result, and why the last one failed."""
        return {"running": self._running, "last": self._last(), "error": self._error or None}

    async def stop(self) -> None:
        """Drop the proof under way."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _prove(self, agent: LiveAgent, limit: int | None, author: str, running: dict[str, Any]) -> None:
        def tell(done: int, of_all: int) -> None:
            running.update(done=done, of_all=of_all)

        try:
            proof = await agent.prove_async(limit=limit, tell=tell, author=author)
            await asyncio.to_thread(self._write, {**proof_record(proof), **running, "finished": now()})
        except MeritError as error:
            self._error = self._shown(str(error))
        finally:
            self._running = None

    def _write(self, record: dict[str, Any]) -> None:
        with atomic_write(self._path) as file:
            file.write(json.dumps(record, ensure_ascii=False).encode())

    def _last(self) -> dict[str, Any] | None:
        with suppress(MeritError):
            record = parse_json(read_text(self._path), self._path)
            return record if isinstance(record, dict) else None
        return None


def proof_record(proof: Proof) -> dict[str, Any]:
    """A proof with each of its questions, for a picture of it."""
    turns = [
        {
            "answer": turn.answer,
            "with_memory": turn.with_memory.right,
            "without": turn.without.right,
            "confidence_with_memory": round(turn.with_memory.confidence, 4),
            "confidence_without": round(turn.without.confidence, 4),
            "calls_with_memory": turn.with_memory.calls,
            "calls_without": turn.without.calls,
            "tokens_with_memory": turn.with_memory.tokens,
            "tokens_without": turn.without.tokens,
            "cost_with_memory": turn.with_memory.cost,
            "cost_without": turn.without.cost,
            "recalled": turn.recalled,
        }
        for turn in proof.turns
    ]
    return {**proof.record(), "turns": turns}
