"""What the votes on record come to, counted again for audits without the code that counted them first."""

from merit.live.answer import AnswerStatus
from merit.live.record.events import Asked
from merit.live.record.receipt import CandidateVote, Receipt
from merit.sql import canonical
from merit.types import Status

_ROUNDING = 1e-6


def wrong_count(asked: Asked, receipt: Receipt) -> str | None:
    """What an answer claims that its votes do not give; None where all fits."""
    if not receipt.settings.get("execute", True):
        fits = asked.status in (AnswerStatus.NOT_EXECUTED, AnswerStatus.UNANSWERABLE, AnswerStatus.FAILED)
        return None if fits else f"is {asked.status}, and nothing was executed"
    if not receipt.candidates:
        fits = asked.status is AnswerStatus.FAILED and not asked.sql
        return None if fits else f"is {asked.status}, and has no candidates"
    if any(vote.statement is not None and vote.statement >= len(asked.tried) for vote in receipt.candidates):
        return "has a candidate whose statement is not among those on record"
    status, agreement, sql = _counted(asked, receipt)
    if canonical(sql, asked.dialect) != canonical(asked.sql, asked.dialect):
        return "has SQL for which its candidates did not vote"
    if status is AnswerStatus.ANSWERED and asked.failed:
        status = AnswerStatus.UNSURE  # a check of the user's speaks against it
    if status is not asked.status:
        return f"is {asked.status}, and its votes give {status}"
    if abs(agreement - asked.agreement) > _ROUNDING:
        return f"says that {asked.agreement:.0%} of the votes agree, and it is {agreement:.0%}"
    return None


def _counted(asked: Asked, receipt: Receipt) -> tuple[AnswerStatus, float, str]:
    """Status, share of votes and SQL by the votes alone."""
    votes = receipt.candidates
    total = sum(vote.weight for vote in votes)
    declined = sum(vote.statement is None for vote in votes)
    ran = [vote for vote in votes if _status(vote, asked) is Status.EXECUTED and vote.result is not None]
    standing = [vote for vote in ran if vote.result] or ran  # empty results count only where all are empty
    weights: dict[int | None, float] = {}
    for vote in standing:
        weights[vote.result] = weights.get(vote.result, 0.0) + vote.weight
    most = max(weights.values(), default=0.0)
    if declined > most:
        return AnswerStatus.UNANSWERABLE, declined / total, ""
    winner = next((result for result, weight in weights.items() if weight == most), None)
    chosen = next((vote for vote in standing if vote.result == winner), votes[-1])
    if not receipt.settings.get("votes", True):
        chosen = votes[-1]
    if chosen.statement is None:
        return AnswerStatus.FAILED, 0.0, ""
    sql = asked.tried[chosen.statement].sql
    if _status(chosen, asked) is Status.DENOTATION_MISMATCH:  # it ran, and a person rejected it before
        return AnswerStatus.UNSURE, 0.0, sql
    if _status(chosen, asked) is not Status.EXECUTED:
        return AnswerStatus.FAILED, 0.0, sql
    share, agreeing = most / total, sum(vote.result == winner for vote in ran)
    enough = receipt.settings.get("enough")
    sure = isinstance(enough, int | float) and share >= enough and agreeing >= 2
    return AnswerStatus.ANSWERED if sure else AnswerStatus.UNSURE, share, sql


def _status(vote: CandidateVote, asked: Asked) -> Status | None:
    return None if vote.statement is None else asked.tried[vote.statement].status
