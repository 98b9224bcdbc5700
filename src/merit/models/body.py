"""The body of an endpoint's response: unpacked, and read within bounds on what arrives and on what becomes of it."""

import zlib
from collections.abc import Callable

import aiohttp

_CHUNK = 1 << 16  # bytes read at a time


class TooLarge(Exception):
    """The response is larger than any answer can be."""


async def read_body(response: aiohttp.ClientResponse, most: int) -> bytes:
    """A whole body, unpacked; raises TooLarge instead of reading an endless one, and zlib.error for a damaged one."""
    unpack, received, whole = _unpacker(response.headers.get("Content-Encoding", "")), 0, bytearray()
    async for part in response.content.iter_chunked(_CHUNK):
        received += len(part)  # packed bytes may become nothing, without end
        whole += unpack(part, most + 1 - len(whole))
        if max(received, len(whole)) > most:
            raise TooLarge(f"more than {most >> 20} MiB")
    return bytes(whole)


def _unpacker(encoding: str) -> Callable[[bytes, int], bytes]:
    """A function that unpacks the next part of a body into at most so many bytes."""
    if encoding.strip().lower() in ("", "identity"):
        return lambda part, most: part[:most]
    packed = zlib.decompressobj(zlib.MAX_WBITS | 32)  # gzip or deflate; anything else is an error at once

    def unpack(part: bytes, most: int) -> bytes:
        unpacked = packed.decompress(part, most)
        if packed.unused_data:  # zlib would keep all that follows, and copy it each time
            raise zlib.error("bytes after the end of what is packed")
        return unpacked

    return unpack
