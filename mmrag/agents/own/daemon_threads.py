"""Threads that nobody has to wait for, and what was left behind in them."""

from __future__ import annotations

import ctypes
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from mmrag.errors import AgentError, MmragError, words

_IDLE_SECONDS = 30.0

_LEFT: set[object] = set()
_LEFT_LOCK = threading.Lock()


def left_behind() -> int:
    """How many calls of agents were given up and still go on."""
    return len(_LEFT)


class DaemonThreads(ThreadPoolExecutor):
    """As many threads as there are calls; the end of the process waits for none of them.

    It is a `ThreadPoolExecutor` in name, because event loops take nothing else as their default.
    """

    def __init__(self) -> None:
        super().__init__(1)
        self._inboxes: list[queue.SimpleQueue[Call]] = []
        self._mutex = threading.Lock()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Begin a call at once."""
        return self.begin(partial(fn, *args, **kwargs)).future

    def begin(self, work: Callable[[], Any]) -> Call:
        """Begin a call that can be left behind."""
        call = Call(work)
        with self._mutex:
            inbox = self._inboxes.pop() if self._inboxes else None
        if inbox is None:
            inbox = queue.SimpleQueue()
            threading.Thread(target=self._serve, args=(inbox,), name="agent", daemon=True).start()
        inbox.put(call)
        return call

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing to wait for: idle threads end by themselves."""

    def _serve(self, inbox: queue.SimpleQueue[Call]) -> None:
        while True:
            try:
                call = inbox.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                with self._mutex:
                    if inbox not in self._inboxes:
                        continue  # taken at this very moment
                    self._inboxes.remove(inbox)
                return
            try:
                call.run()
            finally:
                came_back(call)
            if call.given_up:
                return
            del call
            with self._mutex:
                self._inboxes.append(inbox)


class _Stopped(SystemExit):
    """Raised inside a thread that was left behind; threads end with it silently."""


class Call:
    """One call in a thread."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work: Callable[[], Any] | None = work
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._done = False
        self.given_up = False
        self.future: Future[Any] = Future()
        self.future.set_running_or_notify_cancel()

    def run(self) -> None:
        """Call it, here and now."""
        work, self._work = self._work, None
        assert work is not None
        self._thread = threading.get_ident()
        value, failure = None, None
        try:
            value = work()
        except Exception as error:
            failure = typed(error)
        except BaseException as error:
            failure = AgentError(words(error))
        del work
        with self._lock:
            self._done = True
        if failure is not None:
            self.future.set_exception(failure)
        else:
            self.future.set_result(value)

    def leave(self) -> None:
        """Wait for it no longer, and have it end as soon as it runs Python again."""
        with self._lock:
            if self._done:
                return
            self.given_up = True
            left(self)
            stop_thread(self._thread)


def typed(error: Exception) -> Exception:
    """The error itself if it can be passed on and told, else what it says."""
    if isinstance(error, MmragError):
        return error
    return AgentError(words(error))


def left(call: object) -> None:
    """Count a call that was given up and still goes on."""
    with _LEFT_LOCK:
        _LEFT.add(call)


def came_back(call: object) -> None:
    """Count it no longer."""
    with _LEFT_LOCK:
        _LEFT.discard(call)


def stop_thread(thread: int | None) -> None:
    """Raise an exception in a thread as soon as it runs Python again."""
    if thread is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread), ctypes.py_object(_Stopped)
        )
