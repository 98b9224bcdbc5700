"""HTTP to a model's endpoint: sends requests, reads responses, and notices when the endpoint is dead.

A large model on a small machine takes minutes for an answer, and a server that hangs looks the same. While calls wait
and no response comes, the endpoint is asked for its list of models, which a working one returns at once. A server that
handles one request at a time cannot, so it is given three times the longest silence that an answer has ended so far.
"""

import asyncio
import json
import math
import ssl
import time
import zlib
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from merit.errors import InputError, ModelFailed
from merit.models.address import Address
from merit.models.body import read_body

_FAULTS = (aiohttp.ClientError, OSError, zlib.error)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to keep asking."""

    request_s: float = 300.0  # for one answer, from the last answer to any call; a busy CPU server takes minutes
    longest_request_s: float = 3600.0  # for one answer, even while other calls are answered
    connect_s: float = 10.0
    quiet_s: float = 15.0  # of silence before the endpoint is probed (asked for its models)
    probe_s: float = 10.0  # for the response to a probe
    probes: int = 3  # without a response, before the endpoint is given up
    silent_s: float = 0.0  # of silence at least, before the endpoint is given up
    faults_s: float = 45.0  # of nothing but faults, by an endpoint that has answered before: it may come back
    first_faults_s: float = 10.0  # of nothing but faults, by one that never has: the address is probably wrong
    first_pause_s: float = 0.25
    longest_pause_s: float = 8.0
    longest_wait_s: float = 300.0  # that is granted to an endpoint that asks for a pause
    tries: int = 20  # of one call, even while others succeed
    call_s: float = 900.0  # of one call that keeps failing, including pauses that the endpoint asked for


def usual_patience(given: str) -> Patience:
    """The default patience, extended to MERIT_PATIENCE_S where that is set."""
    usual = Patience()
    if not given.strip():
        return usual
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= usual.longest_request_s:
        raise InputError(f"MERIT_PATIENCE_S is {given!r}; it should be a number of seconds up to 3600, such as 120")
    return replace(
        usual,
        silent_s=seconds,
        request_s=max(usual.request_s, seconds),
        first_faults_s=max(usual.first_faults_s, min(seconds, usual.faults_s)),
    )


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response, of any status."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NoResponse(Exception):
    """No response came, or only part of one; this may be temporary."""


class Unreachable(NoResponse):
    """No connection was made in time."""


class NotSecure(NoResponse):
    """The address says https, and the server there speaks plain http; this is permanent."""


class Silent(Exception):
    """The endpoint accepts connections but never responds, not even to a probe."""


class RequestRefused(ModelFailed):
    """The endpoint will not answer this request; `status` is HTTP's."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class EndpointConnection:
    """Requests to one endpoint; proxies (HTTP_PROXY, HTTPS_PROXY, NO_PROXY) and SSL_CERT_FILE as everywhere.

    No redirect is followed, so that the key is sent to no other server. A response has at most `most_bytes`,
    packed and unpacked (`body`).
    """

    def __init__(self, address: Address, patience: Patience, most_bytes: int) -> None:
        self._address = address
        self._headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", **address.headers}
        self._patience = patience
        self._most_bytes = most_bytes
        self._proxy = _proxy_for(URL(address.shown))
        self._session: aiohttp.ClientSession | None = None
        self._watching: asyncio.Task[None] | None = None
        self._waiting: dict[asyncio.Timeout, float] = {}  # calls under way, and when each began
        self._heard_at = 0.0
        self._longest_s = 0.0  # the longest silence that an answer has ended
        self._silent = False

    async def post(self, path: str, body: Mapping[str, Any]) -> Response:
        """The whole response to a request."""
        if self._silent:
            raise Silent
        limit = asyncio.timeout(self._patience.request_s)
        try:
            async with limit:
                self._waiting[limit] = time.monotonic()
                async with self._request("POST", path, json.dumps(body).encode()) as response:
                    silent_s, self._heard_at = self._silent_s(), time.monotonic()
                    whole = Response(response.status, response.headers, await read_body(response, self._most_bytes))
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
        except _FAULTS as error:
            raise self._no_response(error) from None
        finally:
            self._waiting.pop(limit, None)

    async def get(self, path: str, within_s: float) -> Response:
        """The response to a request that a working endpoint answers at once; Silent after `within_s` seconds."""
        try:
            async with asyncio.timeout(within_s), self._request("GET", path, connect_s=within_s / 2) as response:
                return Response(response.status, response.headers, await read_body(response, self._most_bytes))
        except aiohttp.ServerTimeoutError:
            raise Unreachable(f"no connection within {within_s / 2:g} s") from None
        except TimeoutError:
            raise Silent from None
        except _FAULTS as error:
            raise self._no_response(error) from None

    async def close(self) -> None:
        """Close every connection."""
        self._forget_other_loop()
        if self._watching is not None and self._session is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
            await self._session.close()

    def _forget_other_loop(self) -> None:
        """Forget the connections of an event loop that has ended: they ended with it."""
        if self._watching is not None and self._watching.get_loop() is not asyncio.get_running_loop():
            self._session = self._watching = None

    def _request(
        self, verb: str, path: str, data: bytes | None = None, connect_s: float | None = None
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        return self._open().request(
            verb,
            self._address.url(path),
            data=data,
            headers=self._headers,
            proxy=self._proxy,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=connect_s or self._patience.connect_s, ceil_threshold=60
            ),
        )

    def _no_response(self, error: Exception) -> NoResponse:
        """Why no response came; behind a proxy, an SSL error says nothing about the endpoint's own protocol."""
        if isinstance(error, aiohttp.ClientConnectorSSLError) and self._proxy is None and _speaks_http(error):
            return NotSecure("it speaks http, not https")
        return NoResponse(self._address.redacted(_reason(error)))

    def _open(self) -> aiohttp.ClientSession:
        """The session, which belongs to one event loop; another loop, as of a second `asyncio.run`, gets a new one."""
        self._forget_other_loop()
        if self._session is None:
            tls = ssl.create_default_context() if self._address.shown.startswith("https") else True
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=tls),  # no limit here: the caller limits concurrency
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
            )
            self._watching = asyncio.create_task(self._watch())
        return self._session

    def _silent_s(self) -> float:
        """For how long calls have waited without any response."""
        now = time.monotonic()
        return now - max(self._heard_at, min(self._waiting.values(), default=now))

    def _give_more_time(self) -> None:
        """Extend the other calls' time limits after an answer: they only wait in the server's queue."""
        now = time.monotonic()
        for limit, since in self._waiting.items():
            _reschedule(limit, min(now + self._patience.request_s, since + self._patience.longest_request_s))

    async def _watch(self) -> None:
        """End all calls under way when the endpoint is silent and does not respond to probes."""
        failed_probes = 0
        while True:
            silent_s = self._silent_s()
            if silent_s < self._patience.quiet_s:
                failed_probes = 0
                await asyncio.sleep(self._patience.quiet_s - silent_s)
                continue
            if failed_probes >= self._patience.probes and silent_s >= max(self._patience.silent_s, 3 * self._longest_s):
                break
            started = time.monotonic()
            if await self._responds():
                self._heard_at = time.monotonic()
            else:
                failed_probes += 1
                await asyncio.sleep(started + self._patience.probe_s - time.monotonic())
        self._silent = True
        for limit in self._waiting:
            _reschedule(limit, 0.0)

    async def _responds(self) -> bool:
        """Whether there is any response at all."""
        try:
            async with asyncio.timeout(self._patience.probe_s), self._request("GET", "/models"):
                return True
        except _FAULTS:  # a time limit is one of them
            return False


