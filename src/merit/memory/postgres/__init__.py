"""A team's memory on PostgreSQL. Imported only where one is opened: the driver, psycopg, is an extra."""

from merit.memory.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
