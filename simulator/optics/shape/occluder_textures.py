"""The occluders themselves, drawn by formula: a finger, a chain-link fence, a screen, hair.

A matte is a small texture: light (linear, premultiplied by alpha) and alpha, as four planes of
float32 from 0 to 1. `occlusion` places it in the picture by an affine map, so drawing one costs
the same whatever the size of the picture.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from simulator.optics.light.srgb import srgb_to_light

Texture = NDArray[np.float32]
"""h × w × 4: red, green, blue times alpha, alpha."""

FINGER_UNIT = 32
"""Texture pixels for half a finger's width."""
FINGER_TIP = (1.5, 2.0)
"""Where the tip's foremost point lies in the texture, in units: along, across."""

HAIR_SIZE = (384, 448)
"""Texture pixels along and across a lock of hair."""
HAIR_HALF = 0.13
"""Half the lock's nominal width, as a share of the texture's height."""

LOOKS = 8
"""Different fingers and locks there are; the key chooses."""

_SKINS = (
    (236, 188, 160), (226, 172, 140), (214, 158, 122), (196, 140, 104),
    (172, 116, 82), (146, 94, 64), (112, 70, 48), (82, 52, 38),
)  # fmt: skip
_HAIRS = (
    (34, 24, 20), (58, 38, 26), (92, 60, 36), (140, 98, 56),
    (24, 22, 24), (120, 58, 30), (176, 138, 90), (96, 92, 90),
)  # fmt: skip


def finger(look: int) -> Texture:
    """A finger pointing left, nail towards the camera, out of focus as things at a lens are."""
    unit = FINGER_UNIT
    u, v = _grid(14 * unit, 4 * unit)
    u, v = u / unit - FINGER_TIP[0], v / unit - FINGER_TIP[1]
    rng = np.random.Generator(np.random.Philox(key=100 + look))
    bend = 0.012 * rng.uniform(-1, 1)
    v = v - bend * np.maximum(u - 1, 0) ** 2
    # Half width along the finger: rounded tip, a slight waist, the joints' bulges.
    half = 0.9 + 0.1 * _step(1.2, 3.0, u)
    half += 0.05 * np.exp(-(((u - 3.5) / 0.8) ** 2)) - 0.03 * np.exp(-(((u - 2.1) / 0.7) ** 2))
    half += 0.07 * np.exp(-(((u - 8.2) / 1.2) ** 2))
    tip = np.clip(1 - np.maximum(1.05 - u, 0) ** 2.3 / 1.05**2.3, 0, 1) ** (1 / 2.1)
    across = v / np.maximum(half * np.maximum(tip, 0.05), 1e-3)
    inside = (1 - np.hypot(np.maximum(1.05 - u, 0) / 1.05, v / half)) * np.where(u < 1.05, 0.9, 1)
    alpha = _step(-0.09, 0.09, inside)

    skin = srgb_to_light(np.array(_SKINS[look % len(_SKINS)]) / 255.0)
    bounded = np.clip(across, -1, 1)
    facing = np.sqrt(1 - 0.97 * bounded**2)
    lit = 0.34 + 0.62 * np.clip(0.86 * facing - 0.42 * bounded, 0, 1)
    lit *= 0.86 + 0.14 * _step(0.0, 1.6, u)
    grain = _cloud(rng, u.shape, 3) * 0.05 + _cloud(rng, u.shape, 14) * 0.07
    lit = lit * (1 + grain)
    colour = skin[None, None, :] * lit[..., None]
    # Light travels in flesh: the rim and the tip are redder than the middle.
    flush = np.clip(0.55 * (1 - facing) + 0.35 * np.exp(-((u / 0.9) ** 2)), 0, 1)
    colour *= 1 + flush[..., None] * np.array([0.25, -0.10, -0.16])
    # Creases over the joints: dark furrow, lit lip.
    for at, depth in ((3.15, 0.20), (3.5, 0.30), (3.85, 0.22), (7.8, 0.22), (8.3, 0.28)):
        line = u - at - 0.10 * (1 - across**2) + 0.03 * np.sin(7 * v + at * 9)
        fade = np.exp(-((across / 0.75) ** 4))
        crease = np.exp(-((line / 0.055) ** 2)) - 0.6 * np.exp(-(((line - 0.13) / 0.08) ** 2))
        colour *= (1 - depth * fade * crease)[..., None]
    colour = _nail(colour, u, v, skin)
    soft = cv2.GaussianBlur(colour.astype(np.float32), (0, 0), 0.05 * unit)
    return _premultiplied(np.asarray(soft, np.float32), alpha)


