"""Printed matter: labels, covers, signs. A sheet is a picture that is then laid on a surface."""

from __future__ import annotations

import math
from typing import NamedTuple

import cv2
import numpy as np

from simulator.world.pictures.letters import FACES, PLAIN, Face, set_text
from simulator.world.pictures.noise import generator, patch
from simulator.world.pictures.shapes import Array, Path, Points, emblem, move
from simulator.world.pictures.traits import (
    Colour,
    Draws,
    Palette,
    Traits,
    ink_on,
    luma,
    mix,
    unit,
)

WEARS = ("tiny", "worn", "glare", "smudged")
"""Ways in which a label that faces the viewer still cannot be read."""


class Print(NamedTuple):
    """A text on a sheet, in the sheet's pixels."""

    text: str
    corners: Points
    line: float
    """Height of one line."""
    is_label: bool


class Sheet:
    """A picture drawn in fractions: (0, 0) is the upper left corner, (1, 1) the lower right one."""

    def __init__(
        self, width: float, height: float, ground: Colour, wear: str | None = None
    ) -> None:
        self.width = max(int(width), 8)
        self.height = max(int(height), 8)
        self.rgb: Array = np.full((self.height, self.width, 3), ground, np.uint8)
        self.wear = wear
        self.prints: list[Print] = []

    def fill(self, points: Path, colour: Colour, opacity: float = 1.0) -> None:
        """A plain area, in fractions of the sheet."""
        fixed = np.round(np.asarray(points, np.float64) * (self.width, self.height) * 16).astype(
            np.int32
        )
        if opacity >= 1:
            cv2.fillPoly(self.rgb, [fixed], colour, cv2.LINE_AA, 4)
            return
        over = self.rgb.copy()
        cv2.fillPoly(over, [fixed], colour, cv2.LINE_AA, 4)
        self.rgb = cv2.addWeighted(over, opacity, self.rgb, 1 - opacity, 0).astype(np.uint8)

    def box(
        self, x0: float, y0: float, x1: float, y1: float, colour: Colour, opacity: float = 1.0
    ) -> None:
        """A rectangle."""
        self.fill([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], colour, opacity)

    def figure(
        self, points: Path, cx: float, cy: float, r: float, colour: Colour, *, turn: float = 0
    ) -> None:
        """A shape of radius 1 set at (cx, cy) with radius `r` of the sheet's shorter side."""
        size = r * min(self.width, self.height)
        placed = move(points, turn=turn) * (size / self.width, -size / self.height) + (cx, cy)
        self.fill(placed, colour)

    def stroke(self, points: Path, width: float, colour: Colour) -> None:
        """A line, its width in parts of the sheet's shorter side."""
        fixed = np.round(np.asarray(points, np.float64) * (self.width, self.height) * 16).astype(
            np.int32
        )
        thick = max(round(width * min(self.width, self.height)), 1)
        cv2.polylines(self.rgb, [fixed], False, colour, thick, cv2.LINE_AA, 4)

    def emblem(
        self, traits: Traits, cx: float, cy: float, r: float, colours: tuple[Colour, ...]
    ) -> None:
        """The family's sign, turned and coloured by the variant."""
        turn = traits.variant("emblem-turn", 0, 6.3)
        for points, index in emblem(traits.family, turn):
            self.figure(points, cx, cy, r, colours[index % len(colours)])

    def pattern(
        self,
        traits: Traits,
        colours: tuple[Colour, Colour],
        name: str = "pattern",
        *,
        opacity: float = 1.0,
    ) -> None:
        """Stripes, dots, waves, checks or rays over the whole sheet; kind and scale by family."""
        f, v = traits.family, traits.variant
        style = f.count(name, 0, 5)
        rise = f(name + "rise", -0.8, 0.8)
        count = f(name + "count", 3, 9) + v.count(name + "more", 0, 2)
        duty = f(name + "duty", 0.22, 0.6)
        phase = v(name + "phase")
        aspect = self.width / self.height
        y, x = np.mgrid[0 : self.height, 0 : self.width].astype(np.float32)
        y, x = y / self.height, x / self.width * aspect
        if style == 0:
            mask = _bar((y + rise * x) * count + phase, duty)
        elif style == 1:
            wave = 0.12 * np.sin(x * f(name + "waves", 6, 16) + phase * 6.3)
            mask = _bar((y + wave) * count + phase, duty)
        elif style == 2:
            shift = 0.5 * (np.floor(y * count) % 2)
            cell = np.hypot((x * count + shift) % 1 - 0.5, (y * count) % 1 - 0.5)
            mask = np.clip((duty * 0.75 - cell) * 14, 0, 1)
        elif style == 3:
            mask = np.maximum(
                _bar(x * count + phase, duty * 0.5), _bar(y * count + phase, duty * 0.5)
            )
        elif style == 4:
            angle = np.arctan2(y - f(name + "cy", 0.2, 0.8), x - aspect * f(name + "cx", 0.2, 0.8))
            mask = _bar(angle / (2 * math.pi) * round(count * 2) + phase, duty)
        else:
            zigzag = np.abs((x * count * 0.7 + phase) % 1 - 0.5) * (0.3 + abs(rise) * 0.4)
            mask = _bar((y + zigzag) * count, duty)
        weight = (mask * opacity).astype(np.float32)
        over = np.empty_like(self.rgb)
        over[...] = colours[0]
        self.rgb = cv2.blendLinear(over, self.rgb, weight, 1 - weight)

    def print(
        self,
        text: str | None,
        box: tuple[float, float, float, float],
        ink: Colour,
        face: Face = PLAIN,
        *,
        lines: int = 3,
        is_label: bool = True,
        align: str = "centre",
        key: str = "",
    ) -> None:
        """Set a text into a box as large as it fits. A worn sheet prints it illegibly."""
        if not text:
            return
        x0, y0 = int(box[0] * self.width), int(box[1] * self.height)
        x1, y1 = int(box[2] * self.width), int(box[3] * self.height)
        w, h = max(x1 - x0, 4), max(y1 - y0, 4)
        x0, y0 = min(max(x0, 0), self.width - 4), min(max(y0, 0), self.height - 4)
        w, h = min(w, self.width - x0), min(h, self.height - y0)
        place = self.rgb[y0 : y0 + h, x0 : x0 + w]
        if self.wear is None:
            mask, line = set_text(text, w, h, face, lines, align)
        else:
            mask, line = _spoil(text, w, h, face, lines, self.wear, key), 0.0
        weight = mask[:h, :w].astype(np.float32) / 255
        over = np.full_like(place, np.asarray(ink, np.uint8))
        place[...] = cv2.blendLinear(over, np.ascontiguousarray(place), weight, 1 - weight)
        if self.wear is None:
            ys, xs = np.nonzero(mask > 40)
            if len(ys):
                x0, y0, x1, y1 = xs.min() + x0, ys.min() + y0, xs.max() + x0 + 1, ys.max() + y0 + 1
                corners = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], np.float64)
                self.prints.append(Print(" ".join(text.split()), corners, line, is_label))
        elif self.wear == "glare" and is_label:
            self._glare(box)

    def greek(
        self, box: tuple[float, float, float, float], count: int, colour: Colour, key: str
    ) -> None:
        """Lines of print too small to be letters."""
        draw = Draws("greek", key)
        x0, y0, x1, y1 = box
        step = (y1 - y0) / count
        for row in range(count):
            x = x0
            end = x1 if row < count - 1 else x0 + (x1 - x0) * draw("last", 0.3, 0.8)
            word = 0
            while x < end - 0.01:
                wide = draw(f"{row}-{word}", 0.03, 0.13) * (x1 - x0) * 1.2
                top = y0 + row * step
                self.box(
                    x,
                    top,
                    min(x + wide, end),
                    top + step * 0.42,
                    colour,
                    0.75 if step * self.height < 6 else 1,
                )
                x += wide + 0.022 * (x1 - x0)
                word += 1

    def grain(self, strength: float, texture: str = "fine") -> None:
        """Unevenness of paper or paint."""
        uneven = patch(texture, self.height, self.width, 0.37, 0.11)
        self.rgb = np.clip(self.rgb * (1 + strength * uneven[..., None]), 0, 255).astype(np.uint8)

    def _glare(self, box: tuple[float, float, float, float]) -> None:
        y, x = np.mgrid[0 : self.height, 0 : self.width].astype(np.float32)
        cx, cy = (box[0] + box[2]) / 2 * self.width, (box[1] + box[3]) / 2 * self.height
        rx, ry = (
            (box[2] - box[0]) * self.width * 0.62 + 4,
            (box[3] - box[1]) * self.height * 0.8 + 4,
        )
        weight = np.clip(1.5 - ((x - cx) / rx) ** 2 - ((y - cy) / ry) ** 2, 0, 1).astype(np.float32)
        white = np.full_like(self.rgb, 250)
        self.rgb = cv2.blendLinear(white, self.rgb, weight, 1 - weight)


