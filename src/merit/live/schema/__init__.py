"""What memory and history know of a database's schema, and what becomes of entries when it changes."""
