"""What went wrong, named from what can be observed. Must never look at the SQL or a reference.

`classify` goes through one ordered table for each dialect (`error_rules`); the first match wins. SQLite's table is the
paper's, by the engine's text. The others go by the engine's code (SQLSTATE, MySQL's numbers, DuckDB's exception
classes), and by the text where a code covers several failures. All end with the same rules: typed causes, timeouts,
other errors, wrong rows.
"""

from merit.failure.classify import classify
from merit.failure.missing import missing_name

__all__ = ["classify", "missing_name"]
