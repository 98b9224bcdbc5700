"""Databases: running any statement safely. Must never know a question, a reference or a model.

`connect.open_engine` opens any `types.Engine` by its URL (`address` takes it apart and masks passwords) and imports a
driver only then. `canonical` is the form in which two queries are compared: an engine's own tokens (`lexing`) and
nothing beyond them; where in doubt, two texts count as different.

- `sqlite` runs statements in processes that can be killed (`process`, which DuckDB uses too).
- `postgres`, `mysql` and `duckdb` each have a `session`, a `catalogue` and, for servers, a `role` for `merit doctor`.
  `pool` keeps a few sessions for all threads, and repeats on a new one what a lost connection cut off, since everything
  only reads. `deadline` cancels a statement on the server, and cuts the connection where that has no effect.
- `guard` looks at a statement's text before a server sees it. `explained` has the database parse (not run) a text that
  the guard cannot read, so that the failure has the database's words; `unevaluated` says what is sent of it to servers
  that evaluate constants while they parse. `volatility` asks the catalogue about functions.
- `bounds` has the caps; `conversion` is the table by which values of all engines become the few types of a result.
- `reflect` puts a schema together from a catalogue, and caches a server's under a fingerprint that every change of the
  schema changes.
- `parser`: sqlglot with a bound on its steps, and its scopes for queries of at most 500 tables.

Causes are typed (`types.Cause`). A fault of the environment is raised as `DatabaseUnusable`; all else is the model's.
"""

from merit.sql.canonical import canonical
from merit.sql.encoding import decode, digest, encode
from merit.sql.outcome import executed, failed
from merit.sql.sqlite import SQLITE_VERSION, SQLiteEngine, SQLiteSandbox, Trial, content_hash, journals

__all__ = [
    "SQLITE_VERSION",
    "SQLiteEngine",
    "SQLiteSandbox",
    "Trial",
    "canonical",
    "content_hash",
    "decode",
    "digest",
    "encode",
    "executed",
    "failed",
    "journals",
]
