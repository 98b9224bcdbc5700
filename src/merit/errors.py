"""Every exception merit raises on purpose; each message is one sentence that names the place and the way out.

MeritError
├── InputError          a file, option or value given by the user is wrong
├── DatabaseUnusable    a database is missing, damaged or out of reach
├── ReferenceFailed     a benchmark's own reference SQL does not run
├── CacheUnusable       a cache folder cannot be used
├── MemoryUnusable      a memory folder cannot be used
└── EncoderFailed       an encoder cannot be loaded, or returns what is no vector
"""


class MeritError(Exception):
    """Anything merit stops for; the command line prints it as one line and exits 1."""


class InputError(MeritError):
    """The user gave something merit cannot work with."""


class DatabaseUnusable(MeritError):
    """A database that should be there cannot be read: the environment's fault, never the model's."""


class ReferenceFailed(MeritError):
    """A benchmark's reference SQL fails, so nothing can be judged against it."""


class CacheUnusable(MeritError):
    """A cache folder cannot be created or written."""


class MemoryUnusable(MeritError):
    """A memory cannot be opened or written; what was committed is still there."""


class EncoderFailed(MeritError):
    """An encoder cannot be loaded, reached or trusted."""


__all__ = [
    "CacheUnusable",
    "DatabaseUnusable",
    "EncoderFailed",
    "InputError",
    "MemoryUnusable",
    "MeritError",
    "ReferenceFailed",
]
