"""Where the concrete things of runs are put together and shared: one model, one encoder, one judge a dataset."""

import math
import shlex
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from merit.agent import find_method
from merit.bundled import open_dataset
from merit.data import Dataset
from merit.errors import InputError
from merit.models import Allowance, AnswerStore, CachedEncoder, CachingCompleter, open_completer, open_encoder
from merit.models.answers import FILE as ANSWERS
from merit.oracle import Judge, open_judge
from merit.stream.setup import DEFAULT_BUDGET, Setup, open_setup
from merit.types import Regime, Sampling


@dataclass(frozen=True, slots=True)
class DataSpec:
    """A benchmark to run on, as a user names it."""

    name: str
    root: Path | None  # None for the benchmark that comes with merit
    split: str = "dev"
    protocol: str | None = None  # the suite where there is one
    timeout_s: float = 30.0
    label: str = ""  # a name of its own

    def __post_init__(self) -> None:
        if not 0 < self.timeout_s < math.inf:  # also refuses what is no number at all
            raise InputError(f"timeout: {self.timeout_s!r} is no number of seconds; use one above 0")


@dataclass(frozen=True, slots=True)
class RunSpec:
    """A run as a user names it."""

    data: DataSpec
    initial: Path
    method: str
    seed: int = 0
    budget: int = DEFAULT_BUDGET
    regime: Regime = Regime.DENOTATION_CONFIRMED
    limit: int | None = None
    examples: Path | None = None

    def predict_command(self, model: str) -> str:
        """What to type to ask a model for the first answers of this run."""
        data = self.data
        words: list[object] = ["merit", "predict", data.name]
        words += ["--data", data.root] if data.root is not None else []
        words += ["--split", data.split] if data.split != "dev" else []
        words += ["--protocol", data.protocol] if data.protocol else []
        words += ["--limit", self.limit, "--seed", self.seed] if self.limit is not None else []
        return shlex.join(map(str, [*words, "--model", model, "--out", self.initial]))


@dataclass(slots=True)
class Workshop:
    """Opens what runs need, once, and closes it all."""

    model: str
    encoder: str
    cache: Path
    concurrency: int = 32
    allowance: Allowance = field(default_factory=Allowance)
    sampling: Sampling = field(default_factory=Sampling)
    _completer: CachingCompleter | None = None
    _encoder: CachedEncoder | None = None
    _judges: dict[DataSpec, tuple[Dataset, str, Judge]] = field(default_factory=dict)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        async with AsyncExitStack() as stack:  # all of them, whatever one of them says
            if self._completer is not None:
                stack.push_async_callback(self._completer.close)
            if self._encoder is not None:
                stack.callback(self._encoder.close)
            for _, _, judge in self._judges.values():
                stack.callback(judge.close)

    @property
    def completer(self) -> CachingCompleter:
        """The model, asked once for each answer."""
        if self._completer is None:
            opened = open_completer(self.model, concurrency=self.concurrency)
            # A recording answers alone: what was kept elsewhere fills none of its gaps, and it is not copied there.
            kept = None if opened.recorded else self.cache / ANSWERS
            self._completer = CachingCompleter(opened, AnswerStore(kept), self.allowance)
        return self._completer

    def judge(self, spec: DataSpec) -> tuple[Dataset, str, Judge]:
        """A dataset, the protocol it is judged by, and its judge."""
        if spec not in self._judges:
            dataset = open_dataset(spec.name, spec.root, spec.split, self.cache, spec.label)
            protocol = spec.protocol or ("suite" if dataset.suites else "db")
            judge = open_judge(dataset, protocol, cache=self.cache, timeout_s=spec.timeout_s)
            self._judges[spec] = (dataset, protocol, judge)
        return self._judges[spec]

    def setup(self, spec: RunSpec) -> Setup:
        """A run, decided."""
        method = find_method(spec.method)
        dataset, protocol, judge = self.judge(spec.data)
        if method.encodes and self._encoder is None:
            self._encoder = CachedEncoder(open_encoder(self.encoder), self.cache)
        return open_setup(
            dataset,
            protocol,
            judge,
            initial=spec.initial,
            method=method,
            seed=spec.seed,
            completer=self.completer,
            encoder=self._encoder,
            budget=spec.budget,
            regime=spec.regime,
            limit=spec.limit,
            examples=spec.examples,
            timeout_s=spec.data.timeout_s,
            sampling=self.sampling,
            predict=spec.predict_command(self.model),
        )
