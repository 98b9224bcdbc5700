"""One episode, with an oracle and a model that do as they are told."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from making.memories import WordEncoder, make_entry
from merit.agent import Agent, Episode, FirstAnswer, Method, Task, repair
from merit.memory import Entry, Memory
from merit.prompts import SPIDER
from merit.types import Completion, ModelIdentity, Oracle, Question, Regime, Sampling, Status, Verdict

RIGHT = Verdict(Status.CORRECT)
WRONG = Verdict(Status.DENOTATION_MISMATCH)
NO_TABLE = Verdict(Status.EXECUTION_ERROR, "no such table: x")
CONFIRMED = Regime.DENOTATION_CONFIRMED


class Told:
    """Verdicts one after the other; the last one for ever."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        self.verdicts = list(verdicts)
        self.judged: list[str] = []

    async def judge(self, _question: Question, sql: str) -> Verdict:
        self.judged.append(sql)
        return self.verdicts.pop(0) if len(self.verdicts) > 1 else self.verdicts[0]


class Counting:
    """Answers SELECT 1, SELECT 2, ... or what it is given."""

    concurrency = 1
    recorded = False

    def __init__(self, replies: Sequence[str] = ()) -> None:
        self.identity = ModelIdentity("counting")
        self.prompts: list[str] = []
        self.samplings: list[Sampling] = []
        self.replies = list(replies)

    async def complete(self, prompt: str, sampling: Sampling) -> Completion:
        self.prompts.append(prompt)
        self.samplings.append(sampling)
        if self.replies:
            return Completion(self.replies.pop(0), 10, 1)
        if "-reflection-" in prompt:
            return Completion(f"<reflection>thought {len(self.prompts)}</reflection>", 10, 1)
        return Completion(f"<answer>SELECT {len(self.prompts)}</answer>", 10, 1)

    async def close(self) -> None:
        pass


TASK = Task(Question("q", "shop", "how many"), "Database: shop", 5, FirstAnswer("SELECT 0", "SELECT 0"), 5)


def episode_of(
    tmp_path: Path,
    verdicts: Sequence[Verdict],
    method: Method,
    *,
    model: Counting | None = None,
    budget: int = 7,
    known: int = 0,
) -> tuple[Episode, Counting, Told]:
    """An episode over a memory of some entries, with what was asked and judged in it."""
    model, oracle = model or Counting(), Told(verdicts)
    entries = [make_entry(number) for number in range(known)]
    return run_episode(tmp_path, oracle, method, model, budget=budget, entries=entries), model, oracle


def run_episode(
    tmp_path: Path, oracle: Oracle, method: Method, model: Counting, *, budget: int = 7, entries: Sequence[Entry] = ()
) -> Episode:
    with Memory(tmp_path / "memory", WordEncoder()) as memory:
        memory.commit_all(entries)
        return asyncio.run(repair(Agent(method, budget, SPIDER, model, oracle, memory), TASK))
