"""Who works for whom when many call at once, and what an interrupt does to the others."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from mmrag.search.vectors.batcher import Batcher

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
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        pool.submit(interrupt)
        with pytest.raises(KeyboardInterrupt):
            batcher(["b"])
        work.open("bcd")
        assert calls["c"].result(SOON) == ["C"]
        assert pool.submit(batcher, ["d"]).result(SOON) == ["D"]
    assert work.batches == [["a"], ["c", "b"], ["c"], ["d"]]
