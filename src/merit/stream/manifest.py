"""What a run is: everything that decides its content, so that two runs of one identity are the same bytes."""

import hashlib
import json
import platform
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from merit import __version__
from merit.agent import Method
from merit.data import LAYOUTS, PROTOCOLS, check_label
from merit.errors import InputError, RunUnusable, short_hash
from merit.memory import Databases, Grade, RecallPolicy, TypeFilter
from merit.reading import check_count, check_fields, check_format, parse_json, read_text, shown
from merit.sql import SQLITE_VERSION
from merit.types import Polarity, Regime

FORMAT = 1
MANIFEST = "manifest.json"
_IDENTITY: dict[str, type] = {
    "method": dict,
    "seed": int,
    "budget": int,
    "dataset": dict,
    "protocol": str,
    "timeout_s": float,
    "regime": str,
    "initial_sha256": str,
    "stream_sha256": str,
    "demonstrations": list,
    "length": object,
    "prompts": dict,
    "model": dict,
    "sampling": dict,
    "encoder": object,
    "code": str,
}

_HASH = re.compile("[0-9a-f]{40,}")  # of git or SHA-256
_MOST_REPAIRS = 1000  # of a question; a report has a column for each
_MOST_QUESTIONS = 10**9
_LONGEST_S = 10.0**6  # of one statement

_METHOD: dict[str, type] = {
    "name": str,
    "summary": str,
    "repairs": bool,
    "reflects": bool,
    "demonstrations": int,
    "recall": object,
    "writes": list,
    "history": bool,
    "temperature": float,
    "greedy_first": bool,
    "draws": int,
    "votes": bool,
    "agreed": float,
    "seed": int,
    "online": bool,
}
_POLICY: dict[str, type] = {
    name: str if isinstance(value, str) else object if value is None else type(value)
    for name, value in asdict(RecallPolicy()).items()
}


