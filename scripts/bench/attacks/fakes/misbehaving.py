"""Python agents that misbehave at the first turn of each conversation and answer the others.

`AGENTS` says what each turn's status has to be. Those marked `isolate` do what no process can bear.
"""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import gc
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from mmrag.errors import AgentError, DataError
from mmrag.records import Evidence, Query, Reply, Step, Usage

LONG = 3600.0


class Expected(NamedTuple):
    """What becomes of an agent's first turn of each conversation, and how it is run."""

    statuses: tuple[str, ...]
    isolate: bool = False
    code: int = 0
    """Of the command; where it is not 0 nothing was asked."""


AGENTS: dict[str, Expected] = {}

ERROR, LATE, FINE = ("agent_error",), ("timeout",), ("answered",)


def agent(*statuses: str, isolate: bool = False, code: int = 0) -> Callable[[Any], Any]:
    """Add a class, or a function that is the first turn's answer."""

    def add(made: Any) -> Any:
        AGENTS[made.__name__] = Expected(statuses, isolate, code)
        if isinstance(made, type):
            return made
        if asyncio.iscoroutinefunction(made):

            async def answer(_self: object, query: Query) -> object:
                return "fine" if query.turn_index else await made(query)
        else:

            def answer(_self: object, query: Query) -> object:
                return "fine" if query.turn_index else made(query)

        return type(made.__name__, (), {"answer": answer})

    return add


def raising(name: str, error: Callable[[], BaseException], *statuses: str) -> None:
    """Add an agent that raises, and one that does so in a coroutine."""

    def plain(query: Query) -> object:
        raise error()

    async def awaited(query: Query) -> object:
        raise error()

    for function, suffix in ((plain, ""), (awaited, "Async")):
        function.__name__ = f"Raises{name}{suffix}"
        globals()[function.__name__] = agent(*(statuses or ERROR))(function)


class Unspeakable(Exception):
    """Cannot be told."""

    def __str__(self) -> str:
        raise SystemExit(1)

    __repr__ = __str__


raising("Surrogate", lambda: ValueError("\ud800"))
raising("OurSurrogate", lambda: AgentError("\ud800"))
raising("Unspeakable", Unspeakable)
raising("SystemExit", lambda: SystemExit(0))
raising("KeyboardInterrupt", KeyboardInterrupt)
raising("CancelledError", asyncio.CancelledError)
raising("StopIteration", StopIteration)
raising("GeneratorExit", GeneratorExit)
raising("Group", lambda: BaseExceptionGroup("two", [SystemExit(1), ValueError("x")]))
raising("Endless", lambda: ValueError("x" * 50_000_000))
raising("TimeoutError", lambda: TimeoutError("mine"))
raising("DataError", lambda: DataError("\udfff"), "data_error")


@agent(*LATE)
def Sleeps(query: Query) -> object:  # noqa: N802
    time.sleep(LONG)
    return "late"


@agent(*LATE)
def Computes(query: Query) -> object:  # noqa: N802
    while True:
        pass


@agent(*LATE)
def Stubborn(query: Query) -> object:  # noqa: N802
    while True:
        try:
            time.sleep(0.05)
        except BaseException:
            continue


@agent(*LATE)
async def SleepsInALoop(query: Query) -> object:  # noqa: N802
    time.sleep(LONG)
    return "late"


@agent(*LATE)
async def ComputesInALoop(query: Query) -> object:  # noqa: N802
    while True:
        pass


@agent(*LATE)
async def SwallowsCancellation(query: Query) -> object:  # noqa: N802
    while True:
        try:
            await asyncio.sleep(0.05)
        except BaseException:
            continue


@agent(*LATE)
async def WaitsForAThread(query: Query) -> object:  # noqa: N802
    return await asyncio.to_thread(time.sleep, LONG)


@agent(*LATE)
def WaitsForALock(query: Query) -> object:  # noqa: N802
    lock = threading.Lock()
    with lock:
        lock.acquire()
    return "never"


@agent(*LATE)
async def ALittleLate(query: Query) -> object:  # noqa: N802
    time.sleep(0.7)
    return "late"


@agent(*ERROR)
async def EndsTheLoop(query: Query) -> object:  # noqa: N802
    asyncio.get_running_loop().stop()
    raise ValueError("stopped")


