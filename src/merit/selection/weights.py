"""How much each sign counts: four logistic regressions on the 121 questions of BEAVER's database `dw`.

These numbers are all that is tuned on data; `LOG.md` says what such weights, fitted on one half of the questions, reach
on the other half.
"""

import numpy as np

from merit.selection.index import Floats

# In the order of TABLE_FEATURES: covers, name, column, neighbour, database, rare, alone, meaning.
TABLE = np.array([-4.4, 0.2, 9.0, 3.1, 15.8, 3.1, 13.4, 3.3])
TABLE_BASE = -5.2
# In the order of COLUMN_FEATURES: words, rest, key, joins, position, housekeeping, width, meaning.
COLUMN = np.array([0.7, 1.5, 1.35, 3.9, -1.55, -1.25, -0.85, 1.5])
COLUMN_BASE = 0.25
# The same with confirmed questions, followed by TABLE_MEMORY (often, similar) ...
TABLE_RECALLED = np.array([-3.5, -0.3, 7.6, 1.8, 16.2, 2.9, 10.9, 3.5, 0.4, 5.35])
TABLE_RECALLED_BASE = -5.8
# ... and COLUMN_MEMORY (share, similar, unused, namesake).
COLUMN_RECALLED = np.array([0.5, 1.5, 1.0, 1.65, -0.55, -0.7, -0.45, 1.75, 2.7, 2.0, -0.5, 0.1])
COLUMN_RECALLED_BASE = -1.6
# Likely tables count still more when the budget is spent; tried: 0.8, 1, 1.3, 1.6, 2.
SHARPER = 1.3
# The least score of a table whose whole name is asked for, in whichever database: a likelihood of 0.3. Not fitted: in
# `dw` names are long and seldom asked for whole.
NAMED = -0.85


def likelihood(scores: Floats) -> Floats:
    """The logistic function."""
    return 1 / (1 + np.exp(-np.clip(scores, -30, 30)))


def weighted(features: Floats, weights: Floats, base: float) -> Floats:
    """A score for each row, without BLAS, whose threads wait for each other on a busy machine."""
    return np.asarray((features * weights).sum(axis=1) + base)
