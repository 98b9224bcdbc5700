"""What an endpoint's response says where it is not an answer."""

import math
import re
import time
from email.utils import parsedate_to_datetime

from merit.models.connection import Response

_VERSION = re.compile(r"/v\d")  # in an address that is complete, such as http://localhost:8000/v1


def page_note(address: str) -> str:
    """What to say of a web page where JSON was expected."""
    return f"a web page instead of JSON; {address_note(address) or 'does OPENAI_BASE_URL name a model server?'}"


def address_note(address: str) -> str:
    """What an address lacks; empty where it lacks nothing."""
    return "" if _VERSION.search(address) else "is /v1 missing from OPENAI_BASE_URL?"


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
