"""The body of an answer, unpacked in steps that a limit bounds.

HTTP clients unpack whatever arrives before anybody can count it: 1.6 KB of Brotli become 2.2 GB.
So a server is asked to send plain bytes, and of what comes packed all the same only gzip and
deflate are unpacked, by a decoder that stops where it is told to.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Mapping

ASK_PLAIN = {"Accept-Encoding": "identity"}
"""Headers of a request whose answer goes through `Body`."""

_WINDOW = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
_PLAIN = ("", "identity")


class BodyError(ValueError):
    """The body is too large, broken, or packed in a way that cannot be bounded."""


class Body:
    """Give it the bytes as they come from the wire; read `data` when they have all come.

    >>> body = Body({}, limit=8)
    >>> body.add(b"plain")
    >>> body.data()
    b'plain'
    """

    def __init__(self, headers: Mapping[str, str], limit: int) -> None:
        packing = headers.get("content-encoding", "").strip().lower()
        if packing not in _PLAIN and packing not in _WINDOW:
            raise BodyError(f"packed as {packing[:40]!r} though asked for plain; it is not read")
        self._decoder = zlib.decompressobj(_WINDOW[packing]) if packing in _WINDOW else None
        self._limit = limit
        self._held = bytearray()

    def add(self, piece: bytes) -> None:
        """Take one more piece, or raise `BodyError`."""
        if self._decoder is not None:
            try:
                piece = self._decoder.decompress(piece, self._limit + 1 - len(self._held))
            except zlib.error as error:
                raise BodyError(f"its packing is broken ({error})") from error
        self._held += piece
        if len(self._held) > self._limit:
            raise BodyError(f"larger than {self._limit:,} bytes")

    def data(self) -> bytes:
        """All of it, unpacked."""
        if self._decoder is not None and not self._decoder.eof:
            raise BodyError("its packing is broken (it ends too early)")
        return bytes(self._held)


class Events(Body):
    """A body of server-sent events, of which each holds one value in its `data:` lines.

    >>> events = Events({}, limit=80)
    >>> events.take(b"data: {}\\r\\n\\r\\n: still here\\n\\nda"), events.take(b"ta: [DONE]\\n\\n")
    ([b'{}'], [b'[DONE]'])
    """

    TYPE = "text/event-stream"
    DONE = b"[DONE]"
    """The last event; a stream that ends without it was cut off."""

    def __init__(self, headers: Mapping[str, str], limit: int) -> None:
        super().__init__(headers, limit)
        self._read = 0
        self._data: list[bytes] = []

    @classmethod
    def are_in(cls, headers: Mapping[str, str]) -> bool:
        """Whether an answer comes as events."""
        return headers.get("content-type", "").strip().lower().startswith(cls.TYPE)

    async def each(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The events as they come; the last one may want the blank line after it."""
        async for piece in pieces:
            for event in self.take(piece):
                yield event
        if self._data:
            yield b"\n".join(self._data)

    def take(self, piece: bytes) -> list[bytes]:
        """Take one more piece, or raise `BodyError`; the events that are whole now."""
        before, found = len(self._held), list[bytes]()
        self.add(piece)
        if self._held.find(b"\n", before) < 0:
            return found
        *lines, rest = self._held[self._read :].split(b"\n")
        self._read = len(self._held) - len(rest)
        for line in lines:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                self._data.append(bytes(line[5:].removeprefix(b" ")))
            elif not line and self._data:
                found.append(b"\n".join(self._data))
                self._data = []
        return found
