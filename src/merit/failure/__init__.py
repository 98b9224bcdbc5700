"""What went wrong, named from what can be observed. Must never look at the SQL or a reference."""

from merit.failure.classify import classify
from merit.failure.dialects import DIALECTS, classify_code

__all__ = ["DIALECTS", "classify", "classify_code"]
