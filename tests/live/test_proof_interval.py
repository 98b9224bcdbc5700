"""Proof: its intervals cover the truth, and it says what follows from them, also that nothing does."""

import random

import pytest

from merit.live.measuring.asked_again import AskedAgain
from merit.live.measuring.proof import Proof, ProofTurn, ProofVerdict, paired_interval


def history(size: int, without: float, gain: float, loss: float, seed: int) -> Proof:
    """A simulated history: memory turns a wrong answer right with one chance, a right one wrong with another."""
    chance = random.Random(seed)
    turns = []
    for number in range(size):
        bare = chance.random() < without
        helped = (bare and chance.random() >= loss) or (not bare and chance.random() < gain)
        turns.append(ProofTurn(str(number), asked(helped, 900), asked(bare, 600), 3))
    return Proof(tuple(turns))


def asked(right: bool, tokens: int) -> AskedAgain:
    return AskedAgain(right, 0.9 if right else 0.4, 8, tokens, tokens / 1e6)


@pytest.mark.parametrize(
    ("gain", "loss", "verdict"),
    [(0.4, 0.02, ProofVerdict.HELPS), (0.05, 0.03, ProofVerdict.NO_DIFFERENCE), (0.0, 0.4, ProofVerdict.HARMS)],
    ids=["it helps", "it does nothing", "it is poisoned"],
)
def test_a_long_history_shows_what_the_memory_does(gain: float, loss: float, verdict: ProofVerdict) -> None:
    assert history(400, 0.6, gain, loss, seed=1).verdict is verdict


def test_a_short_history_is_said_to_be_short() -> None:
    assert history(8, 0.6, 0.1, 0.1, seed=2).verdict is ProofVerdict.TOO_SHORT
    assert history(19, 0.6, 0.0, 0.0, seed=2).verdict is ProofVerdict.TOO_SHORT
    assert Proof(()).verdict is ProofVerdict.TOO_SHORT


@pytest.mark.parametrize("size", [10, 40, 200])
@pytest.mark.parametrize(("gain", "loss"), [(0.4, 0.02), (0.05, 0.05), (0.0, 0.3), (0.02, 0.0)])
def test_intervals_cover_the_truth_in_repeated_simulation(size: int, gain: float, loss: float) -> None:
    truth = 0.4 * gain - 0.6 * loss
    found = [history(size, 0.6, gain, loss, seed).interval for seed in range(400)]
    assert sum(low <= truth <= high for low, high in found) >= 0.93 * len(found)


def test_an_interval_is_that_of_its_formula() -> None:
    low, high = paired_interval(12, 4, 100)  # (13 - 5) / 102, plus and minus 1.96 standard errors
    assert (low, high) == pytest.approx((-0.0017, 0.1586), abs=1e-4)


def test_costs_are_those_of_one_more_right_answer() -> None:
    right, wrong = asked(right=True, tokens=900), asked(right=False, tokens=600)
    proof = Proof((ProofTurn("a", right, wrong, 1), ProofTurn("b", right, right, 1)))
    assert (proof.additional("tokens"), proof.each("tokens")) == (300, 300)
    assert proof.each("cost") == pytest.approx(0.0003)
    assert Proof((ProofTurn("a", wrong, wrong, 0),)).each("tokens") is None
    assert proof.brier(memory=True) == pytest.approx(0.01)
    assert proof.record()["difference"] == 0.5
