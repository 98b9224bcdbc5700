"""A person's own database: ask, and learn from what people say about the answers. Must never know a reference."""

from merit.live.agent import LiveAgent
from merit.live.answer import Answer, AnswerStatus, Found, LeftOut
from merit.live.chat import Chat
from merit.live.contradictions import Contradiction
from merit.live.exporting import export_pairs
from merit.live.history import History
from merit.live.importing import Imported
from merit.live.opening import connect, open_live
from merit.live.records import Asked, Confirmed, Corrected, Feedback, Rejected

__all__ = [
    "Answer",
    "AnswerStatus",
    "Asked",
    "Chat",
    "Confirmed",
    "Contradiction",
    "Corrected",
    "Feedback",
    "Found",
    "History",
    "Imported",
    "LeftOut",
    "LiveAgent",
    "Rejected",
    "connect",
    "export_pairs",
    "open_live",
]
