"""Every exception merit raises on purpose; each message is one sentence that names the place and the way out.

MeritError
├── InputError          a file, option or value given by the user is wrong
├── DatabaseUnusable    a database is missing, damaged or out of reach
├── ReferenceFailed     a benchmark's own reference SQL does not run
└── CacheUnusable       a cache folder cannot be used
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


__all__ = ["CacheUnusable", "DatabaseUnusable", "InputError", "MeritError", "ReferenceFailed"]
