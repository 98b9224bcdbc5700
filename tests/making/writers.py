"""Several processes that append to one log while they are killed; a follower watches all the time."""

import json
import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import closing

from making.clock import COMES_S
from memory.store_contract import Open, entries
from merit.memory import Store

PER_APPEND = 2
_PER_WRITER = 100_000
Disturb = Callable[[random.Random], object]  # now and then, something else that the log must outlive


def _write(opener: Open, pipe: int, first: int) -> None:
    """Append pairs until it is killed, and say which were acknowledged."""
    with closing(opener()) as store:
        for number in range(first, first + _PER_WRITER, PER_APPEND):
            last = store.append(entries(number, number + PER_APPEND))
            os.write(pipe, json.dumps([last, number]).encode() + b"\n")


class _Writers:
    """The processes, and what they said."""

    def __init__(self, opener: Open, count: int) -> None:
        self._opener = opener
        self._reading, self._writing = os.pipe()
        self._children: list[int] = []
        self.started = self.killed = 0
        for _ in range(count):
            self.start()

    def start(self) -> None:
        child = os.fork()
        if child == 0:
            try:
                os.close(self._reading)
                _write(self._opener, self._writing, _PER_WRITER * self.started)
            finally:
                os._exit(1)
        self._children.append(child)
        self.started += 1

    def kill(self, at: int) -> None:
        child = self._children.pop(at)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        self.killed += 1

    def kill_one(self, chance: random.Random) -> None:
        self.kill(chance.randrange(len(self._children)))
        self.start()

    def end(self) -> list[tuple[int, int]]:
        """Kill all, and say what was acknowledged: the last number, and which entries."""
        while self._children:
            self.kill(0)
        os.close(self._writing)
        with os.fdopen(self._reading, "rb") as lines:
            return [tuple(json.loads(line)) for line in lines.read().split(b"\n")[:-1]]


def run_writers(
    opener: Open,
    seconds: float,
    disturb: Disturb,
    *,
    least: Callable[[], bool] = lambda: True,
    writers: int = 8,
    seed: int = 1,
) -> dict[str, int]:
    """Let them write, and hold what they were told against the log; says how much happened.

    Where less has happened than `least`, on a slow machine, they go on.
    """
    chance, watched = random.Random(seed), list[tuple[int, str]]()

    def look(store: Store) -> None:
        watched.extend((number, change.id) for number, change in store.since(watched[-1][0] if watched else 0))
        assert len(watched) % PER_APPEND == 0  # an append is seen whole or not at all

    with closing(opener()) as follower:
        processes = _Writers(opener, writers)
        begun = time.monotonic()
        try:
            while time.monotonic() - begun < seconds or not (processes.killed > 8 and len(watched) > 40 and least()):
                assert time.monotonic() - begun < seconds + COMES_S, "too little happens"
                look(follower)
                if chance.random() < 0.2:
                    processes.kill_one(chance)
                elif chance.random() < 0.2:
                    disturb(chance)
                time.sleep(0.02)
        finally:
            acknowledged = processes.end()
        follower.append([])  # waits for the lock, so for sessions of killed writers that are still committing
        look(follower)
    with closing(opener()) as late:
        log = [(number, change.id) for number, change in late.since(0)]
    assert watched == log  # the same order for all readers, and nothing was seen that was lost again
    assert [number for number, _ in log] == list(range(1, len(log) + 1))
    assert len({identity for _, identity in log}) == len(log)
    for last, number in acknowledged:  # none is lost, and each is where its writer was told
        made = [entry.id for entry in entries(number, number + PER_APPEND)]
        assert [identity for _, identity in log[last - PER_APPEND : last]] == made
    counts = {"acknowledged": PER_APPEND * len(acknowledged), "log": len(log), "killed": processes.killed}
    assert counts["acknowledged"] <= counts["log"] <= counts["acknowledged"] + PER_APPEND * processes.started
    return counts
