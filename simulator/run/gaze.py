"""Where the wearer looks in the very picture that the assistant gets."""

from __future__ import annotations

from typing import cast

from mmrag.records import Gaze, Session, Turn


def gaze_of(session: Session, turn: Turn) -> Gaze | None:
    """The gaze of a turn, moved as the picture was turned and cut; None where it left the frame. In
    a picture that a live wearer took since, things stand elsewhere: it has none."""
    capture, gaze = session.capture, turn.gaze
    retaken = any(one.capture is not None for one in session.turns[: turn.index + 1])
    if gaze is None or capture is None or retaken:
        return None
    record = capture.degraded or {}
    if "matrix" not in record:
        return gaze
    a, b, c, d, e, f = cast("list[float]", record["matrix"])[:6]
    width, height = cast("list[float]", record["size"])
    x, y = gaze[0] * width, gaze[1] * height
    moved = ((a * x + b * y + c) / width, (d * x + e * y + f) / height)
    return moved if all(0 <= part <= 1 for part in moved) else None
