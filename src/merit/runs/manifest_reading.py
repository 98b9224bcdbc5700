"""manifest.json read back into a `Manifest`: every field is checked, within bounds that a new run must keep too."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from merit.agent import Method, Origin, restored
from merit.agent.feedback import SIMULATED_REVIEWER
from merit.agent.method import POLICY_SINCE_0_2, SINCE_0_2
from merit.agent.variants import out_of_bounds
from merit.data import LAYOUTS, PROTOCOLS, check_label
from merit.errors import InputError, RunUnusable
from merit.memory import Databases, Grade, RecallPolicy, TypeFilter
from merit.reading import DOCUMENT_BYTES, check_count, check_fields, check_format, parse_json, read_text, shown
from merit.runs.manifest import (
    FORMAT,
    DatasetIdentity,
    Identity,
    MadeWith,
    Manifest,
    PromptsIdentity,
    Record,
    run_id,
)
from merit.runs.paths import MANIFEST, refuse_file
from merit.runs.reviews import ReviewPolicy
from merit.runs.text import json_text
from merit.types import (
    Demonstration,
    Distinct,
    EncoderIdentity,
    ModelIdentity,
    Polarity,
    Regime,
    ReviewKind,
    Sampling,
)

_MOST_REPAIRS = 1000  # of a question; a report has a column for each
_MOST_QUESTIONS = 10**9
LONGEST_TIMEOUT_S = 3600.0  # of one statement; an audit of a stranger's run lets its statements take as long
_MOST_TOKENS = 2**40  # of one answer
_MAX_TEMPERATURE = 1000.0  # a temperature; no model's has a meaning beyond 2

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


def read_manifest(folder: Path) -> Manifest:
    """The manifest in a run's folder."""
    path = folder / MANIFEST
    refuse_file(folder)
    if not os.path.lexists(path):
        why = f"no {MANIFEST}" if folder.exists() else "the folder does not exist"
        raise RunUnusable(f"{folder}: there is no run here ({why})")
    text = read_text(path)
    if not text.strip():
        raise RunUnusable(f"{path}: is empty, so the run cannot be read; remove its folder, or choose another one")
    record: Record = parse_json(text, path)
    check_fields(record, {"format": int}, str(path))
    check_format(record["format"], FORMAT, "a run", str(path))
    _exactly(record, {"format": int, "run": str, "identity": dict, "made_with": dict}, str(path))
    made_with = _made_with(record["made_with"], f"{path}, made_with")
    if record["run"] != run_id(record["identity"]):
        raise RunUnusable(f"{path}: the field 'run' does not follow from the identity; it was edited")
    return Manifest(record["run"], decode_identity(record["identity"], f"{path}, identity"), made_with)


def new_manifest(identity: Identity, made_with: MadeWith) -> Manifest:
    """The manifest of a run to come, if it can be read back."""
    manifest = Manifest(run_id(identity.record()), identity, made_with)
    text = json_text(manifest.record())
    decode_identity(parse_json(text, Path("this run"))["identity"], "this run")
    if len(text.encode()) > DOCUMENT_BYTES:
        raise InputError(
            f"this run: its {MANIFEST} would have more than {DOCUMENT_BYTES >> 20} MiB; shorten the examples"
        )
    return manifest


def decode_identity(record: Record, where: str) -> Identity:
    """An identity from its record."""
    later: dict[str, type] = {"distinct": object, "review": dict}  # which earlier versions, or other regimes, lack
    _exactly(record, _IDENTITY | {name: kind for name, kind in later.items() if name in record}, where)
    _check_printable({name: value for name, value in record.items() if name != "demonstrations"}, where)
    _check_bounds(record, where)
    dataset = _dataset(record["dataset"], f"{where}.dataset")
    return Identity(
        method=_method(record["method"], f"{where}, method"),
        seed=record["seed"],
        budget=record["budget"],
        dataset=dataset,
        protocol=record["protocol"],
        distinct=_distinct(record, dataset, where),
        timeout_s=record["timeout_s"],
        regime=Regime(record["regime"]),
        review=_review(record, where),
        initial_sha256=record["initial_sha256"],
        stream_sha256=record["stream_sha256"],
        demonstrations=tuple(_example(example, f"{where}.demonstrations") for example in record["demonstrations"]),
        length=record["length"],
        prompts=PromptsIdentity(**_exactly(record["prompts"], {"family": str, "sha256": str}, f"{where}.prompts")),
        model=ModelIdentity(**_exactly(record["model"], {"name": str, "revision": str}, f"{where}.model")),
        sampling=_sampling(record["sampling"], f"{where}.sampling"),
        encoder=None if record["encoder"] is None else _encoder(record["encoder"], f"{where}.encoder"),
        code=record["code"],
    )


