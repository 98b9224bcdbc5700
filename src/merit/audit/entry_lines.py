"""The memory files of a run, held line by line against entries that are derived again."""

import os
from collections.abc import Iterator
from pathlib import Path

from merit.memory import format3
from merit.memory.format4 import LOG_NAME, log_line
from merit.runs.paths import MEMORY
from merit.runs.text import read_lines
from merit.types import Entry


class EntryLines:
    """The lines of a run's memory, in order: of its log, or of the three files of memory format 3."""

    def __init__(self, run: Path) -> None:
        folder = run / MEMORY
        older = format3.files_in(folder)
        self._is_log = os.path.lexists(folder / LOG_NAME) or not older
        files = [*([folder / LOG_NAME] if self._is_log else []), *older]
        self._lines = {path: iter(list(enumerate(read_lines(path), 1))) for path in files}
        self._folder = folder
        self._count = 0

    def mismatch(self, entry: Entry) -> str | None:
        """Where the next line is not that of an entry; None if it is."""
        self._count += 1
        name = LOG_NAME if self._is_log else format3.file_name(entry.polarity)
        expected = log_line(entry, self._count).decode()[:-1] if self._is_log else format3.entry_line(entry)
        path = self._folder / name
        number, line = next(self._lines.get(path, _NOTHING), (0, None))
        return None if line == expected else f"{path}, line {number or 'missing'}"

    def with_more(self) -> Path | None:
        """A file that has more lines than were asked for."""
        return next((path for path, lines in self._lines.items() if next(lines, None) is not None), None)


_NOTHING: Iterator[tuple[int, str]] = iter(())
