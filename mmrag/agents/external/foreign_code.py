"""Somebody else's code runs outside: in threads and an event loop that can be left behind.

Plain code runs in daemon threads, async code in an event loop in a daemon thread. A call that
ignores its cancellation times its turn out and is abandoned: it holds up neither turns that have
yet to begin nor the end of the process. Turns that had begun in a loop that one of them blocks are
lost with it. What needs more than that (code that never lets go of Python's lock, a crash in C, too
much memory) needs a process of its own: `isolated_agent.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context, copy_context
from functools import partial
from typing import Any

from mmrag.agents.external.daemon_threads import (
    DaemonThreads,
    count_abandoned_calls,
    portable_error,
    record_abandoned,
    record_returned,
    stop_thread,
)
from mmrag.errors import AgentError, error_text
from mmrag.turn_clock import CLOCK, TurnClock

MOST = 500
"""Calls of all agents that may hang; no plain code is called any more once there are so many."""

GRACE = 1.0
"""Seconds in which what was cancelled may tidy up."""


async def call_contained(call: Callable[[], Any]) -> Any:
    """What a call returns, or what the awaitable it returns does; raises only `Exception`s.

    A task that raises `SystemExit` or `KeyboardInterrupt` would end its event loop, and one that
    raises `CancelledError` would look as if the caller had cancelled it.
    """
    task = asyncio.current_task()
    try:
        said = call()
        return await said if inspect.isawaitable(said) else said
    except asyncio.CancelledError as error:
        if task is not None and task.cancelling():
            raise
        raise AgentError(error_text(error)) from error
    except (Exception, GeneratorExit):  # the latter puts the coroutine away
        raise
    except BaseException as error:
        raise AgentError(error_text(error)) from error


async def cancel_task(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait until it has tidied up; left behind if it does not."""
    task.cancel()
    task.add_done_callback(_told)
    await asyncio.wait({task}, timeout=GRACE)
    if task.done():
        return
    record_abandoned(task)
    task.add_done_callback(record_returned)
    # The end of the loop must neither wait for it nor complain of it.
    asyncio._unregister_task(task)  # pyright: ignore[reportAttributeAccessIssue]
    task._log_destroy_pending = False  # pyright: ignore[reportAttributeAccessIssue]


class ForeignCode:
    """Where the code of one agent runs."""

    def __init__(self) -> None:
        self._threads = DaemonThreads()
        self._loops: list[_Loop] = []
        weakref.finalize(self, _close_all, self._loops)

    async def call(self, work: Callable[[], Any]) -> Any:
        """Call plain code in a thread; what it returns to be awaited is awaited in the loop."""
        if count_abandoned_calls() >= MOST:
            raise AgentError(
                f"{MOST} calls of agents hang; nothing more is asked. "
                "Run it with --isolate, where what hangs is ended."
            )
        call = self._threads.begin(partial(copy_context().run, work))
        try:
            said = await asyncio.wrap_future(call.future)
        except asyncio.CancelledError:
            call.leave()
            raise
        return await self.wait_for(lambda: said) if inspect.isawaitable(said) else said

    async def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call plain or async code where it belongs."""
        work = partial(function, *arguments)
        if inspect.iscoroutinefunction(function):
            return await self.wait_for(work)
        return await self.call(work)

    async def wait_for(self, make: Callable[[], Any]) -> Any:
        """Have async code run in the agent's loop; a turn's clock starts when it gets there."""
        clock = CLOCK.get()
        while True:
            loop = self._loop()
            turn = loop.begin(make, clock)
            try:
                return await asyncio.wrap_future(turn.future)
            except _LoopLeft:
                continue  # somebody else's turn blocked the loop, and this one had not begun
            except asyncio.CancelledError:
                await self._give_up(loop, turn)
                raise

    def _loop(self) -> _Loop:
        if not self._loops:
            self._loops.append(_Loop())
        return self._loops[0]

    async def _give_up(self, loop: _Loop, turn: _Turn) -> None:
        loop.call(turn.cancel)
        tidied = asyncio.wrap_future(turn.future)
        await asyncio.wait({tidied}, timeout=GRACE)
        if tidied.done():
            tidied.exception()
        tidied.cancel()
        if turn.future.done():
            return
        record_abandoned(turn)
        turn.future.add_done_callback(lambda _: record_returned(turn))
        if not turn.cancelled and loop in self._loops:  # it is not this turn alone that hangs
            self._loops.remove(loop)
            loop.leave()


class _LoopLeft(Exception):
    """The loop was left behind before this turn began."""


class _Turn:
    """One piece of async work in an agent's loop."""

    def __init__(self) -> None:
        self.future: Future[Any] = Future()
        self.future.set_running_or_notify_cancel()
        self.begun = self.cancelled = False
        self.task: asyncio.Task[Any] | None = None

    def cancel(self) -> None:
        self.cancelled = True
        if self.task is not None:
            self.task.cancel()


class _Loop:
    """An event loop in a daemon thread of its own."""

    def __init__(self) -> None:
        self._left = False
        self._moved = 0.0
        """When a turn last began or ended in it."""
        self._turns: set[_Turn] = set()
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(DaemonThreads())
        self._thread = threading.Thread(target=self._serve, name="agent loop", daemon=True)
        self._thread.start()

    def call(self, function: Callable[[], object], context: Context | None = None) -> None:
        """Have something called in the loop."""
        with contextlib.suppress(RuntimeError):  # it is closed
            self._loop.call_soon_threadsafe(function, context=context)

    def begin(self, make: Callable[[], Any], clock: TurnClock | None) -> _Turn:
        """Begin a turn as soon as the loop gets to it."""
        turn, since = _Turn(), time.perf_counter()
        self._turns.add(turn)

        async def work() -> None:
            self._moved = time.perf_counter()
            turn.begun = True
            if clock is not None:
                clock.start()
            try:
                value = await call_contained(make)
            except Exception as error:
                turn.future.set_exception(portable_error(error))
            except BaseException as error:
                turn.future.set_exception(AgentError(error_text(error)))
            else:
                turn.future.set_result(value)
            finally:
                self._moved = time.perf_counter()
                self._turns.discard(turn)

        def start() -> None:
            if not turn.cancelled:
                turn.task = self._loop.create_task(work())
            elif not turn.future.done():
                turn.future.set_exception(AgentError("cancelled before it began"))

        if clock is not None:  # a turn that blocks the loop is given up before those that wait
            clock.stand(lambda: max(since, self._moved) + 2 * GRACE)
        self.call(start, copy_context())
        return turn

    def leave(self) -> None:
        """Use it no longer, and have its thread end as soon as it runs Python again."""
        self.stop()
        stop_thread(self._thread.ident)
        for turn in list(self._turns):
            if not turn.begun and not turn.future.done():
                turn.cancelled = True
                turn.future.set_exception(_LoopLeft())

    def stop(self) -> None:
        """End it when it is next idle."""
        self._left = True
        self.call(self._loop.stop)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        while not self._left:
            # a task of the agent's own may raise SystemExit, or stop the loop
            with contextlib.suppress(BaseException):
                self._loop.run_forever()
        with contextlib.suppress(BaseException):
            self._loop.set_exception_handler(lambda _loop, _context: None)
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.run_until_complete(asyncio.sleep(0))
            self._loop.close()


def _close_all(loops: list[_Loop]) -> None:
    while loops:
        loops.pop().stop()


def _told(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()  # nobody is interested any more, and it need not be logged
