"""Varied pictures drawn by formula, for calibration tests, benchmarks and demonstrations.

No photograph is shipped. These range over what matters to a degradation: spectra from cloud to
fine print, edges, texture, flat areas, tone from dark to bright, colour.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from mmrag.records import Box
from simulator.optics.light.srgb import Image
from simulator.optics.random_streams import generator

_WORDS = ("ALPINE", "TEA", "BLUE", "HOUR", "MODEL", "X-200", "EXIT", "GATE 14", "GRAIN", "500 g")

_VERSION = 1
"""The pictures stay as they are when the optics change: what they measure is the optics."""


def sample(index: int, size: tuple[int, int] = (640, 480)) -> tuple[Image, Box]:
    """One picture with the box of its main thing. The same index is the same picture."""
    w, h = size
    rng = generator(str(index), "sample", version=_VERSION)
    ground = _natural(rng, w, h, float(rng.uniform(0.8, 1.9)))
    ground = ground * rng.uniform(0.25, 0.9) + rng.uniform(0.0, 0.35, 3)
    slope = np.linspace(0, rng.uniform(-0.3, 0.3), h)[:, None, None]
    canvas = np.clip((ground + slope) * 255, 0, 255).astype(np.uint8)
    for _ in range(int(rng.integers(3, 14))):
        _shape(rng, canvas, float(rng.uniform(0.04, 0.22)))
    bw, bh = (float(rng.uniform(0.25, 0.6)) * side for side in (w, h))
    x0, y0 = float(rng.uniform(0.05, 0.95)) * (w - bw), float(rng.uniform(0.05, 0.95)) * (h - bh)
    box = (round(x0), round(y0), round(x0 + bw), round(y0 + bh))
    _thing(rng, canvas, box)
    soft = cv2.GaussianBlur(canvas, (0, 0), float(rng.uniform(0.5, 0.9)))
    return np.asarray(soft, np.uint8), (float(box[0]), float(box[1]), float(box[2]), float(box[3]))


def _natural(rng: np.random.Generator, w: int, h: int, exponent: float) -> NDArray[np.float64]:
    """Noise with the falling spectrum of natural pictures, 0–1, three correlated channels."""
    side = 256
    fy, fx = np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None, :]
    fall = np.maximum(np.hypot(fx, fy), 1 / side) ** -exponent
    planes: list[NDArray[np.float64]] = []
    shared = rng.standard_normal((side, side))
    for _ in range(3):
        mixed = 0.8 * shared + 0.4 * rng.standard_normal((side, side))
        plane = np.fft.irfft2(np.fft.rfft2(mixed) * fall, s=(side, side))
        plane = (plane - plane.mean()) / (plane.std() * 5) + 0.5
        planes.append(plane)
    small = np.clip(np.dstack(planes), 0, 1).astype(np.float32)
    return np.asarray(cv2.resize(small, (w, h), interpolation=cv2.INTER_CUBIC), np.float64)


def _shape(rng: np.random.Generator, canvas: Image, share: float) -> None:
    h, w = canvas.shape[:2]
    colour = tuple(int(c) for c in rng.integers(10, 245, 3))
    cx, cy = int(rng.integers(w)), int(rng.integers(h))
    r = max(2, int(share * min(w, h)))
    which = int(rng.integers(4))
    if which == 0:
        cv2.circle(canvas, (cx, cy), r, colour, -1, cv2.LINE_AA)
    elif which == 1:
        cv2.rectangle(canvas, (cx - r, cy - r // 2), (cx + r, cy + r // 2), colour, -1)
    elif which == 2:
        points = (np.array([cx, cy]) + rng.uniform(-r, r, (5, 2))).astype(np.int32)
        cv2.fillPoly(canvas, [points], colour, cv2.LINE_AA)
    else:
        cv2.line(canvas, (cx - r, cy), (cx + r, cy + r // 3), colour, max(1, r // 12), cv2.LINE_AA)


def _thing(rng: np.random.Generator, canvas: Image, box: tuple[int, int, int, int]) -> None:
    """A package, sign or textured object with print on it."""
    x0, y0, x1, y1 = box
    part = canvas[y0:y1, x0:x1]
    bh, bw = part.shape[:2]
    base = rng.integers(30, 230, 3).astype(np.float64)
    texture = _natural(rng, bw, bh, float(rng.uniform(0.7, 1.6))) - 0.5
    shade = np.linspace(1.15, 0.8, bw)[None, :, None]
    part[:] = np.clip(base * shade + texture * rng.uniform(20, 160), 0, 255).astype(np.uint8)
    ink = tuple(int(c) for c in (255 - base))
    if rng.uniform() < 0.4:
        period = max(3, int(bw * rng.uniform(0.03, 0.12)))
        for x in range(0, bw, 2 * period):
            cv2.rectangle(part, (x, bh // 2), (x + period, bh - 1), ink, -1)
    for line in range(int(rng.integers(1, 6))):
        text = " ".join(rng.choice(_WORDS, 3))
        scale = max(0.25, bw / 420 * float(rng.uniform(0.5, 1.6)))
        y = int(bh * (0.2 + 0.14 * line))
        cv2.putText(
            part, text, (4, y), cv2.FONT_HERSHEY_SIMPLEX, scale, ink,
            max(1, round(scale * 1.6)), cv2.LINE_AA,
        )  # fmt: skip
    cv2.rectangle(part, (0, 0), (bw - 1, bh - 1), tuple(int(c * 0.5) for c in base), 2)