def _check_bounds(record: Record, where: str) -> None:
    length = record["length"]
    if record["regime"] not in list(Regime):
        raise InputError(f"{where}: the field 'regime' should be {' or '.join(Regime)}, not {shown(record['regime'])}")
    if record["protocol"] not in PROTOCOLS:
        raise InputError(f"{where}: the field 'protocol' cannot be {shown(record['protocol'])}")
    if length is not None and (type(length) is not int or not 0 < length <= _MOST_QUESTIONS):
        raise InputError(f"{where}: the field 'length' cannot be {shown(length)}")
    if not 0 < record["timeout_s"] <= LONGEST_TIMEOUT_S:
        raise InputError(
            f"{where}: the field 'timeout_s' cannot be {shown(record['timeout_s'])}; use a number of seconds, "
            f"{LONGEST_TIMEOUT_S:g} at most"
        )
    check_count(record["budget"], _MOST_REPAIRS, f"{where}: the field 'budget'")


def _check_printable(record: Record, where: str) -> None:
    """Complain about names that would do something on a terminal, or look like others: they are shown to people."""
    for name, value in record.items():
        if isinstance(value, dict):
            _check_printable(value, f"{where}.{name}")
        elif isinstance(value, str) and not value.isprintable():
            raise RunUnusable(
                f"{where}: the field {shown(name)} cannot be {shown(value)}; it has characters that cannot be printed"
            )


def _dataset(record: Record, where: str) -> DatasetIdentity:
    fields: dict[str, type] = {"name": str, "split": str, "sha256": str, "questions": int}
    _exactly(record, fields | ({"label": str} if "label" in record else {}), where)
    check_count(record["questions"], _MOST_QUESTIONS, f"{where}: the field 'questions'")
    if "label" in record:
        check_label(record["label"], f"{where}.label")
    if record["name"] not in LAYOUTS:
        raise InputError(f"{where}: there is no dataset {shown(record['name'])}")
    if record["split"] not in LAYOUTS[record["name"]].questions:
        raise InputError(f"{where}: there is no split {shown(record['split'])} of {shown(record['name'])}")
    return DatasetIdentity(**record)


def _distinct(record: Record, dataset: DatasetIdentity, where: str) -> Distinct | None:
    """What became of DISTINCT; runs of versions that could not keep it do not say, and dropped it."""
    chosen = LAYOUTS[dataset.name].distinct is not None
    if "distinct" not in record:
        return Distinct.DROPPED if chosen else None
    value = record["distinct"]
    if value not in (list(Distinct) if chosen else [None]):
        raise InputError(f"{where}: the field 'distinct' cannot be {shown(value)} for {dataset.name}")
    return Distinct(value) if chosen else None


def _review(record: Record, where: str) -> ReviewPolicy | None:
    """How answers were reviewed, in the regime that has it."""
    if (record["regime"] == Regime.REVIEWED) != ("review" in record):
        raise InputError(f"{where}: the field 'review' goes with the regime {Regime.REVIEWED}, and only with it")
    if "review" not in record:
        return None
    at = f"{where}.review"
    review = _exactly(record["review"], {"share": float, "kind": str, "author": str}, at)
    if review["author"] != SIMULATED_REVIEWER:
        raise InputError(f"{at}: the field 'author' cannot be {shown(review['author'])}")
    try:
        return ReviewPolicy(review["share"], ReviewKind(review["kind"]))
    except (InputError, ValueError) as error:
        raise InputError(f"{at}: {shown(str(error))}") from None


