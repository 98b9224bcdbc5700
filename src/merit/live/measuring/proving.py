"""Proving: a confirmed history is asked again in its order, with the memory of its time and without any."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from merit.errors import InputError
from merit.live.asking.asker import Asker
from merit.live.measuring.asked_again import ConfirmedQuestion, Repeater, confirmed_questions, repeating
from merit.live.measuring.proof import Proof, ProofTurn
from merit.live.record.visibility import visible
from merit.models import Prices, Usage

Tell = Callable[[int, int], object]  # how many questions of how many were asked again


def say_nothing(_done: int, _of_all: int) -> None:
    """Where it does not matter how far it is."""


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
    one = await with_memory.ask(asked, expected, asked.position)
    other = await without.ask(asked, expected, asked.position)
    return ProofTurn(asked.answer, one.outcome, other.outcome, len(one.answer.recalled))


def _questions(asker: Asker, limit: int | None, author: str) -> list[ConfirmedQuestion]:
    questions = confirmed_questions(asker.parts, asker.parts.viewer(author))
    return questions if limit is None else questions[-limit:] if limit else []
