"""Every exception merit raises on purpose; each message is one sentence that says where the fault is and what to do.

MeritError
├── InputError          a file, option or value given by the user is wrong
│   ├── NotFound            there is nothing under an id
│   ├── NotVisible          it is for other people alone
│   └── Conflict            it was done already, or cannot be done in the state that things are in
├── DatabaseUnusable    a database is missing, damaged or out of reach
├── ReferenceFailed     a benchmark's own reference SQL does not run
├── CacheUnusable       a cache folder cannot be used
├── MemoryUnusable      a memory folder cannot be used
│   └── MemoryChanged       another process changed a memory first
├── EncoderFailed       an encoder cannot be loaded, or returns something other than vectors
├── ModelFailed         a language model cannot be loaded, reached or understood
│   ├── ContextOverflow     a prompt is longer than the model can read
│   ├── NotRecorded         a replayed recording has no answer to a prompt
│   └── BudgetSpent         the allowance of tokens or money is used up
├── RunUnusable         a run folder is damaged, busy, or of another run
├── Stopped             the user stopped a command; what was finished is kept
└── AuditFailed         a run contradicts its own records or its data
"""

import dataclasses
import types
import typing

_LONGEST = 1500  # characters; a path alone can have 4096
_HASH_DIGITS = 12


def one_line(text: str) -> str:
    """A text as one short printable line, whatever names and values from outside it holds."""
    shown = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text[: 2 * _LONGEST]
    )
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST // 2]} ... {shown[-_LONGEST // 2 :]}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 run`, `2 runs`; a plural that does not end in s is given."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def short_hash(sha256: str) -> str:
    """The beginning of a hash, enough to tell two apart in messages."""
    return sha256[:_HASH_DIGITS]


def check_type(argument: str, value: object, kinds: type | tuple[type, ...], expected: str) -> None:
    """Refuse an argument of another type than expected, in a sentence that names it."""
    if not isinstance(value, kinds):
        given = repr(value)
        raise InputError(f"{argument}: expected {expected}, not {given if len(given) <= 80 else type(value).__name__}")


def check_field_types(value: typing.Any) -> None:
    """Refuse a dataclass with a field of another type than it declares: Python itself does not look."""
    for field in dataclasses.fields(value):
        kind: typing.Any = field.type
        declared = typing.get_origin(kind) if isinstance(kind, types.GenericAlias) else kind
        given = getattr(value, field.name)
        if not isinstance(given, declared) or (isinstance(given, bool) and declared is not bool):
            expected = getattr(declared, "__name__", declared)
            raise InputError(
                f"{type(value).__name__}: the field {field.name!r} should be of the type {expected}, not "
                f"{type(given).__name__}"
            )


class MeritError(Exception):
    """Anything merit stops for; the command line prints it as one line and exits 1."""

    def __str__(self) -> str:
        return one_line(super().__str__())


class InputError(MeritError):
    """The user gave something merit cannot work with."""


class NotFound(InputError):
    """An id that the user gave names nothing, or more than one thing."""


class NotVisible(InputError):
    """What an id names is for other people alone."""


class Conflict(InputError):
    """What the user asked for was done already, or does not fit the state that things are in."""


class DatabaseUnusable(MeritError):
    """A database that should be there cannot be read: the environment's fault, never the model's."""


class ReferenceFailed(MeritError):
    """A benchmark's reference SQL fails, so nothing can be judged against it."""


class CacheUnusable(MeritError):
    """A cache folder cannot be created or written."""


class MemoryUnusable(MeritError):
    """A memory cannot be opened or written; what was committed is still there."""


class MemoryChanged(MemoryUnusable):
    """Another process changed the memory first; nothing was written, and trying again is safe."""


class EncoderFailed(MeritError):
    """An encoder cannot be loaded, reached or trusted."""


class ModelFailed(MeritError):
    """A language model gave no answer, even after retries; every answer so far is kept."""


class ContextOverflow(ModelFailed):
    """A prompt does not fit into the model's context."""


class NotRecorded(ModelFailed):
    """A recording has no answer to a prompt; `prompt` is the prompt's hash."""

    def __init__(self, message: str, prompt: str = "") -> None:
        super().__init__(message)
        self.prompt = prompt


class BudgetSpent(ModelFailed):
    """The tokens or the money that the user allowed are used up."""


class RunUnusable(MeritError):
    """A run folder cannot be created, continued or read; nothing in it was changed."""


class Stopped(MeritError):
    """The user pressed Ctrl-C; the command line exits 130."""


class AuditFailed(MeritError):
    """A record of a run contradicts another one, or the data that the run names."""


__all__ = [
    "AuditFailed",
    "BudgetSpent",
    "CacheUnusable",
    "Conflict",
    "ContextOverflow",
    "DatabaseUnusable",
    "EncoderFailed",
    "InputError",
    "MemoryChanged",
    "MemoryUnusable",
    "MeritError",
    "ModelFailed",
    "NotFound",
    "NotRecorded",
    "NotVisible",
    "ReferenceFailed",
    "RunUnusable",
    "Stopped",
]
