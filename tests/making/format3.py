"""A memory as merit 0.1 wrote it: the three files of format 3."""

import json
import os
from pathlib import Path

from merit.memory import Deletion, format4
from merit.memory.files import numbered_lines, open_file
from merit.memory.format3 import FORMAT, entry_line, file_name, files_in
from merit.types import Polarity, Restoration, Staleness


def deletion_line(deletion: Deletion) -> str:
    """A deletion as format 3 wrote it."""
    return json.dumps({"delete": deletion.id, "format": FORMAT, "reason": deletion.reason}, ensure_ascii=False)


def format3_files(folder: Path) -> dict[str, str]:
    """A memory as format 3 would have it, by file name: byte for byte what merit 0.1 wrote for the same changes."""
    if not os.path.lexists(folder / format4.LOG_NAME):
        return {path.name: path.read_text(encoding="utf-8") for path in files_in(folder)}
    lines: dict[Polarity, list[str]] = {polarity: [] for polarity in Polarity}
    pools: dict[str, Polarity] = {}
    path = folder / format4.LOG_NAME
    with open_file(path) as file:
        for number, data in numbered_lines(file, path, format4.LINE_BYTES):
            change = format4.parse_line(data, f"{path}, line {number}")
            if isinstance(change, Deletion):
                if change.id in pools:
                    lines[pools[change.id]].append(deletion_line(change))
            elif not isinstance(change, Restoration | Staleness):  # which format 3 does not know
                pools[change.id] = change.polarity
                lines[change.polarity].append(entry_line(change))
    return {file_name(polarity): "".join(f"{line}\n" for line in lines[polarity]) for polarity in Polarity}
