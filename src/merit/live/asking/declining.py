"""How a candidate says that the database holds no answer: it has the reason where others have SQL."""

from merit.prompts import parse_decline
from merit.types import Completion

_DECLINED = "-- UNANSWERABLE: "


def declines(sql: str) -> bool:
    """Whether a candidate says that there is no query to write."""
    return sql.startswith(_DECLINED)


def reason_to_decline(sql: str) -> str | None:
    """Why a candidate says that the question cannot be answered, where it does."""
    return sql.removeprefix(_DECLINED) if declines(sql) else None


def with_decline_as_sql(completion: Completion) -> Completion:
    """A completion whose reply has its reason to decline in the place of SQL, where it declines."""
    reason = parse_decline(completion.text)
    if reason is None:
        return completion
    text = f"<answer>{_DECLINED}{reason}</answer>"
    return Completion(text, completion.prompt_tokens, completion.output_tokens, completion.tokens_estimated)
