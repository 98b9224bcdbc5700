"""What a method decides: what to recall, how to ask, what to keep.

Built-in methods decide as the paper does; those of other packages may differ.

A behaviour is given a `Moment` and nothing else, and a moment holds only what the behaviour declares in `shows`. So
what a prompt can show is known beforehand, and an audit can make the same prompt again from a run's records.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import NoneType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from merit import prompts
from merit.agent.rules import NO_FAILURE, candidates_of, changed_from, votes
from merit.agent.trajectory import Attempt, Episode, Reflection, Task
from merit.errors import InputError, MeritError
from merit.memory import Precedent, RecallPolicy, Repair
from merit.prompts import Family, LiveContext, Prompt
from merit.types import Demonstration, Polarity, Question, Regime, Schema, Status

if TYPE_CHECKING:
    from merit.agent.method import Method


class Part(StrEnum):
    """What a repair prompt may show besides the question, its evidence and the schema."""

    HISTORY = "history"  # the episode's own attempts and verdicts
    REPAIRS = "repairs"  # recalled changes, confirmed and failed
    PRECEDENTS = "precedents"  # recalled answers
    REFLECTIONS = "reflections"  # what the model wrote in this episode besides SQL: reflections and notes
    DEMONSTRATIONS = "demonstrations"  # fixed examples of the training split


class Keep(StrEnum):
    """What a finished episode leaves: its last change, or its answer. The entry itself is always made by `finalise`."""

    REPAIR = "repair"
    PRECEDENT = "precedent"


@dataclass(frozen=True, slots=True)
class Recalled:
    """Entries of the memory, best first."""

    positives: Sequence[Repair] = ()
    negatives: Sequence[Repair] = ()
    precedents: Sequence[Precedent] = ()
    scores: Mapping[str, float] = field(default_factory=dict)  # by the ids of entries


@dataclass(frozen=True, slots=True)
class Moment:
    """Everything a method may see when it asks for the next attempt, or for a note after the last one."""

    family: Family
    question: Question
    schema: str
    attempts: tuple[Attempt, ...] = ()  # each candidate once
    recalled: Recalled = Recalled()
    reflections: tuple[Reflection, ...] = ()
    demonstrations: tuple[Demonstration, ...] = ()
    live: LiveContext | None = None  # what the prompts for live use show of the database
    step: int = 0  # the number of the next attempt
    tables: Schema | None = None  # what `schema` says; None in runs of earlier versions
    ended: bool = False  # no attempt follows: only a note can

    def showing(self, parts: frozenset[Part]) -> "Moment":
        """The same moment with nothing but these parts."""
        repairs = Part.REPAIRS in parts
        return Moment(
            family=self.family,
            question=self.question,
            schema=self.schema,
            attempts=self.attempts if Part.HISTORY in parts else (),
            recalled=Recalled(
                self.recalled.positives if repairs else (),
                self.recalled.negatives if repairs else (),
                self.recalled.precedents if Part.PRECEDENTS in parts else (),
                self.recalled.scores,
            ),
            reflections=self.reflections if Part.REFLECTIONS in parts else (),
            demonstrations=self.demonstrations if Part.DEMONSTRATIONS in parts else (),
            live=self.live,
            step=self.step,
            tables=self.tables,
            ended=self.ended,
        )


@runtime_checkable
class Behaviour(Protocol):
    """The three decisions of a method. Each must depend on its arguments alone, or an audit will contradict the run."""

    @property
    def shows(self) -> frozenset[Part]:
        """The parts that `ask` may use; a moment holds no others."""
        ...

    def recall(self, method: "Method", moment: Moment) -> RecallPolicy | None:
        """How to search the memory before this attempt; None for not at all."""
        ...

    def ask(self, method: "Method", moment: Moment) -> Prompt:
        """The prompt of the next attempt."""
        ...

    def keep(self, method: "Method", episode: Episode, regime: Regime) -> Keep | None:
        """What a finished episode leaves."""
        ...


@runtime_checkable
class NotingBehaviour(Behaviour, Protocol):
    """A behaviour that also has the model write notes: critiques and plans on the way, a lesson at the end.

    On the way, a moment has what was recalled for the next attempt, and at the end what the last one was shown. A note
    is a call like a reflection: it is counted, recorded and derived again. The last note of an episode that has ended
    is the lesson of the entry that the episode leaves.
    """

    def note(self, method: "Method", moment: Moment) -> Prompt | None:
        """The next note to ask for after this attempt; None for no more. `Method.notes` says how many at most."""
        ...

    def read(self, method: "Method", moment: Moment, reply: str) -> str:
        """What the reply to that prompt says, as later prompts show it."""
        ...


class PaperBehaviour:
    """The decisions of the paper's methods, and of merit's own: a method's fields say everything."""

    shows = frozenset(Part)

    def recall(self, method: "Method", moment: Moment) -> RecallPolicy | None:  # noqa: ARG002 - the same at any moment
        """The method's policy."""
        return method.recall

    def ask(self, method: "Method", moment: Moment) -> Prompt:
        """The paper's repair prompt; without history, the first prompt again."""
        recalled = moment.recalled
        if not method.history:
            shown = (recalled.precedents, moment.live, moment.step)
            return prompts.initial(moment.family, moment.question, moment.schema, *shown)
        return prompts.repair(
            moment.family,
            moment.question,
            moment.schema,
            [(attempt.sql, attempt.verdict) for attempt in moment.attempts],
            moment.attempts[-1].failure or NO_FAILURE,  # only candidates that vote follow one that did not fail
            positives=recalled.positives,
            negatives=recalled.negatives,
            precedents=recalled.precedents,
            reflections=[reflection.text for reflection in moment.reflections],
            demonstrations=moment.demonstrations,
        )

    def keep(self, method: "Method", episode: Episode, regime: Regime) -> Keep | None:
        """An answer that satisfied, where the method keeps answers; or else the last change, where there was one.

        A successful change is kept only where it was confirmed (paper, section 3.2): not because it merely ran.
        """
        verdict = episode.final.verdict
        if verdict.satisfied and Polarity.PRECEDENT in method.writes:
            return Keep.PRECEDENT
        if changed_from(episode) is None or votes(method, regime) or verdict.status is Status.EXECUTED:
            return None
        return Keep.REPAIR if (Polarity.POSITIVE if verdict.correct else Polarity.NEGATIVE) in method.writes else None


