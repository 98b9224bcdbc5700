"""SQLite: files opened read-only, and statements run in processes that can be killed.

SQLite's version is pinned and comes with a package (apsw), so that verdicts, messages and limits are the same on every
machine. `engine.SQLiteEngine` is an `Engine` on one file, `catalogue` reads its schema, through the sandbox too: a view
can be as hostile as a statement. `sandbox.SQLiteSandbox` is a pool of workers for any number of files, which the judge
uses for what only benchmarks need: many databases in one call, each row once, text that is not UTF-8.

- `worker`: the kernel ends the process (SIGALRM) at a statement's deadline, whatever SQLite is busy with: preparing a
  statement over views that double fifteen times is deaf to interrupts. A statement goes to a worker once for all
  databases of a suite, with a digest of the rows expected on each. One that meets the heap limit beside other open
  databases is run again with no other open, and only that answer counts.
- `temporary`: a thread that stops a statement whose temporary files are too large together.
- `connection`: read-only by URI, by authorizer and by `query_only`; one statement, as SQLite's own parser tells; caps
  on rows, bytes and cells. It notes which functions a statement uses, inside views too: what depends on the clock or on
  chance is never answered from a cache.
- `lossy`: rows with text that is not UTF-8 are asked for again, as bytes.
- `opening`: a benchmark's database with a journal beside it is read from a copy, so that nothing is written in the data
  folder. What would make SQLite delete a file is refused: a journal that names one, an empty database beside a log.
"""

from merit.sql.sqlite.connection import SQLITE_VERSION
from merit.sql.sqlite.content import content_hash, journals
from merit.sql.sqlite.engine import SQLiteEngine
from merit.sql.sqlite.sandbox import SQLiteSandbox
from merit.sql.sqlite.trial import Trial

__all__ = ["SQLITE_VERSION", "SQLiteEngine", "SQLiteSandbox", "Trial", "content_hash", "journals"]
