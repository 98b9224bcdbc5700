"""The runs of a grid as tasks of a Ray cluster: the same setups, the same streams, so the same files.

Every worker must see the same file system: the data, the folder of runs, and the cache with the answers they share.
"""

import asyncio
import logging
import os
from importlib import import_module
from pathlib import Path
from typing import Any

from merit.errors import InputError, MeritError, ModelFailed
from merit.models import Allowance
from merit.stream.ahead import window
from merit.stream.grid import Grid
from merit.stream.predict import first_answers
from merit.stream.run import run_stream
from merit.stream.setup import open_setup
from merit.stream.spec import RunSpec
from merit.stream.workshop import Workshop
from merit.types import Sampling


def run_grid_on_ray(
    grid: Grid, cache: Path, concurrency: int, ahead: int | None, allowance: Allowance
) -> dict[str, dict[str, Any]]:
    """Run everything on the cluster that RAY_ADDRESS names, or on one of this machine; returns each run's metrics."""
    try:
        ray = import_module("ray")
    except ImportError:
        raise InputError("--engine ray needs Ray; run, in merit's own folder: pip install '.[ray]'") from None
    asyncio.run(_begin(grid, cache, concurrency, allowance))
    started = not ray.is_initialized()
    if started:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere by default
        ray.init(log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR)
    try:
        passed_on = {name: value for name, value in os.environ.items() if name.startswith(("OPENAI_", "MERIT_"))}
        task = ray.remote(_run_in_worker).options(runtime_env={"env_vars": passed_on})
        common = (grid.model, grid.encoder, cache, concurrency, allowance, ahead, grid.sampling)
        running = {task.remote(spec, grid.out / name, *common): name for name, spec in grid.runs.items()}
        return _results(ray, running)
    finally:
        if started:
            ray.shutdown()


async def _begin(grid: Grid, cache: Path, concurrency: int, allowance: Allowance) -> None:
    """Get first answers and check every run before anything is sent to the cluster."""
    async with Workshop(grid.model, grid.encoder, cache, concurrency, allowance, grid.sampling) as shop:
        await first_answers(grid.runs.values(), shop)
        for spec in grid.runs.values():
            open_setup(spec, shop)


def _run_in_worker(
    spec: RunSpec,
    out: Path,
    model: str,
    encoder: str,
    cache: Path,
    concurrency: int,
    allowance: Allowance,
    ahead: int | None,
    sampling: Sampling,
) -> dict[str, Any] | str:
    """One run in a worker; an error is returned as its message."""

    async def go() -> dict[str, Any]:
        async with Workshop(model, encoder, cache, concurrency, allowance, sampling) as shop:
            far = window(shop.completer.concurrency, 1) if ahead is None else ahead
            return await run_stream(open_setup(spec, shop), out, ahead=far)

    try:
        return asyncio.run(go())
    except MeritError as error:
        return str(error)


def _results(ray: Any, running: dict[Any, str]) -> dict[str, dict[str, Any]]:
    """Every run's metrics, in the grid's order; the first failure is raised."""
    metrics: dict[str, dict[str, Any]] = {}
    waiting = list(running)
    while waiting:
        done, waiting = ray.wait(waiting)
        result = ray.get(done[0])
        if isinstance(result, str):
            raise ModelFailed(f"{running[done[0]]}: {result}")
        metrics[running[done[0]]] = result
    return {name: metrics[name] for name in running.values()}
