"""The coats of dogs: colours of fur, painted where they grow."""

from __future__ import annotations

import numpy as np

from simulator.studio.solid.forms import Array
from simulator.studio.solid.soft import noise, vec
from simulator.world.pictures.traits import Colour, Traits, mix

_COATS: tuple[Colour, ...] = ((40, 36, 34), (88, 58, 42), (172, 122, 74), (204, 158, 98),
    (226, 204, 168), (122, 118, 116), (150, 88, 52), (232, 226, 214))  # fmt: skip


class Coat:
    """Colours of fur: two coats and white, where the breed wears them."""

    def __init__(self, traits: Traits, high: float, sits: bool) -> None:
        f, v = traits.family, traits.variant
        self.h, self.f, self.v = high, f, v
        self.behind = -0.05 * high if sits else high
        """Where socks end: who sits would dip the hips into them."""
        first = f.count("first", 0, 6)
        second = (first + f.count("second", 1, 7)) % len(_COATS)
        tone = v("tone", -0.10, 0.10)
        self.first = np.array(
            mix(_COATS[first], (240, 220, 190) if tone > 0 else (20, 16, 14), abs(tone))
        )
        self.second, self.white = np.array(_COATS[second], float), np.array((232, 226, 214), float)
        self.pattern = f.pick(
            "pattern", ("plain", "saddle", "patches", "spots", "brindle", "merle", "points")
        )
        self.key = v.count("key", 0, 999)
        self.socks = v("socks", 0.06, 0.34) * high if f.chance("socks", 0.5) else 0.0
        self.bib = v("bib", 0.05, 0.14) * high if f.chance("bib", 0.55) else 0.0
        self.blaze = v("blaze", 0.010, 0.032) * high if f.chance("blaze", 0.4) else 0.0
        self.mask = f.chance("mask", 0.4)

    def body(self, at: Array, facing: Array) -> Array:
        """The trunk, legs and tail."""
        h = self.h
        out = self._ground(at, facing, 0.30 * h)
        ragged = noise(at, 0.05 * h, 7) * 0.03 * h
        white = ((at[:, 2] + ragged < self.socks) & (at[:, 1] < self.behind)) | (
            (facing[:, 1] < -0.35) & (np.abs(at[:, 0] + ragged) < self.bib) & (at[:, 1] < 0)
        )
        out[white] = self.white
        return self._fur(out, at, (0.010, 0.034, 0.018))

    def head(self, at: Array, facing: Array) -> Array:
        """The face: mask, blaze, brows, dark round the eyes."""
        h = self.h
        out = self._ground(at + vec(0, -0.5 * h, 0.7 * h), facing, 0.20 * h)
        ragged = noise(at, 0.04 * h, 8) * 0.012 * h
        muzzle = (at[:, 1] + ragged < -0.105 * h) & (at[:, 2] < 0.01 * h)
        if self.pattern in ("saddle", "points"):
            out[muzzle | ((at[:, 2] < -0.035 * h) & (at[:, 1] < 0.02 * h))] = self.second
            brow = np.hypot(np.abs(at[:, 0]) - 0.034 * h, 1.4 * (at[:, 2] - 0.050 * h)) < 0.013 * h
            spot = brow & (facing[:, 1] < 0)
            out[spot] = self.second
        if self.mask:
            out[muzzle] *= 0.42
        if self.blaze:
            narrow = self.blaze * (1 + 1.2 * np.clip(-at[:, 1] / (0.12 * h) - 0.4, 0, 2))
            out[(np.abs(at[:, 0]) + ragged < narrow) & (facing[:, 1] < 0.2)] = self.white
        eye = np.hypot(np.abs(at[:, 0]) - 0.043 * h, at[:, 2] - 0.012 * h)
        out *= (1 - 0.6 * np.exp(-((eye / (0.021 * h)) ** 2)) * (at[:, 1] < -0.04 * h))[:, None]
        return self._fur(out, at, (0.010, 0.022, 0.014))

    def _ground(self, at: Array, facing: Array, patch: float) -> Array:
        """First and second colour as the breed's pattern lays them."""
        h, share = self.h, np.zeros(len(at))
        blotch = noise(at, patch, self.key)
        if self.pattern == "saddle":
            share = np.clip((0.62 * h - at[:, 2] + 0.06 * h * blotch) / (0.04 * h), 0, 1)
        elif self.pattern == "points":
            share = np.clip((0.26 * h - at[:, 2] + 0.03 * h * blotch) / (0.03 * h), 0, 1)
        elif self.pattern == "patches":
            share = np.clip((blotch - self.v("cover", -0.08, 0.16)) * 14, 0, 1)
        elif self.pattern == "spots":
            share = np.clip(0.55 + (noise(at, 0.055 * h, self.key) - 0.25) * 12, 0, 1)
        elif self.pattern == "brindle":
            bars = np.sin(at[:, 1] / h * 95 + 4 * noise(at, 0.12 * h, self.key))
            share = np.clip(bars - 0.1, 0, 1) * 0.35
        elif self.pattern == "merle":
            share = np.clip((noise(at, 0.10 * h, self.key) - 0.15) * 7, 0, 0.8)
        under = np.clip(-facing[:, 2] * 0.7, 0, 0.45) * (self.pattern in ("plain", "brindle"))
        second = self.white if self.pattern in ("patches", "spots") else self.second
        out = self.first + (second - self.first) * share[:, None]
        return out + (np.array((226, 206, 176)) - out) * under[:, None] * 0.6

    def _fur(self, out: Array, at: Array, grain: tuple[float, float, float]) -> Array:
        strands = noise(at, grain, 11) * 0.09 + noise(at, (0.004, 0.012, 0.006), 12) * 0.10
        return out * (1 + strands + 0.05 * noise(at, 0.06, 13))[:, None] + 2
