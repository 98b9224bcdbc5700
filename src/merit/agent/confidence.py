"""How sure a voted answer is: its share of the votes, and how often answers with such a share were right.

A calibration is fitted on one model, one prompt family and some data, and names them. It says nothing about others.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from merit.errors import InputError
from merit.reading import check_fields, check_format, parse_json, read_text, shown
from merit.types import ModelIdentity

FORMAT = 1
SHIPPED = "calibration.json"  # beside this module
_MOST_BINS = 20  # before pooling: of some hundred answers, a bin then has dozens
_MOST_KNOTS = 1000
_LONGEST_TEXT = 1000  # characters of a name or description
_MOST_BYTES = 1 << 20
_TEXTS = ("prompts", "method", "data")
_FIELDS: dict[str, type] = {
    "format": int,
    "model": dict,
    **dict.fromkeys(_TEXTS, str),
    "data_sha256": list,
    "questions": int,
    "answers": int,
    "knots": list,
}
Outcome = tuple[float, bool]  # an answer's share of votes, and whether it was right


class Knot(NamedTuple):
    """A share of votes, and how often answers with about that share were right."""

    share: float
    right: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a share of votes is worth: measured with one model and one prompt family, on some data."""

    model: ModelIdentity
    prompts: str  # the prompt family
    method: str
    data: str  # what it was fitted on, in words
    data_sha256: tuple[str, ...]  # the content hashes of that data
    questions: int  # how many different ones
    answers: int  # questions times runs
    knots: tuple[Knot, ...]  # by increasing share; how often right never decreases

    def confidence(self, share: float) -> float:
        """How often answers with this share of votes were right: linear between knots, constant outside."""
        if share <= self.knots[0].share:
            return self.knots[0].right
        for low, high in pairwise(self.knots):
            if share <= high.share:
                along = (share - low.share) / (high.share - low.share)
                return low.right + along * (high.right - low.right)
        return self.knots[-1].right

    def applies(self, model: str, prompts: str) -> bool:
        """Whether it was measured with this model and prompt family."""
        return (self.model.name, self.prompts) == (model, prompts)

    @property
    def about(self) -> str:
        """What it was fitted on, for a sentence."""
        revision = f" ({self.model.revision[:12]})" if self.model.revision else ""
        return f"{self.data}, model {self.model.name}{revision}, prompts {self.prompts}, method {self.method}"

    def record(self) -> dict[str, Any]:
        """As its file has it."""
        lists = {"data_sha256": list(self.data_sha256), "knots": [list(knot) for knot in self.knots]}
        return {"format": FORMAT, **asdict(self), **lists}


def fit(outcomes: Iterable[Outcome]) -> tuple[Knot, ...]:
    """The knots of a calibration: isotonic regression over a few bins of answers.

    One right and one wrong answer are added to every bin, so that few answers never give 0 or 1.
    """
    bins = _bins(sorted(outcomes))
    if not bins:
        raise InputError("there is no answer to fit a calibration on")
    weights = [len(answers) + 2 for answers in bins]
    rates = [(sum(right for _, right in answers) + 1) / (len(answers) + 2) for answers in bins]
    levels = isotonic(rates, weights)
    knots = []
    for level, pooled in groupby(zip(levels, bins, strict=True), key=lambda pair: pair[0]):
        shares = [share for _, answers in pooled for share, _ in answers]
        knots.append(Knot(math.fsum(shares) / len(shares), level))
    return tuple(knots)