def make_manifest(identity: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of a run with this identity, if it can be read back."""
    _check_identity(dict(identity), "this run")
    method_of(identity, "this run")
    return {
        "format": FORMAT,
        "run": run_id(identity),
        "identity": dict(identity),
        "made_with": {"merit": __version__, "python": platform.python_version(), "sqlite": SQLITE_VERSION},
    }


def run_id(identity: Mapping[str, Any]) -> str:
    """The run's name: a hash of its identity."""
    text = json.dumps(identity, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def read_manifest(folder: Path) -> dict[str, Any]:
    """A run's manifest."""
    path = folder / MANIFEST
    refuse_file(folder)
    if not path.is_file():
        raise RunUnusable(f"{folder}: there is no run here (no {MANIFEST})")
    found: dict[str, Any] = parse_json(read_text(path), path)
    check_fields(found, {"format": int}, str(path))
    check_format(found["format"], FORMAT, "a run", str(path))
    check_fields(found, {"run": str, "identity": dict, "made_with": dict}, str(path))
    check_fields(found["made_with"], {"merit": str, "sqlite": str}, f"{path}, made_with")
    for name in ("merit", "sqlite"):  # they are shown to people
        if not found["made_with"][name].isprintable():
            raise RunUnusable(f"{path}, made_with: the field {name!r} cannot be {shown(found['made_with'][name])}")
    if found["run"] != run_id(found["identity"]):
        raise RunUnusable(f"{path}: the field 'run' does not follow from the identity; it was edited")
    _check_identity(found["identity"], f"{path}, identity")
    return found


def refuse_file(path: Path) -> None:
    """Say what to give where a file was given instead of a run's folder."""
    if not path.is_file():
        return
    parent = path.absolute().parent
    way_out = f"give the folder of a run, such as {parent}" if (parent / MANIFEST).is_file() else "give a run's folder"
    if path.suffix == ".html":
        way_out = "a report's page is opened in a browser, and this command takes the folder of a run"
    raise RunUnusable(f"{path}: is a file; {way_out}")


def method_of(identity: Mapping[str, Any], where: str) -> Method:
    """The method an identity names, exactly as it was."""
    record = dict(identity["method"])
    check_fields(record, _METHOD, f"{where}, method")
    try:
        policy = _policy(record.pop("recall"), f"{where}, method.recall")
        writes = frozenset(Polarity(polarity) for polarity in record.pop("writes"))
        method = Method(recall=policy, writes=writes, **record)
    except (KeyError, TypeError, ValueError) as error:
        raise RunUnusable(
            f"{where}: the field 'method' is no method of this merit ({shown(str(error))}); use the merit that made it"
        ) from None
    for name in ("demonstrations", "draws"):
        check_count(record[name], _MOST_REPAIRS, f"{where}, method: the field {name!r}")
    return method


def _policy(record: Any, where: str) -> RecallPolicy | None:
    if record is None:
        return None
    check_fields(record, _POLICY, where)
    for name in ("positives", "negatives", "precedents", "typed_threshold"):
        check_count(record[name], _MOST_REPAIRS, f"{where}: the field {name!r}")
    if record["random_seed"] is not None:
        check_fields(record, {"random_seed": int}, where)
    kinds = {"type_filter": TypeFilter, "databases": Databases, "least_grade": Grade}
    return RecallPolicy(**{**record, **{name: kind(record[name]) for name, kind in kinds.items()}})


def difference(there: Any, here: Any, field: str = "") -> str | None:
    """The first field in which two identities differ, with both values; None where they do not."""
    if isinstance(there, dict) and isinstance(here, dict):
        for name in dict.fromkeys([*there, *here]):  # in the manifest's order, the telling ones first
            found = difference(there.get(name), here.get(name), f"{field}.{name}".strip("."))
            if found:
                return found
        return None
    return None if there == here else f"{field} is {_short(there)} there and {_short(here)} here"


@cache
def code_hash() -> str:
    """One hash over merit's own source and templates."""
    listing = hashlib.sha256()
    for name, content in sorted(_sources(files("merit"))):
        listing.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return listing.hexdigest()[:16]


def _sources(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    for path in folder.iterdir():
        if path.is_dir() and path.name != "__pycache__":
            yield from _sources(path, f"{prefix}{path.name}/")
        elif path.name.endswith((".py", ".txt")):
            yield f"{prefix}{path.name}", path.read_bytes()


def _check_identity(identity: dict[str, Any], where: str) -> None:
    check_fields(identity, _IDENTITY, where)
    parts: dict[str, dict[str, type]] = {
        "dataset": {"name": str, "split": str, "sha256": str, "questions": int},
        "prompts": {"family": str, "sha256": str},
        "model": {"name": str, "revision": str},
    }
    if identity["encoder"] is not None:
        parts["encoder"] = {"name": str, "revision": str, "dimension": int}
    for name, fields in parts.items():
        check_fields(identity[name], fields, f"{where}.{name}")
    for one in identity["demonstrations"]:
        check_fields(one, {"question": str, "sql": str, "evidence": str}, f"{where}.demonstrations")
    length, dataset = identity["length"], identity["dataset"]
    if identity["regime"] not in list(Regime):
        raise InputError(
            f"{where}: the field 'regime' should be {' or '.join(Regime)}, not {shown(identity['regime'])}"
        )
    if identity["protocol"] not in PROTOCOLS:
        raise InputError(f"{where}: the field 'protocol' cannot be {shown(identity['protocol'])}")
    if length is not None and (type(length) is not int or not 0 < length <= _MOST_QUESTIONS):
        raise InputError(f"{where}: the field 'length' cannot be {shown(length)}")
    if not 0 < identity["timeout_s"] <= _LONGEST_S:
        raise InputError(
            f"{where}: the field 'timeout_s' cannot be {shown(identity['timeout_s'])}; it is a number of seconds"
        )
    check_count(identity["budget"], _MOST_REPAIRS, f"{where}: the field 'budget'")
    check_count(dataset["questions"], _MOST_QUESTIONS, f"{where}: the field 'questions'")
    if "label" in dataset:
        check_fields(dataset, {"label": str}, f"{where}.dataset")
        check_label(dataset["label"], f"{where}.dataset.label")
    if dataset["name"] not in LAYOUTS:
        raise InputError(f"{where}.dataset: there is no dataset {shown(dataset['name'])}")
    if dataset["split"] not in LAYOUTS[dataset["name"]].questions:
        raise InputError(f"{where}.dataset: there is no split {shown(dataset['split'])} of {shown(dataset['name'])}")


def _short(value: Any) -> str:
    if isinstance(value, str) and _HASH.fullmatch(value):
        return short_hash(value)
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
