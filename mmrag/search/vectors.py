"""Nearest vectors, batch first: exact over a memory-mapped matrix, or by a graph above a size.

Both derive from what Chroma holds and can be made again from it. The contract is the same:
`search(queries[b, d], k) -> ids[b, k], scores[b, k]`, best first, equal scores by row number, and
a query's answer does not depend on which other queries came with it: the final scores are computed
query by query in one fixed shape.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mmrag.errors import DataError, StoreError

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

EXACT_BYTES = 1 << 30
"""Up to this size of the matrix exact search is used: above, a graph is several times faster."""

_GROUP = 16
_TILE = 8192
_QUERIES = 256
_SPARE = 8


class Vectors(Protocol):
    """Something that finds the nearest rows."""

    matrix: NDArray[Any]
    """The vectors themselves, mapped."""

    def search(self, queries: Floats, k: int) -> tuple[Rows, Floats]:
        """Row numbers and cosines of the k nearest rows of each query."""
        ...


class ExactVectors:
    """Every row is looked at, through the fastest matrix product there is.

    The top k of a long row of scores costs more than the product when it is sorted whole. So only
    the maximum of each group of 16 scores is kept; the k best rows lie in the k best groups.
    """

    def __init__(self, matrix: Floats) -> None:
        self.matrix = matrix

    def search(self, queries: Floats, k: int) -> tuple[Rows, Floats]:
        """Row numbers and cosines of the k nearest rows, recall 1."""
        queries = checked(queries, self.matrix.shape[1])
        n = len(self.matrix)
        k = min(k, n)
        wanted = min(k + _SPARE, n)
        rows = np.zeros((len(queries), k), np.int64)
        scores = np.zeros((len(queries), k), np.float32)
        if not k:
            return rows, scores
        for start in range(0, len(queries), _QUERIES):
            some = slice(start, start + _QUERIES)
            near = self._candidates(queries[some], wanted)
            rows[some], scores[some] = rescored(self.matrix, queries[some], near, k)
        return rows, scores

    def _candidates(self, queries: Floats, wanted: int) -> Rows:
        n = len(self.matrix)
        if len(queries) * n <= 1 << 16 or n <= 4 * _GROUP * wanted:
            scores = queries @ self.matrix.T
            return _largest(scores, wanted)
        padded = -(-n // _GROUP) * _GROUP
        table = np.empty((len(queries), padded), np.float32)
        table[:, n:] = -np.inf
        tops = np.empty((len(queries), padded // _GROUP), np.float32)
        members = np.empty((padded // _GROUP, _GROUP), np.int64)
        for first in range(0, n, _TILE):
            last = min(first + _TILE, n)
            np.matmul(queries, self.matrix[first:last].T, out=table[:, first:last])
            end = -(-last // _GROUP) * _GROUP
            # a group's rows lie apart: maxima of neighbouring groups are one instruction
            tile = table[:, first:end].reshape(len(queries), _GROUP, -1)
            some = slice(first // _GROUP, end // _GROUP)
            np.max(tile, axis=1, out=tops[:, some])
            members[some] = np.arange(first, end).reshape(_GROUP, -1).T
        groups = _largest(tops, min(wanted, tops.shape[1]))
        inside = members[groups].reshape(len(queries), -1)
        best = _largest(np.take_along_axis(table, inside, axis=1), wanted)
        return np.take_along_axis(inside, best, axis=1)


class GraphVectors:
    """A usearch graph, mapped from its file, whose candidates are scored again exactly."""

    def __init__(self, matrix: NDArray[Any], graph: Any, *, expand: int = 4) -> None:
        self.matrix = matrix
        self._graph = graph
        self._expand = expand

    @classmethod
    def open(cls, matrix: NDArray[Any], path: Path) -> GraphVectors:
        """Map a graph that `build_graph` wrote."""
        from usearch.index import Index

        try:
            graph: Any = Index.restore(str(path), view=True)
        except (OSError, RuntimeError) as error:
            raise StoreError(f"{path}: cannot be opened ({error}); build it again.") from error
        if graph is None or len(graph) != len(matrix):
            raise StoreError(f"{path}: does not fit its vectors; build the index again.")
        return cls(matrix, graph)

    def search(self, queries: Floats, k: int) -> tuple[Rows, Floats]:
        """Row numbers and cosines of nearly the k nearest rows; recall is measured."""
        queries = checked(queries, self.matrix.shape[1])
        k = min(k, len(self.matrix))
        wanted = min(max(k * self._expand, 64), len(self.matrix))
        if not len(queries) or not k:
            return np.zeros((len(queries), k), np.int64), np.zeros((len(queries), k), np.float32)
        found: Any = self._graph.search(queries, wanted)
        near = np.asarray(found.keys, np.int64).reshape(len(queries), -1)
        return rescored(self.matrix, queries, near, k)


def build_graph(matrix: NDArray[Any], path: Path, *, dtype: str = "bf16") -> None:
    """Write a usearch graph of the rows."""
    from usearch.index import Index

    graph: Any = Index(ndim=matrix.shape[1], metric="cos", dtype=dtype, connectivity=16,
                       expansion_add=128, expansion_search=128)  # fmt: skip
    step = 50_000
    for first in range(0, len(matrix), step):
        rows = np.arange(first, min(first + step, len(matrix)))
        graph.add(rows, np.asarray(matrix[first : first + step], np.float32))
    graph.save(str(path))


def checked(queries: Floats, dim: int) -> Floats:
    """Queries as unit rows of the right length without NaN, or `DataError`."""
    queries = np.atleast_2d(np.asarray(queries, np.float32))
    if queries.ndim != 2 or queries.shape[1] != dim:
        raise DataError(f"a query has {queries.shape[-1]} numbers, this index has {dim}.")
    if not np.isfinite(queries).all():
        raise DataError("a query vector holds NaN or infinity; encode the query again.")
    norms = np.linalg.norm(queries, axis=1, keepdims=True)
    unit = np.abs(norms - 1) < 1e-5
    return np.where(unit, queries, queries / np.maximum(norms, 1e-12)).astype(np.float32)


def rescored(matrix: NDArray[Any], queries: Floats, near: Rows, k: int) -> tuple[Rows, Floats]:
    """The k best of each query's candidates, each query scored by itself in one fixed shape."""
    near = np.sort(near, axis=1)
    taken = np.asarray(matrix[near], np.float32)
    # not a matrix product: its rounding depends on a row's place, and equal rows must tie
    scores = (taken * queries[:, None, :]).sum(axis=2)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(near, order, axis=1), np.take_along_axis(scores, order, axis=1)


def _largest(scores: Floats, k: int) -> Rows:
    if k >= scores.shape[1]:
        return np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    return np.argpartition(scores, scores.shape[1] - k, axis=1)[:, scores.shape[1] - k :]
