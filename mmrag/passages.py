"""Pages cut into passages, and how these are found: an index keeps it and agents choose it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from mmrag.errors import SpecError, UsageError
from mmrag.records import Record
from mmrag.text.token_limits import token_offsets

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


Retriever = Literal["bm25", "dense", "dense+rerank", "hybrid", "hybrid+rerank"]
RETRIEVERS: tuple[Retriever, ...] = ("bm25", "dense", "dense+rerank", "hybrid", "hybrid+rerank")


class PassageOptions(Record, frozen=True, kw_only=True):
    """Size and overlap of passages, the encoder of their vectors, and how they are ranked.

    >>> PassageOptions.of(chunk="128", overlap="50%").chunker.overlap
    64
    """

    chunk: int = 512
    overlap: int = 0
    """Tokens that a passage repeats of the one before."""
    embedder: str = "minilm"
    retriever: Retriever = "hybrid+rerank"

    @classmethod
    def of(
        cls,
        *,
        chunk: str = "512",
        overlap: str = "0",
        embedder: str = "minilm",
        retriever: str = "hybrid+rerank",
    ) -> PassageOptions:
        """From the options of a spec; an overlap may be a share of the passage (`30%`)."""
        size = _whole("chunk", chunk)
        if overlap.endswith("%"):
            repeated = size * _whole("overlap", overlap[:-1]) // 100
        else:
            repeated = _whole("overlap", overlap)
        if retriever not in RETRIEVERS:
            raise SpecError(f"retriever={retriever}: choose {', '.join(RETRIEVERS)}.")
        made = cls(chunk=size, overlap=repeated, embedder=embedder, retriever=retriever)
        _ = made.chunker  # impossible sizes are refused here
        return made

    @property
    def chunker(self) -> Chunker:
        """What cuts the pages."""
        return Chunker(tokens=self.chunk, overlap=self.overlap)

    @property
    def mode(self) -> Literal["bm25", "dense", "hybrid"]:
        """Which rankings there are."""
        if self.retriever == "bm25":
            return "bm25"
        return "dense" if self.retriever.startswith("dense") else "hybrid"

    @property
    def reranks(self) -> bool:
        """Whether what was found is ranked once more."""
        return self.retriever.endswith("+rerank")


def _whole(name: str, text: str) -> int:
    if len(text) > 9 or not text.strip().isdecimal():
        raise SpecError(f"{name}={text[:20]}: write a whole number of tokens.")
    return int(text)
