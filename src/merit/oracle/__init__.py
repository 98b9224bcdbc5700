"""Holds the reference answers of a benchmark. Other rooms get verdicts.

References leave it in three places: `demonstrations`, `explain` (to a person who asks) and `reviewer`. Those of merit's
own benchmark are also where that is built and checked: `bundled` and `mutation`.
"""

from merit.oracle.acceptance import Acceptance, acceptance, asks_for_order, references_of
from merit.oracle.demonstrations import fixed_demonstrations
from merit.oracle.explain import Excerpt, Explainer, ReferenceComparison
from merit.oracle.judge import Judge
from merit.oracle.open import open_judge
from merit.oracle.regime import judging_for
from merit.oracle.reviewer import SimulatedReviewer
from merit.oracle.subset import write_subset
from merit.oracle.target import TargetJudge

__all__ = [
    "Acceptance",
    "Excerpt",
    "Explainer",
    "Judge",
    "ReferenceComparison",
    "SimulatedReviewer",
    "TargetJudge",
    "acceptance",
    "asks_for_order",
    "fixed_demonstrations",
    "judging_for",
    "open_judge",
    "references_of",
    "write_subset",
]
