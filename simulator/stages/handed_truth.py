"""Handing truth over: what of a session changes at a stage, and what its agent is given then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import msgspec

from mmrag.files.images import LazyImage
from mmrag.records import Box, Capture, Query, Session, Turn
from simulator.stages.truth import KnownTruth
from simulator.stages.truth_stage_names import BLIND

_GREEN, _WIDTH = (0, 255, 0), 8
"""Of a drawn box, in pixels of a picture of 1,280: as in CRAG-MM-Diagnostics."""

_FEWEST = 4
"""Pixels of a side: of a smaller rest nothing is seen, and the picture is given as it is."""


def session_at_stage(session: Session, stage: str, known: Sequence[KnownTruth]) -> Session:
    """A session, degraded already, with a stage of its truth; it is recorded like this."""
    pairs = zip(session.turns, known, strict=True)
    if stage not in BLIND:
        turns = [msgspec.structs.replace(turn, box=of.box) for turn, of in pairs]
        return msgspec.structs.replace(session, stage=stage, turns=tuple(turns))
    turns = [
        msgspec.structs.replace(
            turn,
            query=of.named or turn.query,
            gaze=None,
            handed=(
                *((of.facts or ()) if stage == "told" else ()),
                *((of.passages or ()) if stage != "named" else ()),
            ),
        )
        for turn, of in pairs
    ]
    return msgspec.structs.replace(session, stage=stage, capture=None, turns=tuple(turns))


def box_in(capture: Capture | None, box: Box | None) -> Box | None:
    """A box in the very picture that the agent gets: moved as that was turned and cut. None where
    nothing of it is left in the frame."""
    if capture is None or box is None:
        return None
    record = capture.degraded or {}
    if "matrix" not in record:
        return box
    a, b, c, d, e, f = cast("list[float]", record["matrix"])[:6]
    width, height = cast("list[float]", record["size"])
    left, top, right, bottom = box
    corners = [(x, y) for x in (left, right) for y in (top, bottom)]
    xs = [min(max(a * x + b * y + c, 0.0), width) for x, y in corners]
    ys = [min(max(d * x + e * y + f, 0.0), height) for x, y in corners]
    moved = (min(xs), min(ys), max(xs), max(ys))
    return moved if moved[0] < moved[2] and moved[1] < moved[3] else None


def hand_over(query: Query, session: Session, turn: Turn, *, in_words: bool) -> Query:
    """What the agent gets of what is handed over with the turn. `in_words`: it searches nothing
    here, so that passages are written beneath the question."""
    box = box_in(session.capture, turn.box)
    if box is not None and query.image is not None:
        usual = "crop" if session.stage else "drawn"  # of a single task as the reference draws it
        return _pointed(query, box, session.stage.partition(":")[2] or usual)
    if not turn.handed:
        return query
    text = query.text
    if in_words:
        told = "\n".join(f"- {passage.text}" for passage in turn.handed)
        text = f"{text}\n\nThis is known:\n{told}"
    passages = tuple(msgspec.structs.replace(p, label="unknown") for p in turn.handed)
    return msgspec.structs.replace(
        query, text=text, passages=(*passages, *query.passages), handed=len(passages)
    )


def _pointed(query: Query, box: Box, way: str) -> Query:
    assert query.image is not None
    picture = query.image.pil()
    width, height = picture.size
    left, right = (round(min(max(x, 0), width)) for x in (box[0], box[2]))
    top, bottom = (round(min(max(y, 0), height)) for y in (box[1], box[3]))
    if right - left < _FEWEST or bottom - top < _FEWEST:
        return query
    gaze = ((left + right) / 2 / width, (top + bottom) / 2 / height)
    if way == "gaze":
        return msgspec.structs.replace(query, gaze=gaze)
    if way == "crop":
        shown, gaze = picture.crop((left, top, right, bottom)), (0.5, 0.5)
    else:
        from PIL import ImageDraw

        shown = picture
        thick = max(round(_WIDTH * max(width, height) / 1280), 1)
        pen = ImageDraw.Draw(shown)
        pen.rectangle((left, top, right - 1, bottom - 1), outline=_GREEN, width=thick)
    image = LazyImage.from_pil(shown, name=f"{query.image.name}, {way}")
    return msgspec.structs.replace(query, image=image, gaze=gaze)
