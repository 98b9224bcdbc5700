"""The data that a run was made over, found among folders that a person gives."""

from collections.abc import Callable, Sequence
from pathlib import Path

from merit.data import Dataset, splits_in
from merit.errors import InputError, short_hash
from merit.stream import RunView

Opened = tuple[Dataset, str]  # with its content hash, which takes long to compute


def find_data(view: RunView, roots: Sequence[Path], opened: Callable[[Path, str, str], Opened]) -> Opened:
    """A run's own data among some folders, by its content; `opened` opens a folder as a benchmark's split."""
    wanted = view.identity["dataset"]
    others = []
    for root in roots:
        there = splits_in(root)
        if (wanted["name"], wanted["split"]) not in there and (there or len(roots) > 1):
            others.append(f"{root} holds {_said(there)}")
            continue
        try:
            dataset, content = opened(root, wanted["name"], wanted["split"])
        except InputError as error:  # it says what is missing
            raise InputError(f"{view.path}: is a run over {about(view)}, but {error}") from None
        if content == wanted["sha256"]:
            return dataset, content
        others.append(
            f"{root} holds another {wanted['name']} {wanted['split']}: its content hash is {short_hash(content)}, and "
            f"that of the run's data is {short_hash(wanted['sha256'])}"
        )
    raise InputError(
        f"{view.path}: is a run over {about(view)}, but {'; '.join(others)}; "
        "give --data the folder that the run was made over"
    )


def about(view: RunView) -> str:
    """The benchmark of a run, in words: with what its owner calls it, where that is something else."""
    wanted = view.identity["dataset"]
    label = f", called {wanted['label']}" if wanted.get("label") else ""
    return f"{wanted['name']} {wanted['split']}{label}"


def _said(there: Sequence[tuple[str, str]]) -> str:
    return " and ".join(f"{name} {split}" for name, split in there) or "no benchmark"
