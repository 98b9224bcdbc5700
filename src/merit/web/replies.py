"""What the server sends: JSON that every browser reads as it was meant, and errors as one sentence."""

import inspect
import json
import math
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from merit.errors import Conflict, InputError, NotFound, NotVisible

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


def linked(pointer: str, parameter: str, operations: Iterable[str]) -> dict[int | str, dict[str, Any]]:
    """Describes that a response has an id which other operations take: readers and test tools follow it."""
    links = {
        name: {"operationId": name, "parameters": {parameter: f"$response.body#/{pointer}"}} for name in operations
    }
    return {200: {"links": links}}


class JsonRouter(APIRouter):
    """Routes whose values are sent by `JsonReply`: made where the route runs, in its thread and not in the loop."""

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Add a route."""
        options["operation_id"] = options.get("operation_id") or endpoint.__name__
        super().add_api_route(path, _replying(endpoint), **options)


def _replying(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    def reply(result: Any) -> Response:
        return result if isinstance(result, Response) else JsonReply(result)

    if inspect.iscoroutinefunction(endpoint):

        @wraps(endpoint)
        async def waiting(*args: Any, **kwargs: Any) -> Response:
            return reply(await endpoint(*args, **kwargs))

        return waiting

    @wraps(endpoint)
    def plain(*args: Any, **kwargs: Any) -> Response:
        return reply(endpoint(*args, **kwargs))

    return plain


def refusal(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> JsonReply:
    """An error in one sentence."""
    return JsonReply({"error": sentence}, status_code=status, headers=dict(headers or {}))


class RefusedRequest(Exception):
    """A request that is answered with a status and one sentence."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers or {}


def status_of(error: Exception) -> int:
    """The status for an error that merit raises on purpose."""
    if isinstance(error, NotVisible):
        return 403
    if isinstance(error, NotFound | Conflict):
        return 404 if isinstance(error, NotFound) else 409
    return 400 if isinstance(error, InputError) else 503
