"""A team's memory on PostgreSQL. Imported only where one is opened: the driver, psycopg, is an extra.

Sequence numbers are given under a lock on the one row of `merit_memory`, which is held until the commit, so that no
reader overtakes one. `address` takes the URL apart and shows no secret, `connection` connects again, `tables` makes and
migrates the tables, `rows` compares each row with its fingerprint, a hash chain. An append whose connection was lost is
looked for under the same lock, by a name of its own.
"""

from merit.memory.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
