"""How the guard's parts say why a statement may not run: by an exception that never leaves the guard, or an error."""

from dataclasses import dataclass

from merit.types import Cause, Error

_SHOWN = 60  # characters of a statement's own text that a message repeats


class Refused(Exception):
    """Why a statement may not run."""

    def __init__(self, cause: Cause, message: str) -> None:
        super().__init__(message)
        self.cause = cause
        self.message = message


@dataclass(frozen=True, slots=True)
class UnknownCall(Error):
    """A statement that is refused only because it calls functions that neither list nor catalogue knows."""

    called: tuple[str, ...] = ()  # the first of them, after the names that qualify it


def unknown_call(called: tuple[str, ...]) -> UnknownCall:
    """The refusal of a statement for such a function."""
    message = f"the function {shown(called[-1])} may not be called: it is not known to be harmless"
    return UnknownCall(Cause.FORBIDDEN, message, called=called)


def shown(text: str) -> str:
    """A piece of a statement as a message shows it: short, and without characters that cannot be seen."""
    plain = "".join(char if char.isprintable() else "?" for char in text)
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}..."
