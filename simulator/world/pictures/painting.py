"""The surface an entity is painted on: parts with volume, lit by one light, with clean edges.

Units are the painter's: x to the right, y up, the ground at y = 0, the entity about 1 in size.
Colour is kept multiplied by coverage, so that sprites can be scaled and laid over anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import cv2
import numpy as np

from simulator.world.pictures.light import SIZE, Light, Material, table
from simulator.world.pictures.noise import patch
from simulator.world.pictures.shapes import Array, Path, Points
from simulator.world.pictures.traits import Colour, unit

Albedo = Colour | Array
"""One colour, or a picture of the part's bounding box."""

_SHIFT = 4
_COARSE = 72
"""Volumes are computed on a grid of about this many cells: normals are smooth, edges are not."""


class Canvas:
    """A transparent picture in painter's units."""

    def __init__(
        self, extent: tuple[float, float, float, float], scale: float, light: Light
    ) -> None:
        x0, y0, x1, y1 = extent
        self.scale = scale
        self.light = light
        self.width = max(int((x1 - x0) * scale) + 4, 8)
        self.height = max(int((y1 - y0) * scale) + 4, 8)
        self.origin = (2 - x0 * scale, 2 + y1 * scale)
        self.rgb: Array = np.zeros((self.height, self.width, 3), np.uint8)
        self.alpha: Array = np.zeros((self.height, self.width), np.uint8)
        self._parts = 0

    # What painters call -------------------------------------------------------------------------

    def blob(
        self,
        outline: Path,
        material: Material,
        *,
        bevel: float | None = None,
        puff: float = 1.0,
        albedo: Array | None = None,
        opacity: float = 1.0,
        tilt: tuple[float, float] = (0, 0),
    ) -> None:
        """A closed outline filled out like a cushion, or with a round edge `bevel` units wide.

        `albedo` is a picture stretched over the bounding box instead of the material's colour.
        """
        found = self._mask(self.px(outline))
        if found is None:
            return
        x, y, mask = found
        nx, ny = _inflate(mask, None if bevel is None else bevel * self.scale, puff)
        if tilt != (0, 0):
            nx, ny = nx + tilt[0], ny + tilt[1]
        self._lay(x, y, mask, nx, ny, material, albedo, opacity)

    def flat(
        self, outline: Path, colour: Colour, *, opacity: float = 1.0, inside: bool = False
    ) -> None:
        """A plain area; `inside` paints only where something is painted already."""
        found = self._mask(self.px(outline))
        if found is not None:
            x, y, mask = found
            if inside:
                mask = cv2.multiply(
                    mask, self.alpha[y : y + mask.shape[0], x : x + mask.shape[1]], scale=1 / 255
                )
            self._blend(x, y, mask, np.full((*mask.shape, 3), colour, np.uint8), opacity)

    def face(
        self,
        outline: Path,
        material: Material,
        normal: tuple[float, float],
        *,
        albedo: Array | None = None,
        opacity: float = 1.0,
    ) -> None:
        """A plane area with one normal (right, up)."""
        found = self._mask(self.px(outline))
        if found is not None:
            x, y, mask = found
            nx = np.full(mask.shape, normal[0], np.float32)
            ny = np.full(mask.shape, normal[1], np.float32)
            self._lay(x, y, mask, nx, ny, material, albedo, opacity)

    def ball(
        self,
        cx: float,
        cy: float,
        rx: float,
        material: Material,
        ry: float | None = None,
        *,
        albedo: Array | None = None,
        opacity: float = 1.0,
    ) -> None:
        """A sphere or an ellipsoid."""
        ry = rx if ry is None else ry
        angle = np.linspace(0, 2 * math.pi, 48, endpoint=False)
        found = self._mask(self.px(np.stack([cx + rx * np.cos(angle), cy + ry * np.sin(angle)], 1)))
        if found is None:
            return
        x, y, mask = found
        mx, my = self.px([(cx, cy)])[0]
        h, w = mask.shape
        nx = np.broadcast_to(
            ((np.arange(x, x + w) + 0.0 - mx) / (rx * self.scale))[None, :], (h, w)
        )
        ny = np.broadcast_to(((my - np.arange(y, y + h)) / (ry * self.scale))[:, None], (h, w))
        length = np.maximum(np.hypot(nx, ny), 1.0)
        self._lay(
            x,
            y,
            mask,
            (nx / length).astype(np.float32),
            (ny / length).astype(np.float32),
            material,
            albedo,
            opacity,
        )

    def tube(self, path: Path, width: float, material: Material, *, opacity: float = 1.0) -> None:
        """A round rod along a path."""
        points = self.px(path)
        thick = max(width * self.scale, 1.0)
        pad = int(thick) + 3
        x0, y0 = np.floor(points.min(0) - pad).astype(int)
        x1, y1 = np.ceil(points.max(0) + pad).astype(int)
        x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, self.width), min(y1, self.height)
        if x1 - x0 < 2 or y1 - y0 < 2:
            return
        mask = np.zeros((y1 - y0, x1 - x0), np.uint8)
        fixed = np.round((points - (x0, y0)) * (1 << _SHIFT)).astype(np.int32)
        cv2.polylines(mask, [fixed], False, 255, max(round(thick), 1), cv2.LINE_AA, _SHIFT)
        if thick < 1.6:
            opacity *= thick / 1.6 + 0.2
        if thick < 3:
            zero = np.zeros(mask.shape, np.float32)
            self._lay(x0, y0, mask, zero, zero + 0.3, material, None, min(opacity, 1.0))
            return
        nx, ny = _inflate(mask, thick / 2, 1.0, fine=True)
        self._lay(x0, y0, mask, nx, ny, material, None, opacity)

    def line(
        self,
        path: Path,
        width: float,
        colour: Colour,
        *,
        opacity: float = 1.0,
        inside: bool = False,
    ) -> None:
        """A flat stroke."""
        points = self.px(path)
        thick = max(width * self.scale, 0.8)
        pad = int(thick) + 3
        x0, y0 = np.floor(points.min(0) - pad).astype(int)
        x1, y1 = np.ceil(points.max(0) + pad).astype(int)
        x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, self.width), min(y1, self.height)
        if x1 - x0 < 1 or y1 - y0 < 1:
            return
        mask = np.zeros((y1 - y0, x1 - x0), np.uint8)
        fixed = np.round((points - (x0, y0)) * (1 << _SHIFT)).astype(np.int32)
        cv2.polylines(mask, [fixed], False, 255, max(round(thick), 1), cv2.LINE_AA, _SHIFT)
        if inside:
            mask = cv2.multiply(mask, self.alpha[y0:y1, x0:x1], scale=1 / 255)
        self._blend(
            x0,
            y0,
            mask,
            np.full((*mask.shape, 3), colour, np.uint8),
            min(opacity * min(thick / 1.2, 1), 1),
        )

    def revolve(
        self,
        cx: float,
        profile: Sequence[tuple[float, float]],
        material: Material,
        *,
        pitch: float = 0.0,
        wrap: Array | None = None,
        turn: float = 0.0,
        opacity: float = 1.0,
        cap: Material | None = None,
    ) -> None:
        """A turned body: `profile` is (height, radius) from bottom to top.

        `wrap` is laid around it over its whole height; its middle faces the viewer at turn 0, its
        width spans the full circle. Seen from `pitch` radians above, it shows the top as `cap`.
        """
        heights = np.array([p[0] for p in profile]) * self.scale
        radii = np.array([p[1] for p in profile]) * self.scale
        sag = math.sin(pitch)
        mid_x, ground = self.px([(cx, 0.0)])[0]
        bottom, top = heights[0], heights[-1]
        widest = radii.max()
        lowest = float((heights - radii * sag).min())
        highest = float((heights + radii * sag).max())
        x0, x1 = max(int(mid_x - widest) - 2, 0), min(int(mid_x + widest) + 3, self.width)
        y0, y1 = max(int(ground - highest) - 2, 0), min(int(ground - lowest) + 3, self.height)
        if x1 - x0 < 2 or y1 - y0 < 2:
            return
        rim = np.linspace(0, math.pi, 24)
        under = np.stack([radii[0] * np.cos(rim), bottom - radii[0] * sag * np.sin(rim)], 1)
        over = np.stack([radii[-1] * np.cos(rim), top + radii[-1] * sag * np.sin(rim)], 1)[::-1]
        left, right = np.stack([-radii, heights], 1), np.stack([radii, heights], 1)
        outline = np.concatenate([right[::-1], under, left, over])
        outline = np.stack([outline[:, 0] + mid_x, ground - outline[:, 1]], 1)
        mask = np.zeros((y1 - y0, x1 - x0), np.uint8)
        fixed = np.round((outline - (x0, y0)) * (1 << _SHIFT)).astype(np.int32)
        cv2.fillPoly(mask, [fixed], 255, cv2.LINE_AA, _SHIFT)

        rows = (ground - np.arange(y0, y1)).astype(np.float32)
        columns = (np.arange(x0, x1) - mid_x).astype(np.float32)
        radius = np.interp(rows, heights, radii).astype(np.float32)
        slope = np.gradient(np.interp(rows, heights, radii)) if len(rows) > 2 else rows * 0
        slope = cv2.GaussianBlur(slope.astype(np.float32)[:, None], (1, 5), 0)[:, 0]  # r' downwards
        u = np.clip(columns[None, :] / np.maximum(radius, 1)[:, None], -1, 1)
        length = np.sqrt(1 + slope**2)[:, None]
        nx, ny = u / length, np.broadcast_to((slope / np.sqrt(1 + slope**2))[:, None], u.shape)
        front = np.sqrt(1 - u * u)
        ny = ny + front * sag * 0.8
        albedo: Array | None = None
        if wrap is not None:
            th, tw = wrap.shape[:2]
            at = rows[:, None] + radius[:, None] * front * sag
            map_x = ((np.arcsin(u) / (2 * math.pi) + 0.5 - turn / (2 * math.pi)) * tw).astype(
                np.float32
            )
            map_y = ((top - at) / (top - bottom) * (th - 1)).astype(np.float32)
            albedo = cv2.remap(
                wrap,
                map_x,
                map_y,
                cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_REPLICATE if abs(turn) < 1.5 else cv2.BORDER_WRAP,
            )
        self._lay(
            x0, y0, mask, nx.astype(np.float32), ny.astype(np.float32), material, albedo, opacity
        )
        if cap is not None and sag > 0.02:
            angle = np.linspace(0, 2 * math.pi, 40, endpoint=False)
            r = radii[-1] / self.scale
            lid = np.stack(
                [cx + r * np.cos(angle), heights[-1] / self.scale + r * sag * np.sin(angle)], 1
            )
            self.face(lid, cap, (0.0, math.cos(pitch) * 0.9))

    def quad(
        self,
        corners: Path,
        picture: Array,
        *,
        shade: Colour = (1, 1, 1),
        opacity: float = 1.0,
        cover: Array | None = None,
    ) -> Array:
        """A picture on a plane; corners from its upper left clockwise. Gives its homography."""
        points = self.px(corners)
        h, w = picture.shape[:2]
        source = np.array([(0, 0), (w, 0), (w, h), (0, h)], np.float32)
        matrix = cv2.getPerspectiveTransform(source, points.astype(np.float32))
        found = self._mask(points)
        if found is None:
            return matrix
        x, y, mask = found
        local = np.array([[1, 0, -x], [0, 1, -y], [0, 0, 1]], np.float64) @ matrix
        size = (mask.shape[1], mask.shape[0])
        shaded = picture
        if shade != (1, 1, 1):
            shaded = cv2.multiply(picture, cast("Any", (*shade, 0.0)))
        flags = cv2.INTER_LINEAR
        warped = cv2.warpPerspective(
            shaded, local, size, flags=flags, borderMode=cv2.BORDER_REPLICATE
        )
        if cover is not None:
            warped_cover = cv2.warpPerspective(cover, local, size, flags=flags)
            mask = cv2.multiply(mask, warped_cover, scale=1 / 255)
        self._blend(x, y, mask, warped, opacity)
        return matrix

    def shadow(
        self,
        outline: Path,
        strength: float = 0.4,
        blur: float = 0.03,
        colour: Colour = (20, 16, 18),
    ) -> None:
        """A soft dark area on what is painted already."""
        found = self._mask(self.px(outline), pad=int(blur * self.scale * 2.5) + 2)
        if found is None:
            return
        x, y, mask = found
        sigma = max(blur * self.scale, 0.6)
        mask = cv2.GaussianBlur(mask, (0, 0), sigma) if sigma < 6 else _fast_blur(mask, sigma)
        h, w = mask.shape
        mask = cv2.multiply(mask, self.alpha[y : y + h, x : x + w], scale=1 / 255)
        self._blend(x, y, mask, np.full((h, w, 3), colour, np.uint8), strength)

    def glow(
        self,
        outline: Path,
        strength: float = 0.4,
        blur: float = 0.03,
        colour: Colour = (255, 252, 245),
    ) -> None:
        """A soft bright area on what is painted already."""
        self.shadow(outline, strength, blur, colour)

    def px(self, points: Path) -> Points:
        """Units to pixels of this canvas."""
        p = np.asarray(points, np.float64)
        return np.stack(
            [p[:, 0] * self.scale + self.origin[0], self.origin[1] - p[:, 1] * self.scale], 1
        )

    def shade_of(self, normal: tuple[float, float], gloss: float = 0.3) -> Colour:
        """What a plane of this normal multiplies its picture by."""
        shade, _ = table(self.light, round(gloss, 2), 0.0)
        i = int(np.clip((0.5 - normal[1] * 0.5) * (SIZE - 1), 0, SIZE - 1))
        j = int(np.clip((normal[0] * 0.5 + 0.5) * (SIZE - 1), 0, SIZE - 1))
        r, g, b = shade[i, j]
        return float(r), float(g), float(b)

    # How it is done -----------------------------------------------------------------------------

    def _mask(self, points: Points, pad: int = 2) -> tuple[int, int, Array] | None:
        x0, y0 = np.floor(points.min(0) - pad).astype(int)
        x1, y1 = np.ceil(points.max(0) + pad + 1).astype(int)
        x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, self.width), min(y1, self.height)
        if x1 - x0 < 2 or y1 - y0 < 2:
            return None
        mask = np.zeros((y1 - y0, x1 - x0), np.uint8)
        fixed = np.round((points - (x0, y0)) * (1 << _SHIFT)).astype(np.int32)
        cv2.fillPoly(mask, [fixed], 255, cv2.LINE_AA, _SHIFT)
        return x0, y0, mask

    def _lay(
        self,
        x: int,
        y: int,
        mask: Array,
        nx: Array,
        ny: Array,
        material: Material,
        albedo: Array | None,
        opacity: float,
    ) -> None:
        h, w = mask.shape
        self._parts += 1
        uneven: Array | None = None
        if material.grain or material.bump:
            uneven = patch(material.texture, h, w, unit("dx", self._parts), unit("dy", self._parts))
        if material.bump and uneven is not None:
            nx = nx + material.bump * (uneven - np.roll(uneven, 1, 1))
            ny = ny + material.bump * (np.roll(uneven, 1, 0) - uneven)
        shade, added = table(self.light, round(material.gloss, 2), round(material.metal, 2))
        map_x = np.clip((nx * 0.5 + 0.5) * (SIZE - 1), 0, SIZE - 1).astype(np.float32)
        map_y = np.clip((0.5 - ny * 0.5) * (SIZE - 1), 0, SIZE - 1).astype(np.float32)
        colour = cv2.remap(shade, map_x, map_y, cv2.INTER_LINEAR)
        if albedo is None:
            colour *= np.array(material.colour, np.float32)
        else:
            if albedo.shape[:2] != (h, w):
                albedo = cv2.resize(albedo, (w, h), interpolation=cv2.INTER_LINEAR)
            colour *= albedo
        if material.grain and uneven is not None:
            colour *= (1 + material.grain * uneven)[..., None]
        if material.gloss > 0.02:
            colour += cv2.remap(added, map_x, map_y, cv2.INTER_LINEAR)
        self._blend(x, y, mask, np.clip(colour, 0, 255).astype(np.uint8), opacity)

    def _blend(self, x: int, y: int, mask: Array, colour: Array, opacity: float) -> None:
        h, w = mask.shape
        weight = mask.astype(np.float32) * (min(opacity, 1.0) / 255)
        place = self.rgb[y : y + h, x : x + w]
        place[...] = cv2.blendLinear(colour, place, weight, 1 - weight)
        cover = self.alpha[y : y + h, x : x + w]
        cover[...] = np.rint(255 - (255 - cover.astype(np.float32)) * (1 - weight)).astype(np.uint8)


