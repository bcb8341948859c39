"""Pages cut into passages of a number of tokens, with overlap, each with its place in the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mmrag.errors import UsageError
from mmrag.records import Record
from mmrag.text.tokens import token_offsets

Offsets = Callable[[str], Sequence[tuple[int, int]]]
"""Text → where each of its tokens starts and ends, in characters."""


class Chunk(NamedTuple):
    """A passage's place in its page, in characters; the end is exclusive."""

    start: int
    end: int


class Chunker(Record, frozen=True, kw_only=True):
    """Size and overlap of passages in tokens; part of an index's fingerprint."""

    tokens: int = 512
    overlap: int = 64

    def __post_init__(self) -> None:
        if self.tokens < 1 or not 0 <= self.overlap < self.tokens:
            raise UsageError(
                f"chunks of {self.tokens} tokens with {self.overlap} of overlap are impossible; "
                "the overlap has to be smaller than the chunk."
            )

    def cut(self, text: str, offsets: Offsets | None = None) -> list[Chunk]:
        """The passages of a text: every token in at least one, none longer than `tokens`.

        >>> by_word = lambda text: [(0, 3), (4, 7), (8, 13), (14, 18)]
        >>> Chunker(tokens=3, overlap=1).cut("one two three four", by_word)
        [Chunk(start=0, end=13), Chunk(start=8, end=18)]
        """
        tokens = (offsets or token_offsets)(text)
        # two tokens are the model's own marks at either end of its input
        size = max(self.tokens - 2, 1) if offsets is None else self.tokens
        step = max(size - self.overlap, 1)
        found: list[Chunk] = []
        for first in range(0, len(tokens), step):
            last = min(first + size, len(tokens))
            found.append(Chunk(tokens[first][0], tokens[last - 1][1]))
            if last == len(tokens):
                break
        return found
