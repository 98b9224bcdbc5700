"""TOML files that people write, read within limits."""

import tomllib
from pathlib import Path
from typing import Any

from merit.errors import InputError
from merit.reading import read_text, shown

_MOST_BYTES = 256 * 1024  # a grid of hundreds of runs has a few kilobytes
_MOST = 2**63  # as in JSON: beyond it, Python's numbers are no float, or cannot be printed
_MOST_DOTS = 300  # in a line: the time that tomllib takes for a dotted key grows with the square of its parts


def read_toml(path: Path) -> dict[str, Any]:
    """The value of a TOML file."""
    text = read_text(path, _MOST_BYTES)
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _MOST_DOTS:
            raise InputError(f"{path}, line {number}: more than {_MOST_DOTS} dots; break the line")
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not valid TOML ({error})") from None
    except RecursionError:
        raise InputError(f"{path}: TOML nested too deeply") from None
    except ValueError:  # Python reads no number of thousands of digits
        raise InputError(f"{path}: not valid TOML (a number has too many digits)") from None
    _check_numbers(value, path)
    return value


def _check_numbers(value: dict[str, Any], path: Path) -> None:
    """Raise for a whole number of more than 64 bits, without printing it."""
    left: list[tuple[str, Any]] = list(value.items())  # each value with the field that it is in
    while left:
        name, item = left.pop()
        if isinstance(item, dict):
            left += item.items()
        elif isinstance(item, list):
            left += ((name, part) for part in item)
        elif isinstance(item, int) and not -_MOST <= item < _MOST:
            raise InputError(f"{path}: a number in the field {shown(name)} is too large; integers have at most 64 bits")
