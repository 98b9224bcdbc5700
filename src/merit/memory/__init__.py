"""What is remembered, and what may be recalled of it. Must never hold a reference answer.

The log (the Protocol `types.Store`):

- `store.FileStore` keeps it in one file (`format4`, `log`). Several processes may append; `lock` is held during an
  append, or all the time by an exclusive store, such as a run's. An append is committed when it is on disk; one that
  was cut short is cut off with a notice, and other damage is refused with file and line. `volatile` is not kept.
- `postgres` keeps it on a server, for a team. `opening` opens either by its place.
- `format3` reads the three files of merit 0.1; the first write turns them into a log.
- `curate` is what people do to any store; `purging` writes a log anew without an entry.

The index over it (`memory.Memory` puts both together):

- `segment`: the entries of one polarity, failure type and grade, as columns, with their `lexical` postings and
  `vectors`. Pools are made of segments, so that a pool's statistics need no second reading.
- `index`: all segments, and the sequence number they go up to. It follows what is committed, by any process.
- `snapshot`: the index on disk. It names the log's fingerprint and a hash of its own bytes; where either differs, the
  index is made again.

A recall:

- `policy`: `RecallPolicy` has the paper's policy, variants and ablations as fields; `Cue` is what a recall starts from.
- `causal`: the causal checks, as one mask over a segment's rows. Every recall passes through it.
- `recall` chooses the pool and scores it by both channels, `rank` scales, weighs and orders. Scores near the top are
  computed again exactly, so that results are those of exact arithmetic.

`identity` gives an entry its id, a hash of what it says and not of where it was learned.
"""

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
