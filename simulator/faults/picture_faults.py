"""What becomes of a picture on its way from the wearer to the assistant."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from mmrag.files.images import LazyImage, jpeg
from mmrag.records import Query
from simulator.faults.met_fault import Met

AFFORDED = 12_000
"""Bytes that a slow network has time for."""

_QUALITY = 60
_GREY = (128, 128, 128)


def arrived(query: Query, fault: Met | None) -> Query:
    """The query as it reaches the assistant, earlier pictures of its conversation as well. What it
    meets otherwise does not change it."""
    image = query.image
    if fault is None or image is None:
        return query
    if fault.kind == "picture-missing" or (fault.kind == "picture-late" and query.turn_index == 0):
        fault.is_felt, fault.got = True, "no picture"
        return msgspec.structs.replace(query, image=None, earlier=(), gaze=None)
    changes: dict[str, Callable[[LazyImage], LazyImage]] = {
        "picture-broken": _first_half,
        "network-bandwidth": _coarser,
        "network-loss": partial(_without_its_lower_part, draw=fault.draw),
    }
    change = changes.get(fault.kind)
    if change is None:
        return query
    fault.is_felt = True
    return msgspec.structs.replace(
        query, image=change(image), earlier=tuple(change(one) for one in query.earlier)
    )


def _first_half(image: LazyImage) -> LazyImage:
    return LazyImage.from_bytes(image.data[: len(image.data) // 2], name=image.name)


def _coarser(image: LazyImage) -> LazyImage:
    """As large as the network bears."""
    picture = image.pil()
    while True:
        data = jpeg(picture, _QUALITY)
        if len(data) <= AFFORDED or max(picture.size) <= 32:
            return LazyImage.from_bytes(data, name=image.name)
        picture = picture.resize((max(1, picture.width * 3 // 4), max(1, picture.height * 3 // 4)))


def _without_its_lower_part(image: LazyImage, draw: float) -> LazyImage:
    """A tenth to half of it is grey, as where the end of a progressive picture never came."""
    picture = image.pil()
    top = round(picture.height * (0.5 + 0.4 * draw))
    picture.paste(_GREY, (0, top, *picture.size))
    return LazyImage.from_bytes(jpeg(picture, _QUALITY), name=image.name)
