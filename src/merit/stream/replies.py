"""Replies of a model that held no SQL: where most are such, somebody should look at the model before the numbers."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from merit.data import Dataset
from merit.stream.initial import read_initial

_SHOWN = 80  # characters of a reply


@dataclass(slots=True)
class Replies:
    """How many replies held SQL, and the first one that did not."""

    total: int = 0
    without_sql: int = 0
    first_without: str = ""

    @classmethod
    def in_file(cls, path: Path, dataset: Dataset, protocol: str) -> "Replies":
        """Those in a file of first answers."""
        found = cls()
        for draft in read_initial(path, dataset, protocol).values():
            found.add(draft.reply, draft.sql)
        return found

    @classmethod
    def together(cls, several: Iterable["Replies"]) -> "Replies":
        """The replies of several runs."""
        every = list(several)
        without = [one for one in every if one.without_sql]
        return cls(
            sum(one.total for one in every),
            sum(one.without_sql for one in without),
            without[0].first_without if without else "",
        )

    def add(self, reply: str, sql: str) -> None:
        """Count one more reply and the SQL that was found in it."""
        self.total += 1
        if not sql.strip():
            self.first_without = self.first_without if self.without_sql else reply
            self.without_sql += 1

    def warning(self) -> str | None:
        """One sentence where most replies held no SQL."""
        if 2 * self.without_sql <= self.total:
            return None
        return (
            f"{self.without_sql} of {self.total} replies of the model held no SQL and count as wrong; the first of "
            f"them {beginning(self.first_without)}"
        )


def beginning(reply: str) -> str:
    """How a reply begins, as the end of a sentence."""
    words = " ".join(reply.split())
    if not words:
        return "is empty"
    return f"begins: {words[:_SHOWN]}{'...' if len(words) > _SHOWN else ''}"
