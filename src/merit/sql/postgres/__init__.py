"""PostgreSQL: read-only transactions, one statement at a time by the extended protocol, cancelled when late."""

from merit.sql.postgres.engine import PostgresEngine

__all__ = ["PostgresEngine"]