def isotonic(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The non-decreasing sequence nearest to some values by weighted squares: pool adjacent violators."""
    blocks: list[tuple[float, float, int]] = []  # mean, weight, number of values
    for value, weight in zip(values, weights, strict=True):
        mean, heavy, size = float(value), float(weight), 1
        while blocks and blocks[-1][0] >= mean:
            before, weight_before, size_before = blocks.pop()
            mean = (before * weight_before + mean * heavy) / (weight_before + heavy)
            heavy, size = heavy + weight_before, size + size_before
        blocks.append((mean, heavy, size))
    return [mean for mean, _, size in blocks for _ in range(size)]


def _bins(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """Answers by share, in bins of about the same size; equal shares are never in two bins."""
    least = len(outcomes) / _MOST_BINS
    bins: list[list[Outcome]] = []
    for _, alike in groupby(outcomes, key=lambda outcome: outcome[0]):
        if bins and len(bins[-1]) < least:
            bins[-1] += alike
        else:
            bins.append(list(alike))
    if len(bins) > 1 and len(bins[-1]) < least:
        last = bins.pop()
        bins[-1] += last
    return bins


def read_calibration(path: Path) -> Calibration:
    """The calibration in a file that `merit calibrate` wrote."""
    record = parse_json(read_text(path, _MOST_BYTES), path)
    if not isinstance(record, dict) or {"format", "knots"}.isdisjoint(record):
        raise InputError(f"{path}: not a calibration; give a file that `merit calibrate` wrote")
    check_fields(record, _FIELDS, str(path))
    check_format(record["format"], FORMAT, "a calibration", str(path))
    check_fields(record["model"], {"name": str, "revision": str}, f"{path}: the field 'model'")
    texts = {name: record[name] for name in _TEXTS}
    model = {name: record["model"][name] for name in ("name", "revision")}
    for name, text in {**texts, **{f"model.{name}": text for name, text in model.items()}}.items():
        _check_text(text, name, path, empty=name == "model.revision")
    for sha256 in record["data_sha256"]:
        if not isinstance(sha256, str):
            raise InputError(f"{path}: the field 'data_sha256' should be a list of texts, not of {shown(sha256)}")
    for name in ("questions", "answers"):
        if record[name] < 1:
            raise InputError(f"{path}: the field {name!r} should be a number from 1 on, not {shown(record[name])}")
    counts = {name: record[name] for name in ("questions", "answers")}
    hashes = tuple(record["data_sha256"])
    return Calibration(ModelIdentity(**model), **texts, data_sha256=hashes, **counts, knots=_knots(record, path))


def shipped_calibration() -> Calibration | None:
    """The calibration that comes with merit; None where none does."""
    resource = files("merit.agent") / SHIPPED
    if not resource.is_file():
        return None
    with as_file(resource) as path:
        return read_calibration(path)


def find_calibration(model: str, prompts: str, given: Calibration | None = None) -> Calibration | None:
    """The calibration for a model and a prompt family: the given one, or else merit's own; None where it is of others.

    Without one, a share of votes is not calibrated: what it is worth was not measured.
    """
    calibration = given or shipped_calibration()
    return calibration if calibration is not None and calibration.applies(model, prompts) else None


def _check_text(text: str, name: str, path: Path, *, empty: bool) -> None:
    if not text.isprintable() or len(text) > _LONGEST_TEXT or not (text.strip() or empty):
        raise InputError(
            f"{path}: the field {name!r} should be one printable line of at most {_LONGEST_TEXT} characters, not "
            f"{shown(text)}"
        )


def _knots(record: dict[str, Any], path: Path) -> tuple[Knot, ...]:
    """The knots of a file: at least one, by increasing share, how often right never decreasing."""
    if not 1 <= len(record["knots"]) <= _MOST_KNOTS:
        raise InputError(f"{path}: the field 'knots' should have 1 to {_MOST_KNOTS} pairs, not {len(record['knots'])}")
    knots: list[Knot] = []
    for number, pair in enumerate(record["knots"], 1):
        if not isinstance(pair, list) or len(pair) != 2 or not all(map(_is_share, pair)):
            raise InputError(f"{path}: knot {number} should be a pair of numbers from 0 to 1, not {shown(pair)}")
        knot = Knot(*map(float, pair))
        if knots and knot.share <= knots[-1].share:
            raise InputError(f"{path}: knot {number} should have a larger share of votes than the one before it")
        if knots and knot.right < knots[-1].right:
            raise InputError(f"{path}: knot {number} should not be right less often than the one before it")
        knots.append(knot)
    return tuple(knots)


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
