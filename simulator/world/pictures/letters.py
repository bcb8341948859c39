"""Printed text as masks. Fonts come with a declared dependency, so no machine needs its own.

matplotlib ships the DejaVu and STIX families (free licences that allow redistribution); they are
found without importing matplotlib. Layout is Pillow's basic one, the same on every machine.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from mmrag.errors import Unavailable


class Face(NamedTuple):
    """A style of lettering."""

    file: str
    squeeze: float = 1.0
    """Width relative to the font's own."""
    upper: bool = False
    """Set in capitals."""


FACES: tuple[Face, ...] = (
    Face("DejaVuSans-Bold.ttf"),
    Face("DejaVuSans-Bold.ttf", 0.8, True),
    Face("DejaVuSans.ttf"),
    Face("DejaVuSans.ttf", 0.85, True),
    Face("DejaVuSerif-Bold.ttf"),
    Face("DejaVuSerif-Bold.ttf", 0.82, True),
    Face("DejaVuSerif.ttf"),
    Face("DejaVuSans-BoldOblique.ttf", 0.9),
    Face("DejaVuSerif-BoldItalic.ttf", 0.9),
    Face("STIXGeneralBol.ttf", 1.1),
    Face("STIXGeneralBol.ttf", 1.1, True),
    Face("STIXGeneralBolIta.ttf", 1.1),
    Face("DejaVuSansMono-Bold.ttf", 0.92),
)
"""Styles a family may be lettered in."""

PLAIN = FACES[2]
"""For running text."""


class Lettering(NamedTuple):
    """A set text: its mask and the height of one line in pixels."""

    mask: NDArray[np.uint8]
    line: float


@lru_cache(maxsize=4096)
def set_text(
    text: str, width: int, height: int, face: Face, lines: int = 3, align: str = "centre"
) -> Lettering:
    """The text as large as fits into width × height, broken into at most `lines` lines."""
    text = " ".join(text.split())
    if face.upper:
        text = text.upper()
    probe = _font(face.file, 64)
    best: tuple[float, list[str]] = (0.0, [text])
    for count in range(1, lines + 1):
        broken = _break(text, count)
        widest = max(probe.getlength(line) for line in broken) * face.squeeze
        fits = min(width / max(widest, 1.0), height / (64 * (1.18 * len(broken) - 0.1)))
        if fits > best[0]:
            best = (fits, broken)
    size = max(int(best[0] * 64), 4)
    font = _font(face.file, size)
    broken = best[1]
    step = size * 1.18
    inner = max(int(width / face.squeeze), 4)
    sheet = Image.new("L", (inner, max(height, 4)), 0)
    draw = ImageDraw.Draw(sheet)
    top = (height - step * len(broken) + 0.1 * size) / 2
    for number, line in enumerate(broken):
        left = (inner - font.getlength(line)) / 2 if align == "centre" else 0
        draw.text((left, top + number * step), line, fill=255, font=font)
    mask = np.asarray(sheet)
    if inner != width:
        mask = cv2.resize(mask, (width, mask.shape[0]), interpolation=cv2.INTER_AREA)
    return Lettering(mask.astype(np.uint8), float(size))


def _break(text: str, count: int) -> list[str]:
    words = text.split()
    if count >= len(words):
        return words or [""]
    goal = len(text) / count
    lines: list[str] = []
    line = ""
    for index, word in enumerate(words):
        longer = f"{line} {word}".strip()
        left = len(words) - index
        if (
            line
            and (abs(len(line) - goal) <= abs(len(longer) - goal) or left <= count - len(lines) - 1)
            and len(lines) < count - 1
        ):
            lines.append(line)
            line = word
        else:
            line = longer
    return [*lines, line]


@lru_cache(maxsize=512)
def _font(file: str, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(_folder() / file), size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=1)
def _folder() -> Path:
    spec = find_spec("matplotlib")
    if spec is None or spec.origin is None:
        raise Unavailable("pictures letter with matplotlib's fonts; install matplotlib.")
    return Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf"