def _proxy_for(url: URL) -> str | None:
    """The environment's proxy for an address; its user and password must be of letters that HTTP can carry."""
    proxies = getproxies()
    proxy = None if proxy_bypass(url.host or "") else proxies.get(url.scheme) or proxies.get("all")
    try:
        unquote((proxy or "").rpartition("@")[0]).encode("latin-1")
    except UnicodeEncodeError:
        raise InputError(
            f"{url.scheme}_proxy (or all_proxy) has a user or password with letters beyond Latin-1, which cannot be "
            "sent to a proxy; use another password"
        ) from None
    return proxy


def _reason(error: Exception) -> str:
    """A library's error as text; the most common one in plain words."""
    if type(error) is aiohttp.ClientConnectorError and "Connect call failed" in str(error):
        return "connection refused"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"the host {error.host} is not known, or there is no network"
    return f"{type(error).__name__} {error}"


def _speaks_http(error: aiohttp.ClientConnectorSSLError) -> bool:
    """Whether the response was not TLS, by the words that OpenSSL's versions use."""
    return any(words in str(error) for words in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"))


def _reschedule(limit: asyncio.Timeout, when: float) -> None:
    """Move a limit, on the loop's clock (which is the monotonic one), unless it is about to end its call already."""
    if not limit.expired():
        limit.reschedule(when)
