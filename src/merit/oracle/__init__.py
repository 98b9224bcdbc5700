"""The only room that ever holds a reference answer. Everybody else gets verdicts."""

from merit.oracle.demonstrations import fixed_demonstrations
from merit.oracle.judge import Judge, Oracle
from merit.oracle.open import open_judge
from merit.oracle.regime import ExecutionOnly, under
from merit.oracle.subset import write_subset

__all__ = ["ExecutionOnly", "Judge", "Oracle", "fixed_demonstrations", "open_judge", "under", "write_subset"]
