"""merit: an agent that repairs Text-to-SQL failures and remembers what it learned."""

__version__ = "0.1.0"
