"""What is printed on things: sheets of paper, foil or paint, typeset and drawn.

A sheet is drawn in fractions, (0, 0) its upper left corner and (1, 1) its lower right one; radii
and strokes are parts of its shorter side. A part of a sheet is a sheet of its own, which clips what
is drawn on it: a label that runs around a bottle has its front in the middle third. `prints_on`
finds where the texts of a sheet lie on the mesh that carries it.

Brands are the world's own invented words, from a seed that no world of the shipped sizes counts up
to: none is the name of a thing that is asked about. matplotlib ships the fonts, whose licences
allow redistribution; layout is Pillow's basic one, the same on every machine.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from mmrag.errors import SpecError, Unavailable
from simulator.studio import INSTALL
from simulator.studio.solid.scene_types import Array, Mesh, Print
from simulator.world.facts.invented_names import words_of
from simulator.world.pictures.noise_tiles import patch
from simulator.world.pictures.traits import Colour, Draws

GOODS = (
    "Rolled oats", "Strong tea", "Wholegrain rice", "Tomato soup", "Plum jam", "Sea salt",
    "Ginger biscuits", "Washing powder", "Olive oil soap", "Chopped tomatoes", "Cocoa powder",
    "Corn flakes", "Brown sugar", "Red lentils", "Paper towels", "Ground coffee", "Apple rings",
    "Egg noodles", "Dog biscuits", "Cane sugar", "Bread flour", "Peach halves", "Chickpeas",
    "Candles", "Mustard", "Salted crackers", "Muesli", "Dish cloths", "Fruit tea", "Wheat bran",
)  # fmt: skip
"""What is sold, in plain words."""

CLAIMS = (
    "Original", "Classic", "Everyday", "Simply good", "Well made", "Small batch", "Good things",
    "From the kitchen", "Pure & plain", "As it should be", "Family size", "Since forever",
)  # fmt: skip
"""Words of packs that say nothing."""

TITLES = (
    "Collected Stories", "A Novel", "Selected Essays", "The Complete Guide", "Poems", "A Memoir",
    "Letters", "A Short History", "Notes from Home", "The Illustrated Edition",
)  # fmt: skip
"""Words of covers that name no book."""

_LINES = (
    "Store in a cool, dry place and close well after opening.",
    "Ingredients: wheat flour, sugar, vegetable oil, salt, barley malt, raising agent.",
    "Best before the date printed on the base of this pack.",
    "May contain traces of nuts, milk and sesame.",
    "Keep out of reach of children. Do not expose to direct sunlight.",
    "We choose every harvest by hand and never hurry what takes its time.",
    "Questions? Write to us, we read every letter.",
    "Please recycle this carton with paper and card.",
    "Minutes of the last meeting were read and agreed without changes.",
    "The committee thanks all who gave their time over the winter.",
    "Deliveries are taken at the side door between eight and eleven.",
    "Gift of the artist's family; shown here for the first time since it was restored.",
    "Oil on canvas, unsigned, found under a later coat of paint.",
    "Serving suggestion: warm gently and stir from time to time.",
    "Every part can be replaced; see the list on the last page.",
    "The second half follows after the break, weather permitting.",
)


@cache
def _brands() -> tuple[str, ...]:
    return words_of("place")[::37][:240]


def brand(draw: Draws, name: str) -> str:
    """An invented word; names of the world have others beside it."""
    return draw.pick(name, _brands())


def small_print(draw: Draws, name: str = "small-print") -> tuple[str, ...]:
    """Sentences as running words, more than any label has room for."""
    first = draw.count(name, 0, len(_LINES) - 1)
    step = draw.pick(f"{name}-step", (1, 3, 5, 7))
    lines = (_LINES[(first + step * k) % len(_LINES)] for k in range(len(_LINES)))
    return tuple(" ".join(lines).split()) * 3


class Font(NamedTuple):
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


FACES: tuple[Font, ...] = (Font("DejaVuSans-Bold.ttf", 0.92),
    Font("DejaVuSans-Bold.ttf", 0.7, True), Font("DejaVuSans-Bold.ttf", 0.82, True, 0.015, 0.02),
    Font("DejaVuSans-Bold.ttf", 1.08, True, 0.0, 0.05),
    Font("DejaVuSans.ttf", 0.9, True, 0.02, 0.1), Font("DejaVuSans-BoldOblique.ttf", 0.84),
    Font("DejaVuSerif-Bold.ttf", 0.86), Font("DejaVuSerif-Bold.ttf", 0.78, True, 0.0, 0.03),
    Font("STIXGeneralBol.ttf", 1.05), Font("STIXGeneralBol.ttf", 1.0, True, 0.0, 0.08),
    Font("STIXGeneralBolIta.ttf", 1.1), Font("cmb10.ttf", 1.0, False, 0.012),
    Font("cmb10.ttf", 0.92, True, 0.0, 0.04), Font("cmss10.ttf", 1.0, False, 0.035),
    Font("cmss10.ttf", 1.0, True, 0.03, 0.1), Font("cmss10.ttf", 0.84, False, 0.03, 0.015),
    Font("cmtt10.ttf", 0.9, False, 0.035))  # fmt: skip
"""Styles a family may be lettered in, all of them heavy enough to be read from a photograph."""

SANS = Font("DejaVuSans.ttf", 0.95)
BOLD = Font("DejaVuSans-Bold.ttf", 0.9)
SERIF = Font("STIXGeneral.ttf", 1.05)
BOOK = Font("cmr10.ttf")
"""For running text."""


@lru_cache(maxsize=64)
def typeset(text: str, width: int, height: int, face: Font, lines: int = 1, align: str = "centre",
    valign: str = "centre") -> tuple[NDArray[np.uint8], float]:  # fmt: skip
    """A text as large as fits into width × height pixels: its mask, and the height of a capital."""
    if face.file.startswith("cm") and not text.isascii():
        face = Font("STIXGeneralBol.ttf", 1.05, face.upper, 0.0, face.track)
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
def typeset_column(
    words: tuple[str, ...], width: int, height: int, size: int, face: Font = BOOK
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
    font: ImageFont.FreeTypeFont, face: Font) -> None:  # fmt: skip
    thick = round(face.bold * font.size)
    if not face.track:
        draw.text((left + thick, base), line, 255, font, anchor="ls", stroke_width=thick)
        return
    for i, letter in enumerate(line):
        at = left + thick + font.getlength(line[:i]) + i * face.track * font.size
        draw.text((at, base), letter, 255, font, anchor="ls", stroke_width=thick)


def _length(line: str, font: ImageFont.FreeTypeFont, face: Font) -> float:
    """Pixels that a line takes, squeezed and spaced."""
    more = face.track * max(len(line) - 1, 0) + 2 * face.bold
    return (font.getlength(line) + more * font.size) * face.squeeze * 1.01


def _break(words: list[str], count: int, font: ImageFont.FreeTypeFont, face: Font) -> list[str]:
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


Box = tuple[float, float, float, float]
"""Left, top, right, bottom in fractions of a sheet."""


class Text(NamedTuple):
    """A text that was set on a sheet."""

    text: str
    box: Box
    """Where its ink is, in pixels of the whole sheet."""
    cap: float
    """Height of a capital in pixels."""


class Sheet:
    """A picture to be printed, and the texts that can be read on it."""

    def __init__(self, width: float, height: float, ground: Colour, *, side: int = 768) -> None:
        """A sheet of a size in metres, `side` pixels along its larger side (at most 1024)."""
        scale = min(side, 1024) / max(width, height)
        shape = (max(round(height * scale), 8), max(round(width * scale), 8), 3)
        self.rgb: NDArray[np.uint8] = np.empty(shape, np.uint8)
        self.rgb[...] = np.array(ground).round()
        self.texts: list[Text] = []
        self._corner = (0, 0)

    @property
    def aspect(self) -> float:
        """Width over height."""
        return self.rgb.shape[1] / self.rgb.shape[0]

    @property
    def unit(self) -> float:
        """The shorter side in pixels."""
        return float(min(self.rgb.shape[:2]))

    def part(self, box: Box, ground: Colour | None = None) -> Sheet:
        """A piece of this sheet: what is drawn on it appears here."""
        x0, y0, x1, y1 = self._pixels(box)
        piece = Sheet.__new__(Sheet)
        piece.rgb = self.rgb[y0:y1, x0:x1]
        piece.texts = self.texts
        piece._corner = (self._corner[0] + x0, self._corner[1] + y0)
        if ground is not None:
            piece.rgb[...] = np.array(ground).round()
        return piece

    def fill(self, points: Array | Sequence[tuple[float, float]], colour: Colour) -> None:
        """A plain area."""
        at = np.asarray(points, np.float64) * (self.rgb.shape[1], self.rgb.shape[0])
        fixed = np.round(at * 16).astype(np.int32)
        cv2.fillPoly(self.rgb, [fixed], colour, cv2.LINE_AA, 4)

    def box(self, box: Box, colour: Colour, *, round_by: float = 0.0) -> None:
        """A rectangle, its corners rounded by a part of the shorter side."""
        x0, y0, x1, y1 = box
        if round_by <= 0:
            self.fill([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], colour)
            return
        w, h = self.rgb.shape[1], self.rgb.shape[0]
        r = min(round_by * self.unit, (x1 - x0) * w / 2, (y1 - y0) * h / 2)
        angle = np.linspace(0, 2 * math.pi, 64, endpoint=False)
        c, s = np.cos(angle), np.sin(angle)
        half = np.array([(x1 - x0) * w / 2 - r, (y1 - y0) * h / 2 - r])
        at = np.stack([c, s], 1) * r + np.sign(np.stack([c, s], 1)) * half
        at += np.array([(x0 + x1) * w / 2, (y0 + y1) * h / 2])
        self.fill(at / (w, h), colour)

    def figure(
        self, points: Array, x: float, y: float, radius: float, colour: Colour, *, turn: float = 0.0
    ) -> None:
        """A shape of radius 1 (y upwards) put at a place; `turn` in radians."""
        c, s = math.cos(turn) * radius * self.unit, math.sin(turn) * radius * self.unit
        at = np.asarray(points, np.float64) @ np.array([[c, -s], [-s, -c]])
        self.fill(at / (self.rgb.shape[1], self.rgb.shape[0]) + (x, y), colour)

    def disc(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """A round area."""
        angle = np.linspace(0, 2 * math.pi, 72, endpoint=False)
        self.figure(np.stack([np.cos(angle), np.sin(angle)], 1), x, y, radius, colour)

    def line(
        self, points: Array | Sequence[tuple[float, float]], width: float, colour: Colour
    ) -> None:
        """A stroke."""
        at = np.asarray(points, np.float64) * (self.rgb.shape[1], self.rgb.shape[0])
        thick = max(round(width * self.unit), 1)
        cv2.polylines(
            self.rgb, [np.round(at * 16).astype(np.int32)], False, colour, thick, cv2.LINE_AA, 4
        )

    def frame(self, box: Box, width: float, colour: Colour) -> None:
        """The border of a rectangle."""
        x0, y0, x1, y1 = box
        self.line([(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)], width, colour)

    def blend(self, mask: Array, colour: Colour, box: Box = (0, 0, 1, 1)) -> None:
        """A colour laid on as thick as a mask says (0–1), stretched over a box."""
        x0, y0, x1, y1 = self._pixels(box)
        place = self.rgb[y0:y1, x0:x1]
        cover = np.asarray(mask, np.float32)
        if cover.shape != place.shape[:2]:
            cover = cv2.resize(cover, (x1 - x0, y1 - y0), interpolation=cv2.INTER_LINEAR)
        mixed = place + (np.array(colour, np.float32) - place) * cover[..., None]
        place[...] = np.clip(mixed + 0.5, 0, 255).astype(np.uint8)

    def text(self, text: str | None, box: Box, ink: Colour, face: Font = SANS, *, lines: int = 1,
        align: str = "centre", valign: str = "centre", note: bool = True,
        edge: Colour | None = None, instead: str | None = None) -> Box | None:  # fmt: skip
        """Set a text as large as fits into a box, and note it as one that can be read.

        Where there is none, words may stand `instead` that say nothing and are not noted. `edge`
        outlines the letters. Returns where the ink is, in fractions: what stands below can follow
        it. What no face can set is an error.
        """
        if not text or not text.strip():
            text, note = instead, False
        if not text:
            return None
        x0, y0, x1, y1 = self._pixels(box)
        room = round(0.04 * (y1 - y0)) if edge is not None else 0
        size = (x1 - x0 - 2 * room, y1 - y0 - 2 * room)
        mask, cap = typeset(" ".join(text.split()), *size, face, lines, align, valign)
        mask = np.pad(mask, room)
        if edge is not None:
            wide = max(round(cap * 0.13), 1) * 2 + 1
            dot = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (wide, wide))
            self.blend(cv2.dilate(mask, dot).astype(np.float32) / 255, edge, box)
        self.blend(mask.astype(np.float32) / 255, ink, box)
        ys, xs = np.flatnonzero(mask.max(1) > 60), np.flatnonzero(mask.max(0) > 60)
        if not len(xs):
            return None
        left, top, right, bottom = x0 + xs[0], y0 + ys[0], x0 + xs[-1] + 1, y0 + ys[-1] + 1
        if note:
            dx, dy = self._corner
            ink_box = (left + dx, top + dy, right + dx, bottom + dy)
            self.texts.append(Text(" ".join(text.split()), ink_box, cap))
        h, w = self.rgb.shape[:2]
        return left / w, top / h, right / w, bottom / h

    def prose(self, box: Box, words: Sequence[str], size: float, ink: Colour) -> None:
        """Running text in a book's face; `size` is a part of the shorter side."""
        x0, y0, x1, y1 = self._pixels(box)
        mask = typeset_column(tuple(words), x1 - x0, y1 - y0, max(round(size * self.unit), 4), BOOK)
        self.blend(mask.astype(np.float32) / 255, ink, box)

    def fade(self, top: Colour, bottom: Colour) -> None:
        """One colour that passes into another from above to below."""
        self.part((0, 0, 1, 1), top).blend(np.linspace(0, 1, 64)[:, None].repeat(2, 1), bottom)

    def small_print(self, box: Box, rows: int, ink: Colour, draw: Draws) -> None:
        """Rows of words as nobody reads them unless from very near."""
        x0, y0, x1, y1 = self._pixels(box)
        fine = 3 if y1 - y0 < 8 * rows else 1  # set large and made smaller, so that it stays type
        size = max(int(fine * (y1 - y0) / rows / 1.3), 4)
        room = (fine * (x1 - x0), max(fine * (y1 - y0), round(1.3 * size) * rows))
        mask = typeset_column(small_print(draw), *room, size, Font("DejaVuSans.ttf"))
        mask = cv2.resize(mask, (x1 - x0, y1 - y0), interpolation=cv2.INTER_AREA)
        self.blend(mask.astype(np.float32) / 255, ink, box)

    def barcode(self, box: Box, draw: Draws) -> None:
        """A code of bars on its white ground."""
        code = self.part(box, (250, 250, 248))
        bars = code.rgb[
            int(code.rgb.shape[0] * 0.1) : max(int(code.rgb.shape[0] * 0.82), 1),
            int(code.rgb.shape[1] * 0.08) : max(int(code.rgb.shape[1] * 0.92), 1),
        ]
        dark = np.array([draw.chance(f"bar-{i}", 0.5) for i in range(48)])
        columns = dark[np.arange(bars.shape[1]) * 48 // max(bars.shape[1], 1)]
        bars[:, columns] = (22, 22, 24)
        number = " ".join(f"{draw.count(f'code-{i}', 100, 999)}" for i in range(4))
        code.text(number, (0.12, 0.84, 0.88, 0.98), (40, 40, 42), SANS, note=False)

    def noise(self, texture: str, dx: float = 0.37, dy: float = 0.11) -> NDArray[np.float32]:
        """A texture as large as the sheet, mean 0 and deviation 1, from a place in [0, 1)²."""
        h, w = self.rgb.shape[:2]
        return patch(texture, h, w, dx, dy)

    def shade(self, light: Array) -> None:
        """Make every pixel lighter or darker by a factor of its own."""
        self.rgb[...] = np.clip(self.rgb * light[..., None], 0, 255).astype(np.uint8)

    def grain(self, strength: float, texture: str = "fine") -> None:
        """Unevenness of paper or paint."""
        self.shade(1 + strength * self.noise(texture))

    def _pixels(self, box: Box) -> tuple[int, int, int, int]:
        h, w = self.rgb.shape[:2]
        x0, y0 = min(max(round(box[0] * w), 0), w - 2), min(max(round(box[1] * h), 0), h - 2)
        return (
            x0,
            y0,
            min(max(round(box[2] * w), x0 + 2), w),
            min(max(round(box[3] * h), y0 + 2), h),
        )


def side_by_side(sheets: Sequence[Array], across: int) -> Array:
    """Sheets of one size as one, so many in a row."""
    rows = (sheets[k : k + across] for k in range(0, len(sheets), across))
    return np.concatenate([np.concatenate(row, 1) for row in rows])


def showing(mesh: Mesh, cell: int, across: int, down: int) -> Mesh:
    """A mesh that shows one of the sheets that lie side by side."""
    at = np.array((cell % across, down - 1 - cell // across))
    uv = (mesh.uv * 0.97 + 0.015 + at) / (across, down)
    return mesh._replace(uv=uv.astype(np.float32))


def prints_on(mesh: Mesh, sheet: Sheet) -> tuple[Print, ...]:
    """Where the texts of a sheet lie on the mesh that carries it, in the mesh's metres."""
    h, w = sheet.rgb.shape[:2]
    found: list[Print] = []
    for text, (x0, y0, x1, y1), cap in sheet.texts:
        at = np.array([(x0, y1), (x1, y1), (x1, y0), (x0, y0)], np.float64) / (w, h)
        corners = np.array([point_on(mesh, u, 1 - v) for u, v in at], np.float32)
        rise = float(np.linalg.norm(corners[3] - corners[0]))
        found.append(Print(text, corners, cap * rise / max(y1 - y0, 1e-9)))
    return tuple(found)


def point_on(mesh: Mesh, u: float, v: float) -> Array:
    """The point of a mesh that shows (u, v) of its sheet; the nearest corner where none does."""
    at = mesh.uv[mesh.faces].astype(np.float64)
    a, ab, ac = at[:, 0], at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    area = np.where(np.abs(area) < 1e-12, np.inf, area)
    to = np.array((u, v)) - a
    s = (to[:, 0] * ac[:, 1] - to[:, 1] * ac[:, 0]) / area
    t = (ab[:, 0] * to[:, 1] - ab[:, 1] * to[:, 0]) / area
    outside = np.maximum(np.maximum(-s, -t), s + t - 1)
    outside = np.where(np.isinf(area), np.inf, outside)
    best = int(np.argmin(outside))
    if outside[best] > 1e-3:
        return mesh.vertices[int(np.argmin(((mesh.uv - (u, v)) ** 2).sum(1)))].astype(np.float64)
    one, two, three = mesh.vertices[mesh.faces[best]].astype(np.float64)
    return one + (two - one) * s[best] + (three - one) * t[best]
