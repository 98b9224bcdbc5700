"""The order of candidates whose scores are equal (paper, appendix "Retrieval and Implementation Details")."""

import numpy as np
import pytest

from merit.memory.rank import Dense, rank

# Scores are equal at equal weights of the two channels. Of the first two rows the second comes first, by what the name
# says; whatever counts less speaks for the first. Each row: dense score, BM25 score, bonus, same type, id.
CASES = {
    "by dense score": [(0.0, 1.0, 0.0, True, "a"), (1.0, 0.0, 0.0, False, "b")],
    "by BM25 score": [
        (0.5, 0.0, 0.5, True, "a"),
        (0.5, 1.0, 0.0, False, "b"),
        (0.0, 0.0, 0.0, False, "c"),
        (1.0, 0.0, 0.0, False, "d"),
    ],
    "by type": [(0.5, 0.5, 0.0, False, "a"), (0.5, 0.5, 0.0, True, "b")],
    "by id": [(0.5, 0.5, 0.0, True, "b"), (0.5, 0.5, 0.0, True, "a")],
    "by id, equal to 12 decimals": [(0.5, 0.5, 4e-13, True, "b"), (0.5 - 4e-13, 0.5, 0.0, True, "a")],
}


@pytest.mark.parametrize("name", CASES)
def test_ties_go_by_dense_score_then_bm25_then_type_then_id(name: str) -> None:
    rows = CASES[name]
    dense, lexical, bonus = (np.array([row[i] for row in rows]) for i in (0, 1, 2))
    near = Dense(dense.astype(np.float32), lambda members: dense[members], 1e-6)
    ranking = rank(near, lexical, 0.5, bonus, lambda at: rows[at][3], lambda at: rows[at][4], limit=len(rows))
    order = [scored.at for scored in ranking.best]
    assert order.index(1) < order.index(0)
    assert ranking.best[order.index(0)].score == ranking.best[order.index(1)].score