def lettering(traits: Traits) -> Face:
    """The family's style of lettering."""
    return traits.family.pick("face", FACES)


def package(
    traits: Traits,
    palette: Palette,
    width: float,
    height: float,
    *,
    label: str | None,
    sublabel: str | None,
    wear: str | None,
    key: str,
    away: bool = False,
    around: bool = False,
) -> Sheet:
    """The printed skin of a packed good: ground, pattern, panel with its name, emblem, small print.

    `around` puts the front into the middle third, as on a label that runs around a body.
    """
    f, v = traits.family, traits.variant
    sheet = Sheet(width, height, palette.base, wear)
    if f.chance("patterned", 0.75):
        tone = mix(palette.base, palette.second, f("pattern-mix", 0.35, 1.0))
        sheet.pattern(traits, (tone, palette.base))
    band = f("band", 0.05, 0.2)
    at_top = f.chance("band-top")
    sheet.box(0, 0 if at_top else 1 - band, 1, band if at_top else 1, palette.accent)
    for stripe in range(v.count("stripes", 0, 3)):
        y = (band + 0.03 + 0.035 * stripe) if at_top else (1 - band - 0.045 - 0.035 * stripe)
        sheet.box(0, y, 1, y + 0.018, palette.accent)
    left, right = (0.335, 0.665) if around else (0.08, 0.92)
    low = f("panel-y", 0.12, 0.3) if not at_top else f("panel-y", 0.24, 0.36)
    panel_height = f("panel-h", 0.26, 0.38)
    ground = f.pick(
        "panel", (palette.light, mix(palette.light, palette.second, 0.25), palette.dark)
    )
    if away:
        small = mix(palette.dark, palette.base, 0.2)
        sheet.box(left, 0.25, right, 0.78, mix(palette.light, palette.base, 0.15))
        sheet.greek((left + 0.03, 0.29, right - 0.03, 0.6), 9, small, key)
        for bar in range(22):
            x = left + 0.05 + bar * (right - left - 0.1) / 22
            wide = (right - left) * (0.012 + 0.022 * unit(key, "bar", bar))
            sheet.box(x, 0.64, x + wide, 0.75, (20, 20, 20))
        return sheet
    r = f("emblem-r", 0.13, 0.2) * min(1.0, 0.6 * height / (width * (right - left)) + 0.35)
    centre = (left + right) / 2
    emblem_y = low + panel_height + 0.22 if low < 0.32 else low - 0.14
    emblem_y = min(max(emblem_y, 0.14), 0.82)
    if around:
        r = min(0.2, 0.14 * width / height)
    sheet.emblem(
        traits, centre, emblem_y, r, (palette.light, palette.accent, palette.dark, palette.second)
    )
    if label is not None:
        _panel(sheet, f, (left, low, right, low + panel_height), ground, palette.accent)
        inset = 0.06 * (right - left)
        bottom = low + panel_height * (0.68 if sublabel else 0.9)
        sheet.print(
            label,
            (left + inset, low + panel_height * 0.1, right - inset, bottom),
            ink_on(ground, palette),
            lettering(traits),
            key=key,
        )
        sheet.print(
            sublabel,
            (left + inset, low + panel_height * 0.7, right - inset, low + panel_height * 0.92),
            ink_on(ground, palette),
            PLAIN,
            lines=1,
            is_label=False,
            key=key,
        )
    else:
        _panel(sheet, f, (left, low, right, low + panel_height * 0.5), ground, palette.accent)
    foot = 0.9 if at_top else 1 - band - 0.2
    if luma(palette.base) > 0:
        sheet.greek(
            (left + 0.1 * (right - left), foot - 0.05, right - 0.1 * (right - left), foot),
            2,
            ink_on(palette.base, palette),
            key,
        )
    return sheet


