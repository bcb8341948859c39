"""Word vectors distilled from the built-in text encoder: meaning for a table look-up."""

from __future__ import annotations

import math
from collections.abc import Iterable

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
        # A word that is one piece has that piece's row; the others are learnt when first met.
        full = table.astype(np.float32)
        length = np.sqrt(np.einsum("ij,ij->i", full, full)) + np.float32(1e-6)
        self._rows = full / length[:, None]
        self._weights = [_weight(piece, rank, len(pieces)) for piece, rank in pieces.index.items()]
        self._mass = np.array(self._weights, np.float32)
        self._numbers = _Numbers(self)

    def weight(self, word: str) -> float:
        """Between 0.05 (the) and 1 (unknown or broken into pieces), from the rank in the list."""
        return self._weights[self._numbers[word]]

    def weights(self, words: Iterable[str]) -> list[float]:
        """One weight per word."""
        known = self._weights
        return [known[number] for number in map(self._numbers.__getitem__, words)]

    def take(self, words: list[str]) -> tuple[Rows, Rows]:
        """One unit row per word, and the weights."""
        numbers = np.array([*map(self._numbers.__getitem__, words)], np.intp)
        return self._rows.take(numbers, axis=0), self._mass.take(numbers)

    def mean(self, words: list[str]) -> Rows:
        """Unit weighted mean of the words."""
        rows, weights = self.take(words)
        return unit(weights @ rows)

    def forget(self) -> None:
        """Drop remembered words when there are very many; call between items, never within one."""
        if len(self._numbers) > _MAX_WORDS:
            del self._weights[len(self._pieces) :]
            self._numbers = _Numbers(self)

    def learn(self, word: str) -> int:
        """The row of a word of several pieces: their sum at length one."""
        number = len(self._weights)
        if number == len(self._rows):
            more = np.zeros((8192, self._rows.shape[1]), np.float32)
            self._rows = np.concatenate([self._rows, more])
            self._mass = np.concatenate([self._mass, more[:, 0]])
        total = self._table[self._pieces.split(word)].astype(np.float32).sum(axis=0)
        self._rows[number] = unit(total)
        self._mass[number] = _weight(word, len(self._pieces), len(self._pieces))
        self._weights.append(float(self._mass[number]))
        return number


class _Numbers(dict[str, int]):
    """Word → its row; a word that is met for the first time is learnt."""

    def __init__(self, vectors: Vectors) -> None:
        super().__init__(vectors._pieces.index)  # pyright: ignore[reportPrivateUsage]
        self._learn = vectors.learn

    def __missing__(self, word: str) -> int:
        number = self[word] = self._learn(word)
        return number


def _weight(word: str, rank: int, pieces: int) -> float:
    low, high = math.log(2000), math.log(pieces)
    weight = min(max((math.log(rank + 1) - low) / (high - low), 0.05), 1.0)
    return max(weight, 0.6) if word[0].isdigit() else weight


def unit(vector: Rows) -> Rows:
    """The vector at length one; the zero vector stays."""
    return vector / (math.sqrt(float(vector @ vector)) + 1e-6)


_MAX_WORDS = 200_000
