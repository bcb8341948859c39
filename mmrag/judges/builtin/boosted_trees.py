"""Boosted trees read from JSON and evaluated in numpy: no pickle, no learning library at run time.

Every inner node of every tree is compared at once; a node that sends the item to the right clears
the bits of the leaves on its left, and the lowest bit that is left is the leaf (QuickScorer).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from mmrag.errors import DataError


class Tree(msgspec.Struct, frozen=True):
    """One tree: node i asks feature[i] ≤ threshold[i]. A child below 0 is the leaf −child − 1."""

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    leaf: tuple[float, ...]


class StoredTrees(msgspec.Struct, frozen=True):
    """A sum of trees as it is stored: log-odds = base + Σ leaves."""

    names: tuple[str, ...]
    base: float
    trees: tuple[Tree, ...]


class Forest:
    """Evaluates `StoredTrees` on rows of features."""

    def __init__(self, trees: StoredTrees, names: Sequence[str]) -> None:
        if tuple(names) != trees.names:
            raise DataError(
                "the judge's parameters were made for other features than this version computes; "
                "make them again with scripts/train_judge.py."
            )
        self._base = trees.base + sum(tree.leaf[0] for tree in trees.trees if not tree.feature)
        grown = [tree for tree in trees.trees if tree.feature]
        # The i-th inner nodes of all trees stand side by side: one row per i, one column per tree.
        # A node that is not there sends everything to the left and clears nothing.
        shape = max((len(tree.feature) for tree in grown), default=0), len(grown)
        self._feature, self._threshold = np.zeros(shape, np.intp), np.full(shape, np.inf)
        self._keep, self._leaves = np.full(shape, _ALL), np.zeros((len(grown), _MAX_LEAVES))
        for number, tree in enumerate(grown):
            order: list[int] = []
            below: dict[int, int] = {}
            _walk(tree, 0, order, below)
            if len(order) > _MAX_LEAVES:
                raise DataError(f"a tree of the judge has more than {_MAX_LEAVES} leaves.")
            self._leaves[number, : len(order)] = [tree.leaf[leaf] for leaf in order]
            nodes = len(tree.feature)
            self._feature[:nodes, number] = tree.feature
            self._threshold[:nodes, number] = tree.threshold
            self._keep[:nodes, number] = [0xFFFF & ~below[node] for node in range(nodes)]

    def log_odds(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """One number per row."""
        total = np.full(len(rows), self._base)
        trees = np.arange(len(self._leaves))[:, None]
        nodes = [*zip(self._feature, self._threshold, self._keep, strict=True)]
        for start in range(0, len(rows), _BATCH):
            part = np.ascontiguousarray(rows[start : start + _BATCH].T)
            alive = np.full((len(trees), part.shape[1]), _ALL)
            for feature, threshold, keep in nodes:
                alive &= np.where(part[feature] > threshold[:, None], keep[:, None], _ALL)
            lowest = alive & (~alive + np.uint16(1))
            total[start : start + _BATCH] += self._leaves[trees, _BIT[lowest]].sum(axis=0)
        return total


_ALL = np.uint16(0xFFFF)
_BATCH = 64
_MAX_LEAVES = 16
_BIT = np.zeros(0x10000, np.intp)
_BIT[1 << np.arange(_MAX_LEAVES)] = np.arange(_MAX_LEAVES)


def _walk(tree: Tree, node: int, order: list[int], below: dict[int, int]) -> int:
    """Number the leaves from the left; note for each node the bits of the leaves on its left."""
    if node < 0:
        order.append(-node - 1)
        return 1 << (len(order) - 1)
    left = _walk(tree, tree.left[node], order, below)
    below[node] = left
    return left | _walk(tree, tree.right[node], order, below)
