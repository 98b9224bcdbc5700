"""Running as much of a grid as a recording covers: gaps are reported, never filled with guesses."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from merit.errors import InputError, NotRecorded
from merit.stream.ahead import window
from merit.stream.grid import Grid
from merit.stream.predict import predict_for_runs
from merit.stream.run import Progress, run_stream
from merit.stream.setup import Setup, open_setup
from merit.stream.workshop import Workshop


@dataclass(frozen=True, slots=True)
class Gap:
    """Where a recording ends: so many of the episodes could be run, and the next has a prompt without an answer."""

    done: int
    total: int
    prompt: str  # its hash

    @classmethod
    def together(cls, gaps: Iterable["Gap"]) -> "Gap":
        """The gaps of several runs as one, with the first one's prompt."""
        all_gaps = list(gaps)
        return cls(sum(gap.done for gap in all_gaps), sum(gap.total for gap in all_gaps), all_gaps[0].prompt)

    def __str__(self) -> str:
        return (
            f"the recording ends after {self.done} of {self.total} episodes ({self.total - self.done} not run); "
            f"the first prompt without an answer is {self.prompt[:12]}"
        )


async def run_covered(
    grid: Grid, shop: Workshop, on_turn: Callable[[str, Progress], None] = lambda _name, _p: None
) -> dict[str, Gap | None]:
    """Run everything, side by side; a run that its recording does not cover ends there, and says where."""
    reached = (0, 0)

    def note_answer(done: int, total: int) -> None:
        nonlocal reached
        reached = (done, total)

    try:
        await predict_for_runs(grid.runs.values(), shop, note_answer)
    except NotRecorded as error:
        done, total = reached
        raise InputError(
            f"nothing can be run: the recording ends at first answer {done + 1} of {total}, whose prompt is "
            f"{error.prompt[:12]}; ask a live model with --model"
        ) from None
    setups = {name: open_setup(spec, shop) for name, spec in grid.runs.items()}
    ahead = window(shop.completer.concurrency, len(setups))
    async with asyncio.TaskGroup() as group:
        tasks = {
            name: group.create_task(_run(grid, name, setup, ahead, partial(on_turn, name)))
            for name, setup in setups.items()
        }
    return {name: task.result() for name, task in tasks.items()}


async def _run(grid: Grid, name: str, setup: Setup, ahead: int, on_turn: Callable[[Progress], None]) -> Gap | None:
    last = Progress(0)

    def note_progress(progress: Progress) -> None:
        nonlocal last
        last = progress
        on_turn(progress)

    try:
        await run_stream(setup, grid.out / name, note_progress, ahead=ahead)
    except NotRecorded as error:
        return Gap(last.done, last.total, error.prompt)
    return None
