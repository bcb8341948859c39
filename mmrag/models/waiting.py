"""Requests on their way to the one thread that may touch a model of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")

_IDLE = 5.0
"""Seconds without a request after which the thread ends."""


class Waiting(Generic[T]):
    """A queue with a thread behind it, which begins with the first request and ends when idle.

    `serve` is called in that thread with a request; it may take `more` that are waiting.
    """

    def __init__(self, serve: Callable[[T], None]) -> None:
        self._serve = serve
        self._queue: SimpleQueue[T] = SimpleQueue()
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None

    def put(self, request: T) -> None:
        """Leave a request; from any thread."""
        with self._lock:
            self._queue.put(request)
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, daemon=True, name="mmrag-model")
                self._worker.start()

    def more(self, seconds: float) -> T | None:
        """The next request, if one is there or comes within so many seconds."""
        try:
            return self._queue.get(timeout=seconds) if seconds else self._queue.get_nowait()
        except Empty:
            return None

    def _work(self) -> None:
        while True:
            request = self.more(_IDLE)
            if request is not None:
                self._serve(request)
                continue
            with self._lock:
                if self._queue.empty():
                    self._worker = None
                    return
