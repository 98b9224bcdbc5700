"""What the prompt family for live use shows of a database: CREATE TABLE text, example values, mentioned values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from merit.prompts.tables import TableTexts, literal, qualified, quoted
from merit.types import Question, Schema, Value

_EXAMPLES = 3  # values of each column
_HEADING = "-- Values in the database that the question mentions:"


class StoredValues(Protocol):
    """The values of a database, as prompts ask for them."""

    def examples(self, table: str, column: str, most: int = 3) -> Sequence[Value]:
        """A few values of a column."""
        ...

    def mentioned(self, question: str, most: int = 8) -> Sequence[tuple[str, str, str]]:
        """The stored values that a question mentions, each with its table and column."""
        ...


@dataclass(frozen=True, slots=True)
class LiveContext:
    """What a prompt shows of a database for one question."""

    tables: str  # with example values
    bare: str  # without
    mentions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # rules and meanings that people wrote down, a line each
    failed: tuple[tuple[str, str], ...] = ()  # earlier candidates, and what the database said to each
    conversation: tuple[tuple[str, str], ...] = ()  # earlier questions and their SQL, oldest first
    rejected: tuple[str, ...] = ()  # SQL that people rejected for this very question, each with the reason
    declinable: bool = False  # whether the model is told how to say that the database holds no answer

    def text(self) -> str:
        """The schema block of the prompts that show an episode's history."""
        lines = [f"-- {mention}" for mention in self.mentions]
        return "\n".join([self.tables, "", _HEADING, *lines]) if lines else self.tables


def live_context(schema: Schema, dialect: str, values: StoredValues | None) -> LiveContext:
    """What prompts show of a database for any question; without values, only its tables."""
    return LiveTexts(dialect, values).context(schema)


class LiveTexts:
    """The same for parts of one schema, again and again."""

    def __init__(self, dialect: str, values: StoredValues | None) -> None:
        self._bare = self._shown = TableTexts(dialect)
        if values is not None:
            self._shown = TableTexts(dialect, lambda table, column: values.examples(table, column, _EXAMPLES))

    def context(self, schema: Schema) -> LiveContext:
        """What prompts show of a part."""
        bare = self._bare.text(schema)
        return LiveContext(bare if self._shown is self._bare else self._shown.text(schema), bare)


def live_mentions(question: Question, dialect: str, values: StoredValues) -> tuple[str, ...]:
    """The stored values that a question or its evidence mentions, as conditions."""
    text = f"{question.text} {question.evidence}" if question.evidence else question.text
    return mention_lines(values.mentioned(text), dialect)


def mention_lines(mentioned: Sequence[tuple[str, str, str]], dialect: str) -> tuple[str, ...]:
    """Stored values, each with its table and column, as conditions."""
    return tuple(
        f"{qualified(table, dialect)}.{quoted(column, dialect)} = {literal(value)}"
        for table, column, value in mentioned
    )
