"""The data that a run was made over, found by its content among the folders a user gives."""

from collections.abc import Sequence
from pathlib import Path

from merit.benchmark import Benchmark, DataSpec
from merit.bundled import NAME as BUNDLED
from merit.data import splits_in
from merit.errors import InputError, short_hash
from merit.runs import DatasetIdentity, RunView


class OwnData:
    """Opens each dataset once; that of a bundled run comes with merit, so no folder is used for it."""

    def __init__(self, roots: Sequence[Path], cache: Path) -> None:
        self._roots = roots
        self._cache = cache
        self._opened: dict[DataSpec, Benchmark] = {}

    def find(self, view: RunView) -> Benchmark | None:
        """A run's own data. If every folder holds other data, an error says what is in them.

        None where no folder was given, or where the benchmark that comes with this merit is not the run's.
        """
        wanted = view.identity.dataset
        if wanted.name == BUNDLED:
            benchmark = self._open(DataSpec(BUNDLED, None, wanted.split))
            return benchmark if benchmark.content_hash == wanted.sha256 else None
        others = []
        for root in self._roots:
            there = splits_in(root)
            if (wanted.name, wanted.split) not in there and (there or len(self._roots) > 1):
                others.append(f"{root} holds {_named(there)}")
                continue
            try:
                benchmark = self._open(DataSpec(wanted.name, root, wanted.split))
            except InputError as error:  # it says what is missing
                raise InputError(f"{view.path}: is a run over {about(wanted)}, but {error}") from None
            if benchmark.content_hash == wanted.sha256:
                return benchmark
            others.append(
                f"{root} holds another {wanted.name} {wanted.split}: its content hash is "
                f"{short_hash(benchmark.content_hash)}, and that of the run's data is {short_hash(wanted.sha256)}"
            )
        if not others:
            return None
        raise InputError(
            f"{view.path}: is a run over {about(wanted)}, but {'; '.join(others)}; give --data the folder that the run "
            "was made over"
        )

    def _open(self, spec: DataSpec) -> Benchmark:
        if spec not in self._opened:
            self._opened[spec] = spec.open(self._cache)
        return self._opened[spec]


def about(dataset: DatasetIdentity) -> str:
    """The benchmark of a run, in words: with what its owner calls it, where that is something else."""
    return f"{dataset.name} {dataset.split}{f', called {dataset.label}' if dataset.label else ''}"


def _named(there: Sequence[tuple[str, str]]) -> str:
    return " and ".join(f"{name} {split}" for name, split in there) or "no benchmark"
