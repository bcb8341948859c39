"""Pictures as other tools take them: bytes that any browser shows, and their media type."""

from __future__ import annotations

import io

from mmrag.errors import MmragError
from mmrag.files.images import LazyImage, media_type
from mmrag.records import Session

SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png", "image/gif": ".gif", "image/webp": ".webp"}
"""Media type → how a file of it is called."""


def for_browsers(image: LazyImage) -> tuple[bytes, str] | None:
    """A picture's bytes and media type, made a PNG where browsers know no such format. None where
    it cannot be read: an export then says so in its place and goes on."""
    try:
        data = image.data
        kind = media_type(data)
        if kind:
            return data, kind
        buffer = io.BytesIO()
        image.pil().save(buffer, "PNG")
    except MmragError:
        return None
    return buffer.getvalue(), "image/png"


def picture_of(session: Session) -> tuple[bytes, str] | None:
    """What the assistant saw; None without a picture, and where it cannot be read."""
    return None if session.capture is None else for_browsers(session.capture.image)
