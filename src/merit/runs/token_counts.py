"""Token counts in the records of a run: within bounds, and marked where merit estimated them."""

from typing import Any

from merit.errors import InputError
from merit.reading import check_count

MOST_COUNTED = 2**40  # tokens of a call, turns of a run: sums of them stay numbers


def without_default(record: dict[str, Any]) -> dict[str, Any]:
    """A record of an answer; the field 'tokens_estimated' is written only where it is true."""
    return record if record["tokens_estimated"] else {k: v for k, v in record.items() if k != "tokens_estimated"}


def tokens_estimated(record: dict[str, Any], where: str) -> bool:
    """Whether the tokens of such a record are estimated; where it does not say so, the model's server counted them."""
    if record.get("tokens_estimated", True) is not True:
        raise InputError(f"{where}: the field 'tokens_estimated' is true where it is there")
    return "tokens_estimated" in record


def check_tokens(record: dict[str, Any], where: str) -> None:
    """Complain about token counts that cannot be."""
    for name in ("prompt_tokens", "output_tokens"):
        check_count(record[name], MOST_COUNTED, f"{where}: the field {name!r}")
