"""DuckDB: a file opened read-only in a process that can be killed, without files, network or settings."""

from merit.sql.duckdb.engine import DuckDBEngine

__all__ = ["DuckDBEngine"]