@agent(*FINE)
async def LeavesTasks(query: Query) -> object:  # noqa: N802
    async def ends() -> None:
        raise SystemExit(3)

    EndsTheLoop.tasks = [asyncio.ensure_future(ends()) for _ in range(3)]
    return "fine"


@agent(*FINE)
def LeavesThreads(query: Query) -> object:  # noqa: N802
    threading.Thread(target=time.sleep, args=(LONG,)).start()
    return "fine"


@agent(*FINE)
def HangsAtTheEnd(query: Query) -> object:  # noqa: N802
    atexit.register(time.sleep, LONG)
    return "fine"


@agent(*FINE)
def Prints(query: Query) -> object:  # noqa: N802
    print('{"not": "yours"}' * 100)
    os.write(1, b"raw")
    os.system("echo from a child")
    atexit.register(print, "last words")
    return "fine"


@agent(*FINE)
def ClosesStdout(query: Query) -> object:  # noqa: N802
    sys.stdout = None
    return "fine"


@agent(*FINE)
def ChangesSignals(query: Query) -> object:  # noqa: N802
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:
        return "fine"
    return "odd"


@agent(*FINE)
def CollectsNothing(query: Query) -> object:  # noqa: N802
    gc.disable()
    sys.setswitchinterval(0.5)
    return "fine"


@agent(*ERROR)
def ReturnsAPromiseOfANumber(query: Query) -> object:  # noqa: N802
    async def later() -> int:
        return 7

    return later()


class _Liar:
    @property
    def __class__(self) -> type:  # type: ignore[override]
        raise SystemExit(1)


def _traced(value: object) -> Reply:
    return Reply(text="fine", trace=(Step(name="all", info={"x": value}),))


def _nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@agent(*FINE)
def TracesEvidence(query: Query) -> object:  # noqa: N802
    found = tuple(Evidence(source="web", id=str(i), score=0.5) for i in range(200_000))
    return Reply(text="fine", trace=(Step(name="all", evidence=found),))


@agent(*ERROR)
def TracesItself(query: Query) -> object:  # noqa: N802
    info: dict[str, Any] = {}
    info["x"] = info
    return _traced(info)


@agent(code=1)
class NeverMade:
    def __init__(self) -> None:
        time.sleep(LONG)

    def answer(self, query: Query) -> str:
        return "fine"


@agent(code=1)
class ExitsWhenMade(NeverMade):
    def __init__(self) -> None:
        sys.exit(0)


@agent(code=1)
class NeverWarm:
    def warm(self) -> None:
        time.sleep(LONG)

    def answer(self, query: Query) -> str:
        return "fine"


@agent(code=1)
class NeverWarmInALoop(NeverWarm):
    async def warm(self) -> None:  # type: ignore[override]
        while True:
            try:
                time.sleep(0.05)
            except BaseException:
                continue


@agent(*ERROR, isolate=True)
def LeavesAtOnce(query: Query) -> object:  # noqa: N802
    os._exit(0)


for _name, _statuses, _isolate, _said in (
    ('WaitsForAProgram', LATE, True, lambda _: subprocess.check_output(["sleep", "3600"])),
    ('ReturnsNothing', ERROR, False, lambda _: None),
    ('ReturnsALiar', ERROR, False, lambda _: _Liar()),
    ('CountsTooMuch', ERROR, False, lambda _: Reply(text="fine", usage=Usage(input_tokens=2**200))),
    ('CostsEverything', ERROR, False, lambda _: Reply(text="fine", usage=Usage(cost=float("inf")))),
    ('SaysTooMuch', ERROR, False, lambda _: Reply(text="x" * 2_000_000)),
    ('TracesAnAbyss', ERROR, False, lambda _: _traced(_nested(100_000))),
    ('TracesDeep', FINE, False, lambda _: _traced(_nested(900))),
    ('TracesALibrary', FINE, False, lambda _: _traced("y" * 100_000_000)),
    ('KeepsTheLock', LATE, True, lambda _: str(re.match(r"(a+)+$", "a" * 64 + "b"))),
    ('Aborts', ERROR, True, lambda _: os.abort()),
    ('WritesAnywhere', ERROR, True, lambda _: ctypes.string_at(1)),
    ('EatsMemory', ERROR, True, lambda _: str(len(bytearray(6 << 30)))),
):  # fmt: skip
    _said.__name__ = _name
    globals()[_name] = agent(*_statuses, isolate=_isolate)(_said)
