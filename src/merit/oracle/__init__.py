"""The only room that ever holds a reference answer. Other rooms get verdicts; a user can ask for more (`explain`)."""

from merit.oracle.demonstrations import fixed_demonstrations
from merit.oracle.explain import Comparison, Excerpt, Explainer
from merit.oracle.judge import Judge
from merit.oracle.open import open_judge
from merit.oracle.regime import under
from merit.oracle.subset import write_subset

__all__ = [
    "Comparison",
    "Excerpt",
    "Explainer",
    "Judge",
    "fixed_demonstrations",
    "open_judge",
    "under",
    "write_subset",
]
