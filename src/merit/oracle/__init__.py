"""Holds the reference answers of a benchmark. Other rooms get verdicts.

References leave it in three places: `demonstrations` (the training examples of the baseline `vanilla`), `explain` (to a
person who asks, with `--with-references`) and `reviewer` (in the regime `reviewed`, as the correction of an answer that
is on record). Those of merit's own benchmark are also where that is built and checked: `bundled` and `mutation`.

- `rule` says what decides a verdict, as a value: `SPIDER` and `BIRD` differ in how a query's text is rewritten
  (`rewrite`), whether repeated rows count, and how two results are compared (`compare`).
- `reference` has each reference's rows computed once for each content of a database; `results` keeps them on disk.
- `judge` runs a prediction on the original database, then on the rest of its suite, and stops at the first
  disagreement. Status and error come from the original alone; a suite database only turns right into wrong. So a
  verdict depends on no order, and nothing about a hidden database reaches a model.
- `regime`: without an oracle the agent hears only whether a statement ran, by an execution without any reference.
- `acceptance` judges questions that have several acceptable references.
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
