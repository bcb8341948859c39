"""One picture over a link: taken, cut or made smaller, encoded for real, and timed."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from mmrag.records import Box, Json
from simulator.optics import random_streams
from simulator.optics.light import blur
from simulator.optics.light.srgb import Image, to_codes

if TYPE_CHECKING:
    from simulator.link.device_profiles import DeviceProfile

MARGIN = 0.15
"""Of a part's sides, that is sent around it."""


@dataclass(frozen=True)
class SentPicture:
    """What arrives."""

    data: bytes
    """The encoded file."""
    matrix: tuple[float, ...]
    """Pixels of the picture → of what arrived, where both frames are as wide: a crop is a zoom."""
    record: Json
    """Profile, policy, bytes, seconds and how they came about."""


def send(
    image: Image, profile: DeviceProfile, policy: str, focus: Box | None, *, key: str
) -> SentPicture:
    """Send a picture. The same arguments give the same bytes. Where there is no part to cut out (no
    box is known, no print is seen), it is made smaller as a whole, and the record says so."""
    shot, smear = _shot(image, profile, policy, key)
    camera = _encoded(shot, "jpeg", profile.capture_quality)
    part: tuple[int, int, int, int] | None = None
    data = camera
    if policy != "whole":
        seen = _decoded(camera)
        part = _part(seen, policy, focus, image.shape)
        sent = seen if part is None else seen[part[1] : part[3], part[0] : part[2]]
        longest = profile.longest if part is None else profile.longest_part
        data = _encoded(_within(sent, longest), profile.format, profile.quality)
    wide, high = _size(data)
    x0, y0, x1, y1 = part or (0, 0, shot.shape[1], shot.shape[0])
    sx, sy = shot.shape[1] / (x1 - x0), shot.shape[0] / (y1 - y0)
    ox, oy = image.shape[1] / shot.shape[1], image.shape[0] / shot.shape[0]
    matrix = (sx, 0.0, -x0 * sx * ox, 0.0, sy, -y0 * sy * oy, 0.0, 0.0, 1.0)
    seconds = profile.seconds(len(data), policy)
    late = bool(profile.give_up_seconds) and seconds > profile.give_up_seconds
    fell_back = policy in ("thing", "text") and part is None
    record: Json = {
        "policy": policy, "bytes": len(data), "seconds": seconds, "late": late,
        "size": [wide, high], "camera_bytes": len(camera), "smear": smear, "fell_back": fell_back,
        "part": None if part is None else list(part),
    }  # fmt: skip
    return SentPicture(data, matrix, record)


def _shot(image: Image, profile: DeviceProfile, policy: str, key: str) -> tuple[Image, float]:
    """What the camera gives, and the length of its smear in pixels; of a burst the sharpest."""
    h, w = image.shape[:2]
    short, long = sorted(profile.capture)
    scale = min(1.0, short / min(w, h), long / max(w, h))
    size = max(1, round(w * scale)), max(1, round(h * scale))
    taken = (
        image
        if scale == 1
        else np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
    )
    if not profile.shake:
        return taken, 0.0
    frames = [
        _smeared(taken, profile.shake, random_streams.generator(f"{key}/{n}", "link/shake"))
        for n in range(profile.frames if policy == "burst" else 1)
    ]
    return max(frames, key=lambda frame: _sharpness(frame[0]))


def _smeared(image: Image, shake: float, draw: np.random.Generator) -> tuple[Image, float]:
    length = shake * image.shape[1] * float(np.sqrt(-2 * np.log(1 - draw.random())))
    angle = float(draw.uniform(0, 180))
    if length < 1:
        return image, length
    length = min(length, 0.25 * image.shape[1])
    return to_codes(blur.motion_blur(image, blur.Motion.near(length, angle))), length


def _sharpness(image: Image) -> float:
    """Variance of the Laplacian, which apps compare frames by."""
    gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    return float(cv2.Laplacian(gray, cv2.CV_32F).var())


def _part(
    image: Image, policy: str, focus: Box | None, whole: tuple[int, ...]
) -> tuple[int, int, int, int] | None:
    h, w = image.shape[:2]
    box: Any = None
    if policy == "thing" and focus is not None:
        x, y = w / whole[1], h / whole[0]
        box = (focus[0] * x, focus[1] * y, focus[2] * x, focus[3] * y)
    elif policy == "text":
        from PIL import Image as pil

        from mmrag.agents.grounded.ocr import printed_part

        box = printed_part(pil.fromarray(image))
    if box is None:
        return None
    x0, y0, x1, y1 = box
    mx, my = MARGIN * (x1 - x0), MARGIN * (y1 - y0)
    left, top = max(0, round(x0 - mx)), max(0, round(y0 - my))
    right, bottom = min(w, round(x1 + mx)), min(h, round(y1 + my))
    return (left, top, right, bottom) if right - left >= 16 and bottom - top >= 16 else None


def _within(image: Image, longest: int) -> Image:
    h, w = image.shape[:2]
    scale = longest / max(w, h)
    if scale >= 1:
        return image
    size = max(1, round(w * scale)), max(1, round(h * scale))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)


def _encoded(image: Image, kind: str, quality: int) -> bytes:
    from PIL import Image as pil

    buffer = io.BytesIO()
    options: Json = {"speed": 9, "max_threads": 1} if kind == "avif" else {}
    pil.fromarray(np.ascontiguousarray(image)).save(buffer, kind, quality=quality, **options)
    return buffer.getvalue()


def _decoded(data: bytes) -> Image:
    from PIL import Image as pil

    with pil.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"), np.uint8)


def _size(data: bytes) -> tuple[int, int]:
    from mmrag.files.images import size_of

    return size_of(data)
