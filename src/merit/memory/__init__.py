"""What is remembered, and what may be recalled of it. Must never hold a reference answer."""

from merit.memory.contents import Listed
from merit.memory.curate import LIVE_RUN, entries_in
from merit.memory.identity import with_id
from merit.memory.memory import Memory
from merit.memory.opening import index_folder, is_url, open_at, open_store
from merit.memory.policy import Cue, Databases, Match, PoolReport, Recall, RecallPolicy, TypeFilter
from merit.memory.store import FileStore, memory_folder
from merit.memory.volatile import VolatileStore
from merit.types.entry import Entry, Grade, Precedent, Provenance, Repair, failure_context, normalise_sql
from merit.types.store import Change, Deletion, Restoration, Staleness, Store

__all__ = [
    "LIVE_RUN",
    "Change",
    "Cue",
    "Databases",
    "Deletion",
    "Entry",
    "FileStore",
    "Grade",
    "Listed",
    "Match",
    "Memory",
    "PoolReport",
    "Precedent",
    "Provenance",
    "Recall",
    "RecallPolicy",
    "Repair",
    "Restoration",
    "Staleness",
    "Store",
    "TypeFilter",
    "VolatileStore",
    "entries_in",
    "failure_context",
    "index_folder",
    "is_url",
    "memory_folder",
    "normalise_sql",
    "open_at",
    "open_store",
    "with_id",
]
