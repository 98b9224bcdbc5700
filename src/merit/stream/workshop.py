"""The parts that runs share, each opened once: a model, an encoder, and a benchmark for each description of one."""

from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from merit.benchmark import Benchmark, DataSpec
from merit.errors import InputError
from merit.models import Allowance, AnswerStore, CachingCompleter, CachingEncoder, open_completer, open_encoder
from merit.models.answers import FILE as ANSWERS
from merit.types import Sampling


class Parts(Protocol):
    """What a run is made of, besides its description."""

    @property
    def model(self) -> str:
        """The model's URI; empty where it has none."""
        ...

    @property
    def completer(self) -> CachingCompleter:
        """Answers prompts, each once."""
        ...

    @property
    def sampling(self) -> Sampling:
        """How answers are drawn."""
        ...

    def open_encoder(self) -> CachingEncoder:
        """The encoder, for runs whose method needs one."""
        ...

    def benchmark(self, spec: DataSpec) -> Benchmark:
        """A benchmark with its judge."""
        ...


class Benchmarks:
    """Benchmarks by their descriptions, each opened once."""

    def __init__(self, cache: Path | None, *, keep_results: bool = True) -> None:
        self._cache = cache
        self._keep_results = keep_results
        self._opened: dict[DataSpec, Benchmark] = {}

    def of(self, spec: DataSpec) -> Benchmark:
        """The benchmark that a description names."""
        if spec not in self._opened:
            self._opened[spec] = spec.open(self._cache, keep_results=self._keep_results)
        return self._opened[spec]

    def close(self) -> None:
        """Give back what their judges hold."""
        with ExitStack() as stack:  # all of them, even where closing one of them fails
            for benchmark in self._opened.values():
                stack.callback(benchmark.close)


@dataclass(slots=True)
class Workshop:
    """The parts that model and encoder URIs name, opened when they are needed and closed together."""

    model: str
    encoder: str
    cache: Path
    concurrency: int = 32
    allowance: Allowance = field(default_factory=Allowance)
    sampling: Sampling = field(default_factory=Sampling)
    _completer: CachingCompleter | None = None
    _encoder: CachingEncoder | None = None
    _benchmarks: Benchmarks = field(init=False)

    def __post_init__(self) -> None:
        self._benchmarks = Benchmarks(self.cache)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        async with AsyncExitStack() as stack:  # all of them, even where closing one of them fails
            if self._completer is not None:
                stack.push_async_callback(self._completer.close)
            if self._encoder is not None:
                stack.callback(self._encoder.close)
            stack.callback(self._benchmarks.close)

    @property
    def completer(self) -> CachingCompleter:
        """The model, asked once for each answer."""
        if self._completer is None:
            opened = open_completer(self.model, concurrency=self.concurrency)
            # A recording is used alone: the cache neither fills its gaps nor receives its answers.
            answers_file = None if opened.recorded else self.cache / ANSWERS
            self._completer = CachingCompleter(opened, AnswerStore(answers_file), self.allowance)
        return self._completer

    def open_encoder(self) -> CachingEncoder:
        """The encoder, for runs whose method needs one."""
        if self._encoder is None:
            self._encoder = CachingEncoder(open_encoder(self.encoder), self.cache)
        return self._encoder

    def benchmark(self, spec: DataSpec) -> Benchmark:
        """A benchmark with its judge."""
        return self._benchmarks.of(spec)


@dataclass(slots=True)
class OwnParts:
    """The parts of runs with a model and an encoder of the caller, which the caller closes."""

    completer: CachingCompleter
    encoder: CachingEncoder | None = None
    sampling: Sampling = field(default_factory=Sampling)
    cache: Path | None = None  # for reference results; without one they are kept in memory
    model: str = ""
    _benchmarks: Benchmarks = field(init=False)

    def __post_init__(self) -> None:
        self._benchmarks = Benchmarks(self.cache, keep_results=self.cache is not None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._benchmarks.close()

    def open_encoder(self) -> CachingEncoder:
        """The encoder that was given."""
        if self.encoder is None:
            raise InputError("this method recalls by similarity; give it an encoder")
        return self.encoder

    def benchmark(self, spec: DataSpec) -> Benchmark:
        """A benchmark with its judge."""
        return self._benchmarks.of(spec)
