from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmrag.errors import DataError
from mmrag.search.vectors.batcher import Batcher
from mmrag.search.vectors.nearest import ExactVectors, GraphVectors, as_bytes, build_graph


def unit_rows(n: int, d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(max(n // 20, 1), d))
    rows = centres[rng.integers(len(centres), size=n)] + 0.4 * rng.normal(size=(n, d))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 9000), st.integers(1, 40), st.integers(1, 9), st.integers(0, 99))
def test_exact_is_exact(n: int, k: int, b: int, seed: int) -> None:
    matrix, queries = unit_rows(n, 8, seed), unit_rows(b, 8, seed + 1)
    rows, scores = ExactVectors(matrix).search(queries, k)
    truth = np.sort(queries @ matrix.T, axis=1)[:, ::-1][:, :k]
    assert rows.shape == (b, min(k, n))
    np.testing.assert_allclose(scores, truth, atol=2e-6)
    assert all(len(set(row)) == len(row) for row in rows.tolist())


@pytest.mark.parametrize("queries", [1, 3, 40])
def test_rows_that_get_better_and_better_or_are_all_the_same(queries: int) -> None:
    rows = np.zeros((20_003, 4), np.float32)
    angle = np.linspace(1.5, 0.0, len(rows))
    rows[:, 0], rows[:, 1] = np.cos(angle), np.sin(angle)
    asked = np.tile(np.float32([[1, 0, 0, 0]]), (queries, 1))
    found, scores = ExactVectors(rows).search(asked, 20)
    assert set(found[-1].tolist()) >= set(range(20_003 - 10, 20_003))
    assert (np.diff(scores) <= 0).all()
    rows[:] = rows[0]
    found, scores = ExactVectors(rows).search(asked, 20)
    assert len(set(found[-1].tolist())) == 20
    assert np.ptp(scores) == 0


def test_as_many_as_can_be_asked_for() -> None:
    matrix, queries = unit_rows(70_000, 4, 5), unit_rows(6, 4, 6)
    _, scores = ExactVectors(matrix).search(queries, 1000)
    truth = np.sort(queries @ matrix.T, axis=1)[:, ::-1][:, :1000]
    np.testing.assert_allclose(scores, truth, atol=2e-6)


def test_a_query_does_not_depend_on_its_company() -> None:
    matrix, queries = unit_rows(30_000, 32, 1), unit_rows(40, 32, 2)
    search = ExactVectors(matrix)
    rows, scores = search.search(queries, 30)
    for i in range(40):
        alone = search.search(queries[i : i + 1], 30)
        assert (alone[0][0] == rows[i]).all()
        assert (alone[1][0] == scores[i]).all()


def test_equal_scores_are_ordered_by_row() -> None:
    matrix = np.tile(unit_rows(1, 8, 3), (50, 1))
    rows, _ = ExactVectors(matrix).search(matrix[:1], 10)
    assert rows[0].tolist() == sorted(rows[0].tolist())


def test_graph_is_near_exact(tmp_path: Path) -> None:
    matrix, queries = unit_rows(5000, 32, 4), unit_rows(500, 32, 5)
    build_graph(matrix, tmp_path / "graph")
    graph = GraphVectors.open(matrix, tmp_path / "graph")
    found, scores = graph.search(queries, 10)
    truth, best = ExactVectors(matrix).search(queries, 10)
    shared = [len(set(a) & set(b)) / 10 for a, b in zip(found, truth, strict=True)]
    assert np.mean(shared) > 0.95
    assert (scores <= best + 1e-6).all()


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="memory is told by Linux")
def test_rows_of_a_big_matrix_are_read_and_not_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "vectors.npy", unit_rows(8_000, 64, 4))
    queries = unit_rows(200, 64, 5)
    build_graph(np.load(tmp_path / "vectors.npy"), tmp_path / "graph")

    def searched() -> tuple[np.ndarray, np.ndarray, int]:
        matrix = np.load(tmp_path / "vectors.npy", mmap_mode="r")
        found = GraphVectors.open(matrix, tmp_path / "graph").search(queries, 10)
        smaps = Path("/proc/self/smaps").read_text()
        mapped = smaps.split(str(tmp_path / "vectors.npy"))[1]
        return *found, int(mapped.split("Rss:")[1].split()[0])

    rows, scores, resident = searched()
    monkeypatch.setattr("mmrag.search.vectors.nearest.EXACT_BYTES", 0)
    again, same, less = searched()
    assert (rows == again).all()
    assert (scores == same).all()
    assert less < 100 < 1000 < resident


def test_a_graph_of_half_precision_is_still_searched(tmp_path: Path) -> None:
    from usearch.index import Index

    matrix, queries = unit_rows(2000, 32, 4), unit_rows(50, 32, 5)
    before = Index(ndim=32, metric="cos", dtype="bf16")
    before.add(np.arange(len(matrix)), matrix, threads=1)  # several link at random
    before.save(str(tmp_path / "graph"))
    found, _ = GraphVectors.open(matrix, tmp_path / "graph").search(queries, 10)
    truth, _ = ExactVectors(matrix).search(queries, 10)
    assert np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found, truth, strict=True)]) > 0.95


