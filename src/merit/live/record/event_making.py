"""Makes the events that a question leaves in the history: how its answer was found, and what it took."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from merit.agent import Attempt
from merit.agent.feedback import ExecutedStatement, executed_statements
from merit.live.answer import Answer
from merit.live.asking.declining import reason_to_decline
from merit.live.budget import Account
from merit.live.parts import LiveParts
from merit.live.record.events import Asked, Spent, now
from merit.live.record.receipt_making import make_receipt
from merit.settings import AskingSettings
from merit.types import Limits

if TYPE_CHECKING:
    from merit.live.asking.preparing import Prepared

_LONGEST = Limits().sql_bytes  # characters; a longer statement never runs


def asked_event(
    answer: Answer, prepared: "Prepared", parts: LiveParts, asking: AskingSettings, account: Account, *, execute: bool
) -> Asked:
    """The event of a question: everything but the rows."""
    identity = parts.completer.identity
    return Asked(
        id=answer.id,
        time=now(),
        question=answer.question,
        database=parts.schema.db_id,
        dialect=parts.engine.dialect,
        schema_fingerprint=parts.fingerprint,
        position=prepared.position,
        method=prepared.method.name,
        model=f"{identity.name}@{identity.revision}" if identity.revision else identity.name,
        first_prompt_sha256=prepared.prompt.sha256 if prepared.sql is None else next(iter(account.prompts), ""),
        sql=_cut_to_length(answer.sql),
        status=answer.status,
        agreement=answer.agreement,
        error=answer.error and _cut_to_length(answer.error),
        tried=_statements(answer.attempts),
        recalled=answer.recalled,
        reason=answer.reason,
        calls=answer.calls,
        prompt_tokens=answer.prompt_tokens,
        output_tokens=answer.output_tokens,
        seconds=answer.seconds,
        widened=answer.widened,
        earlier=tuple(turn.id for turn in prepared.earlier),
        replies=tuple(dict.fromkeys(account.replies)),
        receipt=make_receipt(answer, prepared, account, asking, parts, execute=execute),
        author=prepared.viewer.author,
    )


def spent_event(answer: Answer, parts: LiveParts, account: Account, purpose: str) -> Spent:
    """The event of a question that leaves nothing but what it took."""
    return Spent(
        time=now(),
        database=parts.schema.db_id,
        question=answer.question,
        purpose=purpose,
        calls=answer.calls,
        prompt_tokens=answer.prompt_tokens,
        output_tokens=answer.output_tokens,
        seconds=answer.seconds,
        replies=tuple(dict.fromkeys(account.replies)),
    )


def _statements(attempts: Sequence[Attempt]) -> tuple[ExecutedStatement, ...]:
    """Every candidate that is a statement, in its order."""
    found = executed_statements([attempt for attempt in attempts if reason_to_decline(attempt.sql) is None])
    return tuple(
        replace(statement, sql=_cut_to_length(statement.sql), error=statement.error and _cut_to_length(statement.error))
        for statement in found
    )


def _cut_to_length(text: str) -> str:
    """A statement or message as a history keeps it: cut, so that all of them fit into a line."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
