"""The trace of one turn: steps with times, what they found, and somebody who may be watching."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterable
from contextvars import ContextVar
from typing import Any

from mmrag.records import Evidence, Step

Watcher = Callable[[Step], None]

_WATCHER: ContextVar[Watcher | None] = ContextVar("mmrag_watcher", default=None)


class OpenStep:
    """A step in progress: write what it finds into `info` and `evidence`."""

    def __init__(self, name: str, info: dict[str, Any]) -> None:
        self.name = name
        self.info = info
        self.evidence: list[Evidence] = []
        self.steps: list[Step] = []

    def found(self, items: Iterable[Evidence]) -> None:
        """Add retrieved items."""
        self.evidence.extend(items)


class Trace:
    """Collects the steps of a turn; one per turn, never shared.

    >>> trace = Trace()
    >>> with trace.step("planner", needs="image") as step:
    ...     step.info["question"] = "what is it"
    >>> [s.name for s in trace.steps]
    ['planner']
    """

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._steps: list[Step] = []
        self._open: list[OpenStep] = []

    @contextlib.contextmanager
    def step(self, name: str, **info: Any) -> Generator[OpenStep, None, None]:
        """Time a step. Steps opened inside it become its children; an exception leaves it there."""
        start = time.perf_counter()
        opened = OpenStep(name, dict(info))
        self._open.append(opened)
        try:
            yield opened
        finally:
            self._open.pop()
            done = Step(
                name=name,
                start=start - self._began,
                seconds=time.perf_counter() - start,
                info=opened.info,
                evidence=tuple(opened.evidence),
                steps=tuple(opened.steps),
            )
            (self._open[-1].steps if self._open else self._steps).append(done)
            watcher = _WATCHER.get()
            if watcher is not None:
                watcher(done)

    @property
    def steps(self) -> tuple[Step, ...]:
        """What has been done so far, outermost steps only; their children are inside them."""
        return tuple(self._steps)


@contextlib.contextmanager
def watch_steps(watcher: Watcher) -> Generator[None, None, None]:
    """Tell `watcher` of every finished step of the agents that run inside this context."""
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)
