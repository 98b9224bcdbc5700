"""Asking: a question becomes prompts, candidates, votes and an answer that is written down."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import uuid4

from merit import prompts
from merit.agent import Agent, Episode, FirstAnswer, Method, RememberingOracle, Task, ThreadedOracle, Work, repair
from merit.agent.agreement import agreement, is_agreed
from merit.agent.rules import cast_votes
from merit.errors import InputError
from merit.live.answer import Answer, AnswerStatus
from merit.live.history import standing_question
from merit.live.ladder import PeoplesOracle, RejectedSQL, rejected_before
from merit.live.parts import LiveParts
from merit.live.receipt import fingerprint, now, shown_entries, tried
from merit.live.records import Asked
from merit.live.selecting import left_out
from merit.live.settling import settled
from merit.memory import Cue, Recall
from merit.prompts import Family, LiveContext, live_context, live_mentions, parse_sql
from merit.sql import executed
from merit.types import FailureType, Limits, Question, Regime, Rows, Sampling, Verdict

Progress = Callable[[str], object] | None  # is told what is being done


@dataclass(frozen=True, slots=True)
class Asker:
    """Answers questions about one database; what it needs to know is in its fields."""

    parts: LiveParts
    method: Method
    budget: int = 7  # how many candidates may follow the first
    enough: float = 0.5  # the share that must agree
    limits: Limits = field(default_factory=lambda: Limits(rows=10_000))

    @property
    def _family(self) -> Family:
        return Family("own", evidence=False, dialect=self.parts.engine.dialect, live=True, fenced=True)

    async def ask(self, question: str, *, progress: Progress = None, earlier: Sequence[Asked] = ()) -> Answer:
        """The answer to a question; everything that was committed to the memory before may be recalled.

        `earlier` are the answers of the same conversation, oldest first: a prompt shows their questions and SQL.
        """
        if not question.strip():
            raise InputError("the question is empty; ask something, such as 'How many orders were there in May?'")
        identity, memory = uuid4().hex[:12], self.parts.memory
        memory.refresh()
        position = memory.sequence
        asked = Question(identity, self.parts.schema.db_id, question)
        whole = replace(asked, text=standing_question([turn.question for turn in earlier], question))
        rejected = rejected_before(self.parts.history, whole.db_id, whole.text, self._family.dialect)
        live = replace(
            self._context(whole),
            conversation=tuple((turn.question, turn.sql) for turn in earlier),
            rejected=tuple(f"{statement.sql} ({statement})" for statement in rejected.values()),
        )
        recalled = self._recall(whole, position)
        prompt = prompts.initial(
            self._family, asked, self.parts.schema.text(), recalled.precedents if recalled else (), live
        )
        _tell(progress, "asking the model")
        reply = await self.parts.completer.complete(prompt.text, Sampling())
        first = FirstAnswer(
            parse_sql(reply.text), reply.text, reply.prompt_tokens, reply.output_tokens, reply.tokens_estimated
        )
        task = Task(asked, self.parts.schema.text(), position, first, position + 1, self.parts.schema, live)
        rows: dict[str, Rows] = {}
        episode = await self._episode(task, rows, progress, rejected)
        answer, written = settled(
            self.parts,
            self.limits,
            self._answer(episode, rows, recalled),
            lambda answer: self._asked(answer, position, prompt.sha256),
            earlier,
            rejected,
            agreed=is_agreed([attempt.verdict for attempt in episode.attempts], self.enough),
        )
        self.parts.history.append(written)
        return answer

    async def _episode(
        self, task: Task, rows: dict[str, Rows], progress: Progress, rejected: Mapping[str, RejectedSQL]
    ) -> Episode:
        def judge(_question: Question, sql: str) -> Verdict:
            _tell(progress, "executing a candidate")
            result = self.parts.engine.execute(sql, self.limits)
            if isinstance(result, Rows):
                rows[sql] = result
            return executed(result, self.parts.schema.db_id, coded=self._family.dialect != "sqlite")

        work = Work()
        oracle = RememberingOracle(ThreadedOracle(judge), {}, work)
        agent = Agent(
            self.method,
            self.budget,
            self._family,
            self.parts.completer,
            PeoplesOracle(oracle, rejected, self._family.dialect),
            self.parts.memory,
            Regime.DBMS_ONLY,
            work=work,
        )
        return await repair(agent, task)

    def _answer(self, episode: Episode, rows: dict[str, Rows], recalled: Recall | None) -> Answer:
        final, share = episode.final, agreement(cast_votes(self.method, episode.attempts))
        status = AnswerStatus.ANSWERED if share >= self.enough else AnswerStatus.UNSURE
        if not final.verdict.satisfied:
            status, share = AnswerStatus.FAILED, 0.0
        shown = dict.fromkeys(entry.id for entry in shown_entries(recalled))
        for attempt in episode.attempts:
            shown |= dict.fromkeys(entry.id for entry in shown_entries(attempt.recall))
        question = episode.task.question
        return Answer(
            str(question.id),
            question.text,
            final.sql,
            status,
            share,
            rows.get(final.sql),
            final.verdict.error,
            episode.attempts,
            tuple(shown),
        )

    def _asked(self, answer: Answer, position: int, prompt_sha256: str) -> Asked:
        identity = self.parts.completer.identity
        return Asked(
            id=answer.id,
            time=now(),
            question=answer.question,
            database=self.parts.schema.db_id,
            dialect=self._family.dialect,
            schema_fingerprint=fingerprint(self.parts.schema),
            position=position,
            method=self.method.name,
            model=f"{identity.name}@{identity.revision}" if identity.revision else identity.name,
            first_prompt_sha256=prompt_sha256,
            sql=answer.sql,
            status=answer.status,
            agreement=answer.agreement,
            error=answer.error,
            tried=tuple(tried(answer.attempts)),
            recalled=answer.recalled,
        )

    def _context(self, question: Question) -> LiveContext:
        dialect, values = self._family.dialect, self.parts.values
        chosen = self.parts.selection.choose(question.text) if self.parts.selection else None
        context = live_context(chosen.schema if chosen else self.parts.schema, dialect, values)
        mentions = live_mentions(question, dialect, values) if values is not None else ()
        return replace(context, mentions=mentions, notes=(*self.parts.notes, *(left_out(chosen) if chosen else ())))

    def _recall(self, question: Question, position: int) -> Recall | None:
        policy = self.method.recall
        if policy is None:
            return None
        cue = Cue(
            question=question.text,
            question_id=question.id,
            db_id=question.db_id,
            position=position + 1,
            step=0,
            sql="",
            failure_context="",
            type=FailureType.UNKNOWN,
        )
        return self.parts.memory.recall(cue, policy)


def _tell(progress: Progress, what: str) -> None:
    if progress is not None:
        progress(what)
