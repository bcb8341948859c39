"""The camera of the glasses: wide-angle lens, roll, vignette, white balance, sensor noise."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from simulator.world.pictures.noise import generator
from simulator.world.pictures.shapes import Array, Points
from simulator.world.pictures.traits import Draws

_ROLLS = (-2.4, -0.8, 0.8, 2.4)
_BEND = 0.13


class Camera:
    """One way of holding the camera."""

    def __init__(self, width: int, height: int, draw: Draws) -> None:
        self.size = (width, height)
        self.roll = draw.pick("roll", _ROLLS)
        self.draw = draw

    def shoot(self, image: Array, noise: float, swing: float) -> Array:
        """What the sensor records of an ideal picture."""
        w, h = self.size
        first, second = _maps(w, h, self.roll)
        out = cv2.remap(image, first, second, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)
        out = cv2.multiply(out, _vignette(w, h), scale=1 / 255)
        out = cv2.LUT(out, self._balance(swing))
        if noise > 0:
            out = add_noise(out, noise, self.draw)
        return out

    def see(self, points: Points) -> Points:
        """Where a point of the ideal picture ends up."""
        w, h = self.size
        centre = np.array([w / 2, h / 2])
        a = math.radians(self.roll)
        spin = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
        target = (np.asarray(points, np.float64) - centre) @ spin / _zoom(w, h)
        radius = (w * w + h * h) / 4
        found = target.copy()
        for _ in range(12):
            r = (found**2).sum(1, keepdims=True) / radius
            found = target * (1 + _BEND) / (1 + _BEND * r)
        return found + centre

    def _balance(self, swing: float) -> Array:
        warm = self.draw("warm", -0.05, 0.06) * swing
        gain = 1 + self.draw("gain", -0.12, 0.06) * swing
        x = np.arange(256) / 255
        curve = np.clip(x * gain, 0, 1)
        curve = curve + 0.05 * np.sin((curve - 0.5) * math.pi) * (curve * (1 - curve)) * 4
        table = np.stack([curve * (1 + warm), curve, curve * (1 - warm)], 1)
        return np.clip(table * 255 + 0.5, 0, 255).astype(np.uint8)[None]


def add_noise(image: Array, amount: float, draw: Draws) -> Array:
    """Sensor noise from a stock of ready-made noise."""
    h, w = image.shape[:2]
    stock = _noise(round(min(amount, 4.0) * 8))
    sh, sw = stock.shape[:2]
    out = image.copy()
    oy, ox = int(draw("ny") * (sh // 2)), int(draw("nx") * (sw // 2))
    for y in range(0, h, sh // 2):
        for x in range(0, w, sw // 2):
            part = out[y : y + sh // 2, x : x + sw // 2]
            ph, pw = part.shape[:2]
            grain = stock[oy : oy + ph, ox : ox + pw]
            # 128 is no noise: adding and taking it away saturates like a sensor does.
            part[...] = cv2.addWeighted(part, 1.0, grain, 1.0, -128.0)
    return out


@lru_cache(maxsize=40)
def _noise(level: int) -> Array:
    rng = generator("sensor", level)
    grain = rng.normal(0, 1, (1280, 1024, 3)).astype(np.float32)
    luma = grain.mean(2, keepdims=True) * 1.6
    mixed = (grain * 0.5 + luma * 0.8) * (level / 8 * 3.0)
    return np.clip(mixed + 128, 0, 255).astype(np.uint8)


def _zoom(w: int, h: int) -> float:
    a = math.radians(max(abs(r) for r in _ROLLS))
    side = max(w, h) / min(w, h)
    return 1 / (math.cos(a) + math.sin(a) * side)


@lru_cache(maxsize=12)
def _maps(w: int, h: int, roll: float) -> tuple[NDArray[Any], NDArray[Any]]:
    y, x = np.mgrid[0:h, 0:w].astype(np.float64)
    dx, dy = x - w / 2, y - h / 2
    r = (dx * dx + dy * dy) / ((w * w + h * h) / 4)
    factor = (1 + _BEND * r) / (1 + _BEND) * _zoom(w, h)
    a = math.radians(roll)
    sx = (dx * math.cos(a) - dy * math.sin(a)) * factor
    sy = (dx * math.sin(a) + dy * math.cos(a)) * factor
    first, second = cv2.convertMaps(
        (sx + w / 2).astype(np.float32), (sy + h / 2).astype(np.float32), cv2.CV_16SC2
    )
    return first, second


@lru_cache(maxsize=8)
def _vignette(w: int, h: int) -> Array:
    y, x = np.mgrid[0:h, 0:w].astype(np.float64)
    r = ((x - w / 2) ** 2 + (y - h / 2) ** 2) / ((w * w + h * h) / 4)
    fall = 255 * (1 - 0.2 * r**1.4)
    return np.repeat(fall[..., None], 3, axis=2).astype(np.uint8)