def _panel(
    sheet: Sheet, f: Draws, box: tuple[float, float, float, float], ground: Colour, rim: Colour
) -> None:
    x0, y0, x1, y1 = box
    shape = f.count("panel-shape", 0, 3)
    if shape == 0:
        sheet.box(0, y0, 1, y1, ground)
    elif shape == 1:
        sheet.box(x0 - 0.015, y0 - 0.012, x1 + 0.015, y1 + 0.012, rim)
        sheet.box(x0, y0, x1, y1, ground)
    elif shape == 2:
        cut = 0.18 * (x1 - x0)
        points = [
            (x0 - 0.02, y0),
            (x1 + 0.02, y0),
            (x1 + 0.02 - cut / 4, (y0 + y1) / 2),
            (x1 + 0.02, y1),
            (x0 - 0.02, y1),
            (x0 - 0.02 + cut / 4, (y0 + y1) / 2),
        ]
        sheet.fill(points, ground)
    else:
        t = np.linspace(0, 2 * math.pi, 48)
        px = np.sign(np.cos(t)) * np.abs(np.cos(t)) ** 0.35 * (x1 - x0) / 2 * 1.06 + (x0 + x1) / 2
        py = np.sign(np.sin(t)) * np.abs(np.sin(t)) ** 0.35 * (y1 - y0) / 2 * 1.06 + (y0 + y1) / 2
        sheet.fill(np.stack([px, py], 1), ground)


