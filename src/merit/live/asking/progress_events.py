"""The events that are told while a question is asked, made from what is known at each step."""

from collections.abc import Sequence
from dataclasses import asdict

from merit.agent import Attempt
from merit.live.asking.candidates import LiveOracle
from merit.live.asking.declining import reason_to_decline
from merit.live.asking.election import Election
from merit.live.asking.preparing import Prepared
from merit.live.progress import Candidate, Started
from merit.live.record.receipt_making import shown_by


def started(prepared: Prepared) -> Started:
    """What the first prompt shows."""
    (recalled,) = shown_by(prepared, [])
    return Started(
        str(prepared.question.id),
        prepared.question.text,
        prepared.position,
        {table.name: tuple(column.name for column in table.columns) for table in prepared.schema.tables},
        prepared.left_out,
        prepared.mentioned,
        tuple(recalled),
    )


def candidate(prepared: Prepared, attempts: Sequence[Attempt], election: Election, oracle: LiveOracle) -> Candidate:
    """The last of some candidates, and how the votes stand with it."""
    attempt = attempts[-1]
    reason, written = reason_to_decline(attempt.sql), attempt.written
    rows = oracle.rows(attempt.sql) if attempt.verdict.satisfied else None
    *_, recalled = shown_by(prepared, attempts)
    return Candidate(
        number=len(attempts),
        sql=attempt.sql if reason is None else "",
        grounded_from=written.sql if written else None,
        changes=tuple((str(change.rule), change.why) for change in written.changes) if written else (),
        status=attempt.verdict.status,
        error=attempt.verdict.error,
        rows=len(rows.rows) if rows is not None else None,
        reason=reason or "",
        votes=asdict(election.tally(attempts)),
        recalled=tuple(match.entry.id for match in recalled),
    )
