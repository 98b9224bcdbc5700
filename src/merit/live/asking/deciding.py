"""Which answer a finished episode gives, how sure it is, and what to say where there is nothing to see."""

from collections.abc import Sequence
from dataclasses import replace

from merit.agent import Attempt, Episode
from merit.agent.confidence import Calibration
from merit.live.answer import Answer, AnswerStatus, Found
from merit.live.asking.candidates import LiveOracle
from merit.live.asking.declining import reason_to_decline
from merit.live.asking.election import Election
from merit.live.asking.preparing import Prepared
from merit.live.budget import Account
from merit.live.record.receipt_making import shown_by
from merit.sql.guard import refusal
from merit.types import FailureSubtype, Rows

# What engines report where a role may not read a table or a column: PostgreSQL, MySQL and MariaDB, DuckDB.
_NOT_PERMITTED = frozenset({"42501", "1044", "1142", "1143", "1227", "1370", "PermissionException"})
_MISSING = (FailureSubtype.MISSING_TABLE, FailureSubtype.MISSING_COLUMN, FailureSubtype.MISSING_VIEW)


def answer_of(
    prepared: Prepared,
    episode: Episode,
    stopped: str,
    election: Election,
    oracle: LiveOracle,
    account: Account,
    calibration: Calibration | None,
) -> Answer:
    """The answer that an episode gives; `stopped` says which limit ended it."""
    final, tally = episode.final, election.tally(episode.attempts)
    answer = replace(
        answer_without(prepared, account, final.verdict.error),
        attempts=episode.attempts,
        recalled=_recalled(prepared, episode.attempts),
        reason=stopped,
    )
    if tally.unanswerable:
        reasons = [reason_to_decline(attempt.sql) for attempt in episode.attempts]
        reason = next(reason for reason in reasons if reason is not None)
        found = Found.NOT_RETRIEVED if prepared.left_out else Found.NOTHING
        status = AnswerStatus.UNANSWERABLE
        return replace(answer, status=status, agreement=tally.share, error=None, reason=reason, found=found)
    rows = oracle.rows(final.sql)
    if rows is not None and not final.verdict.satisfied:  # it ran, and a person rejected it before
        return replace(answer, sql=final.sql, status=AnswerStatus.UNSURE, rows=rows, found=_rows(rows))
    if not final.verdict.satisfied:
        return replace(answer, sql=final.sql, found=_nothing(prepared, episode.attempts))
    return replace(
        answer,
        sql=final.sql,
        status=AnswerStatus.ANSWERED if election.agreed(tally) else AnswerStatus.UNSURE,
        agreement=tally.share,
        rows=rows,
        found=_rows(rows),
        confidence=calibration.confidence(tally.share) if calibration else None,
        calibrated_on=calibration.about if calibration else "",
    )


def answer_without(prepared: Prepared, account: Account, error: str | None) -> Answer:
    """What there is to say before any candidate ran."""
    sent, question = account.sent, prepared.question
    return Answer(
        id=str(question.id),
        question=question.text,
        sql="",
        status=AnswerStatus.FAILED,
        agreement=0.0,
        rows=None,
        error=error,
        attempts=(),
        recalled=_recalled(prepared, ()),
        left_out=prepared.left_out,
        calls=sent.calls,
        prompt_tokens=sent.prompt_tokens,
        output_tokens=sent.output_tokens,
        seconds=round(account.seconds, 3),
    )


def unexecuted(prepared: Prepared, sql: str, dialect: str, account: Account) -> Answer:
    """One candidate that nothing has executed, and what the guard says to it."""
    reason = reason_to_decline(sql)
    if reason is not None:
        found = Found.NOT_RETRIEVED if prepared.left_out else Found.NOTHING
        without = answer_without(prepared, account, None)
        return replace(without, status=AnswerStatus.UNANSWERABLE, reason=reason, found=found, agreement=1.0)
    refused = refusal(sql, dialect)
    error = refused.message if refused else None
    return replace(answer_without(prepared, account, error), sql=sql, status=AnswerStatus.NOT_EXECUTED)


def _recalled(prepared: Prepared, attempts: Sequence[Attempt]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match.entry.id for matches in shown_by(prepared, attempts) for match in matches))


def _rows(rows: Rows | None) -> Found:
    if rows is None:
        return Found.NOTHING
    return Found.NO_ROWS if not rows.rows else Found.CUT if rows.truncated else Found.ROWS


def _nothing(prepared: Prepared, attempts: Sequence[Attempt]) -> Found:
    """Why no candidate ran: a right that is missing, or names that may be in what the model was not shown."""
    if any(attempt.verdict.code in _NOT_PERMITTED for attempt in attempts):
        return Found.NOT_PERMITTED
    failures = [attempt.failure for attempt in attempts if attempt.failure is not None]
    missing = any(failure.subtype in _MISSING for failure in failures)
    return Found.NOT_RETRIEVED if missing and prepared.left_out else Found.NOTHING
