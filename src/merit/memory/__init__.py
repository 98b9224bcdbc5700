"""What is remembered, and what may be recalled of it. Must never hold a reference answer."""

from merit.memory.entry import Entry, Grade, Provenance, failure_context, normalise_sql, with_id
from merit.memory.memory import Memory
from merit.memory.policy import Cue, Databases, Match, PoolReport, Recall, RecallPolicy, TypeFilter
from merit.memory.store import MemoryStore, Tombstone

__all__ = [
    "Cue",
    "Databases",
    "Entry",
    "Grade",
    "Match",
    "Memory",
    "MemoryStore",
    "PoolReport",
    "Provenance",
    "Recall",
    "RecallPolicy",
    "Tombstone",
    "TypeFilter",
    "failure_context",
    "normalise_sql",
    "with_id",
]
