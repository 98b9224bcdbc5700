"""Counts replies without SQL: where most have none, the model should be checked before the numbers are used."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from merit.data import Dataset
from merit.reading import read_text
from merit.stream.first_answers import MOST_BYTES, is_ours, read_first_answers

_SHOWN = 80  # characters of a reply


@dataclass(slots=True)
class Replies:
    """How many replies held SQL, and the first one that did not."""

    total: int = 0
    without_sql: int = 0
    first_without: str = ""

    @classmethod
    def in_file(cls, path: Path, dataset: Dataset, protocol: str) -> "Replies":
        """Those in a file of first answers; another file of predictions holds no replies."""
        replies = cls()
        if not is_ours(read_text(path, MOST_BYTES)):
            return replies
        for first_answer in read_first_answers(path, dataset, protocol).values():
            replies.add(first_answer.reply, first_answer.sql)
        return replies

    @classmethod
    def together(cls, several: Iterable["Replies"]) -> "Replies":
        """The replies of several runs."""
        all_replies = list(several)
        without = [replies for replies in all_replies if replies.without_sql]
        return cls(
            sum(replies.total for replies in all_replies),
            sum(replies.without_sql for replies in without),
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
