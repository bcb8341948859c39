"""Type: the faces that ship, and texts set as large as fits.

matplotlib ships the DejaVu, STIX and Computer Modern families (free licences that allow
redistribution); they are found without importing it. Layout is Pillow's basic one, the same on
every machine.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from mmrag.errors import SpecError, Unavailable
from simulator.studio import INSTALL


class Face(NamedTuple):
    """A style of lettering."""

    file: str
    squeeze: float = 1.0
    """Width relative to the font's own."""
    upper: bool = False
    """Set in capitals."""
    bold: float = 0.0
    """Strokes made thicker by this part of the size."""
    track: float = 0.0
    """Space added between letters, in parts of the size."""


FACES: tuple[Face, ...] = (Face("DejaVuSans-Bold.ttf", 0.92),
    Face("DejaVuSans-Bold.ttf", 0.7, True), Face("DejaVuSans-Bold.ttf", 0.82, True, 0.015, 0.02),
    Face("DejaVuSans-Bold.ttf", 1.08, True, 0.0, 0.05),
    Face("DejaVuSans.ttf", 0.9, True, 0.02, 0.1), Face("DejaVuSans-BoldOblique.ttf", 0.84),
    Face("DejaVuSerif-Bold.ttf", 0.86), Face("DejaVuSerif-Bold.ttf", 0.78, True, 0.0, 0.03),
    Face("STIXGeneralBol.ttf", 1.05), Face("STIXGeneralBol.ttf", 1.0, True, 0.0, 0.08),
    Face("STIXGeneralBolIta.ttf", 1.1), Face("cmb10.ttf", 1.0, False, 0.012),
    Face("cmb10.ttf", 0.92, True, 0.0, 0.04), Face("cmss10.ttf", 1.0, False, 0.035),
    Face("cmss10.ttf", 1.0, True, 0.03, 0.1), Face("cmss10.ttf", 0.84, False, 0.03, 0.015),
    Face("cmtt10.ttf", 0.9, False, 0.035))  # fmt: skip
"""Styles a family may be lettered in, all of them heavy enough to be read from a photograph."""

SANS = Face("DejaVuSans.ttf", 0.95)
BOLD = Face("DejaVuSans-Bold.ttf", 0.9)
SERIF = Face("STIXGeneral.ttf", 1.05)
BOOK = Face("cmr10.ttf")
"""For running text."""


@lru_cache(maxsize=64)
def typeset(text: str, width: int, height: int, face: Face, lines: int = 2, align: str = "centre",
    valign: str = "centre") -> tuple[NDArray[np.uint8], float]:  # fmt: skip
    """A text as large as fits into width × height pixels: its mask, and the height of a capital."""
    if face.file.startswith("cm") and not text.isascii():
        face = Face("STIXGeneralBol.ttf", 1.05, face.upper, 0.0, face.track)
    text = text.upper() if face.upper else text
    if lacking := sorted({c for c in text if not c.isspace() and _is_lacking(face.file, c)}):
        raise SpecError(
            f"{''.join(lacking)!r} of {text[:40]!r} is in none of the faces that ship; "
            "write it in Latin letters and figures."
        )
    probe = _font(face.file, 100)
    cap_em = _cap(probe) / 100 + face.bold
    drop = 0.26 if any(c in "gjpqy,;Q" for c in text) else 0.03
    lead = (cap_em + 0.3) if face.upper else (cap_em + max(drop, 0.2) + 0.14)
    best: tuple[float, list[str]] = (0.0, [text])
    for count in range(1, lines + 1):
        broken = _break(text.split(), count, probe, face)
        widest = max(_length(line, probe, face) for line in broken) / 100
        size = min(width / max(widest, 1e-3), height / (cap_em + drop + lead * (len(broken) - 1)))
        if size > best[0] * 1.04:
            best = (size, broken)
    broken = best[1]
    # a narrow box: letters as slim as still look well, so that they can be tall
    spare = height / (cap_em + drop + lead * (len(broken) - 1)) / max(best[0], 1e-3)
    slim = min(spare, 1.4, max(face.squeeze / 0.64, 1.0))
    face = face._replace(squeeze=face.squeeze / slim)
    size = max(int(best[0] * slim), 4)
    font = _font(face.file, size)
    inner = max(math.ceil(width / face.squeeze), 4)
    page = Image.new("L", (inner, height), 0)
    draw = ImageDraw.Draw(page)
    cap = size * cap_em
    block = cap + size * lead * (len(broken) - 1)
    base = cap + {"top": 0.0, "centre": (height - block - drop * size) / 2}.get(
        valign, height - block - drop * size
    )
    for number, line in enumerate(broken):
        long = _length(line, font, face) / face.squeeze
        left = {"left": 0.0, "right": inner - long}.get(align, (inner - long) / 2)
        _draw_line(draw, line, left, base + number * size * lead, font, face)
    mask = np.asarray(page)
    if inner != width:
        mask = cv2.resize(mask, (width, height), interpolation=cv2.INTER_AREA).astype(np.uint8)
    mask.setflags(write=False)
    return mask, cap


