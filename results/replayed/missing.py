"""Which questions of each run need an answer that a recording lacks, and which of the others end right.

    python results/replayed/missing.py SET GRID.toml

GRID.toml is a grid over a recording (`replay:`). `merit grid` ends at the first prompt without an answer; this goes on
with the next question. So it says which runs can be made, and what is known of the others. A line of JSON for each
run. Only for methods that do not remember: what another method asks depends on the questions before.
"""

import asyncio
import json
import sys
from pathlib import Path

from merit.agent import ThreadedOracle, Work, repair
from merit.errors import NotRecorded
from merit.memory import Memory, VolatileStore
from merit.oracle import judging_for
from merit.runs import Phase
from merit.runs.plan import plan
from merit.stream import read_grid
from merit.stream.predict import first_answers
from merit.stream.run import agents
from merit.stream.setup import Setup, open_setup
from merit.stream.workshop import Workshop
from merit.types import QuestionId


async def replay(setup: Setup) -> dict[str, list[QuestionId]]:
    """The questions that cannot be finished, that end right, and that end wrong."""
    ends: dict[str, list[QuestionId]] = {"missing": [], "right": [], "wrong": []}
    oracle = ThreadedOracle(judging_for(setup.identity.regime, setup.benchmark.judge))
    with Memory(VolatileStore(), None) as memory:
        agent = agents(setup, setup.completer.for_run(), oracle, memory, Work())[Phase.ANSWER]
        for planned in plan(setup.order, setup.identity.method):
            question = planned.task.question
            try:
                episode = await repair(agent, planned.task)
            except NotRecorded:
                ends["missing"].append(question.id)
                continue
            is_right = setup.benchmark.judge.judge(question, episode.final.sql).correct
            ends["right" if is_right else "wrong"].append(question.id)
    return ends


async def main() -> None:
    """A line for each run."""
    name, path = sys.argv[1], Path(sys.argv[2])
    grid = read_grid(path)
    async with Workshop(grid.model, grid.encoder, path.parent / "cache") as shop:
        await first_answers(grid.runs.values(), shop)
        for spec in grid.runs.values():
            ends = await replay(open_setup(spec, shop))
            record = {"set": name, "method": spec.method, "seed": spec.seed, **ends}
            print(json.dumps(record, separators=(",", ":")), flush=True)


asyncio.run(main())
