"""A person's word through a program: what will be remembered is shown to the person, and only their yes counts.

A program that calls `feedback` may have guessed. So its call by itself confirms nothing: the client is asked to show
the person what would be recorded (elicitation). Where a client cannot do that, feedback is refused, or kept as a
suggestion that waits for a person's review. merit cannot see whether a client really asked: the history says through
which program a word came.
"""

from dataclasses import dataclass
from typing import Literal

from mcp.server.mcpserver import Elicit
from pydantic import BaseModel, Field

from merit.errors import InputError
from merit.live import Asked, Corrected, Feedback, LiveAgent, Withdrawn
from merit.live.record.events import kind_of
from merit.mcp.callers import Caller, ToolContext

Verdict = Literal["confirm", "reject", "correct", "withdraw"]
LONGEST_SQL = 4_000  # characters that a dialogue can show
_LONGEST_QUESTION = 1_000
_ASKED = {
    "confirm": "Confirm that this answer is right? Later questions will be shown it as your word.",
    "reject": "Reject this answer as wrong? It will no longer count as an answer to this question.",
    "correct": "Record this correction as right? Later questions will be shown it as your word.",
    "withdraw": "Take back what was said about this answer? What it left is forgotten.",
}


class Consent(BaseModel):
    """What a person is asked."""

    agree: bool = Field(description="Yes: record this as my own word")


@dataclass(frozen=True, slots=True)
class CannotElicit:
    """The client cannot show a person anything."""


@dataclass(frozen=True, slots=True)
class ProposedFeedback:
    """What a caller wants to be recorded about an answer."""

    answer: str
    verdict: Verdict
    sql: str
    reason: str


def can_ask(context: ToolContext) -> bool:
    """Whether the client says that it can show a form to a person."""
    capabilities = context.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def question_to_person(agent: LiveAgent, proposed: ProposedFeedback, caller: Caller) -> Elicit[Consent]:
    """What the person is asked: everything that would be recorded, in full; what cannot be shown so is refused."""
    why = agent.why(proposed.answer, author=caller.author)
    asked, feedback = why.asked, why.feedback
    _check_judgeable(asked, feedback, proposed)
    question = agent.parts.history.whole_question(asked)
    right = feedback.sql if isinstance(feedback, Corrected) else proposed.sql
    _check_shown(asked.id, question, asked.sql, right, proposed.reason)
    parts = [_ASKED[proposed.verdict], f"Database: {asked.database}", f"Question: {' '.join(question.split())}"]
    parts += [_block("SQL", asked.sql)] if asked.sql else []
    parts += [_block("Correct SQL", proposed.sql)] if proposed.verdict == "correct" else []
    if proposed.verdict == "withdraw" and feedback is not None:
        parts.append(f"Said so far: {kind_of(feedback)} by {feedback.author or 'unknown'} on {feedback.time[:10]}")
        parts += [_block("Correct SQL", right)] if isinstance(feedback, Corrected) else []
    parts += [f"Reason: {' '.join(proposed.reason.split())}"] if proposed.reason else []
    parts.append(f"It is recorded as the word of {caller.author or 'unknown'}, said through {caller.program}.")
    return Elicit("\n\n".join(parts), Consent)


def _check_judgeable(asked: Asked, feedback: Feedback | None, proposed: ProposedFeedback) -> None:
    """Refuse before a person is asked what would be refused afterwards."""
    if proposed.verdict == "withdraw":
        if feedback is None:
            raise InputError(f"{asked.id}: nothing was said about it, so there is nothing to withdraw")
    elif feedback is not None:
        raise InputError(f"{asked.id}: was {kind_of(feedback)} already, on {feedback.time}")
    if proposed.verdict == "confirm" and not asked.status.ran:
        raise InputError(f"{asked.id}: nothing ran, so there is nothing to confirm; correct it instead")
    if proposed.verdict == "correct" and not proposed.sql.strip():
        raise InputError(f"{asked.id}: a correction needs 'sql', the statement that is right")


def _check_shown(answer: str, question: str, sql: str, right: str, reason: str) -> None:
    """Refuse what a dialogue cannot show in full, and as it is."""
    if max(len(question), len(reason)) > _LONGEST_QUESTION or max(len(sql), len(right)) > LONGEST_SQL:
        raise InputError(f"{answer}: is too long to be shown in a dialogue; a person can judge it with `merit`")
    text = "".join((question, sql, right, reason)).replace("\r\n", "\n")
    if hidden := sorted({char for char in text if not char.isprintable() and char not in "\n\t"}):
        spelled = ", ".join(f"U+{ord(char):04X}" for char in hidden[:3])
        raise InputError(
            f"{answer}: holds characters that a dialogue would hide ({spelled}); a person can judge it with `merit`"
        )


def _block(name: str, sql: str) -> str:
    """A statement, every line of it marked, so that no line of it can pass for the dialogue's own words."""
    return "\n".join([f"{name}:", *(f"  | {line}" for line in sql.replace("\r\n", "\n").split("\n"))])


def recorded(agent: LiveAgent, proposed: ProposedFeedback, caller: Caller) -> Feedback | Withdrawn:
    """Record a person's word."""
    author, through = caller.author, caller.program
    match proposed.verdict:
        case "confirm":
            return agent.confirm(proposed.answer, author=author, through=through)
        case "reject":
            return agent.reject(proposed.answer, reason=proposed.reason, author=author, through=through)
        case "correct":
            return agent.correct(proposed.answer, proposed.sql, author=author, through=through)
        case "withdraw":
            return agent.withdraw(proposed.answer, reason=proposed.reason, author=author, through=through)