@lru_cache(maxsize=64)
def running(
    words: tuple[str, ...], width: int, height: int, size: int, face: Face = BOOK
) -> NDArray[np.uint8]:
    """Words in justified lines of a size in pixels, as many as fill a column."""
    page = np.zeros((height, width), np.uint8)
    space, lead = round(size * 0.3), round(size * 1.3)
    inks = [_word(word, face.file, size) for word in words]
    first = 0
    for row in range(height // lead):
        end, taken = first, -space
        while end < len(words) and taken + space + inks[end].shape[1] <= width:
            taken += space + inks[end].shape[1]
            end += 1
        if end == first:
            break
        wider = (width - taken) / (end - first - 1) if first + 1 < end < len(words) else 0.0
        x = 0.0
        for ink in inks[first:end]:
            at = int(x)
            page[row * lead : row * lead + ink.shape[0], at : at + ink.shape[1]] = ink
            x += ink.shape[1] + space + wider
        first = end
    page.setflags(write=False)
    return page


@lru_cache(maxsize=2048)
def _word(word: str, file: str, size: int) -> NDArray[np.uint8]:
    """One word of running text, a line high."""
    font = _font(file, size)
    piece = Image.new("L", (max(math.ceil(font.getlength(word)), 1), round(size * 1.25)), 0)
    ImageDraw.Draw(piece).text((0, size * 0.9), word, 255, font, anchor="ls")
    return np.asarray(piece)


def _draw_line(draw: ImageDraw.ImageDraw, line: str, left: float, base: float,
    font: ImageFont.FreeTypeFont, face: Face) -> None:  # fmt: skip
    thick = round(face.bold * font.size)
    if not face.track:
        draw.text((left + thick, base), line, 255, font, anchor="ls", stroke_width=thick)
        return
    for i, letter in enumerate(line):
        at = left + thick + font.getlength(line[:i]) + i * face.track * font.size
        draw.text((at, base), letter, 255, font, anchor="ls", stroke_width=thick)


def _length(line: str, font: ImageFont.FreeTypeFont, face: Face) -> float:
    """Pixels that a line takes, squeezed and spaced."""
    more = face.track * max(len(line) - 1, 0) + 2 * face.bold
    return (font.getlength(line) + more * font.size) * face.squeeze * 1.01


def _break(words: list[str], count: int, font: ImageFont.FreeTypeFont, face: Face) -> list[str]:
    """Words in `count` lines, the longest as short as can be."""
    if count >= len(words):
        return words
    cuts = itertools.combinations(range(1, len(words)), count - 1)
    if math.comb(len(words) - 1, count - 1) > 400:  # a long text: lines of equal letters
        goal = len(words) / count
        cuts = iter([tuple(round(goal * i) for i in range(1, count))])
    ways = ([0, *cut, len(words)] for cut in cuts)
    sets = [[" ".join(words[a:b]) for a, b in itertools.pairwise(way)] for way in ways]
    return min(sets, key=lambda lines: max(_length(line, font, face) for line in lines))


@lru_cache(maxsize=4096)
def _is_lacking(file: str, letter: str) -> bool:
    """Whether a font shows its empty box in place of a letter."""
    pages = [Image.new("L", (80, 80)) for _ in range(2)]
    for page, shown in zip(pages, (letter, "\uffff"), strict=True):
        ImageDraw.Draw(page).text((20, 60), shown, 255, _font(file, 40), anchor="ls")
    return pages[0].tobytes() == pages[1].tobytes()


def _cap(font: ImageFont.FreeTypeFont) -> float:
    box = font.getbbox("H", anchor="ls")
    return -box[1]


@lru_cache(maxsize=512)
def _font(file: str, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(_folder() / file), size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=1)
def _folder() -> Path:
    spec = find_spec("matplotlib")
    if spec is None or spec.origin is None:
        raise Unavailable(f"prints are set in matplotlib's fonts: run `{INSTALL}`.")
    return Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf"
