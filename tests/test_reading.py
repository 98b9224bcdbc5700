"""Files people give us: what is no JSON is said with its place."""

from pathlib import Path

import pytest

from merit.errors import InputError
from merit.reading import parse_json, read_json_lines


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_what_is_no_finite_number_is_refused(value: str) -> None:
    with pytest.raises(InputError) as said:
        parse_json(f'{{"a": [1.5, {value}]}}', Path("a.json"), 7)
    assert str(said.value) == f"a.json, line 7: {value} is no finite number"
    with pytest.raises(InputError, match=r"^a\.jsonl, line 3: "):
        list(read_json_lines(f"1\n\n{value}\n", Path("a.jsonl")))


def test_other_numbers_are_what_they_say() -> None:
    assert parse_json('[0.1, -2.5e-3, 1E5, 7, "NaN"]', Path("a.json")) == [0.1, -0.0025, 100000.0, 7, "NaN"]
