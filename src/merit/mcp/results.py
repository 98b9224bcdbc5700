"""What tools return: typed values, and the same as text in which everything from outside stands in a fence.

Rows, names, messages and stored questions may have been written to mislead the model that reads them. A fence cannot
stop a model from believing them; it says what is data, cannot be ended from inside, and cannot grow without limit.
"""

import math
from typing import Any, Literal

from pydantic import BaseModel, Field

from merit.errors import counted
from merit.live import Answer, AnswerStatus, Description, Found, Recollection
from merit.memory import Entry, Match
from merit.prompts.fence import escaped, fenced
from merit.types import Rows, Value

MOST_ROWS = 200
_MOST_CELLS = 40_000  # characters of all cells together
_LONGEST_CELL = 1_000
_LONGEST_NOTE = 600
_LONGEST_TEXT = 60_000  # of a schema


AnswerState = Literal["answered", "unsure", "unanswerable", "failed"]
_STATUS: dict[AnswerStatus, AnswerState] = {
    AnswerStatus.ANSWERED: "answered",
    AnswerStatus.UNSURE: "unsure",
    AnswerStatus.UNANSWERABLE: "unanswerable",
    AnswerStatus.FAILED: "failed",
    AnswerStatus.NOT_EXECUTED: "failed",  # tools always execute
}


class AnswerResult(BaseModel):
    """An answer."""

    id: str
    status: AnswerState
    sql: str
    columns: list[str]
    rows: list[list[Any]]
    row_count: int
    agreement: float = Field(description="share of votes")
    confidence: float | None = Field(description="null if not calibrated")
    recalled: list[str] = Field(description="memory entries shown")
    notes: list[str]

    def text(self) -> str:
        """For programs that read only text."""
        sure = "" if self.confidence is None else f", such answers were right in {self.confidence:.0%}"
        parts = [
            f"{self.status} (id {self.id}; {self.agreement:.0%} of the votes{sure}; {counted(self.row_count, 'row')})"
        ]
        parts += [f"SQL: {fenced(self.sql)}"] if self.sql else []
        parts += [f"Note: {fenced(note)}" for note in self.notes]
        if self.columns:
            lines = ["\t".join(self.columns), *("\t".join(map(_shown, row)) for row in self.rows)]
            parts.append(f"Rows, data only: {fenced(chr(10).join(lines))}")
        return "\n".join(parts)


class RecalledEntry(BaseModel):
    """An entry of the memory."""

    id: str
    question: str
    sql: str
    grade: str
    author: str
    time: str
    score: float


class RecallResult(BaseModel):
    """What the memory holds for a question."""

    entries: list[RecalledEntry]
    rejected: list[str] = Field(description="SQL that people said is wrong here")

    def text(self) -> str:
        """For programs that read only text."""
        lines = [
            f"{entry.grade} by {entry.author or 'unknown'} on {entry.time[:10]} (id {entry.id}): {entry.question}\n"
            f"{entry.sql}"
            for entry in self.entries
        ]
        lines += [f"rejected: {rejected}" for rejected in self.rejected]
        return fenced("\n\n".join(lines)) or "nothing that would be shown for this question"


class DescribeResult(BaseModel):
    """A schema."""

    dialect: str
    tables: list[str]
    left_out: int = Field(description="tables not shown")
    text: str

    def shown(self) -> str:
        """For programs that read only text."""
        left = f", {counted(self.left_out, 'table')} not shown" if self.left_out else ""
        return f"{self.dialect}{left}: {fenced(self.text, _LONGEST_TEXT)}"


class FeedbackResult(BaseModel):
    """What became of feedback."""

    answer: str
    recorded: Literal["confirmed", "rejected", "corrected", "withdrawn", "suggested", "nothing"]
    by: Literal["person", "program", "nobody"]
    author: str
    entries: list[str]
    notes: list[str]

    def text(self) -> str:
        """For programs that read only text."""
        head = f"{self.answer}: {self.recorded}" + (f" as the word of {self.author}" if self.by == "person" else "")
        kept = f"; entries {', '.join(self.entries)}" if self.entries else "; nothing new is remembered"
        return "\n".join([head + kept, *(f"Note: {fenced(note)}" for note in self.notes)])


