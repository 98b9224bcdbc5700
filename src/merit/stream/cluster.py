"""The runs of a grid as tasks of a Ray cluster: the same setups, the same streams, so the same files.

Every worker must see the same file system: the data, the folder of runs, and the cache with the answers they share.
"""

import asyncio
import logging
from importlib import import_module
from pathlib import Path
from typing import Any

from merit.errors import InputError, MeritError, ModelFailed
from merit.stream.ahead import window
from merit.stream.grid import Grid, first_answers
from merit.stream.run import run_stream
from merit.stream.workshop import RunSpec, Workshop


def run_grid_on_ray(
    grid: Grid, cache: Path, concurrency: int, ahead: int | None, max_tokens: int | None
) -> dict[str, dict[str, Any]]:
    """Run everything on the cluster that RAY_ADDRESS names, or on one of this machine; returns each run's metrics."""
    try:
        ray = import_module("ray")
    except ImportError:
        raise InputError("--engine ray needs Ray; install merit-sql[ray]") from None
    asyncio.run(_begin(grid, cache, concurrency, max_tokens))
    started = not ray.is_initialized()
    if started:
        ray.init(log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR)
    try:
        task = ray.remote(_one)
        places = window(concurrency, 1) if ahead is None else ahead
        common = (grid.model, grid.encoder, cache, concurrency, max_tokens, places)
        running = {name: task.remote(spec, grid.out / name, *common) for name, spec in grid.runs.items()}
        return {name: _result(ray, name, one) for name, one in running.items()}
    finally:
        if started:
            ray.shutdown()


async def _begin(grid: Grid, cache: Path, concurrency: int, max_tokens: int | None) -> None:
    """First answers, and whatever is wrong with a run, before anything is sent to the cluster."""
    async with Workshop(grid.model, grid.encoder, cache, concurrency, max_tokens) as shop:
        for spec in {spec.initial: spec for spec in grid.runs.values()}.values():
            await first_answers(spec, shop)
        for spec in grid.runs.values():
            shop.setup(spec)


def _one(
    spec: RunSpec,
    out: Path,
    model: str,
    encoder: str,
    cache: Path,
    concurrency: int,
    max_tokens: int | None,
    ahead: int,
) -> dict[str, Any] | str:
    """One run in a worker; what stops it comes back as its sentence."""

    async def go() -> dict[str, Any]:
        async with Workshop(model, encoder, cache, concurrency, max_tokens) as shop:
            return await run_stream(shop.setup(spec), out, ahead=ahead)

    try:
        return asyncio.run(go())
    except MeritError as error:
        return str(error)


def _result(ray: Any, name: str, running: Any) -> dict[str, Any]:
    found: dict[str, Any] | str = ray.get(running)
    if isinstance(found, str):
        raise ModelFailed(f"{name}: {found}")
    return found
