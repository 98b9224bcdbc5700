"""HTTP to a model's endpoint: responses as they come, and whether anybody is there at all.

A large model on a small machine takes minutes for an answer, and so does a server that hangs. While calls wait and
nothing is heard, the endpoint is asked for its list of models, which a live one gives at once. One that does one thing
at a time cannot, so silence that its answers have ended before is waited out three times over.
"""

import asyncio
import json
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to keep asking."""

    request_s: float = 300.0  # for one answer, after the last one to anybody; a busy CPU server takes minutes
    longest_request_s: float = 3600.0  # for one answer, whoever else is answered
    connect_s: float = 10.0
    quiet_s: float = 15.0  # of silence before the endpoint is asked whether it lives
    probe_s: float = 10.0  # for it to say so
    probes: int = 3  # in vain, before it is given up
    silent_s: float = 0.0  # at least, before it is given up
    faults_s: float = 45.0  # of nothing but faults
    first_pause_s: float = 0.25
    longest_pause_s: float = 8.0
    longest_wait_s: float = 300.0  # that an endpoint may ask for
    tries: int = 20  # of one call, whatever happens to the others
    call_s: float = 900.0  # of one call that keeps failing, waits that were asked for included


@dataclass(frozen=True, slots=True)
class Response:
    """What came back, whatever it is."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NoResponse(Exception):
    """Nothing came, or only part of it; that may pass."""


class Unreachable(NoResponse):
    """No connection was made in time."""


class Silent(Exception):
    """The endpoint takes connections and says nothing, not even whether it lives."""


class Connection:
    """Requests to one endpoint; proxies (HTTP_PROXY, HTTPS_PROXY, NO_PROXY) and SSL_CERT_FILE as everywhere."""

    def __init__(self, base: str, key: str, patience: Patience) -> None:
        self._base = base
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._patience = patience
        url, proxies = URL(base), getproxies()
        self._proxy = None if proxy_bypass(url.host or "") else proxies.get(url.scheme) or proxies.get("all")
        self._session: aiohttp.ClientSession | None = None
        self._listening: asyncio.Task[None] | None = None
        self._waiting: dict[asyncio.Timeout, float] = {}  # calls under way, since when
        self._heard_at = 0.0
        self._longest_s = 0.0  # silence that an answer has ended
        self._silent = False

    async def post(self, path: str, body: Mapping[str, Any]) -> Response:
        """The whole response to a request."""
        if self._silent:
            raise Silent
        session, limit = self._open(), asyncio.timeout(self._patience.request_s)
        try:
            async with limit:
                self._waiting[limit] = time.monotonic()
                data = json.dumps(body).encode()
                async with session.post(
                    f"{self._base}{path}", data=data, headers=self._headers, proxy=self._proxy, allow_redirects=False
                ) as response:
                    silent_s, self._heard_at = self._silent_s(), time.monotonic()
                    whole = Response(response.status, response.headers, await response.read())
                    if whole.status == 200:
                        self._longest_s = max(self._longest_s, silent_s)
                        self._give_more_time()
                    return whole
        except aiohttp.ServerTimeoutError:
            raise Unreachable(f"no connection within {self._patience.connect_s:g} s") from None
        except TimeoutError:
            if self._silent:
                raise Silent from None
            raise NoResponse(f"no answer within {self._patience.request_s:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            raise NoResponse(" ".join(f"{type(error).__name__} {error}".split())) from None
        finally:
            self._waiting.pop(limit, None)

    async def close(self) -> None:
        """Close every connection."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        """The session, which belongs to the event loop that asks first."""
        if self._session is None:
            tls = ssl.create_default_context() if self._base.startswith("https") else True
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=tls),  # no limit: who calls keeps count
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._patience.connect_s, ceil_threshold=60),
            )
            self._listening = asyncio.create_task(self._listen())
        return self._session

    def _silent_s(self) -> float:
        """For how long calls have waited and nothing was heard."""
        now = time.monotonic()
        return now - max(self._heard_at, min(self._waiting.values(), default=now))

    def _give_more_time(self) -> None:
        """Who waits while others are answered only waits in a queue."""
        now = time.monotonic()
        for limit, since in self._waiting.items():
            _reschedule(limit, min(now + self._patience.request_s, since + self._patience.longest_request_s))

    async def _listen(self) -> None:
        """End all calls under way when the endpoint is silent and does not say that it lives."""
        in_vain = 0
        while True:
            silent_s = self._silent_s()
            if silent_s < self._patience.quiet_s:
                in_vain = 0
                await asyncio.sleep(self._patience.quiet_s - silent_s)
                continue
            if in_vain >= self._patience.probes and silent_s >= max(self._patience.silent_s, 3 * self._longest_s):
                break
            started = time.monotonic()
            if await self._lives():
                self._heard_at = time.monotonic()
            else:
                in_vain += 1
                await asyncio.sleep(started + self._patience.probe_s - time.monotonic())
        self._silent = True
        for limit in self._waiting:
            _reschedule(limit, 0.0)

    async def _lives(self) -> bool:
        """Whether there is any response at all."""
        try:
            async with (
                asyncio.timeout(self._patience.probe_s),
                self._open().get(f"{self._base}/models", headers=self._headers, proxy=self._proxy),
            ):
                return True
        except (TimeoutError, aiohttp.ClientError, OSError):
            return False


def _reschedule(limit: asyncio.Timeout, when: float) -> None:
    """Move a limit, on the loop's clock (which is the monotonic one), unless it is about to end its call already."""
    if not limit.expired():
        limit.reschedule(when)