def fence(pitch: int, fill: float) -> Texture:
    """One repeat of a chain-link fence: zinc wires crossing over and under at ±45°. The tile is
    2·pitch on a side; `fill` is wire width over the distance of the wires."""
    size = 2 * pitch
    x, y = _grid(size, size)
    # Two families of wires, one distance apart along each diagonal.
    a, b = (x + y) / (2 * pitch), (x - y) / (2 * pitch)
    a, b = a * 2, b * 2
    over = (np.round(a) + np.round(b)) % 2 == 0
    across_a, across_b = (a - np.round(a)) / (fill / 2), (b - np.round(b)) / (fill / 2)
    soft = max(0.16, 2.0 / max(pitch * fill, 0.05))
    on_a, on_b = (_faint(_step(-soft, soft, 1 - np.abs(c)), fill) for c in (across_a, across_b))
    shade_a, shade_b = _wire(across_a), _wire(-across_b)
    # Over a crossing the upper wire hides the lower and shades it a little.
    gap = 0.72 + 0.28 * np.clip(np.abs(across_b) - 1, 0, 1)
    low_a = shade_a * np.where(over, 1.0, gap)
    gap = 0.72 + 0.28 * np.clip(np.abs(across_a) - 1, 0, 1)
    low_b = shade_b * np.where(over, gap, 1.0)
    alpha = 1 - (1 - on_a) * (1 - on_b)
    top, bottom = np.where(over, on_a, on_b), np.where(over, on_b, on_a)
    light_top, light_bottom = np.where(over, low_a, low_b), np.where(over, low_b, low_a)
    light = top * light_top + (1 - top) * bottom * light_bottom
    tint = np.array([0.97, 1.0, 1.02])
    return np.dstack([light[..., None] * tint, alpha]).astype(np.float32)


