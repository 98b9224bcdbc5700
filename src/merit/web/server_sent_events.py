"""What is told while a question is asked, as server-sent events."""

from dataclasses import asdict, dataclass
from typing import Any

from merit.live import Answer
from merit.live.answer_record import answer_record
from merit.live.progress import Asking, Candidate, ProgressEvent, Started
from merit.memory import Match
from merit.web.replies import to_json

FIRST_ROWS = 200  # that an answer is sent with; all of them are under /api/answers/ID/rows
KEEP_ALIVE = b": waiting\n\n"


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """An event and its data."""

    name: str
    data: dict[str, Any]

    def encoded(self) -> bytes:
        """As it goes over the wire; JSON has no line break that could end it early."""
        return f"event: {self.name}\ndata: {to_json(self.data)}\n\n".encode("utf-8", "replace")


def sent(event: ProgressEvent, ticket: str) -> ServerSentEvent:
    """An event of asking."""
    match event:
        case Started():
            record = asdict(event)
            return ServerSentEvent(
                "started", {**record, "ticket": ticket, "recalled": [*map(_recalled, event.recalled)]}
            )
        case Asking():
            return ServerSentEvent("asking", asdict(event))
        case Candidate():
            changes = [{"rule": rule, "sentence": sentence} for rule, sentence in event.changes]
            return ServerSentEvent("candidate", {**asdict(event), "changes": changes})


def short_answer(answer: Answer) -> dict[str, Any]:
    """An answer with its first rows, and how many there are."""
    record = answer_record(answer)
    return {**record, "rows": record["rows"][:FIRST_ROWS], "row_count": len(record["rows"])}


def _recalled(match: Match) -> dict[str, Any]:
    entry, source = match.entry, match.entry.provenance
    return {
        "id": entry.id,
        "kind": entry.polarity,
        "grade": entry.grade,
        "question": entry.question,
        "sql": entry.delta,
        "score": round(match.score, 4),
        "dense": match.dense,
        "lexical": match.lexical,
        "author": source.author,
        "time": source.time,
        "database": source.db_id,
    }
