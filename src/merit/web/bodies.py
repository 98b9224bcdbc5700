"""Bodies of requests: received within their time, however slowly they come."""

import asyncio
import time

from starlette.types import Message, Receive

BODY_S = 30.0  # for an ordinary body to arrive


def in_time(receive: Receive, seconds: float = BODY_S) -> Receive:
    """Receives a body; raises TimeoutError where it is not whole in time."""
    until, whole = time.monotonic() + seconds, False

    async def receiving() -> Message:
        nonlocal whole
        if whole:  # after the body, only a disconnect can arrive, which has no time limit
            return await receive()
        async with asyncio.timeout(until - time.monotonic()):
            message = await receive()
        whole = not message.get("more_body", False)
        return message

    return receiving
