"""Wrappers around an oracle, put together before an episode sees it: in a thread, one at a time, remembered."""

import asyncio
from collections.abc import Callable

from merit.agent.work import Work
from merit.types import Oracle, Question, QuestionId, Verdict

KnownVerdicts = dict[QuestionId, dict[str, Verdict]]  # by question and SQL


class ThreadedOracle:
    """A function that judges, run in a thread: a statement may take until its time limit."""

    def __init__(self, judge: Callable[[Question, str], Verdict]) -> None:
        self._judge = judge

    async def judge(self, question: Question, sql: str) -> Verdict:
        """The verdict of the function."""
        return await asyncio.to_thread(self._judge, question, sql)


class OneAtATime:
    """Lets one statement run at a time, so that prefetching leaves the machine to the run itself.

    Calls that wait hold no thread and can be cancelled.
    """

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._free = asyncio.Lock()

    async def judge(self, question: Question, sql: str) -> Verdict:
        """The oracle's verdict, once no other statement runs."""
        await self._free.acquire()
        running = asyncio.create_task(self._oracle.judge(question, sql))
        running.add_done_callback(self._done)  # not earlier: a statement still runs when its caller is cancelled
        return await asyncio.shield(running)

    def _done(self, running: asyncio.Task[Verdict]) -> None:
        self._free.release()
        if not running.cancelled():
            running.exception()  # raised for the caller; marked here as seen, in case the caller was cancelled


class RememberingOracle:
    """Asks for the verdict on a statement once; `known` may be shared, `work` counts what was really asked."""

    def __init__(self, oracle: Oracle, known: KnownVerdicts, work: Work) -> None:
        self._oracle = oracle
        self._known = known
        self._work = work

    async def judge(self, question: Question, sql: str) -> Verdict:
        """The oracle's verdict, or the one it gave before."""
        verdicts = self._known.setdefault(question.id, {})
        if sql not in verdicts:
            with self._work.of("judge"):
                verdicts[sql] = await self._oracle.judge(question, sql)
        return verdicts[sql]
