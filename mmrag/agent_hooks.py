"""What an agent may say of itself beside `answer`: how it is made ready, and how much it bears.

All of it is optional, so an agent of five lines stays one of five lines:

* `warm()`, plain or async, loads what the first turn would load. It is called once, before any
  turn's clock starts.
* `capacity` is the number of turns that it can work on at once. Whoever holds conversations with
  it lets the other turns wait for a place, and starts a turn's clock when it has one.
* `ready()`, async, returns when a turn that is asked now would be worked on now; the clock starts
  after it.
* `tell_turn_kept(result)` tells it that what came of the turn that it answered last is on the disk.
* `end_agent()`, async, is called when all turns are over, or will not be asked any more.
* `takes_sound = True` gives it the sound of spoken questions (`Query.sound`) beside their words.
* `turns_per_call` is the number of turns that it answers in one call: a turn then has as many
  times the limit, since none of them is answered before all are.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from mmrag.errors import AgentError, MmragError, error_text

if TYPE_CHECKING:
    from mmrag.records import TurnResult

NOTHING_ASKED = "nothing was asked."

_WORTH_IT = 4
"""The built-in agents read print with one thread at a time and share Python's lock: beyond this
number turns only wait for each other, whatever the number of cores."""


async def _call(method: Callable[[], Any]) -> None:
    if inspect.iscoroutinefunction(method):
        await method()
    else:
        done = await asyncio.to_thread(method)
        if inspect.isawaitable(done):
            await done


async def warm(
    agent: object, run: Callable[[Callable[[], Any]], Awaitable[object]] = _call
) -> None:
    """Load what an agent needs before it is asked; nothing if it has no `warm`. `run` is how its
    code is called where it is somebody else's."""
    method = getattr(agent, "warm", None)
    if method is None:
        return
    try:
        await run(method)
    except MmragError as error:
        if type(error) is not AgentError or NOTHING_ASKED in str(error):
            raise
        raise AgentError(f"the agent's warm() failed ({error}); {NOTHING_ASKED}") from error
    except Exception as error:  # the agent is somebody else's code
        raise AgentError(
            f"the agent's warm() failed ({error_text(error)}); {NOTHING_ASKED}"
        ) from error


def capacity(agent: object) -> int | None:
    """How many turns an agent can work on at once; None if it does not say."""
    said = getattr(agent, "capacity", None)
    if said is None:
        return None
    if not isinstance(said, int) or said < 1:
        raise AgentError(
            f"the agent's capacity is {said!r}; it is a whole number above 0, or None."
        )
    return said


async def wait_until_ready(agent: object) -> None:
    """Wait until an agent would work on a turn at once; at once if it does not say."""
    method = getattr(agent, "ready", None)
    if method is not None:
        await method()


def tell_turn_kept(agent: object, result: TurnResult) -> None:
    """Tell an agent that what came of its last turn is on the disk."""
    method = getattr(agent, "kept", None)
    if method is not None:
        method(result)


async def end_agent(agent: object) -> None:
    """Tell an agent that it is asked nothing more."""
    method = getattr(agent, "end", None)
    if method is not None:
        await method()


def turn_seconds(agent: object, seconds: float) -> float:
    """The time limit of a turn: that of the whole call where an agent answers several in one."""
    return seconds * getattr(agent, "turns_per_call", 1)


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def built_in_capacity(*, model: bool) -> int:
    """Of the agents here: a turn per core; more where most of a turn is waiting for a model."""
    return min(cores(), _WORTH_IT) * (4 if model else 1)
