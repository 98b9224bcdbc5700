"""Many runs from one file: datasets x methods x seeds, side by side in one process, each going on where it stopped."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from merit.agent import METHODS, RELATED, find_method
from merit.benchmark import DEFAULT_TIMEOUT_S, DataSpec
from merit.bundled import NAME as BUNDLED
from merit.data import LAYOUTS, PROTOCOLS, check_label
from merit.errors import InputError
from merit.models import check_encoder
from merit.prompts import VERSIONS
from merit.reading import check_path, shown
from merit.runs import LONGEST_TIMEOUT_S
from merit.stream.ahead import window
from merit.stream.grid_review import review_policies
from merit.stream.predict import predict_for_runs
from merit.stream.run import Progress, run_stream
from merit.stream.setup import open_setup
from merit.stream.spec import DEFAULT_BUDGET, LARGEST_SEED, RunSpec
from merit.stream.workshop import Workshop
from merit.toml import read_toml
from merit.types import Distinct, Regime, Sampling

_FIELDS: dict[str, type | tuple[type, ...]] = {
    "out": str,
    "model": str,
    "encoder": str,
    "methods": (list, str),
    "seeds": list,
    "budget": int,
    "regime": str,
    "review": (str, list),
    "review_shares": list,
    "max_prompt_tokens": int,
    "truncate": str,
    "max_tokens": int,
    "max_cost": (int, float),
    "prices": list,
    "dataset": list,
}
_DATASET_FIELDS: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "label": str,
    "data": str,
    "initial": str,
    "split": str,
    "protocol": str,
    "distinct": str,
    "prompts": str,
    "timeout": (int, float),
    "limit": int,
    "examples": str,
    "methods": (list, str),
}
_MOST = LARGEST_SEED  # of tokens and money, too: all numbers up to here are exact in JSON
_MOST_RUNS = 10_000  # all are opened before the first begins; a large grid has hundreds
_INTO_DATASET = dict.fromkeys(_DATASET_FIELDS, "belongs to a dataset: write it below its [[dataset]]")
_TO_THE_TOP = dict.fromkeys(_FIELDS, "holds for all datasets: write it above the first [[dataset]]")


@dataclass(frozen=True, slots=True)
class Grid:
    """What a grid file says."""

    out: Path
    model: str
    encoder: str
    runs: Mapping[str, RunSpec]  # by its folder below `out`
    max_tokens: int | None = None
    max_cost: float | None = None
    prices: tuple[float, float] | None = None  # of a million tokens: prompt, output
    sampling: Sampling = field(default_factory=Sampling)


def read_grid(path: Path) -> Grid:
    """Read a grid file; paths in it are relative to it."""
    record = read_toml(path)
    _check(record, _FIELDS, ("out", "model", "dataset"), str(path), _INTO_DATASET)
    base, seeds = path.absolute().parent, _seeds(record.get("seeds", [0, 1, 2]), path)
    regime = _regime(record.get("regime", Regime.DENOTATION_CONFIRMED.value), path)
    reviews = review_policies(record, regime, path)
    runs: dict[str, RunSpec] = {}
    for number, item in enumerate(record["dataset"], 1):
        where = f"{path}, dataset {number}"
        if not isinstance(item, dict):
            raise InputError(f"{where}: expected a table [[dataset]]")
        _check(item, _DATASET_FIELDS, ("name", "initial"), where, _TO_THE_TOP)
        data = _data(item, base, where)
        methods = _methods(item.get("methods", record.get("methods", "all")), where)
        for method, (reviewed, review), seed in product(methods, reviews.items(), seeds):
            name = f"{data.label or data.name}-{data.split}/{method}{reviewed}/seed{seed}"
            if name in runs:
                raise InputError(
                    f"{where}: the run {name} is there twice; give each dataset and method once, and a dataset of "
                    "your own a 'label'"
                )
            if len(runs) == _MOST_RUNS:
                raise InputError(f"{path}: more than {_MOST_RUNS} runs; write several grids")
            try:
                runs[name] = RunSpec(
                    data=data,
                    initial=base / item["initial"],
                    method=method,
                    seed=seed,
                    budget=record.get("budget", DEFAULT_BUDGET),
                    regime=regime,
                    limit=_positive("limit", item, where),
                    examples=base / item["examples"] if "examples" in item else None,
                    review=review,
                )
            except InputError as error:
                raise InputError(f"{where}: {error}") from None
    owners: dict[Path, DataSpec] = {}
    for spec in runs.values():
        if owners.setdefault(spec.initial, spec.data) != spec.data:
            raise InputError(f"{path}: two datasets name the same initial file {spec.initial.name}; give each its own")
    if not runs:
        raise InputError(f"{path}: no run at all; give at least one method, seed and dataset")
    encoder = record.get("encoder", "wordllama")
    try:
        check_encoder(encoder)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return Grid(
        base / record["out"],
        record["model"],
        encoder,
        runs,
        _positive("max_tokens", record, path),
        _positive("max_cost", record, path),
        _prices(record.get("prices"), path),
        _sampling(record, path),
    )


async def run_grid(
    grid: Grid, shop: Workshop, ahead: int | None, on_turn: Callable[[str, Progress], None] = lambda _name, _p: None
) -> dict[str, dict[str, Any]]:
    """Run everything, first answers included; returns each run's metrics. The first failure ends all runs."""
    for name, spec in grid.runs.items():
        spec.check_place(grid.out / name)
    await predict_for_runs(grid.runs.values(), shop)
    # All setups first, so that an error in any is reported before a run begins.
    setups = {name: open_setup(spec, shop) for name, spec in grid.runs.items()}
    turns_ahead = window(shop.completer.concurrency, len(setups)) if ahead is None else ahead
    async with asyncio.TaskGroup() as group:
        tasks = {
            name: group.create_task(run_stream(setup, grid.out / name, partial(on_turn, name), ahead=turns_ahead))
            for name, setup in setups.items()
        }
    return {name: task.result() for name, task in tasks.items()}


