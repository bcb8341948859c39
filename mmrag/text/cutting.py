"""How pages are cut and found, as one value: what an agent may choose for itself."""

from __future__ import annotations

from typing import Literal

from mmrag.errors import SpecError
from mmrag.records import Record
from mmrag.text.chunks import Chunker

Retriever = Literal["bm25", "dense", "dense+rerank", "hybrid", "hybrid+rerank"]
RETRIEVERS: tuple[Retriever, ...] = ("bm25", "dense", "dense+rerank", "hybrid", "hybrid+rerank")


class Cut(Record, frozen=True, kw_only=True):
    """Size and overlap of passages, the encoder of their vectors, and how they are ranked.

    >>> Cut.of(chunk="128", overlap="50%").chunker.overlap
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
    ) -> Cut:
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
