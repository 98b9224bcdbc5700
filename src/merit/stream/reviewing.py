"""A simulated reviewer beside a run: it sees answers that are on record, and what it says is learned as in live use."""

import asyncio

from merit.agent import Work, learned_from
from merit.memory import Memory
from merit.oracle import SimulatedReviewer
from merit.runs import AnswerReview, RunFolder
from merit.stream.setup import Setup


class Reviewing:
    """The review of the last answer of a run, where it is drawn for one; nothing in other regimes."""

    def __init__(self, setup: Setup, folder: RunFolder, memory: Memory, work: Work) -> None:
        policy = setup.identity.review
        self._reviewer = SimulatedReviewer(setup.benchmark.dataset, policy.kind) if policy else None
        self._folder = folder
        self._memory = memory
        self._work = work

    async def review(self) -> int:
        """Review the last answer if that is due; returns how many entries came of it.

        The order is what makes a kill at any moment harmless: the answer is on disk before a reference leaves the
        oracle, then the entries are committed, then the review is written. A run that goes on makes the same again.
        """
        turn = self._folder.unreviewed
        if turn is None or self._reviewer is None:
            return 0
        self._folder.keep_answers()
        outcome, sql = self._reviewer.review(turn.episode.task.question, right=turn.final_correct)
        entries = learned_from(turn.episode, outcome, sql, self._folder.run)
        with self._work.of("commit"):
            learned = await asyncio.to_thread(self._memory.commit_all, entries)
        self._folder.append_review(AnswerReview(outcome, sql, {entry.polarity: entry.id for entry in learned}))
        return len(learned)
