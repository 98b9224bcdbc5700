"""A person's own database: ask, and learn from what people say about the answers. Must never know a reference.

`agent.LiveAgent` is the public object. `opening` opens what it needs, by names or from `merit.toml`; `following` makes
its `parts.LiveParts` from the schema, and makes them again when the schema changes. `answer` is what a person gets,
`budget` what a question and a day may take, `switch` turns the memory of a database off, `shown` says whose values may
be read, `results` runs each statement once and keeps digests of rows.

The folders: `asking` (from question to answer), `record` (what happened), `judging` (what people and their checks say),
`schema` (when the database changes), `measuring` (on confirmed questions), `auditing` (history against memory).
"""

from merit.live.agent import LiveAgent
from merit.live.answer import Answer, AnswerStatus, Found, LeftOut
from merit.live.asking.chat import Chat
from merit.live.asking.recalling import Recollection
from merit.live.describing import Description
from merit.live.judging.contradictions import Contradiction
from merit.live.judging.exporting import export_pairs
from merit.live.judging.importing import Imported
from merit.live.opening import connect, open_live
from merit.live.record.events import Asked, Confirmed, Corrected, Feedback, Rejected, Withdrawn
from merit.live.record.history import History
from merit.live.record.receipt import Receipt
from merit.live.record.why import MemoryComparison, Why

__all__ = [
    "Answer",
    "AnswerStatus",
    "Asked",
    "Chat",
    "Confirmed",
    "Contradiction",
    "Corrected",
    "Description",
    "Feedback",
    "Found",
    "History",
    "Imported",
    "LeftOut",
    "LiveAgent",
    "MemoryComparison",
    "Receipt",
    "Recollection",
    "Rejected",
    "Why",
    "Withdrawn",
    "connect",
    "export_pairs",
    "open_live",
]
