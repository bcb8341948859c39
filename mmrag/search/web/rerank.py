"""Reranking of passages: a cheap one without a model, and cross-encoders by name."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from mmrag.encoders.model_file_checks import check_tokenizer, hub_errors
from mmrag.optional_packages import require_package
from mmrag.protocols import Reranker
from mmrag.registry import Registry
from mmrag.search.web.words import words
from mmrag.torchvision_fix import ensure_torchvision, one_at_a_time

_WINDOW = 40

_REMEMBERED = 4096
"""Passages whose words are kept, some 20 MB: a conversation's questions meet the same pages again,
and taking a passage apart costs more than scoring it."""


class LexicalReranker:
    """How much of the query, weighted by rarity, stands close together in a passage.

    BM25 rewards a long passage that holds the query's words anywhere; an answer has them near each
    other. The score is the rarity-weighted share of the query in the best window of 40 words, plus
    a smaller share for the whole passage, and for pairs of neighbouring query words.
    """

    def __init__(self, rarity: Callable[[str], float] | None = None) -> None:
        self._rarity = rarity or (lambda word: 1.0 + 0.1 * len(word))
        self._words = lru_cache(maxsize=_REMEMBERED)(lambda text: tuple(words(text)))

    def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        """Scores between 0 and 1, higher is better."""
        asked = words(query)[:256]
        weights = {word: self._rarity(word) for word in asked}
        total = sum(weights.values())
        pairs = set(itertools.pairwise(asked))
        if not total:
            return [0.0] * len(passages)
        return [self._score(self._words(text), weights, total, pairs) for text in passages]

    @staticmethod
    def _score(
        held: tuple[str, ...], weights: dict[str, float], total: float, pairs: set[tuple[str, str]]
    ) -> float:
        everywhere = sum(weights[word] for word in weights.keys() & set(held)) / total
        inside: dict[str, int] = {}
        now = best = 0.0
        for i, word in enumerate(held):
            if word in weights:
                inside[word] = inside.get(word, 0) + 1
                now += weights[word] if inside[word] == 1 else 0.0
            if i >= _WINDOW and (gone := held[i - _WINDOW]) in weights:
                inside[gone] -= 1
                now -= weights[gone] if inside[gone] == 0 else 0.0
            best = max(best, now)
        met = len(pairs & set(itertools.pairwise(held))) / len(pairs) if pairs else 0.0
        return 0.55 * best / total + 0.3 * everywhere + 0.15 * met


class CrossEncoderReranker:
    """A transformers cross-encoder, kept resident; one batch at a time."""

    @one_at_a_time
    def __init__(self, model: str, *, batch: str = "32", max_tokens: str = "512") -> None:
        require_package("sentence_transformers", "rerank", "a cross-encoder")
        ensure_torchvision()
        from sentence_transformers import CrossEncoder
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        with hub_errors("cross-encoder", model, "the built-in `lexical` reranker"):
            self._model: Any = CrossEncoder(model, max_length=int(max_tokens))
            check_tokenizer(self._model.tokenizer)
            if (outputs := int(self._model.config.num_labels)) != 1:
                raise ValueError(f"it has {outputs} outputs for a pair, a reranker has one")
        self._batch = int(batch)
        self._lock = threading.Lock()

    def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        """The model's scores, higher is better."""
        if not passages:
            return []
        with self._lock:
            scores = self._model.predict(
                [(query, passage) for passage in passages],
                batch_size=self._batch,
                show_progress_bar=False,
            )
        return [float(score) for score in scores]


rerankers: Registry[Reranker] = Registry(
    "reranker",
    group="mmrag.rerankers",
    builtin={
        "lexical": "mmrag.search.web.rerank:LexicalReranker",
        "cross-encoder": "mmrag.search.web.rerank:CrossEncoderReranker",
    },
)
"""`lexical` needs no download; `cross-encoder:model=BAAI/bge-reranker-base` for example does."""
