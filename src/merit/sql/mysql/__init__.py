"""MySQL and MariaDB: read-only transactions, one statement at a time, killed on the server when late."""

from merit.sql.mysql.engine import MySQLEngine

__all__ = ["MySQLEngine"]
