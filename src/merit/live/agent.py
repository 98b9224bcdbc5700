"""The agent for one database: asks, and learns from what people say."""

import asyncio
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from merit.agent import Method
from merit.errors import InputError, check_type
from merit.formats import FoundPairs
from merit.live.answer import Answer, AnswerStatus
from merit.live.asking.asker import Asker
from merit.live.asking.chat import Chat
from merit.live.asking.selecting import SchemaSelection
from merit.live.calls import PlainCalls, check_text
from merit.live.following import SchemaFollower
from merit.live.judging.contradictions import Contradiction, contradictions
from merit.live.judging.feedback import Learner
from merit.live.judging.importing import Imported, import_pairs
from merit.live.judging.ladder import right_sql
from merit.live.measuring.asked_again import Tell, say_nothing
from merit.live.measuring.proof import Proof, ProofCost, proof_cost, prove
from merit.live.measuring.regression import RegressionResult, accept, check
from merit.live.parts import LiveParts
from merit.live.progress import Progress
from merit.live.record.events import Asked, Confirmed, Corrected, Feedback, Rejected, Withdrawn
from merit.live.record.visibility import check_seen, visible
from merit.live.record.why import MemoryComparison, Why, compared, explained
from merit.live.results import StatementResults
from merit.live.schema.checkup import Checkup, check_up
from merit.live.switch import switch_off, switch_on
from merit.memory import Grade
from merit.selection import Selection, Selector
from merit.settings import AskingSettings, BudgetSettings
from merit.types import Limits, Schema


