"""A process that asks, confirms, corrects and rejects, and is killed at a moment of its own choice.

python -m making.killing FOLDER NUMBER spreads as many moments over the work and makes a folder for each, in which a
child does the work and is killed (SIGKILL) at that moment: in the middle of a write, before or after any call that
changes a file. What it has acknowledged by then is in `acknowledged.jsonl`. A first child, in the folder 0, is left
alive: it tells how many moments there are, which is printed with those that were chosen.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from making.shop import COUNT, PAID, Model, make_shop, open_shop
from merit.models import open_encoder
from merit.settings import MemorySettings
from merit.types import Sampling

_CALLS = ("fsync", "ftruncate", "replace", "unlink")
_real_write = os.write


class Moments:
    """Counts what happens to files, and ends the process at one of these moments."""

    def __init__(self, last: int) -> None:
        self.count = 0
        self._last = last
        for name in _CALLS:
            setattr(os, name, self._around(getattr(os, name)))
        setattr(os, "write", self._write)  # noqa: B010 - the same as above

    def _passed(self) -> None:
        self.count += 1
        if self.count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def _around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **named: Any) -> Any:
            self._passed()
            result = call(*arguments, **named)
            self._passed()
            return result

        return wrapped

    def _write(self, file: int, data: bytes) -> int:
        if self.count + 1 == self._last:
            _real_write(file, data[: len(data) // 2])  # half a line
        self._passed()
        written = _real_write(file, data)
        self._passed()
        return written


def work(folder: Path, moment: int) -> int:
    """Ask and judge, write down what was acknowledged; how many moments there were."""

    def answer(prompt: str, sampling: Sampling) -> str:
        return "SELECT broken FROM nowhere_at_all" if not sampling.seed and "total" in prompt[-700:] else COUNT

    def acknowledge(*words: str) -> None:
        _real_write(file, (json.dumps(words) + "\n").encode())

    file = os.open(folder / "acknowledged.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with open_shop(folder, Model(answer), memory=MemorySettings(keep="agreed")) as agent:
        moments = Moments(moment)
        for number, kind in enumerate(["confirm", "correct", "reject", "confirm", "correct", "reject"]):
            asked = agent.ask(f"How many orders, number {number}, with a total?")
            acknowledge("asked", asked.id)
            acknowledge("begin", kind, asked.id)
            if kind == "confirm":
                agent.confirm(asked.id, author="ada")
            elif kind == "correct":
                agent.correct(asked.id, PAID, author="ada")
            else:
                agent.reject(asked.id, reason="no", author="ada")
            acknowledge(kind, asked.id)
        return moments.count


def child(folder: Path, moment: int) -> int | None:
    """The work in a process of its own; how many moments it had, None where it was killed."""
    folder.mkdir(parents=True)
    make_shop(folder / "shop.sqlite")
    result, here = os.pipe()
    if not os.fork():
        _real_write(here, b"%d" % work(folder, moment))
        os._exit(0)
    os.close(here)
    os.wait()
    with os.fdopen(result) as told:
        return int(told.read() or 0) or None


def main() -> None:
    """One child a moment; everything that takes time to load is loaded before."""
    root, wanted = Path(sys.argv[1]), int(sys.argv[2])
    open_encoder("wordllama")
    count = child(root / "0", 0) or 0
    moments = sorted({1 + number * (count - 1) // max(wanted - 1, 1) for number in range(wanted)})
    survivors = [moment for moment in moments if child(root / str(moment), moment)]
    print(json.dumps({"count": count, "moments": moments, "survivors": survivors}))


if __name__ == "__main__":
    main()
