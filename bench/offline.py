"""Answers of a model on another machine: what is wanted is written down here, answered there, and read again here.

    python bench/offline.py WANTED.jsonl.gz --model openai:NAME --out ANSWERS.jsonl.xz

A program such as bench/defog_ask.py takes the answers that are at hand, and notes each prompt that has none
(`making.offline`). Send that file to the machine with the model, answer it with the command above, bring the answers
back, and run the program again: every round gets further, until nothing is wanted any more.
"""

import argparse
import asyncio
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from making.offline import read_wanted
from merit.models import AnswerStore, CachingCompleter, open_completer
from merit.models.exported import write_exported
from merit.types import Sampling


async def answer(wanted: list[tuple[str, Sampling]], model: str, out: Path, concurrency: int) -> int:
    """Ask a model for everything that is wanted, and write the answers; until then each is on disk beside `out`."""
    kept = out.with_name(f"{out.name}.sqlite")
    store = AnswerStore(kept)
    completer = CachingCompleter(open_completer(model, concurrency=concurrency), store)
    places = asyncio.Semaphore(concurrency)

    async def one(prompt: str, sampling: Sampling) -> None:
        async with places:
            await completer.complete(prompt, sampling)

    async with asyncio.TaskGroup() as tasks:
        for prompt, sampling in wanted:
            tasks.create_task(one(prompt, sampling))
    count = write_exported(out, store.items())
    await completer.close()
    kept.unlink()
    return count


def main() -> None:
    """Answer a file of wanted prompts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wanted", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, required=True, help=".jsonl or .jsonl.xz")
    parser.add_argument("--concurrency", type=int, default=256)
    options = parser.parse_args()
    wanted = read_wanted(options.wanted)
    count = asyncio.run(answer(wanted, options.model, options.out, options.concurrency))
    print(f"{count} answers to {len(wanted)} prompts")


if __name__ == "__main__":
    main()
