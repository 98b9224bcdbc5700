"""merit: an agent that repairs Text-to-SQL failures and remembers what it learned."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from merit.data import Dataset

__version__ = "0.1.0"


def load(name: str, root: str | Path | None = None, split: str = "dev", *, label: str = "") -> "Dataset":
    """Read a benchmark: "bundled", which comes with merit, or "spider" or "bird" from the folder `root`.

    `label` is what to call data of your own in one of those layouts.
    """
    from merit.bundled import open_dataset  # only now: importing merit itself takes no time
    from merit.cache import cache_folder

    return open_dataset(name, None if root is None else Path(root), split, cache_folder(), label)
