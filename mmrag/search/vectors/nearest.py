"""Nearest vectors, batch first: exact over a memory-mapped matrix, or by a graph above a size.

Both derive from what Chroma holds and can be made again from it. The contract is the same:
`search(queries[b, d], k) -> ids[b, k], scores[b, k]`, best first, equal scores by row number (where
no more than eight copies tie at the cut), and a query's answer does not depend on which other
queries came with it: the final scores are computed query by query in one fixed shape.
"""

from __future__ import annotations

import os
import weakref
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
_SCORES = 8 << 20
"""Scores that are held at once: 32 MB."""
_FEW = 4
_GATHERED = 256
_EXPANSION = 48
"""Candidates of a graph at least, at 1.6 for each row wanted, and nodes that it looks at; recall@30
is .9999 at 70,000 drawn rows and .99 at 10,000 real ones."""
_MANY, _EXPANSION_OF_MANY = 1_000_000, 160
"""Nodes looked at above a million rows: recall@30 is .96 at 2.7 million (128: .937, 192: .970)."""
_STRIP = 256
_SPARE = 8
_CURE = "`mmrag index verify --repair` makes it again."


class VectorIndex(Protocol):
    """Something that finds the nearest rows."""

    matrix: NDArray[Any]
    """The vectors themselves, mapped."""

    def search(self, queries: Floats, k: int) -> tuple[Rows, Floats]:
        """Row numbers and cosines of the k nearest rows of each query."""
        ...


