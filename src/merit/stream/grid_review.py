"""The fields of a grid file that say how answers are reviewed, in the regime reviewed."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from merit.errors import InputError
from merit.reading import shown
from merit.runs import ReviewPolicy
from merit.types import Regime, ReviewKind


def review_policies(record: Mapping[str, Any], regime: Regime, path: Path) -> dict[str, ReviewPolicy | None]:
    """How answers are reviewed, by what is added to the names of runs; with a share of 0, all kinds are one run."""
    given = [name for name in ("review", "review_shares") if name in record]
    if regime is not Regime.REVIEWED:
        if given:
            raise InputError(f'{path}: the field {given[0]!r} goes with regime = "{Regime.REVIEWED}"')
        return {"": None}
    if not record.get("review_shares"):
        raise InputError(f"{path}: with this regime, write review_shares, such as [0, 0.3]: the shares of answers seen")
    kinds = record.get("review", ReviewKind.CORRECTIONS.value)
    policies: dict[str, ReviewPolicy | None] = {}
    for share, kind in product(record["review_shares"], kinds if isinstance(kinds, list) else [kinds]):
        if isinstance(share, bool) or not isinstance(share, int | float):
            raise InputError(f"{path}: the field 'review_shares' should be a list of numbers, not {shown(share)}")
        try:
            policies.setdefault(f"-{kind}-{share:g}" if share else "-unreviewed", ReviewPolicy(share, kind))
        except InputError as error:
            raise InputError(f"{path}: the fields 'review' and 'review_shares': {error}") from None
    return policies
