"""The data that a run was made over, found by its content among the folders a user gives."""

from collections.abc import Sequence
from pathlib import Path

from merit.benchmark import Benchmark, DataSpec
from merit.bundled import NAME as BUNDLED
from merit.errors import InputError
from merit.runs import DatasetIdentity


class OwnData:
    """Opens each dataset once; a bundled run's comes with merit, whatever folders are given."""

    def __init__(self, roots: Sequence[Path], cache: Path) -> None:
        self._roots = roots
        self._cache = cache
        self._opened: dict[DataSpec, Benchmark] = {}

    def find(self, wanted: DatasetIdentity) -> Benchmark | None:
        """A run's own data; None where no folder has it. A single folder that cannot be opened is refused."""
        roots: Sequence[Path | None] = [None] if wanted.name == BUNDLED else self._roots
        for root in roots:
            try:
                benchmark = self._open(DataSpec(wanted.name, root, wanted.split))
            except InputError:
                if len(roots) == 1:
                    raise
                continue  # another dataset's folder
            if benchmark.content_hash == wanted.sha256:
                return benchmark
        return None

    def _open(self, spec: DataSpec) -> Benchmark:
        if spec not in self._opened:
            self._opened[spec] = spec.open(self._cache)
        return self._opened[spec]
