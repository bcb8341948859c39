"""Async work from plain code: also in a notebook, where an event loop runs already."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from contextvars import copy_context
from typing import Any, TypeVar

from simulator.terminal.shutdown import heeding_ctrl_c, owns_process

T = TypeVar("T")

_LOOKS = 0.2
"""Seconds after which a waiting thread looks whether Ctrl-C was pressed: one that comes just before
a wait without end would be heard at its end only."""


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Wait for async work. Ctrl-C cancels it, and is raised when it has ended."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(heeding_ctrl_c(work) if owns_process() else work)
    return _run_beside(work)


def _run_beside(work: Coroutine[Any, Any, T]) -> T:
    """In a thread with an event loop of its own: the loop that runs here can take no more."""
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = Future()
    done: Future[T] = Future()

    async def in_task() -> T:
        begun.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        return await work

    def serve() -> None:
        try:
            done.set_result(asyncio.run(in_task()))
        except BaseException as error:  # it is raised again where somebody waits
            done.set_exception(error)

    thread = threading.Thread(
        target=copy_context().run, args=(serve,), name="evaluation", daemon=True
    )
    try:
        thread.start()
        while not done.done():
            wait([done], _LOOKS)
        return done.result()
    except KeyboardInterrupt:
        loop, task = begun.result()
        if task is not None and not done.done():
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    finally:
        if done.done():
            thread.join()
