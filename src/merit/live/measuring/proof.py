"""Proof: whether the memory helps. A history of confirmed answers is asked again in its order, with it and without.

With memory means: with what was remembered when the question was first asked, and not with its own answer.
"""

import asyncio
import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from merit.errors import InputError
from merit.live.asking.asker import Asker
from merit.live.measuring.asked_again import (
    AskedAgain,
    ConfirmedQuestion,
    Repeater,
    Tell,
    confirmed_questions,
    repeating,
    say_nothing,
)
from merit.live.record.visibility import visible
from merit.models import Prices, Usage

_Z = 1.959963984540054  # of a 95% interval
_FEWEST = 20  # questions: with fewer, nothing but a large effect could be seen
_WIDEST = 0.10  # half an interval: a wider one around zero says nothing


class ProofVerdict(StrEnum):
    """What a proof says about a memory."""

    HELPS = "the memory helps"
    HARMS = "the memory harms"
    NO_DIFFERENCE = "no difference can be seen"
    TOO_SHORT = "the history is too short to tell"


@dataclass(frozen=True, slots=True)
class ProofTurn:
    """A confirmed question, asked again with and without memory."""

    answer: str  # the id of the answer that was confirmed
    with_memory: AskedAgain
    without: AskedAgain
    recalled: int  # entries that the model was shown

    @property
    def difference(self) -> int:
        """1 where only the memory's answer is right, -1 where only the other one is."""
        return int(self.with_memory.right) - int(self.without.right)


@dataclass(frozen=True, slots=True)
class Proof:
    """What asking a history again has shown."""

    turns: tuple[ProofTurn, ...]

    @property
    def difference(self) -> float:
        """How much more often the answer with memory is right, from -1 to 1."""
        return math.fsum(turn.difference for turn in self.turns) / len(self.turns) if self.turns else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the difference."""
        gained = sum(turn.difference > 0 for turn in self.turns)
        lost = sum(turn.difference < 0 for turn in self.turns)
        return paired_interval(gained, lost, len(self.turns))

    @property
    def verdict(self) -> ProofVerdict:
        """What follows: an interval that is above or below zero decides; a wide one around zero says nothing."""
        low, high = self.interval
        if low > 0 or high < 0:
            return ProofVerdict.HELPS if low > 0 else ProofVerdict.HARMS
        narrow = len(self.turns) >= _FEWEST and (high - low) / 2 <= _WIDEST
        return ProofVerdict.NO_DIFFERENCE if narrow else ProofVerdict.TOO_SHORT

    def accuracy(self, *, memory: bool) -> float | None:
        """The share of right answers."""
        right = [turn.with_memory.right if memory else turn.without.right for turn in self.turns]
        return sum(right) / len(right) if right else None

    def brier(self, *, memory: bool) -> float | None:
        """The mean squared distance between what was said to be likely and what was right; 0 is best."""
        asked = [turn.with_memory if memory else turn.without for turn in self.turns]
        return math.fsum((answer.confidence - answer.right) ** 2 for answer in asked) / len(asked) if asked else None

    def additional(self, name: str) -> float | None:
        """What the memory took in addition, of tokens, calls or cost; None where it is not known."""
        pairs = [(getattr(turn.with_memory, name), getattr(turn.without, name)) for turn in self.turns]
        if any(first is None or second is None for first, second in pairs):
            return None
        return math.fsum(first - second for first, second in pairs)

    def each(self, name: str) -> float | None:
        """The same for each additional right answer; None where there is none."""
        gain, more = sum(turn.difference for turn in self.turns), self.additional(name)
        return more / gain if gain > 0 and more is not None else None

    def record(self) -> dict[str, Any]:
        """As plain values."""
        low, high = self.interval
        return {
            "questions": len(self.turns),
            "accuracy_with_memory": self.accuracy(memory=True),
            "accuracy_without": self.accuracy(memory=False),
            "difference": self.difference,
            "interval": [low, high],
            "brier_with_memory": self.brier(memory=True),
            "brier_without": self.brier(memory=False),
            "tokens_per_extra_right_answer": self.each("tokens"),
            "cost_per_extra_right_answer": self.each("cost"),
            "verdict": self.verdict,
        }


def paired_interval(gained: int, lost: int, size: int) -> tuple[float, float]:
    """The 95% interval of a difference between paired proportions (Bonett and Price 2012).

    It adds one to each kind of disagreement, so that it covers the truth also where the history is short.
    """
    wins, losses = (gained + 1) / (size + 2), (lost + 1) / (size + 2)
    middle = wins - losses
    half = _Z * math.sqrt(max(0.0, wins + losses - middle**2) / (size + 2))
    return max(-1.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True, slots=True)
class ProofCost:
    """What a proof takes at most."""

    questions: int
    calls: int
    tokens: int | None  # by the mean of earlier questions; None where there is none to go by
    cost: float | None  # None where prices or tokens are not known


def proof_cost(asker: Asker, limit: int | None = None, author: str = "") -> ProofCost:
    """What proving takes at most, before anything is asked."""
    questions = len(_questions(asker, limit, author))
    calls = 2 * questions * asker.asking.candidates
    asked = [event for event in asker.parts.history.answers().values() if event.calls]
    sent = Usage.total(Usage(event.calls, event.prompt_tokens, event.output_tokens) for event in asked)
    if not sent.calls:
        return ProofCost(questions, calls, None, None)
    share = calls / sent.calls
    likely = Usage(calls, round(share * sent.prompt_tokens), round(share * sent.output_tokens))
    prices = asker.budget.prices
    return ProofCost(questions, calls, likely.tokens, Prices(*prices).cost(likely) if prices else None)


async def prove(asker: Asker, *, limit: int | None = None, tell: Tell = say_nothing, author: str = "") -> Proof:
    """Ask confirmed questions again; of a long history the last `limit` ones. Nothing is learned from it.

    `author` is who asks: what is for other people alone is neither asked nor shown.
    """
    if asker.method.recall is None:
        raise InputError(f"the method {asker.method.name!r} has no memory, so there is nothing to prove")
    questions, turns = _questions(asker, limit, author), list[ProofTurn]()
    listed = await asyncio.to_thread(asker.parts.memory.listed)
    learned = [item for item in visible(listed, asker.parts.viewer(author)) if item.recallable]
    with repeating(asker, author) as repeater:
        with_memory, without = repeater.learning(), repeater.forgetful()
        known = 0  # how many entries the selection from the schema knows of
        for number, asked in enumerate(questions, 1):
            earlier = sum(item.sequence <= asked.position for item in learned)
            with_memory.learn([item.entry for item in learned[known:earlier]])
            known = max(known, earlier)
            if (expected := await asyncio.to_thread(repeater.expected, asked)) is not None:
                turns.append(await _turn(with_memory, without, asked, expected))
            tell(number, len(questions))
    return Proof(tuple(turns))


async def _turn(with_memory: Repeater, without: Repeater, asked: ConfirmedQuestion, expected: str) -> ProofTurn:
    remembering = await with_memory.ask(asked, expected, asked.position)
    forgetful = await without.ask(asked, expected, asked.position)
    return ProofTurn(asked.answer, remembering.outcome, forgetful.outcome, len(remembering.answer.recalled))


def _questions(asker: Asker, limit: int | None, author: str) -> list[ConfirmedQuestion]:
    questions = confirmed_questions(asker.parts, asker.parts.viewer(author))
    return questions if limit is None else questions[-limit:] if limit else []
