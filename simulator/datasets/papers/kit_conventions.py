"""CRAG-MM as the public kits read it: what they leave out, replace, resize and count.

The 2026 kit (`crag-mm`) leaves out two sessions, replaces one dead picture URL and resizes
egocentric pictures; the 2025 kit (`kddcup25`) does none of this. Both call a session egocentric
only where `image_url` is null: an empty text is none to fetch, and not egocentric.
"""

from __future__ import annotations

import io

from mmrag.errors import SpecError
from mmrag.files.images import LazyImage

READERS = ("none", "crag-mm", "kddcup25")

SIZE = (960, 1280)
"""Width and height to which the 2026 kit resizes egocentric pictures, whatever their shape."""

LEFT_OUT = frozenset(
    {"04d98259-27af-41b1-a7be-5798fd1b8e95", "695b4b5c-7c65-4f7b-8968-50fe10482a16"}
)
"""Sessions that the 2026 kit skips."""

REPLACED = {
    "0df99a9a-6a5d-4ff4-b8e4-e3ee90209dfe": "https://web.archive.org/web/20250521025904/"
    "https://upload.wikimedia.org/wikipedia/commons/1/13/BMW_5_SERIES_LWB_SEDAN_(G30)_China_(82).jpg"
}
"""Session → the URL that the 2026 kit takes instead; of single-turn data only."""


def check_kit(as_kit: str) -> None:
    """Refuse a kit that nobody knows."""
    if as_kit not in READERS:
        raise SpecError(f"as_kit (--as-kit) is {', '.join(READERS)}; not {as_kit!r}.")


def is_left_out(as_kit: str, session_id: str) -> bool:
    """Whether the kit skips this session."""
    return as_kit == "crag-mm" and session_id in LEFT_OUT


def url_in_kit(as_kit: str, session_id: str, url: str | None, turns: int) -> str | None:
    """The picture's URL as the kit takes it."""
    if as_kit == "crag-mm" and turns == 1:
        return REPLACED.get(session_id, url)
    return url


def is_ego_in_kit(as_kit: str, url: str | None) -> bool:
    """Whether a session counts as egocentric."""
    return not url if as_kit == "none" else url is None


def tells_domain_in_kit(as_kit: str) -> bool:
    """Whether the kit tells its agents the domain of each question."""
    return as_kit == "crag-mm"


def seen_in_kit(as_kit: str, image: LazyImage, url: str | None) -> LazyImage:
    """The picture as the kit's agents see it, pixel by pixel: a PNG where it was resized."""
    if as_kit != "crag-mm" or url:
        return image

    def load() -> bytes:
        buffer = io.BytesIO()
        image.pil().resize(SIZE).save(buffer, "PNG", compress_level=1)
        return buffer.getvalue()

    return LazyImage(load, name=image.name)
