"""SQLite: files opened read-only, and statements run in processes that can be killed."""

from merit.sql.sqlite.connection import SQLITE_VERSION
from merit.sql.sqlite.content import content_hash, journals
from merit.sql.sqlite.engine import SQLiteEngine
from merit.sql.sqlite.sandbox import SQLiteSandbox
from merit.sql.sqlite.trial import Trial

__all__ = ["SQLITE_VERSION", "SQLiteEngine", "SQLiteSandbox", "Trial", "content_hash", "journals"]
