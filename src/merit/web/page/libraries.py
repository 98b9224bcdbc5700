"""The editor and the drawing library of the page, read from the packages that carry them and checked by hash."""

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from merit.errors import InputError

_ACE = "django_ace/static/django_ace/ace"  # Ace in django-ace; neither it nor Django is ever imported
_NAMES = f"{_ACE}/ext-language_tools.js"


@dataclass(frozen=True, slots=True)
class Library:
    """One file of an installed package, as this version of merit knows it."""

    name: str  # under /assets/
    path: str  # in site-packages
    sha256: str  # of the pinned version

    @property
    def kind(self) -> str:
        """The content type."""
        return "text/css" if self.name.endswith(".css") else "text/javascript"

    @property
    def integrity(self) -> str:
        """The hash in the form that a browser checks."""
        return f"sha256-{base64.b64encode(bytes.fromhex(self.sha256)).decode()}"


_KNOWN = (
    # name, path, sha256
    ("ace.js", f"{_ACE}/ace.js", "072d13e53d11e2ceccfffe1a0fa7f15cf69c5435d897df53d98c71be1c4a2e7f"),
    (
        "ace-names.js",
        f"{_ACE}/ext-language_tools.js",
        "799e3a3746f74240d7fbb1a38e525fa01b9718a207f3a50a2550111e11b3a560",
    ),
    ("ace-sql.js", f"{_ACE}/mode-sql.js", "6569712317b0729fd77db9423cd427febc2e9b1cfe93a09913ddca004939bca7"),
    ("ace.css", f"{_ACE}/css/ace.css", "2272e3f6e5efac0fed1e2d4815fe2c3223fd6cda22aab6cd397fe6881f49ec13"),
    ("d3.js", "mpld3/js/d3.v5.min.js", "bdad5585ef9a965ff25458738309b006058c55f2c78d794d25fbecae35014609"),
)
LIBRARIES = {known[0]: Library(*known) for known in _KNOWN}
_INSTALL = "run, in merit's own folder: pip install --force-reinstall ."


@cache
def library(name: str) -> tuple[str, bytes] | None:
    """A library's content type and bytes; None where there is no library of that name."""
    wanted = LIBRARIES.get(name)
    if wanted is None:
        return None
    package, _, inside = wanted.path.partition("/")
    spec = find_spec(package)  # finds the folder without running the package
    folders = list(spec.submodule_search_locations or ()) if spec else []
    try:
        content = (Path(folders[0]) / inside).read_bytes()
    except (IndexError, OSError):
        raise InputError(f"{wanted.path}: not installed; {_INSTALL}") from None
    if hashlib.sha256(content).hexdigest() != wanted.sha256:
        raise InputError(f"{wanted.path}: not the file of the version that merit was tested with; {_INSTALL}")
    return wanted.kind, content


def check_libraries() -> None:
    """Raise an error in one sentence where a library is missing or another one than expected."""
    for name in LIBRARIES:
        library(name)
