"""Word vectors distilled from the built-in text encoder: meaning for a table look-up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]


class Pieces:
    """BERT's word pieces: greedy, longest first."""

    def __init__(self, pieces: list[str]) -> None:
        self.index = {piece: number for number, piece in enumerate(pieces)}

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


class WordVectors:
    """Word → vector and weight (rare words weigh more), for any word, by its pieces."""

    def __init__(self, pieces: Pieces, table: NDArray[np.int8]) -> None:
        self._pieces = pieces
        # Whole numbers add up exactly, so no verdict depends on what else is in a batch.
        self._table = table.astype(np.int16)
        low, high = math.log(2000), math.log(len(pieces.index))
        ranks = np.log(np.arange(1, len(pieces.index) + 1))
        self._weights: list[float] = np.clip((ranks - low) / (high - low), 0.05, 1.0).tolist()
        for piece, number in pieces.index.items():
            if piece[0].isdigit():
                self._weights[number] = max(self._weights[number], 0.6)
        self._numbers = _Numbers(self)
        self._new: list[list[int]] = []
        """The pieces of words that were met and are not in the table yet."""

    def weights(self, words: Iterable[str]) -> list[float]:
        """One number per word, from 0.05 (the) to 1 (unknown or broken into pieces)."""
        known = self._weights
        return [known[number] for number in map(self._numbers.__getitem__, words)]

    def numbers(self, words: Iterable[str]) -> list[int]:
        """The row of each word."""
        return [*map(self._numbers.__getitem__, words)]

    def rows(self, numbers: NDArray[np.intp]) -> Rows:
        """The vector of each row at length one; the zero vector where the number is below zero."""
        if self._new:
            self._learn()
        return unit(self._table[numbers].astype(np.float64) * (numbers >= 0)[..., None])

    def mass(self, numbers: NDArray[np.intp]) -> Rows:
        """The weight of each row; nothing where the number is below zero."""
        here = numbers >= 0
        found = np.zeros(numbers.shape)
        known = self._weights
        found[here] = [known[number] for number in numbers[here].tolist()]
        return found

    def forget(self) -> None:
        """Drop remembered words when there are very many; call between items, never within one."""
        if len(self._numbers) > _MAX_WORDS:
            del self._weights[len(self._pieces.index) :]
            self._new.clear()
            self._numbers = _Numbers(self)

    def number(self, word: str) -> int:
        """The row of a word of several pieces: their sum."""
        self._new.append(self._pieces.split(word))
        self._weights.append(1.0)
        return len(self._weights) - 1

    def _learn(self) -> None:
        lengths = [*map(len, self._new)]
        start, end = len(self._weights) - len(lengths), len(self._weights)
        while end > len(self._table):
            more = np.zeros((8192, self._table.shape[1]), np.int16)
            self._table = np.concatenate([self._table, more])
        pieces = self._table[[*chain.from_iterable(self._new)]]
        self._table[start:end] = np.add.reduceat(
            pieces, [0, *accumulate(lengths[:-1])], axis=0, dtype=np.int16
        )
        self._new.clear()


class _Numbers(dict[str, int]):
    """Word → its row; a word that is met for the first time is learnt."""

    def __init__(self, vectors: WordVectors) -> None:
        super().__init__(vectors._pieces.index)  # pyright: ignore[reportPrivateUsage]
        self._number = vectors.number

    def __missing__(self, word: str) -> int:
        number = self[word] = self._number(word)
        return number


class WordMatch(NamedTuple):
    """The words of a reply beside those of what it is compared with, as rows of `WordVectors`."""

    words: list[int]
    front: int
    """How many of them stand in the first sentences."""
    wanted: list[int]
    """What the best wording says and the question does not."""
    best: list[int]
    second: list[int]
    """The best wordings whole."""
    asked: list[int]


_MEANINGS = """
soft_recall soft_least soft_mean cos_whole cos_head cos_near window window_place window_first
cos_question cos_said_question said_soft first_soft
"""
MEANINGS = tuple(_MEANINGS.split())
"""The columns of `meanings`."""


def compare_meanings(vectors: WordVectors, senses: Sequence[WordMatch]) -> Rows:
    """Compare replies with references by meaning, all at once: one row per sense."""
    found = np.zeros((len(senses), len(MEANINGS)))
    order = sorted(range(len(senses)), key=lambda i: len(senses[i].words))
    for start in range(0, len(order), _BATCH):
        part = order[start : start + _BATCH]
        found[part] = _compared(vectors, [senses[i] for i in part])
    return found.round(6)


def _compared(vectors: WordVectors, senses: list[WordMatch]) -> Rows:
    columns = [*zip(*senses, strict=True)]
    fronts = np.array(columns.pop(1))[:, None]
    told, wanted, *others = map(_padded, columns)
    here, aimed = told >= 0, wanted >= 0
    words, aims = vectors.rows(told), vectors.rows(wanted)
    lengths, widths = here.sum(axis=1), aimed.sum(axis=1)
    mass, needs = vectors.mass(told), np.maximum(vectors.mass(wanted), 1e-3 * aimed)
    needs /= needs.sum(axis=1, keepdims=True)
    cosine = aims @ words.transpose(0, 2, 1)
    peak = np.where(here[:, None], cosine, -2.0).max(axis=2)
    back = np.where(aimed[:, :, None], cosine, -2.0).max(axis=1)
    steps = np.arange(told.shape[1])
    whole, head = _mean(mass, words), _mean(mass * (steps < fronts), words)
    best, second, asked = (_mean(vectors.mass(one), vectors.rows(one)) for one in others)
    nearest, place, first = _window(words, _mean(needs, aims), widths, lengths)
    return np.stack([
        (peak * needs).sum(axis=1), np.where(aimed, peak, 9.0).min(axis=1),
        (peak * aimed).sum(axis=1) / widths, (best * whole).sum(axis=1), (best * head).sum(axis=1),
        np.maximum((best * head).sum(axis=1), (second * head).sum(axis=1)), nearest, place, first,
        (best * asked).sum(axis=1), (asked * whole).sum(axis=1),
        (back * here).sum(axis=1) / lengths, np.where(here & (steps < 3), back, -2.0).max(axis=1),
    ], axis=1)  # fmt: skip


def _mean(mass: Rows, words: Rows) -> Rows:
    return unit(np.einsum("kt,ktd->kd", mass, words))


def _window(
    words: Rows, fresh: Rows, widths: NDArray[np.intp], lengths: NDArray[np.intp]
) -> tuple[Rows, Rows, Rows]:
    """The run of words that is nearest to what is asked for: its cosine and place; the first's."""
    width = np.minimum(widths, lengths)[:, None]
    sums = np.pad(np.einsum("ktd,kd->kt", words, fresh).cumsum(axis=1), ((0, 0), (1, 0)))
    starts = np.arange(words.shape[1])[None]
    ends = np.minimum(starts + width, words.shape[1])
    means = (np.take_along_axis(sums, ends, axis=1) - sums[:, :-1]) / width
    means = np.where(starts + width <= lengths[:, None], means, -2.0)
    return means.max(axis=1), means.round(9).argmax(axis=1) / lengths, means[:, 0]


def _padded(rows: Sequence[list[int]]) -> NDArray[np.intp]:
    """Rows of one length, filled up with -1."""
    found = np.full((len(rows), max(map(len, rows))), -1, np.intp)
    for number, row in enumerate(rows):
        found[number, : len(row)] = row
    return found


def unit(vectors: Rows) -> Rows:
    """Vectors at length one; the zero vector stays."""
    return vectors / (np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True)) + 1e-6)


_BATCH = 128
_MAX_WORDS = 200_000
