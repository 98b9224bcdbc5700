"""The only room that ever holds a reference answer. Everybody else gets verdicts."""

from merit.oracle.judge import Judge, Oracle
from merit.oracle.open import open_judge

__all__ = ["Judge", "Oracle", "open_judge"]