def test_rows_as_bytes_keep_their_neighbours() -> None:
    matrix, queries = unit_rows(6000, 768, 7), unit_rows(40, 768, 7)
    truth, _ = ExactVectors(matrix).search(queries, 30)
    short = as_bytes(matrix).astype(np.float32)
    assert (np.abs(short).max(axis=1) == 127).all()
    short /= np.linalg.norm(short, axis=1, keepdims=True)
    found, _ = ExactVectors(short).search(queries, 30)
    shared = [len(set(a) & set(b)) / 30 for a, b in zip(found, truth, strict=True)]
    assert np.mean(shared) > 0.98
    assert not as_bytes(np.zeros((2, 8), np.float32)).any()


@pytest.mark.parametrize("query", [np.full((1, 8), np.nan), np.ones((1, 7)), np.full(8, np.inf)])
def test_bad_queries_are_refused(query: np.ndarray) -> None:
    with pytest.raises(DataError):
        ExactVectors(unit_rows(10, 8, 0)).search(query.astype(np.float32), 3)


# -- batching

SOON = 5.0


class Gated:
    """Work that stands still at every item until that item is let through."""

    def __init__(self, *, fails: Callable[[list[str]], BaseException | None] = lambda _: None):
        self.batches: list[list[str]] = []
        self.gates = {name: threading.Event() for name in "abcd"}
        self._fails = fails

    def __call__(self, items: Sequence[str]) -> list[str]:
        self.batches.append(list(items))
        for item in items:
            assert self.gates[item].wait(SOON)
        problem = self._fails(list(items))
        if problem is not None:
            raise problem
        return [item.upper() for item in items]

    def open(self, names: str) -> None:
        for name in names:
            self.gates[name].set()


def until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + SOON
    while not done():
        assert time.monotonic() < end
        time.sleep(0.001)


def crowd(
    pool: ThreadPoolExecutor, work: Gated, names: str
) -> tuple[Batcher[str, str], dict[str, Future[list[str]]]]:
    """The first of `names` is being worked off; the others wait in their order."""
    batcher = Batcher[str, str](work)
    calls: dict[str, Future[list[str]]] = {}
    for place, name in enumerate(names):
        calls[name] = pool.submit(batcher, [name])
        until(lambda place=place: len(work.batches) == 1 and len(batcher._waiting) == place)
    return batcher, calls


def test_who_leads_goes_when_its_own_result_is_there() -> None:
    work = Gated()
    with ThreadPoolExecutor(4) as pool:
        _, calls = crowd(pool, work, "abc")
        work.open("a")
        try:
            assert calls["a"].result(timeout=1) == ["A"]
            until(lambda: len(work.batches) == 2)
            assert not calls["b"].done()
        finally:
            work.open("bc")
        assert [calls[name].result(SOON) for name in "bc"] == [["B"], ["C"]]
    assert work.batches == [["a"], ["b", "c"]]


def test_an_interrupt_reaches_the_leader_and_nobody_else() -> None:
    work = Gated(fails=lambda items: KeyboardInterrupt() if "b" in items else None)
    with ThreadPoolExecutor(4) as pool:
        batcher, calls = crowd(pool, work, "abcd")
        work.open("abcd")
        with pytest.raises(KeyboardInterrupt):
            calls["b"].result(SOON)
        assert [calls[name].result(SOON) for name in "acd"] == [["A"], ["C"], ["D"]]
        assert work.batches == [["a"], ["b", "c", "d"], ["c", "d"]]
        assert batcher(["a"]) == ["A"]


def test_a_bad_item_fails_its_own_call_after_one_try_of_all() -> None:
    work = Gated(fails=lambda items: ValueError("c") if "c" in items else None)
    with ThreadPoolExecutor(4) as pool:
        _, calls = crowd(pool, work, "abcd")
        work.open("abcd")
        with pytest.raises(ValueError, match="c"):
            calls["c"].result(SOON)
        assert [calls[name].result(SOON) for name in "abd"] == [["A"], ["B"], ["D"]]
    assert work.batches == [["a"], ["b", "c", "d"], ["b"], ["c"], ["d"]]


def test_who_is_interrupted_while_waiting_is_not_waited_for() -> None:
    work = Gated(fails=lambda items: ValueError("bad") if len(items) > 1 else None)
    with ThreadPoolExecutor(4) as pool:
        batcher, calls = crowd(pool, work, "ac")

        def interrupt() -> None:
            until(lambda: len(batcher._waiting) == 2)
            work.open("a")
            until(lambda: len(work.batches) == 2)
            time.sleep(0.1)  # a signal that comes just before a wait is heard only after it
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        pool.submit(interrupt)
        with pytest.raises(KeyboardInterrupt):
            batcher(["b"])
        work.open("bcd")
        assert calls["c"].result(SOON) == ["C"]
        assert pool.submit(batcher, ["d"]).result(SOON) == ["D"]
    assert work.batches == [["a"], ["c", "b"], ["c"], ["d"]]
