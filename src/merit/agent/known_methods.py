"""The methods that there are, found by name: merit's own, and those that other packages add.

Other packages add theirs by the entry point group `merit.methods`.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from merit.agent.behaviour import Moment, PaperBehaviour, error_in_words
from merit.agent.method import Method, Origin
from merit.agent.methods import METHODS
from merit.agent.related import RELATED
from merit.agent.variants import contradiction, varied
from merit.errors import InputError, check_type
from merit.memory import RecallPolicy
from merit.prompts import Prompt
from merit.reading import check_name

GROUP = "merit.methods"
_OWN = {**METHODS, **RELATED}


@cache
def installed() -> Mapping[str, Method]:
    """The methods of other packages, by name."""
    methods: dict[str, Method] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        method = _loaded(point)
        if method.name in _OWN or method.name in methods:
            raise InputError(f"{_package(point)}: there is a method {method.name!r} already; give yours another name")
        methods[method.name] = method
    return methods


def all_methods() -> dict[str, Method]:
    """The methods of merit itself, ideas of related work among them, then those of other packages."""
    return {**_OWN, **installed()}


def find_method(name: str) -> Method:
    """The method of a name, or `NAME:field=value,...` for one with other fields; the nearest is offered for a typo."""
    check_type("method", name, str, "the name of a method, such as 'merit'")
    base, colon, changes = name.partition(":")
    known = _OWN if base in _OWN else all_methods()  # other packages are loaded only where they are needed
    if base not in known:
        if "," in base or base == "all":
            raise InputError(f"{name!r} names several methods, and one is expected; `merit grid` runs many")
        near = get_close_matches(base, known, n=1)
        offer = f"did you mean {near[0]!r}?" if near else "`merit methods` lists them"
        raise InputError(f"there is no method {base!r}; {offer}")
    method = known[base]
    for change in changes.split(",") if colon else ():
        method = varied(method, change, name)
    if why := contradiction(method):
        raise InputError(f"method {name!r}: {why}")
    return replace(method, name=name)


class UnavailableBehaviour(PaperBehaviour):
    """The behaviour of a method whose package is not here or broken: its runs can be read, but not made or audited."""

    def __init__(self, why: str) -> None:
        self._why = why

    def ask(self, method: Method, moment: Moment) -> Prompt:  # noqa: ARG002 - always refused
        """Refused: nothing here knows what the method asked."""
        raise InputError(self._why)

    def recall(self, method: Method, moment: Moment) -> RecallPolicy | None:  # noqa: ARG002 - refused, too
        """Refused: nothing here knows what the method recalled."""
        raise InputError(self._why)

    def note(self, method: Method, moment: Moment) -> Prompt | None:  # noqa: ARG002 - refused, too
        """Refused: nothing here knows what the method had the model write."""
        raise InputError(self._why)

    def read(self, method: Method, moment: Moment, reply: str) -> str:  # noqa: ARG002 - refused, too
        """Refused: nothing here knows how the method read it."""
        raise InputError(self._why)


def restored(method: Method) -> Method:
    """A method from a run's records, with the behaviour of its name, or of the package that it names."""
    base = method.name.partition(":")[0]
    if method.origin is None:
        return replace(method, behaviour=RELATED[base].behaviour) if base in RELATED else method
    if why := unavailable(method.name, method.origin):
        return replace(method, behaviour=UnavailableBehaviour(why))
    return replace(method, behaviour=installed()[base].behaviour)


def unavailable(name: str, origin: Origin) -> str | None:
    """Why the method of another package cannot be used here, and what to do; None where it can."""
    try:
        known = installed()
    except InputError as error:
        own = str(error).startswith(f"{origin.package}: ")  # the fault may be another package's
        return f"{error}, or install {origin.package} {origin.version}, from which {name!r} came" if own else str(error)
    if name.partition(":")[0] not in known:
        return f"the method {name!r} comes from the package {origin.package} {origin.version}; install it first"
    return None


def _loaded(point: EntryPoint) -> Method:
    package = _package(point)
    try:
        method: Any = point.load()
        source = _source_hash(point.module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # another package's code may raise anything, or end the process
        raise InputError(
            f"{package}: its method {point.name!r} cannot be loaded ({error_in_words(error)}); mend or remove it"
        ) from error
    if type(method) is not Method or method.name != point.name or ":" in point.name:
        raise InputError(
            f"{package}: the entry point {point.name!r} of {GROUP} should lead to a merit.Method of the same name"
        )
    check_name(point.name, f"{package}: the name of a method")  # runs of a grid are in folders of that name
    version = point.dist.version if point.dist else ""
    return replace(method, origin=Origin(package, version, source))


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.module.partition(".")[0]


def _source_hash(module: str) -> str:
    """One hash over the Python files of the package that a module is in, or of the module alone."""
    spec = find_spec(module.partition(".")[0])
    if spec is None or spec.origin is None:
        return ""
    source = Path(spec.origin)
    files = sorted(source.parent.rglob("*.py")) if spec.submodule_search_locations else [source]
    listing = hashlib.sha256()
    for file in files:
        listing.update(f"{file.relative_to(source.parent).as_posix()}\0".encode() + file.read_bytes())
    return listing.hexdigest()[:16]