def _fast_blur(mask: Array, sigma: float) -> Array:
    factor = max(int(sigma / 2), 1)
    h, w = mask.shape
    small = cv2.resize(
        mask, (max(w // factor, 2), max(h // factor, 2)), interpolation=cv2.INTER_AREA
    )
    small = cv2.GaussianBlur(small, (0, 0), sigma / factor)
    return cv2.resize(small, (w, h), interpolation=cv2.INTER_LINEAR)


def _inflate(
    mask: Array, bevel: float | None, puff: float, fine: bool = False
) -> tuple[Array, Array]:
    """Normals of a mask filled out like a cushion: distance to the edge → round profile."""
    h, w = mask.shape
    coarse = 160 if fine else _COARSE
    factor = max(max(h, w) / coarse, 1.0)
    if bevel is not None:
        factor = min(factor, max(bevel / 3, 1.0))
    small = cv2.resize(
        mask, (max(round(w / factor), 2), max(round(h / factor), 2)), interpolation=cv2.INTER_AREA
    )
    small = cv2.copyMakeBorder(small, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
    depth = cv2.distanceTransform((small > 127).astype(np.uint8), cv2.DIST_L2, 5)
    radius = max(float(depth.max()) if bevel is None else bevel / factor, 1.0)
    near = np.minimum(depth / radius, 1.0)
    height = radius * puff * np.sqrt(np.maximum(1 - (1 - near) ** 2, 0))
    soft = max(radius * (0.22 if bevel is None else 0.12), 0.5)
    height = cv2.GaussianBlur(height, (0, 0), soft)
    gx = cv2.Sobel(height, cv2.CV_32F, 1, 0, ksize=3, scale=1 / 8)
    gy = cv2.Sobel(height, cv2.CV_32F, 0, 1, ksize=3, scale=1 / 8)
    length = np.sqrt(1 + gx * gx + gy * gy)
    nx, ny = (-gx / length)[1:-1, 1:-1], (gy / length)[1:-1, 1:-1]
    return (
        cv2.resize(nx, (w, h), interpolation=cv2.INTER_LINEAR),
        cv2.resize(ny, (w, h), interpolation=cv2.INTER_LINEAR),
    )
