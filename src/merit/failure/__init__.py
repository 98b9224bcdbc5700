"""What went wrong, named from what can be observed. Must never look at the SQL or a reference."""

from merit.failure.classify import classify

__all__ = ["classify"]