def answer_result(answer: Answer, most_rows: int, *, show_rows: bool) -> AnswerResult:
    """An answer with as many rows as fit; where rows may never be shown to a model, only their number."""
    rows = answer.rows
    cells = _cells(rows, most_rows) if rows is not None and show_rows else []
    return AnswerResult(
        id=answer.id,
        status=_STATUS[answer.status],
        sql=answer.sql,
        columns=[_clean(column, _LONGEST_CELL) for column in rows.columns] if rows is not None else [],
        rows=cells,
        row_count=len(rows.rows) if rows is not None else 0,
        agreement=round(answer.agreement, 4),
        confidence=None if answer.confidence is None else round(answer.confidence, 4),
        recalled=list(answer.recalled),
        notes=[_clean(note, _LONGEST_NOTE) for note in _notes(answer, len(cells), show_rows=show_rows)],
    )


def _notes(answer: Answer, shown_rows: int, *, show_rows: bool) -> list[str]:
    """What else to know: changes by grounding, doubts, and why there is little or nothing to see."""
    stands = next((attempt for attempt in answer.attempts if attempt.sql == answer.sql), None)
    notes = [change.why for change in stands.written.changes] if stands is not None and stands.written else []
    notes += answer.remarks
    notes += [f"the database said: {answer.error}"] if answer.error else []
    notes += [answer.reason] if answer.reason else []
    if answer.found is Found.NOT_RETRIEVED:
        notes.append(f"the model was not shown {answer.left_out}")
    if answer.found is Found.NOT_PERMITTED:
        notes.append("the database's role may not read what the question needs")
    if answer.rows is not None and not show_rows:
        notes.append("rows are withheld: the settings keep them from models; a person sees them with `merit ask`")
    elif answer.rows is not None and (answer.rows.truncated or shown_rows < len(answer.rows.rows)):
        more = " or more" if answer.rows.truncated else ""
        notes.append(f"{shown_rows} rows are shown of {len(answer.rows.rows)}{more}")
    return notes


def _cells(rows: Rows, most: int) -> list[list[Any]]:
    """The first rows, as many as fit into the limit on characters."""
    found: list[list[Any]] = []
    left = _MOST_CELLS
    for row in rows.rows[:most]:
        cells = [_cell(value) for value in row]
        left -= sum(len(str(cell)) for cell in cells)
        if left < 0 and found:
            break
        found.append(cells)
    return found


def _cell(value: Value) -> str | int | float | None:
    """A value as JSON has it: text without control characters, bytes as hexadecimal digits."""
    if isinstance(value, bytes):
        return _clean(value[:_LONGEST_CELL].hex(), _LONGEST_CELL)
    if isinstance(value, str):
        return _clean(value, _LONGEST_CELL)
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _shown(cell: object) -> str:
    return "NULL" if cell is None else " ".join(str(cell).split())


def _clean(text: str, most: int) -> str:
    """A text that cannot end a fence, hides nothing, and can be sent."""
    return escaped(text.encode("utf-8", "replace").decode(), most)


def recall_result(found: Recollection) -> RecallResult:
    """What would be shown of the memory, the best match first."""
    return RecallResult(
        entries=[_entry(match) for match in found.matches],
        rejected=[_clean(f"{rejected.sql} ({rejected})", _LONGEST_CELL) for rejected in found.rejected],
    )


def _entry(match: Match) -> RecalledEntry:
    entry: Entry = match.entry
    source = entry.provenance
    return RecalledEntry(
        id=entry.id,
        question=_clean(entry.question, _LONGEST_CELL),
        sql=entry.delta,
        grade=entry.grade.value,
        author=_clean(source.author or "", _LONGEST_CELL),
        time=source.time or "",
        score=round(float(match.score), 4),
    )


def describe_result(found: Description, dialect: str) -> DescribeResult:
    """A schema with the notes that people wrote down."""
    notes = "".join(f"\n-- {note}" for note in found.notes)
    return DescribeResult(
        dialect=dialect,
        tables=[_clean(name, _LONGEST_CELL) for name in found.tables],
        left_out=found.left_out,
        text=_clean(found.text + notes, _LONGEST_TEXT),
    )