PAPER = PaperBehaviour()


def moment_of(
    family: Family,
    task: Task,
    attempts: Sequence[Attempt],
    reflections: Sequence[Reflection] = (),
    demonstrations: Sequence[Demonstration] = (),
) -> Moment:
    """The moment after these attempts, before anything was recalled."""
    return Moment(
        family,
        task.question,
        task.schema_block,
        tuple(candidates_of(attempts)),
        reflections=tuple(reflections),
        demonstrations=tuple(demonstrations),
        live=task.live,
        step=len(attempts),
        tables=task.tables,
    )


def recall_policy(method: "Method", moment: Moment) -> RecallPolicy | None:
    """How a method searches the memory at this moment."""
    behaviour = method.behaviour

    def decide() -> RecallPolicy | None:
        policy = behaviour.recall(method, moment.showing(behaviour.shows))
        if isinstance(policy, RecallPolicy) and (why := policy.out_of_bounds()):
            raise ValueError(why)
        return policy

    return checked_decision(method, "recall", (RecallPolicy, NoneType), decide)


def repair_prompt(method: "Method", moment: Moment, recalled: Recalled) -> Prompt:
    """The prompt of the attempt that follows this moment."""
    behaviour, whole = method.behaviour, replace(moment, recalled=recalled)
    prompt = checked_decision(method, "ask", Prompt, lambda: behaviour.ask(method, whole.showing(behaviour.shows)))
    checked_decision(method, "ask", str, lambda: prompt.sha256)  # which a text that cannot be sent does not have
    return prompt


def kept(method: "Method", episode: Episode, regime: Regime) -> Keep | None:
    """What a finished episode leaves."""
    return checked_decision(method, "keep", (Keep, NoneType), lambda: method.behaviour.keep(method, episode, regime))


T = TypeVar("T")


def checked_decision(method: "Method", decision: str, kinds: Any, decide: Callable[[], T]) -> T:
    """What a behaviour decides; the code of another package may raise anything and return anything."""
    if method.origin is None:
        return decide()
    where = f"{method.origin.package}: `{decision}` of its method {method.name!r}"
    try:
        decision_made = decide()
    except MeritError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{where} failed ({error_in_words(error)}); mend or remove it") from error
    if not isinstance(decision_made, kinds):
        raise InputError(f"{where} returned a value of the type {type(decision_made).__name__}; mend or remove it")
    return decision_made


def error_in_words(error: BaseException) -> str:
    """Another package's error by its kind and words; a syntax error's words say file and line."""
    try:
        words = str(error)
    except Exception:  # its own code says it
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def reflection_prompt(family: Family, task: Task, attempts: Sequence[Attempt]) -> Prompt:
    """The prompt of the reflection that follows these attempts."""
    candidates = candidates_of(attempts)
    tried = [(attempt.sql, attempt.verdict) for attempt in candidates]
    return prompts.reflection(family, task.question, task.schema_block, tried, candidates[-1].failure or NO_FAILURE)
