"""Whether the memory of a database is in use: a proof that it harms can switch it off."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from merit.errors import MeritError
from merit.files import atomic_write
from merit.reading import parse_json, read_text

SWITCHED = "switched_off.json"  # the databases whose memory is not used, and why


def switched_off(folder: Path, database: str) -> str | None:
    """Why the memory of a database is not used; None where it is."""
    why = _read(folder).get(database)
    return str(why) if why is not None else None


def switch_off(folder: Path, database: str, why: str) -> None:
    """Use the memory of a database no more."""
    _write(folder, {**_read(folder), database: why})


def switch_on(folder: Path, database: str) -> None:
    """Use it again."""
    _write(folder, {name: why for name, why in _read(folder).items() if name != database})


def _read(folder: Path) -> dict[str, Any]:
    with suppress(MeritError):
        record = parse_json(read_text(folder / SWITCHED), folder / SWITCHED)
        return record if isinstance(record, dict) else {}
    return {}


def _write(folder: Path, record: dict[str, Any]) -> None:
    with atomic_write(folder / SWITCHED) as file:
        file.write(json.dumps(record, ensure_ascii=False, indent=2).encode())