def _method(record: Record, where: str) -> Method:
    """The method that was run, exactly as it was then."""
    check_fields(record, _METHOD | {name: type(value) for name, value in SINCE_0_2.items() if name in record}, where)
    fields = dict(record)
    origin = _origin(fields.pop("origin", None), f"{where}.origin")
    try:
        policy = _policy(fields.pop("recall"), f"{where}.recall")
        writes = frozenset(Polarity(polarity) for polarity in fields.pop("writes"))
        method = Method(recall=policy, writes=writes, origin=origin, **fields)
    except (KeyError, TypeError, ValueError) as error:
        raise RunUnusable(
            f"{where}: not a method of this merit ({shown(str(error))}); use the merit that made it"
        ) from None
    for name in ("demonstrations", "draws", "notes"):
        check_count(getattr(method, name), _MOST_REPAIRS, f"{where}: the field {name!r}")
    if why := out_of_bounds(method):
        raise RunUnusable(f"{where}: {why}")
    return restored(method)


def _origin(record: Any, where: str) -> Origin | None:
    """The package that a method comes from, where it is not merit itself."""
    if record is None:
        return None
    check_fields({"origin": record}, {"origin": dict}, where)
    return Origin(**_exactly(record, {"package": str, "version": str, "sha256": str}, where))


def _policy(record: Any, where: str) -> RecallPolicy | None:
    if record is None:
        return None
    check_fields(record, {name: kind for name, kind in _POLICY.items() if name not in POLICY_SINCE_0_2}, where)
    check_fields(record, {name: _POLICY[name] for name in POLICY_SINCE_0_2 if name in record}, where)
    for name in ("positives", "negatives", "precedents", "typed_threshold"):
        check_count(record[name], _MOST_REPAIRS, f"{where}: the field {name!r}")
    if record["random_seed"] is not None:
        check_fields(record, {"random_seed": int}, where)
    kinds = {"type_filter": TypeFilter, "databases": Databases, "least_grade": Grade}
    return RecallPolicy(**{**record, **{name: kind(record[name]) for name, kind in kinds.items()}})


def _sampling(record: Record, where: str) -> Sampling:
    fields: dict[str, type] = {"temperature": float, "max_tokens": int, "seed": object}
    cut = record.get("max_prompt_tokens") if isinstance(record, dict) else None
    _exactly(record, fields if cut is None else fields | {"max_prompt_tokens": int}, where)
    if cut is not None and not 0 < cut <= _MOST_TOKENS:
        raise InputError(f"{where}: the field 'max_prompt_tokens' cannot be {shown(cut)}")
    if not 0 <= record["temperature"] <= _MAX_TEMPERATURE:
        raise InputError(f"{where}: the field 'temperature' cannot be {shown(record['temperature'])}")
    check_count(record["max_tokens"], _MOST_TOKENS, f"{where}: the field 'max_tokens'")
    if record["seed"] is not None:
        check_fields(record, {"seed": int}, where)
    return Sampling(**record)


def _encoder(record: Any, where: str) -> EncoderIdentity:
    return EncoderIdentity(**_exactly(record, {"name": str, "revision": str, "dimension": int}, where))


def _example(record: Any, where: str) -> Demonstration:
    return Demonstration(**_exactly(record, {"question": str, "sql": str, "evidence": str}, where))


def _made_with(record: Record, where: str) -> MadeWith:
    fields: dict[str, type] = {"merit": str, "python": str, "sqlite": str}
    _exactly(record, fields | ({"greedy": dict} if "greedy" in record else {}), where)
    _check_printable(record, where)
    greedy = record.get("greedy", {})
    check_fields(greedy, dict.fromkeys(greedy, float), f"{where}.greedy")
    if not all(name.isprintable() for name in greedy):
        raise RunUnusable(f"{where}: the field 'greedy' has names that cannot be printed")
    return MadeWith(**record)


def _exactly(record: Any, fields: dict[str, type], where: str) -> Record:
    """The record, if it has these fields and no others."""
    check_fields(record, fields, where)
    for name in record:
        if name not in fields:
            raise InputError(f"{where}: the field {shown(name)} is not known to this merit; use the merit that made it")
    checked: Record = record
    return checked
