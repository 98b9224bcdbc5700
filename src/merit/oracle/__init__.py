"""The only room that ever holds a reference answer. Other rooms get verdicts; a user can ask for more (`explain`)."""

from merit.oracle.acceptance import Acceptance, acceptance, asks_for_order, references_of
from merit.oracle.demonstrations import fixed_demonstrations
from merit.oracle.explain import Excerpt, Explainer, ReferenceComparison
from merit.oracle.judge import Judge
from merit.oracle.open import open_judge
from merit.oracle.regime import under
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
    "open_judge",
    "references_of",
    "under",
    "write_subset",
]
