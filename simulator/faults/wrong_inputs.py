"""Input that is wrong and looks right: another picture, or other words, than the wearer's own.

Whether an assistant notices is a score of its own (`simulator/reports/figures/noticed_faults.py`).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from mmrag.files.images import LazyImage
from mmrag.records import Box, Query, Record, Session
from simulator.faults.current_fault import ActiveFault
from simulator.faults.fault_kinds import random_fraction

POOL = 9
"""Conversations of the data set that others' pictures and words are taken from."""

_LEAST = 0.2
"""Of a side that the view of before has at least."""


class OtherConversation(Record, frozen=True, kw_only=True):
    """What belongs to another conversation."""

    session_id: str
    image: LazyImage
    text: str


def other_conversations(sessions: Iterable[Session]) -> tuple[OtherConversation, ...]:
    """The first conversations of a data set that have a picture."""

    def found() -> Iterator[OtherConversation]:
        for session in sessions:
            if session.capture is not None and session.turns:
                image = session.capture.image
                yield OtherConversation(
                    session_id=session.id, image=image, text=session.turns[0].query
                )

    return tuple(islice(found(), POOL))


def apply_input_fault(
    query: Query,
    fault: ActiveFault | None,
    pool: tuple[OtherConversation, ...],
    focus: Box | None = None,
) -> Query:
    """The query as it reaches the assistant. `fault.got` then says what that was, in words."""
    if fault is None:
        return query
    others = [one for one in pool if one.session_id != query.session_id]
    other = others[int(fault.draw * len(others))] if others else None
    if fault.kind == "cut-question":
        words = query.text.split()
        return _asked(query, fault, " ".join(words[: max(1, len(words) // 2)]))
    if fault.kind == "glued-question":
        before = query.history[-1].query if query.history else other.text if other else ""
        return _asked(query, fault, f"{before} {query.text}".strip())
    if query.image is None:
        return query
    if fault.kind == "stale-picture":
        return _shown(query, fault, _before(query.image, focus), "what was in view before")
    if fault.kind == "previous-picture" and query.earlier:
        return _shown(query, fault, query.earlier[-1], "the picture taken before")
    if fault.kind == "previous-picture" and others:  # one and the same for the conversation
        other = others[int(random_fraction("previous", 0, query.session_id, 0) * len(others))]
    elif fault.kind != "other-stream":
        return query
    if other is None:
        return query
    return _shown(query, fault, other.image, f"the picture of {other.session_id}")


def _asked(query: Query, fault: ActiveFault, text: str) -> Query:
    if text == query.text:
        return query
    fault.is_felt, fault.got = True, f"“{text}”"
    return msgspec.structs.replace(query, text=text)


def _shown(query: Query, fault: ActiveFault, image: LazyImage, words: str) -> Query:
    if image.sha256 == (query.image.sha256 if query.image else ""):
        return query
    fault.is_felt, fault.got = True, words
    return msgspec.structs.replace(query, image=image, earlier=(), gaze=None)


def _before(image: LazyImage, focus: Box | None) -> LazyImage:
    """The largest part of the view beside the thing, as large as the picture: the head has since
    turned to it. Without a thing, the part above the middle."""
    from PIL import Image

    picture = image.pil()
    w, h = picture.size
    x0, y0, x1, y1 = focus or (0.0, h / 2, float(w), float(h))
    parts = [(0.0, 0.0, x0, h), (x1, 0.0, w, h), (0.0, 0.0, w, y0), (0.0, y1, w, h)]
    parts = [p for p in parts if p[2] - p[0] >= _LEAST * w and p[3] - p[1] >= _LEAST * h]
    whole = (0.0, 0.0, max(1.0, _LEAST * w), max(1.0, _LEAST * h))
    part = max(parts, key=lambda p: (p[2] - p[0]) * (p[3] - p[1]), default=whole)
    buffer = io.BytesIO()
    picture.resize((w, h), Image.Resampling.BICUBIC, box=part).save(buffer, "JPEG", quality=95)
    return LazyImage.from_bytes(buffer.getvalue(), name=f"{image.name} (before)")
