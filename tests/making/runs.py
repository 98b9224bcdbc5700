"""Runs over the small benchmark."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from making.benchmark import FickleModel, build, write_initial
from making.memories import WordEncoder
from merit.agent import find_method
from merit.data import load
from merit.models import AnswerStore, CachedEncoder, CachingCompleter
from merit.oracle import open_judge
from merit.stream import AuditData, RunView, open_setup, read_run, run_stream
from merit.types import Completer, Regime


@dataclass
class Bench:
    """The benchmark on disk and what runs over it share."""

    root: Path
    initial: Path
    layout: str = "spider"

    def run(self, out: Path, method: str = "merit", *, model: Completer | None = None, **options: Any) -> RunView:
        """Run a method; options are those of `open_setup`."""
        dataset, ahead = load(self.layout, self.root), options.pop("ahead", 0)
        with closing(open_judge(dataset, "db", cache=options.pop("cache", None), timeout_s=5.0)) as judge:
            setup = open_setup(
                dataset,
                "db",
                judge,
                initial=options.pop("initial", self.initial),
                method=find_method(method),
                seed=options.pop("seed", 0),
                completer=caching(model or FickleModel()),
                encoder=CachedEncoder(WordEncoder(), None),
                timeout_s=5.0,
                regime=Regime(options.pop("regime", "denotation_confirmed")),
                **options,
            )
            asyncio.run(run_stream(setup, out, ahead=ahead))
        return read_run(out)

    @contextmanager
    def data(self, examples: Sequence[Path] = ()) -> Iterator[AuditData]:
        """The benchmark as an audit is given it."""
        dataset = load(self.layout, self.root)
        with closing(open_judge(dataset, "db", cache=None, timeout_s=5.0)) as judge:
            yield AuditData(dataset, dataset.content_hash(), "db", judge, examples)


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