def _spoil(text: str, w: int, h: int, face: Face, lines: int, wear: str, key: str) -> Array:
    if wear == "tiny":
        small_w, small_h = max(w // 3, 4), max(min(h // 3, 7 * lines), 3)
        small = set_text(text, small_w, small_h, face, 1).mask[:small_h]
        sheet = np.zeros((h, w), np.uint8)
        top, left = (h - small.shape[0]) // 2, (w - small.shape[1]) // 2
        sheet[top : top + small.shape[0], left : left + small.shape[1]] = small
        return cv2.GaussianBlur(sheet, (0, 0), 1.6)
    mask, line = set_text(text, w, h, face, lines)[:2]
    mask = mask[:h]
    if wear == "worn":
        rng = generator("worn", key, text)
        cells = rng.random(
            (max(int(h / max(line * 0.22, 2)), 2), max(int(w / max(line * 0.22, 2)), 2))
        )
        left = cv2.resize(
            cells.astype(np.float32), (w, mask.shape[0]), interpolation=cv2.INTER_CUBIC
        )
        soft = cv2.GaussianBlur(mask, (0, 0), max(line * 0.07, 0.8)).astype(np.float32)
        return (soft * np.clip((left - 0.62) * 6, 0, 0.55)).astype(np.uint8)
    return cv2.GaussianBlur(mask, (0, 0), max(line * (0.3 if wear == "smudged" else 0.2), 2.0))


def _bar(value: Array, duty: float) -> Array:
    return np.clip((duty / 2 - np.abs(value % 1 - 0.5)) * 24 + 0.5, 0, 1)
