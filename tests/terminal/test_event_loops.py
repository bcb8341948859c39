"""Ctrl-C while plain code waits for async work in a notebook."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

import pytest

from simulator.terminal.event_loops import run_to_end


def test_ctrl_c_is_heard_where_another_thread_takes_the_signal() -> None:
    begun, cancelled = threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.sleep(3)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def press() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        begun.wait(20)
        os.kill(os.getpid(), signal.SIGINT)
        cancelled.wait(20)

    async def cell() -> None:
        with pytest.raises(KeyboardInterrupt):
            run_to_end(work())

    presser = threading.Thread(target=press)
    presser.start()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    loop = asyncio.new_event_loop()  # asyncio.run would take Ctrl-C for itself; notebooks do not
    try:
        loop.run_until_complete(cell())
        was_cancelled = cancelled.is_set()
    finally:
        loop.close()
        cancelled.set()
        presser.join()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert was_cancelled


def test_ctrl_c_cancels_from_the_first_moment_on(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled, start = threading.Event(), threading.Thread.start

    def pressed(thread: threading.Thread) -> None:
        start(thread)
        if thread.name == "evaluation":
            raise KeyboardInterrupt

    async def work() -> None:
        try:
            await asyncio.sleep(20)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def cell() -> None:
        with pytest.raises(KeyboardInterrupt):
            run_to_end(work())

    monkeypatch.setattr(threading.Thread, "start", pressed)
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(cell())
    finally:
        loop.close()
    assert cancelled.is_set()
