"""A person's own database: ask, and learn from what people say about the answers. Must never know a reference."""

from merit.live.agent import LiveAgent
from merit.live.answer import Answer, AnswerStatus, Found, LeftOut
from merit.live.chat import Chat
from merit.live.contradictions import Contradiction
from merit.live.describing import Description
from merit.live.exporting import export_pairs
from merit.live.history import History
from merit.live.importing import Imported
from merit.live.opening import connect, open_live
from merit.live.recalling import Recollection
from merit.live.receipt import Receipt
from merit.live.records import Asked, Confirmed, Corrected, Feedback, Rejected, Withdrawn
from merit.live.why import Comparison, Why

__all__ = [
    "Answer",
    "AnswerStatus",
    "Asked",
    "Chat",
    "Comparison",
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
    "Receipt",
    "Recollection",
    "Rejected",
    "Why",
    "Withdrawn",
    "connect",
    "export_pairs",
    "open_live",
]
