"""The only room that ever holds a reference answer. Everybody else gets verdicts."""

from merit.oracle.judge import Judge, Oracle
from merit.oracle.open import open_judge
from merit.oracle.results import default_folder

__all__ = ["Judge", "Oracle", "default_folder", "open_judge"]