def screen(pitch: int, fill: float) -> Texture:
    """Some meshes of an insect screen: dark woven threads, softened by being near the lens."""
    meshes = max(2, 64 // pitch)
    size = meshes * pitch
    x, y = _grid(size, size)
    rng = np.random.Generator(np.random.Philox(key=300))
    column, row = (np.floor(c / pitch).astype(int) % meshes for c in (x, y))
    # Threads are not equally thick; that is what makes a screen look woven and not printed.
    thick = fill * (1 + 0.12 * rng.standard_normal((2, meshes))).clip(0.7, 1.3)
    thick *= fill / thick.mean()
    u, v = x / pitch % 1 - 0.5, y / pitch % 1 - 0.5
    soft = max(0.22, 1.2 / max(pitch * fill * 0.7, 0.05))
    on_u = _faint(_step(-soft, soft, 1 - np.abs(u) / (thick[0][column] / 2)), fill)
    on_v = _faint(_step(-soft, soft, 1 - np.abs(v) / (thick[1][row] / 2)), fill)
    weave = 0.5 + 0.5 * np.cos(np.pi * (column + row))
    light = 0.045 + 0.05 * weave * on_u + 0.05 * (1 - weave) * on_v
    alpha = 1 - (1 - on_u) * (1 - on_v)
    return np.dstack([(light * alpha)[..., None] * np.array([1, 1.02, 1.06]), alpha]).astype(
        np.float32
    )


def hair(look: int) -> Texture:
    """A lock of hair along the texture's width: many strands that part and cross."""
    length, height = HAIR_SIZE
    rng = np.random.Generator(np.random.Philox(key=200 + look))
    along = (np.arange(length) + 0.5) / length
    v = (np.arange(height, dtype=np.float32) + 0.5)[:, None]
    base = srgb_to_light(np.array(_HAIRS[look % len(_HAIRS)]) / 255.0)
    clear = np.ones((height, length), np.float32)
    light = np.zeros((height, length, 3), np.float32)
    bow = (
        rng.choice([-1, 1]) * rng.uniform(0.10, 0.17) * np.sin(2.6 * along + rng.uniform(-0.6, 1.2))
    )
    bow = bow - bow[length // 2]
    # A sheen runs across all strands where the lock bends towards the light.
    sheen_at = rng.uniform(0.3, 0.7)
    for _ in range(90):
        offset = float(np.clip(rng.normal(0, 0.5), -1.35, 1.35)) * HAIR_HALF
        wave = rng.uniform(0.004, 0.02) * np.sin(
            2 * np.pi * (rng.uniform(0.4, 1.4) * along + rng.uniform())
        )
        drift = rng.normal(0, 0.05) * (along - 0.5) + rng.normal(0, 0.10) * (along - 0.5) ** 2
        centre = ((0.5 + offset + bow + wave + drift) * height).astype(np.float32)[None, :]
        width = rng.uniform(0.9, 2.8)
        # Only the rows that the strand runs through.
        top = max(0, int(centre.min() - 5 * width))
        rows = slice(top, max(top + 1, int(centre.max() + 5 * width) + 1))
        reach = np.abs(v[rows] - centre) / width
        cover = np.exp(-0.5 * reach**2).astype(np.float32) * rng.uniform(0.75, 0.97)
        shine = np.exp(-(((along - sheen_at - offset) / 0.10) ** 2))[None, :, None]
        tone = base * rng.uniform(0.55, 1.35) * (0.7 + 0.5 * (rng.uniform() > 0.6))
        colour = tone[None, None, :] + shine * (0.10 * rng.uniform(0.3, 1)) * np.array(
            [1.0, 0.93, 0.82]
        )
        behind = light[rows] * (1 - cover[..., None])
        light[rows] = behind + cover[..., None] * colour.astype(np.float32)
        clear[rows] *= 1 - cover
    edge = _step(0.0, 0.06, (np.minimum(v, height - v) / height).astype(np.float32))
    texture = np.dstack([light, 1 - clear]) * edge[..., None]
    return np.asarray(cv2.GaussianBlur(texture.astype(np.float32), (0, 0), 1.0), np.float32)


def _nail(
    colour: NDArray[np.float64],
    u: NDArray[np.float64],
    v: NDArray[np.float64],
    skin: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The nail plate with its moon, free edge, fold of skin and gloss."""
    du, dv = (u - 1.12) / 0.78, v / 0.60
    plate = 1 - (np.abs(du) ** 2.8 + np.abs(dv) ** 2.6) ** (1 / 2.7)
    on = _step(-0.035, 0.035, plate)
    fold = np.exp(-((plate / 0.07) ** 2)) * np.where(du > -0.75, 1.0, 0.5)
    pink = skin * np.array([1.05, 0.93, 0.92]) * 0.80 + np.array([0.10, 0.075, 0.07])
    bright = 0.50 + 0.46 * np.sqrt(np.clip(1 - 0.72 * dv**2, 0, 1)) - 0.10 * dv
    body = pink[None, None, :] * bright[..., None]
    moon = _step(0.0, 0.10, du - 0.70 + 0.28 * dv**2)
    body = body * (1 - 0.35 * moon[..., None]) + 0.35 * moon[..., None] * np.array(
        [0.72, 0.64, 0.6]
    )
    free = _step(0.0, 0.08, -0.84 - du + 0.10 * dv**2)
    body = body * (1 - 0.55 * free[..., None]) + 0.55 * free[..., None] * np.array([0.8, 0.76, 0.7])
    gloss = np.exp(-(((dv + 0.34) / 0.15) ** 2)) * _step(-0.8, -0.4, du) * _step(-0.75, -0.3, -du)
    body = body + 0.16 * gloss[..., None]
    colour = colour * (1 - 0.30 * fold)[..., None]
    return colour * (1 - on[..., None]) + body * on[..., None]


def _faint(cover: NDArray[np.float64], fill: float) -> NDArray[np.float64]:
    """A wire narrower than a pixel is a faint one."""
    return cover * min(1.0, fill / max(float(cover.mean()), 1e-6))


def _wire(across: NDArray[np.float64]) -> NDArray[np.float64]:
    """Light on a round zinc-coated wire."""
    n = np.clip(across, -1, 1)
    facing = np.sqrt(1 - 0.96 * n**2)
    return (
        0.10
        + 0.26 * np.clip(0.8 * facing - 0.5 * n, 0, 1)
        + 0.30 * np.exp(-(((n + 0.38) / 0.20) ** 2))
    )


def _premultiplied(colour: NDArray[np.float32], alpha: NDArray[np.float64]) -> Texture:
    bounded = np.clip(colour, 0, 1)
    return np.dstack([bounded * alpha[..., None], alpha]).astype(np.float32)


def _grid(width: int, height: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    return x.astype(np.float64), y.astype(np.float64)


def _step(low: float, high: float, x: NDArray[np.floating]) -> NDArray[np.float64]:
    t = np.clip((np.asarray(x, np.float64) - low) / (high - low), 0.0, 1.0)
    return t * t * (3 - 2 * t)


def _cloud(rng: np.random.Generator, shape: tuple[int, ...], cell: int) -> NDArray[np.float64]:
    h, w = shape
    coarse = rng.standard_normal((h // cell + 2, w // cell + 2)).astype(np.float32)
    return np.asarray(cv2.resize(coarse, (w, h), interpolation=cv2.INTER_CUBIC), np.float64)