_WRITTEN = {
    str: "a text in quotes",
    int: "a whole number without quotes",
    float: "a number without quotes",
    list: "a list in brackets, such as [0]",
}


def _check(
    record: Mapping[str, Any],
    fields: Mapping[str, type | tuple[type, ...]],
    needed: tuple[str, ...],
    where: str,
    elsewhere: Mapping[str, str],
) -> None:
    """Refuse fields that are missing, wrong or in the wrong place; `elsewhere` says where others belong."""
    for name in record:
        if name not in fields:
            way = elsewhere.get(name, f"means nothing here; known are {', '.join(fields)}")
            raise InputError(f"{where}: the field {shown(name)} {way}")
    for name in needed:
        if name not in record:
            raise InputError(f"{where}: the field {name!r} is missing")
    for name, value in record.items():
        if not isinstance(value, fields[name]) or isinstance(value, bool):
            wanted = fields[name]
            kinds = wanted if isinstance(wanted, tuple) else (wanted,)
            expected = " or ".join(_WRITTEN[kind] for kind in kinds)
            hint = "[[dataset]], with two brackets" if name == "dataset" else expected
            raise InputError(f"{where}: the field {name!r} cannot be {shown(value)}; write {hint}")
        if isinstance(value, str):
            check_path(value, f"{where}: the field {name!r}")


def _data(item: Mapping[str, Any], base: Path, where: str) -> DataSpec:
    if item["name"] not in LAYOUTS:
        raise InputError(
            f"{where}: unknown dataset {shown(item['name'])}; use {' or '.join(LAYOUTS)}; data of your own takes the "
            "name of its layout, spider or bird, and 'label' for its own name"
        )
    for name in ("data", "label"):
        if name in item and item["name"] == BUNDLED:
            raise InputError(f"{where}: {BUNDLED} comes with merit, under its own name; leave {name!r} out")
    if "label" in item:
        check_label(item["label"], f"{where}, label")
    if "data" not in item and item["name"] != BUNDLED:
        raise InputError(f"{where}: the field 'data' is missing")
    for name, allowed in (
        ("split", ("dev", "train")),
        ("protocol", PROTOCOLS),
        ("distinct", tuple(Distinct)),
        ("prompts", tuple(VERSIONS)),
    ):
        if item.get(name, allowed[0]) not in allowed:
            raise InputError(f"{where}: the field {name!r} should be {' or '.join(allowed)}, not {shown(item[name])}")
    if item.get("timeout", 0) > LONGEST_TIMEOUT_S:
        raise InputError(f"{where}: the field 'timeout' should be {LONGEST_TIMEOUT_S:g} seconds at most")
    try:
        return DataSpec(
            name=item["name"],
            root=base / item["data"] if "data" in item else None,
            split=item.get("split", "dev"),
            protocol=item.get("protocol"),
            timeout_s=float(item.get("timeout", DEFAULT_TIMEOUT_S)),
            label=item.get("label", ""),
            prompts=item.get("prompts", "paper"),
            distinct=Distinct(item["distinct"]) if "distinct" in item else None,
        )
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


_SETS = {"all": METHODS, "related": RELATED}  # of methods, by the word that stands for them


def _methods(value: Any, where: str) -> list[str]:
    if isinstance(value, str) and value in _SETS:
        return list(_SETS[value])
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f'{where}: the field \'methods\' should be a list of names, or "all" or "related"')
    if named := [name for name in _SETS if name in value]:
        raise InputError(f"{where}: the field 'methods' takes all methods as \"{named[0]}\", without brackets")
    try:
        return [find_method(name).name for name in value]
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _seeds(value: list[Any], path: Path) -> list[int]:
    if not all(type(seed) is int and abs(seed) <= _MOST for seed in value):
        raise InputError(f"{path}: the field 'seeds' should be a list of whole numbers, not {shown(value)}")
    if twice := [seed for seed, count in Counter(value).items() if count > 1]:
        raise InputError(f"{path}: the field 'seeds' has {twice[0]} twice; give each seed once")
    return value


def _positive(name: str, record: Mapping[str, Any], where: object) -> Any:
    value = record.get(name)
    if value is not None and not 0 < value <= _MOST:
        raise InputError(f"{where}: the field {name!r} should be a number above 0, not {shown(value)}")
    return value


def _prices(value: list[Any] | None, path: Path) -> tuple[float, float] | None:
    if value is None:
        return None
    if len(value) != 2 or not all(type(price) in (int, float) and 0 <= price <= _MOST for price in value):
        raise InputError(
            f"{path}: the field 'prices' should be what a million prompt and a million output tokens cost, such as "
            f"[0.15, 0.6], not {shown(value)}"
        )
    return float(value[0]), float(value[1])


def _sampling(record: Mapping[str, Any], path: Path) -> Sampling:
    if ("max_prompt_tokens" in record) != ("truncate" in record) or record.get("truncate", "left") != "left":
        raise InputError(f"{path}: the field 'max_prompt_tokens' needs truncate = \"left\", and goes only with it")
    return Sampling(max_prompt_tokens=_positive("max_prompt_tokens", record, path))


def _regime(value: str, path: Path) -> Regime:
    try:
        return Regime(value)
    except ValueError:
        raise InputError(f"{path}: the field 'regime' should be {' or '.join(Regime)}, not {shown(value)}") from None
