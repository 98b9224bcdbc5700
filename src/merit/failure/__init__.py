"""What went wrong, named from what can be observed. Must never look at the SQL or a reference."""

from merit.failure.classify import classify
from merit.failure.missing import missing_name

__all__ = ["classify", "missing_name"]
