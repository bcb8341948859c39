"""Requests on their way to the one thread that may touch a model of this process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from queue import Empty, SimpleQueue

import msgspec

from mmrag.errors import ServiceError, error_text
from mmrag.protocols import Completion, GenerateOptions, Message
from mmrag.turn_clock import forget_first_word

_IDLE = 5.0
"""Seconds without a request after which the thread ends."""


class QueuedRequest(msgspec.Struct):
    """What is asked, and where the answer is waited for."""

    messages: tuple[Message, ...]
    options: GenerateOptions
    future: Future[Completion]

    def settle(self, done: Completion | Exception) -> None:
        """Give the answer, or what came instead of it, unless nobody waits for it any more."""
        with suppress(InvalidStateError):  # it was cancelled, or has its answer
            if isinstance(done, Exception):
                self.future.set_exception(done)
            else:
                self.future.set_result(done)


class ModelThreadQueue:
    """A queue with a thread behind it, which begins with the first request and ends when idle.

    `serve` is called in that thread with a request; it may take `more` that are waiting. Whatever
    it raises fails those that it has not answered, and the thread goes on: nobody waits for ever.
    """

    def __init__(self, serve: Callable[[QueuedRequest], None]) -> None:
        self._serve = serve
        self._queue: SimpleQueue[QueuedRequest] = SimpleQueue()
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None
        self._held: list[QueuedRequest] = []
        """What was given to `serve` and may not be answered yet."""

    async def completion(
        self, messages: Sequence[Message], options: GenerateOptions, max_tokens: int
    ) -> Completion:
        """Leave a request, from any thread, and wait for it; `max_tokens` unless it is 0."""
        forget_first_word()
        if max_tokens:
            options = msgspec.structs.replace(options, max_tokens=max_tokens)
        request = QueuedRequest(messages=tuple(messages), options=options, future=Future())
        with self._lock:
            self._queue.put(request)
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, daemon=True, name="mmrag-model")
                self._worker.start()
        return await asyncio.wrap_future(request.future)

    def more(self, seconds: float) -> QueuedRequest | None:
        """The next request, if one is there or comes within so many seconds."""
        try:
            request = self._queue.get(timeout=seconds) if seconds else self._queue.get_nowait()
        except Empty:
            return None
        self._held = [held for held in self._held if not held.future.done()]
        self._held.append(request)
        return request

    def _work(self) -> None:
        while True:
            request = self.more(_IDLE)
            if request is not None:
                try:
                    self._serve(request)
                except BaseException as error:  # a panic of a library in Rust is no Exception
                    for held in self._held:
                        held.settle(ServiceError(f"a model of this process: {error_text(error)}"))
                self._held = []
                continue
            with self._lock:
                if self._queue.empty():
                    self._worker = None
                    return
