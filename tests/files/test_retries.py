"""Trying again, within bounds."""

from __future__ import annotations

import asyncio

import pytest

from mmrag.files.retries import retried


@pytest.mark.parametrize(
    ("good_at", "retries", "found", "waited"),
    [(0, 3, 0, []), (2, 3, 2, [0, 1]), (9, 2, 2, [0, 1]), (9, 0, 0, [])],
)
def test_it_tries_until_something_is_final_and_never_waits_after_the_last(
    good_at: int, retries: int, found: int, waited: list[int]
) -> None:
    asked: list[int] = []

    async def attempt(before: int) -> int:
        asked.append(before)
        return before

    def pause(before: int, _found: int) -> float | None:
        return None if before == good_at else 0.0

    assert asyncio.run(retried(attempt, retries, pause)) == found
    assert asked == [*waited, found]
