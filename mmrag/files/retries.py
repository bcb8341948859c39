"""Trying again, within bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def retry(
    attempt: Callable[[int], Awaitable[T]], retries: int, pause: Callable[[int, T], float | None]
) -> T:
    """What the first attempt found that is final, or else the last.

    Both are told how many attempts went before; `pause` also what this one found. It says how many
    seconds to wait for the next, or None where what was found is final.
    """
    for before in range(retries):
        found = await attempt(before)
        seconds = pause(before, found)
        if seconds is None:
            return found
        await asyncio.sleep(seconds)
    return await attempt(retries)


def backoff_seconds(first: float, before: int, longest: float) -> float:
    """Seconds to wait: twice as long each time, up to a limit.

    >>> [backoff_seconds(0.5, before, 3.0) for before in range(4)]
    [0.5, 1.0, 2.0, 3.0]
    """
    return min(first * 2**before, longest)
