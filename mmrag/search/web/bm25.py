"""BM25 over passages with bm25s, memory-mapped, over the words of `words.py`."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from mmrag.errors import StoreError
from mmrag.search.web.words import words

MAX_QUERY_WORDS = 256


class Bm25Index:
    """A BM25 index. Reading is safe from several threads."""

    def __init__(
        self, scorer: Any, vocabulary: dict[str, int], rarity: NDArray[np.float32]
    ) -> None:
        self._scorer = scorer
        self._vocabulary = vocabulary
        self._rarity = rarity

    def rarity(self, word: str) -> float:
        """Inverse document frequency of a word; an unknown word is as rare as can be."""
        found = self._vocabulary.get(word)
        return float(self._rarity[found] if found is not None else self._rarity.max(initial=1.0))

    def search(self, query: str, k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Row numbers and scores of the best passages that share a word with the query."""
        known = dict.fromkeys(words(query)[:MAX_QUERY_WORDS])
        ids = [self._vocabulary[word] for word in known if word in self._vocabulary]
        if not ids or k <= 0:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        scores = np.asarray(self._scorer.get_scores_from_ids(ids), np.float32)
        wanted = min(k, len(scores))
        top = np.argpartition(scores, len(scores) - wanted)[len(scores) - wanted :]
        top = np.sort(top[scores[top] > 0])
        order = np.argsort(-scores[top], kind="stable")
        return top[order].astype(np.int64), scores[top[order]]


def build_lexical(texts: Iterable[str], folder: Path) -> None:
    """Count words, score them, write the index."""
    scorer, vocabulary, rarity = _scored(texts)
    folder.mkdir(parents=True)
    scorer.save(str(folder), show_progress=False)
    np.save(folder / "rarity.npy", rarity)
    (folder / "words.json").write_bytes(msgspec.json.encode(list(vocabulary)))


def index_texts(texts: Iterable[str]) -> Bm25Index:
    """An index of a few texts that is never written."""
    return Bm25Index(*_scored(texts))


def _scored(texts: Iterable[str]) -> tuple[Any, dict[str, int], NDArray[np.float32]]:
    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it asks for DEBUG when imported

    vocabulary: dict[str, int] = {}
    documents: list[Any] = []
    counts = array("q")
    for text in texts:
        ids = array("i")
        for word in words(text):
            known = vocabulary.get(word)
            if known is None:
                known = vocabulary[word] = len(vocabulary)
                counts.append(0)
            ids.append(known)
        for word_id in set(ids):
            counts[word_id] += 1
        documents.append(np.frombuffer(ids, np.int32) if ids else np.zeros(0, np.int32))
    if not vocabulary:
        vocabulary[""] = 0
        counts.append(0)
    scorer = bm25s.BM25(k1=1.2, b=0.75)
    with np.errstate(invalid="ignore"):  # passages of no words at all have no mean length
        scorer.index((documents, vocabulary), show_progress=False, create_empty_token=False)
    n, df = len(documents), np.asarray(counts, np.float64)
    return scorer, vocabulary, np.log1p((n - df + 0.5) / (df + 0.5)).astype(np.float32)


def open_lexical(folder: Path, rows: int) -> Bm25Index:
    """Map an index that `build_lexical` wrote of so many passages."""
    import bm25s

    try:
        scorer: Any = bm25s.BM25.load(str(folder), mmap=True, load_corpus=False, load_vocab=False)
        listed = msgspec.json.decode((folder / "words.json").read_bytes(), type=list[str])
        rarity = cast("NDArray[np.float32]", np.load(folder / "rarity.npy"))
        passages = int(scorer.scores["num_docs"])
        known = len(scorer.scores["indptr"]) - 1
    except (OSError, ValueError, EOFError, KeyError, TypeError, msgspec.DecodeError) as error:
        raise StoreError(
            f"{folder}: cannot be opened ({error}); `mmrag index verify --repair` makes it again."
        ) from error
    if passages != rows or not known == len(listed) == len(rarity):
        raise StoreError(
            f"{folder}: {passages} passages and {known} words of another index, whose rows are "
            f"{rows}; `mmrag index verify --repair` makes it again."
        )
    return Bm25Index(scorer, {word: i for i, word in enumerate(listed)}, rarity)


def prepend_title(title: str, text: str) -> str:
    """A passage with the name of its page before it: what both dense and lexical search see."""
    return f"{title}\n{text}" if title and not text.startswith(title) else text
