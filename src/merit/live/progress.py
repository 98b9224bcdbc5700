"""Saying what is being done while a question is worked on."""

from collections.abc import Callable

Progress = Callable[[str], object] | None  # is told what is being done, perhaps from another thread


def tell(progress: Progress, what: str) -> None:
    """Tell it, where somebody listens."""
    if progress is not None:
        progress(what)
