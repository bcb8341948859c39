"""Where an entity is met: a shelf, a street, a garden bed, a desk, a court, an aquarium …

A setting is painted at half resolution and enlarged: what lies behind and below the entity is a
little out of focus, as it is to a real lens, and costs a quarter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from simulator.world.pictures.light import Light
from simulator.world.pictures.noise import TILE, patch, tile
from simulator.world.pictures.shapes import Array
from simulator.world.pictures.traits import WHITE, Colour, Draws, mix, oklch, scale


class Setting(NamedTuple):
    """A place with room for an entity."""

    image: Array
    """The empty place at full size."""
    ground: float
    """Where things stand, as a part of the height."""
    how: str
    """stand, lie (flat on the surface), hang (on a wall) or float."""
    props: tuple[str, ...]
    """Kinds of things that lie about here."""
    rows: tuple[tuple[float, float], ...]
    """Where they stand: height as a part of the picture's, and size relative to the entity's."""
    depth: float = 0.05
    """How much farther up something behind stands, as a part of the height."""


class Easel:
    """A background in the making, in parts of its size: (0, 0) upper left, (1, 1) lower right."""

    def __init__(self, width: int, height: int, draw: Draws, light: Light) -> None:
        self.w, self.h = max(width // 2, 8), max(height // 2, 8)
        self.size = (width, height)
        self.draw = draw
        self.light = light
        self.rgb: NDArray[np.float32] = np.zeros((self.h, self.w, 3), np.float32)

    def fade(self, y0: float, y1: float, top: Colour, bottom: Colour) -> None:
        """A vertical gradient."""
        a, b = max(int(y0 * self.h), 0), min(int(y1 * self.h), self.h)
        t = np.linspace(0, 1, max(b - a, 1), dtype=np.float32)[:, None, None]
        self.rgb[a:b] = np.asarray(top, np.float32) * (1 - t) + np.asarray(bottom, np.float32) * t

    def wall(
        self,
        y0: float,
        y1: float,
        colour: Colour,
        texture: str,
        *,
        strength: float = 1.0,
        zoom: float = 1.0,
    ) -> None:
        """An upright surface seen from the front."""
        a, b = max(int(y0 * self.h), 0), min(int(y1 * self.h), self.h)
        if b <= a:
            return
        matrix = np.array(
            [
                [2 * zoom, 0, self.draw("wall-x", 0, TILE)],
                [0, 2 * zoom, self.draw("wall-y", 0, TILE)],
                [0, 0, 1],
            ]
        )
        relief = self._warp(texture, matrix, b - a)
        self.rgb[a:b] = np.asarray(colour, np.float32) * (1 + strength * relief)[..., None]

    def floor(
        self,
        y0: float,
        colour: Colour,
        texture: str,
        *,
        strength: float = 1.0,
        size: float = 1.0,
        turn: float | None = None,
        horizon: float | None = None,
        y1: float = 1.0,
    ) -> None:
        """A level surface from `y0` downwards, in perspective."""
        a, b = max(int(y0 * self.h), 0), min(int(y1 * self.h), self.h)
        if b <= a:
            return
        far = (y0 - 0.12 if horizon is None else horizon) * self.h
        reach = 300.0 / size
        turn = self.draw("turn", -0.35, 0.35) if turn is None else turn
        c, s = math.cos(turn), math.sin(turn)
        cx = self.w * self.draw("vanish", 0.3, 0.7)
        base = np.array(
            [
                [reach * 2.2 / self.h * 300, 0, -reach * 2.2 / self.h * 300 * cx],
                [0, 0, reach * self.h * 0.9],
                [0, 1, a - far],
            ]
        )
        spin = np.array([[c, -s, 77], [s, c, 33], [0, 0, 1]])
        relief = self._warp(texture, spin @ base, b - a)
        haze = np.exp(-np.arange(b - a, dtype=np.float32) / (0.09 * self.h))[:, None]
        relief = relief * (1 - 0.75 * haze)
        near = np.linspace(0.93, 1.05, b - a, dtype=np.float32)[:, None]
        self.rgb[a:b] = np.asarray(colour, np.float32) * ((1 + strength * relief) * near)[..., None]

    def box(
        self, x0: float, y0: float, x1: float, y1: float, colour: Colour, opacity: float = 1.0
    ) -> None:
        """A plain rectangle."""
        a, b = max(int(y0 * self.h), 0), min(int(y1 * self.h), self.h)
        c, d = max(int(x0 * self.w), 0), min(int(x1 * self.w), self.w)
        if b > a and d > c:
            part = self.rgb[a:b, c:d]
            part += (np.asarray(colour, np.float32) - part) * opacity

    def shape(
        self,
        points: Sequence[tuple[float, float]],
        colour: Colour,
        opacity: float = 1.0,
        blur: float = 0.0,
    ) -> None:
        """A plain area, its edge softened by `blur` (a part of the width)."""
        mask = np.zeros((self.h, self.w), np.uint8)
        fixed = np.round(np.asarray(points) * (self.w, self.h) * 16).astype(np.int32)
        cv2.fillPoly(mask, [fixed], 255, cv2.LINE_AA, 4)
        self._tone(mask, colour, opacity, blur)

    def blots(
        self, spots: list[tuple[float, float, float]], colour: Colour, opacity: float, blur: float
    ) -> None:
        """Soft discs (x, y, radius): foliage out of focus, pebbles, lamps, bubbles."""
        mask = np.zeros((self.h, self.w), np.uint8)
        for x, y, r in spots:
            cv2.circle(
                mask,
                (int(x * self.w * 16), int(y * self.h * 16)),
                max(int(r * self.w * 16), 8),
                255,
                -1,
                cv2.LINE_AA,
                4,
            )
        self._tone(mask, colour, opacity, blur)

    def shade(self, y: float, depth: float, strength: float) -> None:
        """A soft shadow below a ledge."""
        a, b = max(int(y * self.h), 0), min(int((y + depth) * self.h), self.h)
        if b > a:
            t = np.linspace(1, 0, b - a, dtype=np.float32)[:, None, None] ** 1.5
            self.rgb[a:b] *= 1 - strength * t

    def finish(self, *, window: bool = True) -> Array:
        """Light falls in from its side; then the picture is enlarged to its full size."""
        x = np.linspace(-1, 1, self.w, dtype=np.float32)[None, :]
        y = np.linspace(1, -1, self.h, dtype=np.float32)[:, None]
        fall = (
            1.02
            + 0.15 * self.light.side * x
            + 0.07 * self.light.height * y
            - 0.1 * (x * x + y * y) * 0.6
        )
        self.rgb *= fall[..., None]
        if window and not self.light.outdoor and self.draw.chance("window", 0.55):
            cx, cy = self.draw("window-x", 0.1, 0.9), self.draw("window-y", 0.05, 0.4)
            lean = 0.16 * self.light.side
            for k in range(2):
                x0 = cx + 0.13 * k
                pane = [
                    (x0, cy),
                    (x0 + 0.11, cy),
                    (x0 + 0.11 + lean, cy + 0.26),
                    (x0 + lean, cy + 0.26),
                ]
                self.shape(pane, (255, 244, 214), 0.16, 0.012)
        small = np.clip(self.rgb, 0, 255).astype(np.uint8)
        return cv2.resize(small, self.size, interpolation=cv2.INTER_LINEAR)

    def _tone(self, mask: Array, colour: Colour, opacity: float, blur: float) -> None:
        if blur > 0:
            k = max(int(blur * self.w), 1) * 2 + 1
            mask = cv2.blur(cv2.blur(mask, (k, k)), (k, k))
        weight = mask.astype(np.float32) * (opacity / 255)
        self.rgb += (np.asarray(colour, np.float32) - self.rgb) * weight[..., None]

    def _warp(self, texture: str, matrix: Array, rows: int) -> Array:
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        return cv2.warpPerspective(
            relief(texture), matrix, (self.w, rows), flags=flags, borderMode=cv2.BORDER_WRAP
        )


@lru_cache(maxsize=32)
def relief(name: str) -> NDArray[np.float32]:
    """A seamless tile of brightness: 0 is the surface's own colour."""
    n = TILE
    y, x = np.mgrid[0:n, 0:n]
    if name == "planks":
        board = y // 64
        tone = np.sin(board * 12.9898) * 43758.5453
        out = 0.09 * (tone - np.floor(tone) - 0.5) + 0.05 * np.roll(tile("wood"), 0)
        out[(y % 64) < 3] -= 0.3
        joint = (x + (board * 197) % n) % n
        out[joint < 3] -= 0.25
    elif name == "wood":
        out = 0.06 * tile("wood") + 0.02 * tile("fine")
    elif name == "tiles":
        tone = np.sin((y // 128) * 7.3 + (x // 128) * 3.1) * 43758.5
        out = 0.05 * (tone - np.floor(tone) - 0.5) + 0.012 * tile("cloud")
        line = (y % 128 < 5) | (x % 128 < 5)
        out[line] -= 0.16
    elif name == "bricks":
        row = y // 43
        shifted = x + (row % 2) * 64
        tone = np.sin(row * 5.7 + (shifted // 128) * 9.1) * 43758.5
        out = 0.16 * (tone - np.floor(tone) - 0.5) + 0.05 * tile("leafage")
        out[(y % 43 < 5) | (shifted % 128 < 5)] += 0.2
    elif name == "asphalt":
        out = 0.1 * tile("fine") + 0.05 * tile("cloud")
    elif name == "paving":
        tone = np.sin((y // 170) * 3.3 + ((x + (y // 170) * 85) // 170) * 7.7) * 43758.5
        out = 0.1 * (tone - np.floor(tone) - 0.5) + 0.05 * tile("leafage")
        out[(y % 170 < 6) | ((x + (y // 170) * 85) % 170 < 6)] -= 0.22
    elif name == "grass":
        out = 0.14 * tile("fur") + 0.12 * tile("leafage") + 0.05 * tile("cloud")
    elif name == "soil":
        out = 0.22 * tile("leafage") + 0.08 * tile("fine")
    elif name == "plaster":
        out = 0.02 * tile("cloud") + 0.012 * tile("fine")
    elif name == "cloth":
        out = 0.05 * tile("cloth") + 0.03 * tile("cloud")
    elif name == "carpet":
        out = 0.09 * tile("fur") + 0.05 * tile("fine")
    elif name == "panels":
        out = 0.03 * tile("wood").T.copy()
        out[:, (np.arange(n) % 128) < 4] -= 0.2
        out[:, ((np.arange(n) % 128) >= 4) & ((np.arange(n) % 128) < 9)] += 0.07
    elif name == "gravel":
        out = 0.22 * tile("leafage") + 0.1 * tile("speckle")
    elif name == "marble":
        out = 0.03 * tile("cloud") - 0.09 * np.exp(
            -((tile("cloud") * 1.7 + 0.3 * tile("leafage")) ** 2) * 12
        )
    else:
        raise KeyError(name)
    return out.astype(np.float32)


def _room_wall(e: Easel) -> Colour:
    return oklch(
        e.draw("wall-l", 0.72, 0.92), e.draw("wall-c", 0.005, 0.045), e.draw("wall-h", 0, 360)
    )


def _wood(e: Easel, low: float = 0.4, high: float = 0.76) -> Colour:
    return oklch(
        e.draw("wood-l", low, high), e.draw("wood-c", 0.04, 0.085), e.draw("wood-h", 48, 78)
    )


def _shelf(e: Easel) -> Setting:
    boards = (0.335, 0.7, 1.06)
    home = e.draw.chance("home", 0.4)
    back = scale(_room_wall(e), 0.82)
    wood = (
        _wood(e)
        if home or e.draw.chance("wooden", 0.5)
        else oklch(e.draw("metal", 0.75, 0.93), 0.008, 240)
    )
    e.wall(0, 1, back, "panels" if home else "plaster")
    for k, y in enumerate(boards):
        top = boards[k - 1] + 0.03 if k else 0.0
        e.shade(top, 0.17, 0.55)
        thick = 0.03
        e.floor(y - 0.028, scale(wood, 1.02), "wood", horizon=y - 0.4, y1=y)
        e.wall(y, y + thick, scale(wood, 0.86), "wood")
        e.box(0, y, 1, y + 0.003, mix(wood, WHITE, 0.35))
        if not home:
            e.box(0, y + 0.004, 1, y + thick, scale(wood, 0.8))
            for n in range(4):
                x = e.draw(f"tag{k}-{n}", 0, 0.25) + 0.25 * n
                e.box(x, y + 0.006, x + 0.1, y + thick - 0.003, (248, 246, 238))
                e.box(x + 0.008, y + 0.014, x + 0.06, y + 0.018, (90, 90, 92))
                e.box(
                    x + 0.066,
                    y + 0.011,
                    x + 0.094,
                    y + 0.023,
                    (206, 62, 52) if n % 2 else (232, 194, 64),
                )
    image = e.finish(window=False)
    rows = (
        (0.695, 0.9),
        (0.695, 0.95),
        (0.33, 0.8),
        (0.33, 0.85),
        (0.33, 0.75),
        (0.695, 0.85),
        (1.055, 0.9),
        (1.055, 0.9),
    )
    return Setting(image, 0.69, "stand", (), rows, 0.0)


def _table(e: Easel) -> Setting:
    edge = e.draw("edge", 0.44, 0.54)
    e.wall(0, edge, _room_wall(e), e.draw.pick("wall", ("plaster", "tiles", "plaster", "panels")))
    if e.draw.chance("rail", 0.4):
        y = edge - e.draw("rail-y", 0.1, 0.18)
        e.box(0, y, 1, y + 0.012, scale(_wood(e), 1.1))
        e.shade(y + 0.012, 0.04, 0.3)
    if e.draw.chance("frame", 0.55):
        x, w = e.draw("frame-x", 0.05, 0.7), e.draw("frame-w", 0.16, 0.3)
        e.box(x + 0.008, 0.068, x + w + 0.012, 0.26, (60, 56, 52), 0.35)
        e.box(x, 0.06, x + w, 0.25, scale(_wood(e), 0.7))
        e.box(x + 0.014, 0.07, x + w - 0.014, 0.24, (238, 236, 228))
        e.box(x + 0.035, 0.086, x + w - 0.035, 0.224, oklch(0.66, 0.09, e.draw("art", 0, 360)))
        e.blots([(x + w * 0.4, 0.15, 0.035)], oklch(0.8, 0.1, e.draw("art2", 0, 360)), 0.9, 0.004)
    texture, tone = e.draw.pick(
        "top",
        (
            ("wood", _wood(e)),
            ("planks", _wood(e)),
            ("marble", (226, 224, 220)),
            ("cloth", oklch(e.draw("cloth-l", 0.6, 0.9), 0.05, e.draw("cloth-h", 0, 360))),
        ),
    )
    e.floor(edge, tone, texture, size=1.2)
    e.shade(edge, 0.025, 0.35)
    image = e.finish()
    rows = (
        (edge + 0.09, 0.8),
        (edge + 0.07, 0.75),
        (edge + 0.12, 0.85),
        (edge + 0.34, 1.05),
        (edge + 0.06, 0.7),
        (edge + 0.38, 1.1),
    )
    return Setting(
        image,
        edge + 0.22,
        "stand",
        ("mug", "jar", "book", "lamp", "houseplant", "clock", "speaker", "bottle", "kettle"),
        rows,
    )


def _desk(e: Easel) -> Setting:
    e.floor(
        0,
        _wood(e, 0.36, 0.72),
        e.draw.pick("top", ("wood", "planks", "wood")),
        size=1.6,
        horizon=-0.75,
    )
    if e.draw.chance("mat", 0.5):
        tone = oklch(e.draw("mat-l", 0.3, 0.6), 0.05, e.draw("mat-h", 0, 360))
        e.shape(
            [(0.06, 0.17), (0.94, 0.17), (1.08, 0.9), (-0.08, 0.9)], scale(tone, 0.4), 0.5, 0.012
        )
        e.shape([(0.06, 0.16), (0.94, 0.16), (1.07, 0.88), (-0.07, 0.88)], tone)
    for k in range(e.draw.count("papers", 0, 2)):
        x, y, t = (
            e.draw(f"px{k}", 0.0, 0.8),
            e.draw(f"py{k}", 0.1, 0.8),
            e.draw(f"pt{k}", -0.5, 0.5),
        )
        c, s = math.cos(t), math.sin(t)
        corners = [
            (x + (dx * c - dy * s) * 0.34, y + (dx * s + dy * c) * 0.3)
            for dx, dy in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
        ]
        e.shape([(a + 0.008, b + 0.008) for a, b in corners], (30, 26, 24), 0.35, 0.008)
        e.shape(corners, (240, 238, 230))
    for k in range(e.draw.count("pens", 0, 2)):
        x, y, t = e.draw(f"nx{k}", 0.08, 0.9), e.draw(f"ny{k}", 0.2, 0.9), e.draw(f"nt{k}", 0, 3.1)
        c, s = math.cos(t) * 0.13, math.sin(t) * 0.1
        q, r = -math.sin(t) * 0.011, math.cos(t) * 0.008
        pen = [
            (x - c + q, y - s + r),
            (x + c + q, y + s + r),
            (x + c * 1.13, y + s * 1.13),
            (x + c - q, y + s - r),
            (x - c - q, y - s - r),
        ]
        e.shape([(a + 0.006, b + 0.01) for a, b in pen], (24, 20, 20), 0.4, 0.006)
        e.shape(pen, oklch(0.55, 0.14, e.draw(f"nh{k}", 0, 360)))
        e.shape(
            [pen[0], pen[1], (x + c, y + s), (x - c, y - s)],
            oklch(0.68, 0.12, e.draw(f"nh{k}", 0, 360)),
        )
    image = e.finish()
    return Setting(
        image,
        0.58,
        "lie",
        ("ticket", "watch", "coin", "textbook_page"),
        ((0.14, 0.8), (0.93, 1.0), (0.2, 0.7), (0.88, 0.9)),
        0.1,
    )


def _sky(e: Easel, y1: float) -> None:
    hue = e.draw("sky-h", 225, 262)
    grey = e.draw("grey")
    e.fade(0, y1, oklch(0.62 + 0.16 * grey, 0.1 * (1 - grey * 0.8), hue), oklch(0.9, 0.03, hue))
    rows = int(y1 * e.h)
    zoomed = cv2.resize(patch("cloud", 128, 192, e.draw("cx"), e.draw("cy")), (e.w, max(rows, 1)))
    weight = np.clip(zoomed * 0.5 + 0.25 + grey * 0.4, 0, 1)[..., None] * 0.75
    e.rgb[:rows] += (np.array((250, 250, 252), np.float32) - e.rgb[:rows]) * weight


def _houses(e: Easel, ground: float) -> None:
    x = -0.05
    k = 0
    while x < 1.0:
        w, top = e.draw(f"hw{k}", 0.16, 0.32), ground - e.draw(f"ht{k}", 0.14, 0.36)
        tone = oklch(
            e.draw(f"hl{k}", 0.5, 0.84), e.draw(f"hc{k}", 0.01, 0.07), e.draw(f"hh{k}", 20, 110)
        )
        tone = mix(tone, (205, 212, 222), 0.22)
        e.box(x, top, x + w, ground, tone)
        if e.draw.chance(f"roof{k}", 0.5):
            e.shape(
                [(x - 0.012, top), (x + w / 2, top - 0.06), (x + w + 0.012, top)],
                scale(oklch(0.45, 0.07, e.draw(f"rh{k}", 20, 60)), 1.0),
            )
        else:
            e.box(x - 0.004, top - 0.008, x + w + 0.004, top + 0.006, scale(tone, 0.8))
        n, m = e.draw.count(f"wn{k}", 2, 4), e.draw.count(f"wm{k}", 2, 5)
        pane = mix((70, 84, 104), tone, 0.15)
        for i in range(n):
            for j in range(m):
                wx, wy = x + w * (i + 0.28) / n, top + (ground - top) * (j + 0.25) / (m + 0.4)
                e.box(
                    wx - 0.003,
                    wy - 0.003,
                    wx + w * 0.42 / n + 0.003,
                    wy + (ground - top) * 0.5 / m + 0.003,
                    scale(tone, 1.12),
                )
                e.box(wx, wy, wx + w * 0.42 / n, wy + (ground - top) * 0.5 / m, pane)
        e.box(x + w - 0.006, top, x + w, ground, scale(tone, 0.72))
        x += w
        k += 1


def _trees(e: Easel, ground: float, count: int) -> None:
    for k in range(count):
        x, r = e.draw(f"tx{k}", 0.0, 1.0), e.draw(f"tr{k}", 0.08, 0.16)
        tone = oklch(e.draw(f"tl{k}", 0.4, 0.56), 0.08, e.draw(f"th{k}", 118, 145))
        e.box(x - 0.01, ground - r * 1.3, x + 0.01, ground, (84, 66, 52))
        spots = [
            (
                x + e.draw(f"ta{k}{j}", -1, 1) * r * 0.7,
                ground - r * 1.5 + e.draw(f"tb{k}{j}", -0.8, 0.7) * r * 0.75,
                r * e.draw(f"tc{k}{j}", 0.35, 0.6),
            )
            for j in range(9)
        ]
        e.blots(spots, scale(tone, 0.8), 1.0, 0.004)
        e.blots(
            [(a + 0.012 * e.light.side, b - 0.012, q * 0.62) for a, b, q in spots],
            scale(tone, 1.2),
            0.7,
            0.009,
        )


def _street(e: Easel) -> Setting:
    line = e.draw("line", 0.5, 0.56)
    _sky(e, line)
    _houses(e, line)
    _trees(e, line + 0.01, e.draw.count("trees", 0, 3))
    e.floor(
        line,
        oklch(e.draw("pave", 0.66, 0.8), 0.012, 70),
        "paving",
        size=1.5,
        horizon=line - 0.03,
        y1=line + 0.08,
    )
    e.box(0, line + 0.078, 1, line + 0.094, (176, 174, 168))
    e.box(0, line + 0.088, 1, line + 0.096, (96, 95, 94))
    e.floor(
        line + 0.095, oklch(e.draw("road", 0.38, 0.52), 0.006, 260), "asphalt", horizon=line - 0.03
    )
    y = line + 0.33
    for k in range(4):
        x = -0.1 + k * 0.36 + e.draw("dash", 0, 0.2)
        e.shape(
            [(x, y), (x + 0.2, y), (x + 0.2, y + 0.014), (x - 0.01, y + 0.014)],
            (226, 224, 214),
            0.85,
        )
    e.shade(line, 0.02, 0.3)
    image = e.finish()
    rows = (
        (line + 0.06, 0.5),
        (line + 0.05, 0.42),
        (line + 0.06, 0.5),
        (line + 0.045, 0.4),
        (line + 0.06, 0.4),
    )
    return Setting(
        image, line + 0.2, "stand", ("sign", "bicycle", "tree", "statue", "car", "van"), rows, 0.04
    )


def _square(e: Easel) -> Setting:
    line = e.draw("line", 0.6, 0.66)
    _sky(e, line)
    if e.draw.chance("town", 0.6):
        _houses(e, line)
    else:
        for k in range(2):
            xs = np.linspace(0, 1, 30)
            ys = (
                line
                - 0.05
                - 0.03 * k
                - 0.06 * np.abs(np.sin(xs * e.draw(f"hill{k}", 2, 6) + e.draw(f"hp{k}", 0, 6)))
            )
            pts = [*zip(xs.tolist(), ys.tolist(), strict=True), (1, line), (0, line)]
            e.shape(pts, oklch(0.62 - 0.06 * k, 0.06, 150 - 12 * k))
    _trees(e, line + 0.01, e.draw.count("trees", 1, 4))
    green = e.draw.chance("lawn", 0.45)
    tone = (
        oklch(0.56, 0.1, e.draw("green", 120, 138))
        if green
        else oklch(e.draw("pave", 0.66, 0.82), 0.015, 75)
    )
    e.floor(line, tone, "grass" if green else "paving", size=1.4, horizon=line - 0.03)
    e.shade(line, 0.02, 0.25)
    image = e.finish()
    rows = ((line + 0.05, 0.3), (line + 0.04, 0.26), (line + 0.15, 0.34), (line + 0.06, 0.24))
    return Setting(
        image, line + 0.09, "stand", ("tree", "bicycle", "sign", "statue", "dog"), rows, 0.03
    )


def _river(e: Easel) -> Setting:
    place = _square(e)
    line = e.draw("line", 0.6, 0.66)
    e.fade(line + 0.02, 1.0, oklch(0.72, 0.05, 225), oklch(0.42, 0.06, 222))
    rows = e.h - int((line + 0.02) * e.h)
    ripple = cv2.resize(patch("brushed", 128, 128, e.draw("rx"), e.draw("ry")), (e.w, rows))
    e.rgb[e.h - rows :] *= (1 + 0.1 * ripple)[..., None]
    e.box(0, line, 1, line + 0.022, oklch(0.5, 0.08, 130))
    image = e.finish()
    return place._replace(
        image=image,
        ground=line + 0.1,
        props=("tree",),
        rows=((line + 0.015, 0.3), (line + 0.012, 0.26)),
        how="water",
    )


def _garden(e: Easel) -> Setting:
    line = e.draw("line", 0.42, 0.52)
    back = e.draw.count("back", 0, 2)
    if back == 0:
        e.wall(0, line, _wood(e, 0.5, 0.75), "panels")
    elif back == 1:
        e.wall(0, line, oklch(0.55, 0.08, 40), "bricks", zoom=0.8)
    else:
        e.fade(0, line, oklch(0.5, 0.08, 135), oklch(0.36, 0.07, 140))
    for layer in range(3):
        tone = oklch(0.34 + 0.1 * layer, 0.09, e.draw(f"hedge{layer}", 120, 148))
        spots = [
            (
                e.draw(f"s{layer}-{k}", -0.05, 1.05),
                line - e.draw(f"t{layer}-{k}", -0.04, 0.3 - 0.08 * layer),
                e.draw(f"r{layer}-{k}", 0.015, 0.05),
            )
            for k in range(40)
        ]
        e.blots(spots, tone, 0.9, 0.005)
    for k in range(3):
        tone = oklch(0.75, 0.14, e.draw(f"bloom{k}", 0, 360))
        e.blots(
            [
                (
                    e.draw(f"bx{k}{j}"),
                    line - e.draw(f"by{k}{j}", 0.0, 0.2),
                    e.draw(f"br{k}{j}", 0.008, 0.018),
                )
                for j in range(9)
            ],
            tone,
            0.9,
            0.005,
        )
    e.floor(line, oklch(e.draw("soil", 0.3, 0.42), 0.04, 55), "soil", size=1.6)
    y = e.draw("lawn", 0.84, 0.92)
    e.floor(y, oklch(0.54, 0.11, 130), "grass", size=1.2, horizon=line - 0.1)
    e.shade(y, 0.015, 0.4)
    e.shade(line, 0.05, 0.4)
    image = e.finish()
    return Setting(
        image,
        line + 0.27,
        "stand",
        ("flower", "flower", "succulent", "flower"),
        (
            (line + 0.1, 0.7),
            (line + 0.06, 0.6),
            (line + 0.12, 0.7),
            (line + 0.36, 0.9),
            (line + 0.08, 0.6),
        ),
    )


def _park(e: Easel) -> Setting:
    line = e.draw("line", 0.4, 0.5)
    _sky(e, line)
    xs = np.linspace(0, 1, 30)
    ys = line - 0.04 - 0.05 * np.abs(np.sin(xs * e.draw("hill", 2, 6) + e.draw("hp", 0, 6)))
    e.shape(
        [*zip(xs.tolist(), ys.tolist(), strict=True), (1, line), (0, line)], oklch(0.52, 0.07, 140)
    )
    _trees(e, line + 0.02, e.draw.count("trees", 3, 6))
    e.floor(
        line,
        oklch(e.draw("green-l", 0.5, 0.62), 0.11, e.draw("green", 118, 138)),
        "grass",
        size=1.3,
    )
    if e.draw.chance("path", 0.6):
        x = e.draw("path", 0.1, 0.9)
        e.shape(
            [(x, line), (x + 0.03, line), (x + 0.75, 1), (x - 0.05, 1)],
            oklch(0.76, 0.035, 75),
            0.9,
            0.006,
        )
    image = e.finish()
    return Setting(
        image,
        line + 0.3,
        "stand",
        ("tree", "tree", "bicycle", "tree", "sign"),
        ((line + 0.05, 0.8), (line + 0.06, 0.7), (line + 0.13, 0.6), (line + 0.1, 0.6)),
    )


def _foliage(e: Easel) -> Setting:
    e.fade(0, 1, oklch(0.62, 0.09, 130), oklch(0.36, 0.07, 145))
    for layer in range(4):
        tone = oklch(0.34 + 0.11 * layer, 0.1, e.draw(f"g{layer}", 112, 148))
        spots = [
            (e.draw(f"s{layer}-{k}"), e.draw(f"t{layer}-{k}"), e.draw(f"r{layer}-{k}", 0.03, 0.1))
            for k in range(14)
        ]
        e.blots(spots, tone, 0.65, 0.025 - 0.005 * layer)
    for k in range(4):
        tone = oklch(0.78, 0.13, e.draw(f"bloom{k}", 0, 360))
        e.blots(
            [
                (e.draw(f"bx{k}{j}"), e.draw(f"by{k}{j}"), e.draw(f"br{k}{j}", 0.015, 0.04))
                for j in range(4)
            ],
            tone,
            0.85,
            0.012,
        )
    for k in range(7):
        x, y, t, q = (
            e.draw(f"lx{k}"),
            e.draw(f"ly{k}", 0.1, 1),
            e.draw(f"lt{k}", 0, 6.3),
            e.draw(f"lq{k}", 0.1, 0.2),
        )
        c, s = math.cos(t), math.sin(t)
        blade = [
            (x + (u * c - w * s) * q, y + (u * s + w * c) * q * 0.75)
            for u, w in (
                (-1, 0),
                (-0.5, 0.28),
                (0.1, 0.33),
                (0.6, 0.2),
                (1, 0),
                (0.6, -0.2),
                (0.1, -0.33),
                (-0.5, -0.28),
            )
        ]
        tone = oklch(e.draw(f"ll{k}", 0.46, 0.66), 0.12, e.draw(f"lh{k}", 118, 142))
        e.shape([(a + 0.012, b + 0.012) for a, b in blade], (16, 30, 14), 0.35, 0.012)
        e.shape(blade, tone)
        e.shape([blade[0], *blade[5:8], blade[4]], scale(tone, 1.12), 0.7)
    image = e.finish()
    return Setting(image, 0.6, "float", ("flower", "butterfly"), ((0.98, 0.7), (0.9, 0.7)))


def _aquarium(e: Easel) -> Setting:
    hue = e.draw("hue", 200, 245)
    e.fade(0, 1, oklch(0.76, 0.1, hue), oklch(0.34, 0.09, hue + 8))
    for k in range(4):
        x = e.draw(f"ray{k}", 0, 1)
        e.shape(
            [(x, 0), (x + 0.07, 0), (x + 0.22, 0.85), (x - 0.02, 0.85)],
            (226, 244, 255),
            0.12,
            0.025,
        )
    bed = e.draw("bed", 0.8, 0.87)
    for k in range(6):
        x, r = e.draw(f"rock{k}"), e.draw(f"rr{k}", 0.05, 0.15)
        tone = oklch(e.draw(f"rl{k}", 0.35, 0.55), 0.03, e.draw(f"rh{k}", 40, 260))
        e.blots([(x, bed + 0.02, r), (x + r * 0.5, bed + 0.03, r * 0.7)], tone, 1.0, 0.004)
        e.blots([(x - r * 0.2, bed - r * 0.25, r * 0.5)], scale(tone, 1.35), 0.5, 0.02)
    for k in range(9):
        x, tall = e.draw(f"weed{k}"), e.draw(f"wt{k}", 0.15, 0.5)
        ys = np.linspace(0, 1, 12)
        sway = 0.03 * np.sin(ys * e.draw(f"wf{k}", 4, 9) + k)
        half = 0.013 * (1 - ys * 0.9)
        left = [(x + a - b, bed + 0.03 - tall * c) for a, b, c in zip(sway, half, ys, strict=True)]
        right = [
            (x + a + b, bed + 0.03 - tall * c) for a, b, c in zip(sway, half, ys, strict=True)
        ][::-1]
        e.shape(
            [*left, *right], oklch(e.draw(f"wl{k}", 0.42, 0.62), 0.12, e.draw(f"wh{k}", 110, 165))
        )
    e.floor(bed, oklch(e.draw("sand", 0.6, 0.8), 0.05, 80), "gravel", size=1.5)
    e.blots(
        [
            (
                e.draw(f"ux{k % 4}") + 0.012 * math.sin(k),
                0.1 + 0.7 * k / 26,
                0.005 + 0.003 * (k % 3),
            )
            for k in range(26)
        ],
        (232, 246, 255),
        0.55,
        0.0,
    )
    image = e.finish(window=False)
    return Setting(
        image,
        0.55,
        "float",
        ("fish", "fish", "fish"),
        ((0.25, 0.6), (0.75, 0.6), (0.35, 0.5), (0.7, 0.55)),
    )


def _court(e: Easel) -> Setting:
    line = e.draw("line", 0.42, 0.5)
    outdoor = e.light.outdoor
    if outdoor:
        _sky(e, line)
        _trees(e, line, 4)
        e.box(0, line - 0.16, 1, line, (60, 92, 70), 0.55)
        for k in range(12):
            e.box(k / 11 - 0.004, line - 0.17, k / 11 + 0.003, line, (70, 76, 74))
    else:
        e.wall(0, line, _room_wall(e), "bricks", strength=0.5)
        e.box(0, line - 0.09, 1, line, oklch(0.45, 0.1, e.draw("pad", 0, 360)))
    texture, tone = e.draw.pick(
        "floor",
        (
            ("planks", oklch(0.72, 0.08, 70)),
            ("asphalt", oklch(0.55, 0.11, 40)),
            ("asphalt", oklch(0.52, 0.1, 245)),
            ("asphalt", oklch(0.55, 0.1, 155)),
        ),
    )
    e.floor(line, tone, texture, size=1.1, turn=0.0)
    x = e.draw("mark", 0.1, 0.6)
    white = (240, 240, 234)
    e.shape([(x, line), (x + 0.012, line), (x - 0.35, 1), (x - 0.41, 1)], white, 0.9)
    e.shape([(0, line + 0.13), (1, line + 0.1), (1, line + 0.114), (0, line + 0.146)], white, 0.9)
    e.shape([(0, line + 0.42), (1, line + 0.37), (1, line + 0.4), (0, line + 0.455)], white, 0.9)
    e.shade(line, 0.02, 0.35)
    image = e.finish()
    return Setting(
        image,
        line + 0.28,
        "stand",
        ("ball", "racket", "backpack", "ball"),
        ((line + 0.08, 0.6), (line + 0.1, 0.55), (line + 0.05, 0.5), (line + 0.42, 0.9)),
    )


def _rack(e: Easel) -> Setting:
    place = _shelf(e)
    return place._replace(props=("shoe", "handbag", "hat", "shoe", "backpack"))


def _room(e: Easel) -> Setting:
    line = e.draw("line", 0.56, 0.64)
    e.wall(0, line, _room_wall(e), e.draw.pick("wall", ("plaster", "plaster", "panels", "bricks")))
    e.box(0, line - 0.03, 1, line, (240, 238, 232))
    e.box(0, line - 0.031, 1, line - 0.027, (206, 204, 198))
    texture, tone = e.draw.pick(
        "floor",
        (
            ("planks", _wood(e)),
            ("planks", _wood(e)),
            ("carpet", oklch(0.6, 0.05, e.draw("carpet", 0, 360))),
            ("tiles", (208, 204, 196)),
        ),
    )
    e.floor(line, tone, texture, size=1.2)
    if e.draw.chance("rug", 0.5):
        rug = oklch(e.draw("rug-l", 0.45, 0.75), 0.09, e.draw("rug", 0, 360))
        e.shape(
            [(0.1, line + 0.12), (0.9, line + 0.12), (1.1, line + 0.34), (-0.1, line + 0.34)], rug
        )
        e.shape(
            [(0.14, line + 0.135), (0.86, line + 0.135), (1.02, line + 0.32), (-0.02, line + 0.32)],
            scale(rug, 0.85),
        )
        e.shape(
            [(0.17, line + 0.15), (0.83, line + 0.15), (0.97, line + 0.305), (0.03, line + 0.305)],
            rug,
        )
    if e.draw.chance("frame", 0.5):
        x = e.draw("frame-x", 0.05, 0.7)
        e.box(x, 0.1, x + 0.22, 0.3, scale(_wood(e), 0.7))
        e.box(x + 0.015, 0.112, x + 0.205, 0.288, oklch(0.75, 0.06, e.draw("art", 0, 360)))
    e.shade(line, 0.02, 0.45)
    image = e.finish()
    return Setting(
        image,
        line + 0.17,
        "stand",
        ("speaker", "houseplant", "lamp", "backpack", "houseplant"),
        ((line + 0.06, 0.75), (line + 0.08, 0.7), (line + 0.05, 0.7), (line + 0.1, 0.7)),
    )


def _notices(e: Easel) -> Setting:
    outdoor = e.light.outdoor
    e.wall(
        0,
        1,
        oklch(e.draw("w-l", 0.55, 0.85), e.draw("w-c", 0.01, 0.07), e.draw("w-h", 20, 260)),
        "bricks" if outdoor else "plaster",
    )
    if e.draw.chance("board", 0.6):
        frame = _wood(e)
        e.box(0.012, 0.11, 1.0, 0.93, (20, 18, 18), 0.35)
        e.box(0.0, 0.1, 1.0, 0.92, scale(frame, 0.8))
        e.box(0.0, 0.115, 1.0, 0.905, oklch(0.66, 0.07, 65))
        rows = int(0.905 * e.h) - int(0.115 * e.h)
        e.rgb[int(0.115 * e.h) : int(0.905 * e.h)] *= (
            1 + 0.1 * cv2.resize(patch("leafage", 256, 256), (e.w, rows))
        )[..., None]
    for k in range(e.draw.count("notes", 2, 6)):
        x, y = e.draw(f"x{k}", 0.0, 0.85), e.draw(f"y{k}", 0.13, 0.72)
        w, h = e.draw(f"w{k}", 0.12, 0.2), e.draw(f"h{k}", 0.07, 0.13)
        tone = oklch(0.9, e.draw(f"c{k}", 0.0, 0.09), e.draw(f"t{k}", 0, 360))
        e.shape(
            [
                (x + 0.006, y + 0.008),
                (x + w + 0.008, y + 0.008),
                (x + w + 0.008, y + h + 0.008),
                (x + 0.006, y + h + 0.008),
            ],
            (20, 18, 18),
            0.35,
            0.006,
        )
        lean = e.draw(f"l{k}", -0.012, 0.012)
        e.shape([(x, y + lean), (x + w, y), (x + w, y + h), (x, y + h + lean)], tone)
        for j in range(4):
            e.box(
                x + 0.02,
                y + 0.018 + 0.015 * j,
                x + w - 0.02 - 0.03 * (j % 2),
                y + 0.023 + 0.015 * j,
                scale(tone, 0.55),
            )
        e.blots(
            [(x + w / 2, y + 0.008, 0.008)], oklch(0.6, 0.18, e.draw(f"p{k}", 0, 360)), 1.0, 0.0
        )
    image = e.finish()
    return Setting(image, 0.74, "hang", (), ())


def _sill(e: Easel) -> Setting:
    line = e.draw("line", 0.58, 0.66)
    _sky(e, line)
    _trees(e, line, 4)
    wall = _room_wall(e)
    frame = (240, 238, 233)
    e.box(0, 0, 0.09, line, wall)
    e.box(0.91, 0, 1, line, scale(wall, 0.94))
    x = e.draw("bar", 0.4, 0.6)
    for a, b in ((0.09, 0.13), (0.87, 0.91), (x - 0.018, x + 0.018)):
        e.box(a, 0, b, line, frame)
        e.box(b - 0.008, 0, b, line, scale(frame, 0.8))
    e.box(0.09, line - 0.03, 0.91, line, frame)
    e.floor(
        line,
        e.draw.pick("sill", (_wood(e), (232, 230, 224))),
        "wood",
        size=1.2,
        horizon=line - 0.4,
        y1=0.93,
    )
    e.box(0, 0.93, 1, 0.96, (206, 204, 198))
    e.wall(0.95, 1.0, scale(wall, 0.8), "plaster")
    e.shade(0.96, 0.04, 0.4)
    image = e.finish(window=False)
    return Setting(
        image,
        line + 0.17,
        "stand",
        ("succulent", "houseplant", "mug", "book"),
        ((line + 0.07, 0.75), (line + 0.09, 0.8), (line + 0.06, 0.7)),
    )


Place = Callable[[Easel], Setting]

PLACES: dict[str, tuple[tuple[Place, bool], ...]] = {
    "dog": ((_park, True), (_park, True), (_room, False)),
    "bird": ((_park, True), (_garden, True)),
    "fish": ((_aquarium, False),),
    "butterfly": ((_foliage, True),),
    "book": ((_table, False), (_shelf, False)),
    "bottle": ((_shelf, False), (_table, False)),
    "carton": ((_shelf, False), (_table, False)),
    "jar": ((_shelf, False), (_table, False)),
    "packet": ((_shelf, False),),
    "kettle": ((_table, False),),
    "lamp": ((_table, False), (_table, False)),
    "clock": ((_table, False), (_shelf, False)),
    "toaster": ((_table, False),),
    "tower": ((_square, True),),
    "bridge": ((_river, True),),
    "shopfront": ((_street, True),),
    "statue": ((_square, True),),
    "textbook_page": ((_desk, False),),
    "molecule": ((_table, False),),
    "instrument": ((_table, False), (_sill, False)),
    "flower": ((_garden, True),),
    "tree": ((_park, True), (_square, True)),
    "succulent": ((_sill, False), (_table, False)),
    "houseplant": ((_sill, False), (_room, False), (_table, False)),
    "headphones": ((_table, False), (_shelf, False)),
    "speaker": ((_shelf, False), (_room, False), (_table, False)),
    "backpack": ((_room, False), (_rack, False)),
    "mug": ((_table, False), (_shelf, False)),
    "ball": ((_court, True), (_court, False)),
    "racket": ((_court, True), (_court, False)),
    "board_game": ((_table, False), (_shelf, False)),
    "shoe": ((_rack, False), (_room, False)),
    "handbag": ((_rack, False), (_table, False)),
    "hat": ((_rack, False), (_table, False)),
    "watch": ((_desk, False),),
    "sign": ((_street, True), (_square, True)),
    "poster": ((_notices, False), (_notices, True)),
    "ticket": ((_desk, False),),
    "car": ((_street, True),),
    "motorcycle": ((_street, True),),
    "bicycle": ((_street, True), (_park, True)),
    "van": ((_street, True),),
    "guitar": ((_room, False),),
    "coin": ((_desk, False),),
    "flag": ((_square, True), (_park, True)),
}
"""Where each kind is met, and whether that is out of doors."""
