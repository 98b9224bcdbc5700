"""The exception by which the guard's parts say why a statement may not run; it never leaves the guard."""

from merit.types import Cause

_SHOWN = 60  # characters of a statement's own text that a message repeats


class Refused(Exception):
    """Why a statement may not run."""

    def __init__(self, cause: Cause, message: str) -> None:
        super().__init__(message)
        self.cause = cause
        self.message = message


def shown(text: str) -> str:
    """A piece of a statement as a message shows it: short, and without characters that cannot be seen."""
    plain = "".join(char if char.isprintable() else "?" for char in text)
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}..."
