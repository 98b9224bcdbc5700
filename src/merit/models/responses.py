"""What an endpoint's response says where it is not an answer."""

import math
import time
from email.utils import parsedate_to_datetime

from merit.models.connection import Response

PAGE = "a web page instead of JSON; is /v1 missing from OPENAI_BASE_URL?"


def is_page(response: Response) -> bool:
    """Whether a web page came, by its body: the content type that servers send is unreliable."""
    return response.body[:200].lstrip().lower().startswith((b"<!doctype html", b"<html"))


def why_unread(error: Exception) -> str:
    """Why a reply is not what was asked for, in words instead of Python's."""
    if isinstance(error, KeyError):
        return f"it has no field {error}"
    return str(error) if isinstance(error, ValueError) else "a field is missing or of a wrong type"


def asked_to_wait(response: Response, longest_s: float) -> float | None:
    """How long the endpoint asks to be left alone: a number of seconds, or a date."""
    value = response.headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return min(max(seconds, 0.0), longest_s) if math.isfinite(seconds) else None
