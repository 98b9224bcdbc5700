"""The memory files of a run, held line by line against entries that are derived again."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from merit.errors import AuditFailed, MeritError, counted
from merit.memory import Listed, entries_in, format3
from merit.memory.format4 import LOG_NAME, log_line
from merit.reading import shown
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

    def mismatch(self, entries: Sequence[Entry]) -> str | None:
        """How the next lines are not those of entries that were committed together; None if they are."""
        for number, entry in enumerate(entries, 1):
            if why := self._differs(entry, len(entries) - number):
                return f"{why} the entry {entry.id}"
        return None

    def _differs(self, entry: Entry, more: int) -> str | None:
        """How the next line is not that of an entry, up to the entry's name; `more` are committed with it."""
        self._count += 1
        name = LOG_NAME if self._is_log else format3.file_name(entry.polarity)
        expected = log_line(entry, self._count, more).decode()[:-1] if self._is_log else format3.entry_line(entry)
        path = self._folder / name
        number, line = next(self._lines.get(path, _NOTHING), (0, None))
        if line is None:
            return f"{path}: has no line for" if os.path.lexists(path) else f"{path}: is missing, and with it"
        return None if line == expected else f"{path}, line {number}: is not"

    def check_all_used(self) -> None:
        """Complain about a file that has more lines than were asked for.

        The usual reason is that a person deleted an entry after the run: then that is said.
        """
        for path, lines in self._lines.items():
            number, line = next(lines, (0, None))
            if line is None:
                continue
            deleted = self._deleted()
            if not deleted:
                raise AuditFailed(f"{path}: has a line that belongs to no turn (line {number})")
            were = counted(len(deleted), "entry was", "entries were")
            first = f"{shown(deleted[0].entry.id)}, because {shown(deleted[0].deleted)}"
            raise AuditFailed(
                f"{path}: {were} deleted from this run's memory by `merit memory delete` or `merit memory confirm`, so "
                f"it is no longer what the run left (the first is {first}); to audit the run, take the lines from "
                f"{number} on out of the file"
            )

    def _deleted(self) -> list[Listed]:
        """The entries that were deleted; none where the memory cannot be read as one."""
        try:
            return [listed for listed in entries_in(self._folder) if listed.deleted is not None]
        except MeritError:
            return []


_NOTHING: Iterator[tuple[int, str]] = iter(())
