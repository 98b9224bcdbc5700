"""The names and origins that a server answers to: other names are refused, which prevents DNS rebinding."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from merit.errors import InputError


@dataclass(frozen=True, slots=True)
class Names:
    """Where a server listens, and the address that people use where a proxy stands before it."""

    host: str
    port: int
    public_url: str = ""  # scheme://host[:port], without a path

    @property
    def address(self) -> str:
        """Where the page is."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.public_url or f'http://{host}:{self.port}'}/"

    @property
    def secure(self) -> bool:
        """Whether people come through TLS, so that a cookie may be sent through nothing else."""
        return self.public_url.startswith("https://")

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host) and (not self.public_url or is_loopback(_hostname(self.public_url) or ""))

    def answers_to(self, host: str) -> bool:
        """Whether a Host header names this server; an address of numbers cannot be rebound to another machine."""
        try:
            parts = urlsplit(f"//{host}")
            name = parts.hostname or ""
            _ = parts.port
            if parts.netloc != host or parts.username is not None or not host.isascii():
                return False
            if name in ("localhost", self.host, _hostname(self.public_url)):
                return bool(name)
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def same_origin(self, origin: str, host: str) -> bool:
        """Whether a page of this very server sent a request, by its Origin and Host headers."""
        return origin == f"http://{host}" or (bool(self.public_url) and origin == self.public_url)


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_public_url(url: str) -> str:
    """A public URL as an origin: lower case, without a path or a default port."""
    wrong = InputError(f"--public-url: {url!r} cannot be used; write https://HOST or https://HOST:PORT, without a path")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
        raise wrong
    if parts.query or parts.fragment or parts.username is not None or not url.isascii():
        raise wrong
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    default = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, default) else "")


def check_proxy(address: str) -> str:
    """The address of a proxy: one address of numbers, since a name or everyone cannot be trusted."""
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        raise InputError(f"--trust-proxy: {address!r} is not an address; write one such as 127.0.0.1") from None


def _hostname(url: str) -> str | None:
    return urlsplit(url).hostname if url else None
