"""Word vectors distilled from the built-in text encoder: meaning for a table look-up."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]


class Pieces:
    """BERT's word pieces: greedy, longest first."""

    def __init__(self, pieces: list[str]) -> None:
        self.index = {piece: number for number, piece in enumerate(pieces)}

    def __len__(self) -> int:
        return len(self.index)

    def split(self, word: str) -> list[int]:
        """Piece numbers of a lower-case word without accents."""
        whole = self.index.get(word)
        if whole is not None:
            return [whole]
        found: list[int] = []
        start, word = 0, word[:60]
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = word[start:end] if start == 0 else "##" + word[start:end]
                if piece in self.index:
                    found.append(self.index[piece])
                    start = end
                    break
            else:
                return [self.index["[UNK]"]]
        return found


class Vectors:
    """Word → unit vector and weight (rare words weigh more), for any word, by its pieces."""

    def __init__(self, pieces: Pieces, table: NDArray[np.int8]) -> None:
        self._pieces = pieces
        self._table = table
        self._known: dict[str, int] = {}
        self._rows = np.zeros((4096, table.shape[1]), np.float32)
        self._weights: list[float] = []

    def weight(self, word: str) -> float:
        """Between 0.05 (the) and 1 (unknown or broken into pieces), from the rank in the list."""
        return self._weights[self.number(word)]

    def number(self, word: str) -> int:
        """The row that a word has in `take`, learnt when it is first met."""
        known = self._known.get(word)
        return self._learn(word) if known is None else known

    def take(self, words: list[str]) -> tuple[Rows, Rows]:
        """One unit row per word, and the weights."""
        numbers = [self.number(word) for word in words]
        weights = self._weights
        return self._rows[numbers], np.array([weights[n] for n in numbers], np.float32)

    def mean(self, words: list[str]) -> Rows:
        """Unit weighted mean of the words."""
        rows, weights = self.take(words)
        return unit(weights @ rows)

    def forget(self) -> None:
        """Drop remembered words when there are very many; call between items, never within one."""
        if len(self._known) > _MAX_WORDS:
            self._known.clear()
            self._weights.clear()

    def _learn(self, word: str) -> int:
        number = len(self._weights)
        if number == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        total = self._table[self._pieces.split(word)].astype(np.float32).sum(axis=0)
        self._rows[number] = unit(total)
        rank = self._pieces.index.get(word, len(self._pieces))
        low, high = math.log(2000), math.log(len(self._pieces))
        weight = min(max((math.log(rank + 1) - low) / (high - low), 0.05), 1.0)
        self._weights.append(max(weight, 0.6) if word[0].isdigit() else weight)
        self._known[word] = number
        return number


def unit(vector: Rows) -> Rows:
    """The vector at length one; the zero vector stays."""
    return vector / (math.sqrt(float(vector @ vector)) + 1e-6)


_MAX_WORDS = 200_000
