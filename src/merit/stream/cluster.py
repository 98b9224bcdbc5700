"""The runs of a grid as tasks of a Ray cluster: the same setups, the same streams, so the same files.

Every worker must see the same file system: the data, the folder of runs, and the cache with the answers they share.
"""

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from merit.errors import InputError, MeritError, ModelFailed
from merit.models import Allowance
from merit.stream.ahead import window
from merit.stream.grid import Grid
from merit.stream.predict import predict_for_runs
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
        try:
            ray.init(log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR)
        except (ValueError, OSError, RuntimeError) as error:
            raise InputError(f"Ray cannot be started or reached ({error}); RAY_ADDRESS names its cluster") from error
    try:
        # As an argument: Ray writes the variables of a runtime environment, and so a key, into its log files.
        passed_on = {name: value for name, value in os.environ.items() if name.startswith(("OPENAI_", "MERIT_"))}
        task = ray.remote(_run_in_worker)
        common = (grid.model, grid.encoder, cache, concurrency, allowance, ahead, grid.sampling, passed_on)
        running = {task.remote(spec, grid.out / name, *common): name for name, spec in grid.runs.items()}
        return _results(ray, running)
    finally:
        if started:
            ray.shutdown()


async def _begin(grid: Grid, cache: Path, concurrency: int, allowance: Allowance) -> None:
    """Get first answers and check every run before anything is sent to the cluster."""
    async with Workshop(grid.model, grid.encoder, cache, concurrency, allowance, grid.sampling) as shop:
        await predict_for_runs(grid.runs.values(), shop)
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
    environment: Mapping[str, str],
) -> dict[str, Any] | str:
    """One run in a worker; an error is returned as its message."""

    async def go() -> dict[str, Any]:
        async with Workshop(model, encoder, cache, concurrency, allowance, sampling) as shop:
            far = window(shop.completer.concurrency, 1) if ahead is None else ahead
            return await run_stream(open_setup(spec, shop), out, ahead=far)

    try:
        with _environment(environment):
            return asyncio.run(go())
    except MeritError as error:
        return str(error)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables for one task; the next one in the same process may have others."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _results(ray: Any, running: dict[Any, str]) -> dict[str, dict[str, Any]]:
    """Every run's metrics, in the grid's order; the first failure is raised."""
    metrics: dict[str, dict[str, Any]] = {}
    waiting = list(running)
    while waiting:
        done, waiting = ray.wait(waiting)
        name = running[done[0]]
        try:
            result = ray.get(done[0])
        except ray.exceptions.RayTaskError:  # an error of the run itself
            raise
        except ray.exceptions.RayError as error:
            raise ModelFailed(f"{name}: its Ray worker failed ({error}); the same command goes on") from error
        if isinstance(result, str):
            raise ModelFailed(f"{name}: {result}")
        metrics[name] = result
    return {name: metrics[name] for name in running.values()}