class LiveAgent:
    """Answers questions about one database: from plain code, or several at a time from one event loop."""

    def __init__(
        self,
        parts: LiveParts,
        method: Method,
        *,
        asking: AskingSettings | None = None,
        budget: BudgetSettings | None = None,
        limits: Limits | None = None,
        follower: SchemaFollower | None = None,
    ) -> None:
        """`asking` is how many candidates a question gets, `budget` what it may take, `limits` what a statement may.

        With a `follower`, a schema that changes while the agent is open is noticed.
        """
        self._parts = parts
        self._follower = follower
        self._limits = limits or Limits(rows=10_000)
        self._schema = parts.schema
        self._name = parts.schema.db_id
        self._learner = Learner(parts, self._limits)
        self._asker = Asker(parts, method, asking or AskingSettings(), budget or BudgetSettings(), self._limits)
        self._calls = PlainCalls()
        self._in_plain_code = threading.Lock()  # one event loop at a time

    # Asking

    async def ask_async(
        self,
        question: str,
        *,
        execute: bool = True,
        memory: bool = True,
        progress: Progress = None,
        earlier: Sequence[str] = (),
        author: str = "",
        sql: str | None = None,
    ) -> Answer:
        """The answer to a question; everything that was committed to the memory before may be recalled.

        Without `execute` it is one candidate that only the guard has seen. Without `memory` nothing that was learned
        enters, and the answer is not in the history: it cannot be judged. `progress` is told what is being done.
        `earlier` are answers of the same conversation by their ids, oldest first; `chat` keeps track of them. `author`
        is who asks. `sql` is a statement in place of the model's first candidate: executed and grounded like any
        other, with one vote, and the next prompts show why it failed; without a model it is the only candidate.
        """
        check_text(author, "the author")
        await asyncio.to_thread(self._follow)
        turns = [self._turn(answer, author) for answer in earlier]
        return await self._asker.ask(
            question, execute=execute, memory=memory, progress=progress, earlier=turns, author=author, sql=sql
        )

    def ask(
        self,
        question: str,
        *,
        execute: bool = True,
        memory: bool = True,
        progress: Progress = None,
        earlier: Sequence[str] = (),
        author: str = "",
        sql: str | None = None,
    ) -> Answer:
        """The same, for plain code; from several threads, one after the other."""
        with self._in_plain_code:
            asking = self.ask_async(
                question, execute=execute, memory=memory, progress=progress, earlier=earlier, author=author, sql=sql
            )
            return self._calls.run(asking)

    def chat(self, *, author: str = "") -> Chat:
        """A conversation: its questions see those before them."""
        return Chat(self.ask, self.ask_async, author)

    def _turn(self, answer: str, author: str) -> Asked:
        """An answer as a later question of its conversation sees it: with the SQL that people left of it."""
        asked, feedback = self.answer(answer, author=author)
        if asked.database != self._name:
            raise InputError(f"{asked.id}: is about the database {asked.database!r}, and this one is {self._name!r}")
        return asked if feedback is None else replace(asked, sql=right_sql(asked, feedback) or "(rejected)")

    def answer(self, answer: str, *, author: str = "") -> tuple[Asked, Feedback | None]:
        """An answer and what was said about it, if a person may see both."""
        asked, feedback = self._parts.history.find(answer)
        check_seen(self._parts, asked, feedback, author)
        return asked, feedback

    def _follow(self) -> None:
        """Work with the schema as it is now, where it changed; questions under way go on with theirs."""
        if self._follower is not None and (parts := self._follower.renewed()) is not None:
            self._parts, self._schema = parts, parts.schema
            self._learner = replace(self._learner, parts=parts)
            self._asker = replace(self._asker, parts=parts)

    # Learning

    def confirm(self, answer: str, *, author: str = "", through: str = "") -> Confirmed:
        """A person says that an answer is right: it is remembered; `through` is the program they said it to."""
        check_text(author + through, "the author")
        self._follow()
        return self._learner.confirm(answer, author, through)

    def reject(self, answer: str, *, reason: str = "", author: str = "", through: str = "") -> Rejected:
        """A person says that an answer is wrong."""
        check_text(reason + author + through, "the reason or the author")
        self._follow()
        return self._learner.reject(answer, reason, author, through)

    def correct(self, answer: str, sql: str, *, author: str = "", through: str = "") -> Corrected:
        """A person says how an answer should have been; what does not run is refused."""
        check_type("sql", sql, str, "SQL as a text")
        check_text(sql + author + through, "the correction or the author")
        self._follow()
        return self._learner.correct(answer, sql, author, through)

    def withdraw(self, answer: str, *, reason: str = "", author: str = "", through: str = "") -> Withdrawn:
        """A person takes back what was said about an answer; it can be judged again."""
        check_text(reason + author + through, "the reason or the author")
        self._follow()
        return self._learner.withdraw(answer, reason, author, through)

    def import_pairs(
        self,
        pairs: FoundPairs,
        *,
        grade: Grade = Grade.EXECUTED,
        author: str = "",
        source: str = "",
        keep: bool = True,
        done: Callable[[int, int], object] | None = None,
    ) -> Imported:
        """Execute question-SQL pairs of another tool and remember those that run; `confirmed` is the author's word.

        `source` names their file. Without `keep` nothing is remembered, and all else is the same.
        """
        return import_pairs(
            self._parts, self._results(), pairs, grade=grade, importer=author, source=source, keep=keep, done=done
        )

    def check_memory(self, tell: Tell | None = None) -> Checkup:
        """Run every confirmed statement again: what fails goes stale, what holds again comes back."""
        return check_up(self._parts, self._limits, tell or say_nothing)

    # Measuring

    def proof_cost(self, limit: int | None = None, *, author: str = "") -> ProofCost:
        """What `prove` would take at most."""
        return proof_cost(self._asker, limit, author)

    def prove(self, *, limit: int | None = None, tell: Tell | None = None, author: str = "") -> Proof:
        """Whether the memory helps: `author` asks confirmed questions again, with the memory of then and without."""
        with self._in_plain_code:
            return self._calls.run(self.prove_async(limit=limit, tell=tell, author=author))

    async def prove_async(self, *, limit: int | None = None, tell: Tell | None = None, author: str = "") -> Proof:
        """The same, for an event loop."""
        return await prove(self._asker, limit=limit, tell=tell or say_nothing, author=author)

    def check(self, tell: Tell | None = None, *, author: str = "") -> RegressionResult:
        """Ask every confirmed question again, as a test suite does; `accept` lets later checks be compared with it."""
        with self._in_plain_code:
            return self._calls.run(check(self._asker, tell or say_nothing, author))

    def accept(self, result: RegressionResult) -> None:
        """Compare later checks with this one."""
        accept(self._parts.history.path.parent, result)

    def switch_memory(self, off_because: str | None) -> None:
        """Use the memory of this database no more from the next opening on, for a reason; None uses it again."""
        folder = self._parts.history.path.parent
        if off_because is None:
            switch_on(folder, self._name)
        else:
            switch_off(folder, self._name, off_because)

    # Looking

    def why(self, answer: str, *, author: str = "") -> Why:
        """What entered the prompts of an answer, and what decided between its candidates; `author` is who looks."""
        asked, feedback = self.answer(answer, author=author)
        return explained(asked, feedback, {item.entry.id: item for item in self._parts.memory.listed()})

    def without_memory(self, answer: str, *, progress: Progress = None, author: str = "") -> MemoryComparison:
        """Ask the question of an answer again without anything that was learned, and compare."""
        with self._in_plain_code:
            return self._calls.run(self.without_memory_async(answer, progress=progress, author=author))

    async def without_memory_async(
        self, answer: str, *, progress: Progress = None, author: str = ""
    ) -> MemoryComparison:
        """The same, for an event loop."""
        asked = self.answer(answer, author=author)[0]
        self._turn(asked.id, author)  # it must be about this database
        execute = asked.status is not AnswerStatus.NOT_EXECUTED
        without = await self.ask_async(
            asked.question, execute=execute, memory=False, progress=progress, earlier=asked.earlier, author=author
        )
        return await asyncio.to_thread(compared, asked, without, self._parts.engine, self._limits)

    def contradictions(self, about: Collection[str] | None = None, *, author: str = "") -> list[Contradiction]:
        """Answers to one question that give different results, newest first; `about`: only those with these entries.

        `author` is who looks: what is for other people alone contradicts nothing.
        """
        seen = visible(self._parts.memory.listed(), self._parts.viewer(author))
        return contradictions(seen, self._name, self._results(), about)

    def _results(self) -> StatementResults:
        return StatementResults(self._parts.engine, self._limits, self._name)

    def history(self) -> list[Asked]:
        """The questions that were asked, in order."""
        return list(self._parts.history.answers().values())

    def select(
        self, question: str, *, missing: Sequence[str] = (), budget: int | None = None, author: str = ""
    ) -> Selection:
        """What of the schema the prompts of a question would show, and why; `budget` is in tokens."""
        selection = self._parts.selection or SchemaSelection(Selector(self._schema, dialect=self._parts.engine.dialect))
        return selection.choose(question, missing, budget, viewer=self._parts.viewer(author))

    @property
    def parts(self) -> LiveParts:
        """What it works with."""
        return self._parts

    @property
    def limits(self) -> Limits:
        """What a statement may take."""
        return self._limits

    @property
    def schema(self) -> Schema:
        """The database's tables as they were at the last look."""
        return self._schema

    def close(self) -> None:
        """Give back connections, memory and model, once; inside an event loop, `await agent.close_async()`."""
        if not self._calls.closed:
            self._calls.run(self.close_async())
            self._calls.close()

    async def close_async(self) -> None:
        """The same, for an event loop."""
        self._parts.memory.close()
        self._parts.engine.close()
        await self._parts.completer.close()

    def __enter__(self) -> "LiveAgent":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> "LiveAgent":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close_async()
