"""TOML files that people write, read within limits."""

import tomllib
from pathlib import Path
from typing import Any

from merit.errors import InputError
from merit.reading import read_text

_MOST_BYTES = 256 * 1024  # a grid of hundreds of runs has a few kilobytes
_MOST_DOTS = 300  # in a line: the time that tomllib takes for a dotted key grows with the square of its parts


def read_toml(path: Path) -> dict[str, Any]:
    """The value of a TOML file."""
    text = read_text(path, _MOST_BYTES)
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _MOST_DOTS:
            raise InputError(f"{path}, line {number}: more than {_MOST_DOTS} dots; break the line")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not valid TOML ({error})") from None
    except RecursionError:
        raise InputError(f"{path}: TOML nested too deeply") from None
    except ValueError:  # Python reads no number of thousands of digits
        raise InputError(f"{path}: not valid TOML (a number has too many digits)") from None
