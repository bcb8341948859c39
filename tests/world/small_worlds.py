"""Requests for worlds that take seconds."""

from __future__ import annotations

from msgspec.structs import replace

from simulator.world.build.world_request import WorldRequest, make_request


def small_request(seed: int = 5, *, pictures: bool = False, **changes: object) -> WorldRequest:
    """A world of seconds: all parts of a big one, a few of each."""
    request = replace(
        make_request(seed, 8, "mini", pictures=pictures), singles=20, entities=400, kg_pictures=24,
        ego=(180, 240), catalogue=160, kg_side=96
    )  # fmt: skip
    return replace(request, **changes)


def pictured_request() -> WorldRequest:
    """The smallest world whose pictures show most of what a picture may be."""
    return small_request(pictures=True, singles=8, kg_pictures=12)
