"""Runs over the small benchmark."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from making.benchmark import FickleModel, build, write_initial
from making.memories import WordEncoder
from merit.audit import AuditData
from merit.benchmark import DataSpec
from merit.models import AnswerStore, CachingCompleter, CachingEncoder
from merit.runs import RunView, read_run
from merit.stream import OwnParts, RunSpec, open_setup, run_stream
from merit.types import Completer, Regime


@dataclass
class Bench:
    """The benchmark on disk and what runs over it share."""

    root: Path
    initial: Path
    layout: str = "spider"

    @property
    def data_spec(self) -> DataSpec:
        return DataSpec(self.layout, self.root, protocol="db", timeout_s=5.0).for_runs()

    def spec(self, method: str = "merit", **options: Any) -> RunSpec:
        """A run over it; options are fields of a RunSpec."""
        return RunSpec(self.data_spec, **{"initial": self.initial, "method": method, **options})

    def run(
        self,
        out: Path,
        method: str = "merit",
        *,
        model: Completer | None = None,
        cache: Path | None = None,
        ahead: int = 0,
        regime: str = "denotation_confirmed",
        **options: Any,
    ) -> RunView:
        """Run a method; other options are fields of a RunSpec."""
        with OwnParts(caching(model or FickleModel()), CachingEncoder(WordEncoder(), None), cache=cache) as parts:
            setup = open_setup(self.spec(method, regime=Regime(regime), **options), parts)
            asyncio.run(run_stream(setup, out, ahead=ahead))
        return read_run(out)

    @contextmanager
    def data(self, examples: Sequence[Path] = ()) -> Iterator[AuditData]:
        """The benchmark as an audit is given it."""
        with self.data_spec.open(keep_results=False) as benchmark:
            yield AuditData(benchmark, examples)


def caching(model: Completer) -> CachingCompleter:
    """A model as runs are given it: its answers kept, here in memory."""
    return model if isinstance(model, CachingCompleter) else CachingCompleter(model, AnswerStore(None))


def make_bench(folder: Path, *, layout: str = "spider", canary: str = "") -> Bench:
    root = build(folder / "data", layout=layout, canary=canary)
    return Bench(root, write_initial(folder / "initial.jsonl"), layout)


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file of a run that must be the same each time."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "timings.json")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}