class ExactVectors:
    """Every row is looked at, in about the time of the matrix product, or of reading the matrix.

    Sorting a long row of scores costs more than computing it. So it is looked at by the maxima of
    groups of 16: only scores that as many groups reach as rows are wanted are sorted. A few queries
    alone are bound by memory: each row is read once.
    """

    def __init__(self, matrix: Floats) -> None:
        self.matrix = np.asarray(matrix)

    def search(self, queries: Floats, k: int) -> tuple[Rows, Floats]:
        """Row numbers and cosines of the k nearest rows, recall 1."""
        queries = checked(queries, self.matrix.shape[1])
        n = len(self.matrix)
        k = min(k, n)
        wanted = min(k + _SPARE, n)
        rows = np.zeros((len(queries), k), np.int64)
        scores = np.zeros((len(queries), k), np.float32)
        step = max(_SCORES // max(n, 1), _FEW)
        for start in range(0, len(queries) if k else 0, step):
            some = slice(start, start + step)
            lines = self._scores(queries[some])
            if n <= 4 * _GROUP * wanted:
                near = _largest(lines, wanted)
            else:
                near = np.array([_best_of(line, wanted) for line in lines])
            rows[some], scores[some] = rescored(self.matrix, queries[some], near, k)
        return rows, scores

    def _scores(self, queries: Floats) -> Floats:
        """Cosines of all rows.

        Of a few queries a strip of rows meets all while it is in the cache: `vecdot` streams a
        matrix twice as fast as BLAS multiplies it with a single vector.
        """
        if len(queries) > _FEW:
            return queries @ self.matrix.T
        n = len(self.matrix)
        scores = np.empty((len(queries), n), np.float32)
        strip = n if len(queries) == 1 else _STRIP
        for first in range(0, n, strip):
            part = slice(first, first + strip)
            for query, line in zip(queries, scores, strict=True):
                np.vecdot(self.matrix[part], query, out=line[part])
        return scores


def _best_of(scores: Floats, wanted: int) -> Rows:
    tops = scores[: len(scores) - len(scores) % _GROUP].reshape(_GROUP, -1).max(axis=0)
    able = np.flatnonzero(scores >= np.partition(tops, -wanted)[-wanted])
    return able[_largest(scores[None, able], wanted)[0]]


class GraphVectors:
    """A usearch graph of bytes, mapped from its file, whose candidates are scored again exactly."""

    def __init__(self, matrix: NDArray[Any], graph: Any) -> None:
        self.matrix = np.asarray(matrix)
        self._rows: Any = self.matrix
        if isinstance(matrix, np.memmap) and matrix.nbytes > EXACT_BYTES:
            self._rows = _ReadRows(matrix)
        self._graph = graph
        graph.expansion_search = _EXPANSION if len(matrix) <= _MANY else _EXPANSION_OF_MANY

    @classmethod
    def open(cls, matrix: NDArray[Any], path: Path) -> GraphVectors:
        """Map a graph that `build_graph` wrote."""
        from usearch.index import Index

        try:
            graph: Any = Index.restore(str(path), view=True)
        except (OSError, RuntimeError) as error:
            raise StoreError(f"{path}: cannot be opened ({error}); {_CURE}") from error
        if graph is None or len(graph) != len(matrix):
            raise StoreError(f"{path}: does not fit its vectors; {_CURE}")
        return cls(matrix, graph)

    def search(self, queries: Floats, k: int) -> tuple[Rows, Floats]:
        """Row numbers and cosines of nearly the k nearest rows; recall is measured."""
        queries = checked(queries, self.matrix.shape[1])
        k = min(k, len(self.matrix))
        wanted = min(max(k * 8 // 5, _EXPANSION), len(self.matrix))
        if not len(queries) or not k:
            return np.zeros((len(queries), k), np.int64), np.zeros((len(queries), k), np.float32)
        # threads cost more to start than a few searches take
        threads = 1 if len(queries) <= _FEW else 0
        found: Any = self._graph.search(as_bytes(queries), wanted, threads=threads)
        near = np.asarray(found.keys, np.int64).reshape(len(queries), -1)
        return rescored(self._rows, queries, near, k)


class _ReadRows:
    """Rows of a mapped matrix, read from its file instead.

    Every row that is looked at through the map makes 64 KB of the file resident: of 4 GB, 1.3 after
    512 queries and soon all. Reading takes no longer and leaves nothing behind in the process.
    """

    def __init__(self, matrix: np.memmap[Any, Any]) -> None:
        self._like = matrix[:0]
        self._start = matrix.offset
        self._file = os.open(str(matrix.filename), os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)

    def __getitem__(self, rows: Rows) -> NDArray[Any]:
        size = self._like.strides[0]
        places = (rows.ravel() * size + self._start).tolist()
        data = b"".join([os.pread(self._file, size, place) for place in places])
        return np.frombuffer(data, self._like.dtype).reshape(*rows.shape, -1)


def build_graph(matrix: NDArray[Any], path: Path) -> None:
    """Write a usearch graph of the rows, which it keeps as bytes."""
    from usearch.index import Index

    graph: Any = Index(ndim=matrix.shape[1], metric="cos", dtype="i8", connectivity=16,
                       expansion_add=128, enable_key_lookups=False)  # fmt: skip
    step = 50_000
    for first in range(0, len(matrix), step):
        rows = np.arange(first, min(first + step, len(matrix)))
        graph.add(rows, as_bytes(np.asarray(matrix[first : first + step], np.float32)))
    graph.save(str(path))


def as_bytes(rows: Floats) -> NDArray[np.int8]:
    """Rows in a quarter of the memory: each stretched until its largest number is 127.

    A cosine does not see the stretching. usearch's own bytes are a unit row times 127, and most
    numbers of a row of 768 then lie within ±5: of 30 nearest rows 2.3 were lost, now .2 are.
    """
    largest = np.abs(rows).max(axis=1, keepdims=True)
    return np.rint(rows * (127 / np.maximum(largest, 1e-12))).astype(np.int8)


def checked(queries: Floats, dim: int) -> Floats:
    """Queries as unit rows of the right length without NaN, or `DataError`."""
    queries = np.atleast_2d(np.asarray(queries, np.float32))
    if queries.ndim != 2 or queries.shape[1] != dim:
        raise DataError(f"a query has {queries.shape[-1]} numbers, this index has {dim}.")
    if not np.isfinite(queries).all():
        raise DataError("a query vector holds NaN or infinity; encode the query again.")
    return unit_rows(queries)


def unit_rows(vectors: Any) -> Floats:
    """Rows of length 1; those that are stay as they are to the last bit, and so do their scores."""
    rows = np.asarray(vectors, np.float32)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = np.abs(norms - 1) < 1e-5
    return np.where(unit, rows, rows / np.maximum(norms, 1e-12)).astype(np.float32)


def rescored(matrix: Any, queries: Floats, near: Rows, k: int) -> tuple[Rows, Floats]:
    """The k best of each query's candidates, each query scored by itself in one fixed shape. Of the
    matrix only `matrix[rows]` is asked."""
    near = np.sort(near, axis=1)
    scores = np.empty(near.shape, np.float32)
    step = max(_GATHERED // max(near.shape[1], 1), 1)
    for first in range(0, len(near), step):
        some = slice(first, first + step)
        taken = np.asarray(matrix[near[some]], np.float32)
        # not a matrix product: its rounding depends on a row's place, and equal rows must tie
        np.vecdot(taken, queries[some, None, :], out=scores[some])
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(near, order, axis=1), np.take_along_axis(scores, order, axis=1)


def _largest(scores: Floats, k: int) -> Rows:
    if k >= scores.shape[1]:
        return np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    return np.argpartition(scores, scores.shape[1] - k, axis=1)[:, scores.shape[1] - k :]
