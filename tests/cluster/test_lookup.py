"""Sessions by their place in data that can only be read from the beginning."""

import asyncio
from collections.abc import Iterator

from mmrag.records import Session
from simulator.cluster.lookup import Sessions


class Read:
    """Data of five sessions that counts how often it is begun."""

    def __init__(self) -> None:
        self.begun = 0

    def __call__(self) -> Iterator[tuple[int, Session]]:
        self.begun += 1
        for place in range(5):
            yield place, Session(id=f"s{place}", turns=())


def test_places_asked_for_a_little_out_of_order_are_not_read_anew() -> None:
    read = Read()
    sessions = Sessions(read, keep=4)

    async def ask() -> list[str]:
        return [(await sessions.get(place, f"s{place}")).id for place in (0, 2, 1, 4, 3)]

    assert asyncio.run(ask()) == ["s0", "s2", "s1", "s4", "s3"]
    assert read.begun == 1


def test_what_is_long_past_is_read_again() -> None:
    read = Read()
    sessions = Sessions(read, keep=1)

    async def ask() -> str:
        await sessions.get(4, "s4")
        return (await sessions.get(0, "s0")).id

    assert asyncio.run(ask()) == "s0"
    assert read.begun == 2
