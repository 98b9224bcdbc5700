"""What the server sends: JSON that every browser reads as it was meant, and errors as one sentence."""

import json
import math
from collections.abc import Mapping
from typing import Any

from fastapi.responses import JSONResponse

_LARGEST = 2**53 - 1  # JavaScript's numbers hold no larger whole number exactly


def exact(value: Any) -> Any:
    """A value without what JSON or JavaScript would change: such numbers become texts, and bytes hexadecimal digits."""
    if isinstance(value, str) or value is None or value is True or value is False:
        return value
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return {str(name): exact(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [exact(item) for item in value]
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def to_json(value: Any) -> str:
    """Compact JSON on one line."""
    return json.dumps(exact(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class JsonReply(JSONResponse):
    """A JSON response with exact values; half a character, which cannot be sent, becomes a question mark."""

    def render(self, content: Any) -> bytes:
        """The bytes of the body."""
        return to_json(content).encode("utf-8", "replace")


def refusal(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> JsonReply:
    """An error in one sentence."""
    return JsonReply({"error": sentence}, status_code=status, headers=dict(headers or {}))


class Refused(Exception):
    """A request that is answered with a status and one sentence."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers or {}
