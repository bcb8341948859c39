"""What bags, shoes and hats are made of: leather, canvas, knit, straw, with stripes and checks."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from simulator.studio.solid.forms import Array, Material, Mesh
from simulator.studio.solid.meshes import skin
from simulator.studio.solid.soft import noise
from simulator.world.pictures.traits import Colour, Draws

STUFFS = ("leather", "canvas", "suede", "nylon")


def sack(width: float, depth: float, height: float, *, square: float = 4.0, edge: float = 7.0,
    bulge: float = 0.06, taper: float = 0.0, slump: float = 0.0) -> Mesh:  # fmt: skip
    """A stuffed shape on z = 0: rounded in plan (`square`) and at its ends (`edge`).

    The sheet is wrapped once around, its seam behind; v runs from bottom to top.
    """
    t = np.linspace(0, 1, 29)
    t = 0.5 - 0.5 * np.cos(t * math.pi) * (0.6 + 0.4 * np.abs(np.cos(t * math.pi)))
    a = np.linspace(0, 2 * math.pi, 61) + math.pi / 2
    ends = np.maximum(1 - np.abs(2 * t - 1) ** edge, 0) ** (1 / edge)
    wide = ends * (1 + bulge * np.sin(t * math.pi)) * (1 - taper * t)
    x = np.sign(np.cos(a)) * np.abs(np.cos(a)) ** (2 / square)
    y = np.sign(np.sin(a)) * np.abs(np.sin(a)) ** (2 / square)
    deep = ends * (1 + 2.2 * bulge * np.sin(t * math.pi)) * (1 - 1.3 * taper * t)
    at = np.stack(
        [
            x[:, None] * wide[None] * width / 2,
            y[:, None] * deep[None] * depth / 2,
            np.broadcast_to(t * height, (len(a), len(t))),
        ],
        -1,
    )
    if slump:
        at[..., 2] -= slump * height * (at[..., 0] / (width / 2)) ** 2 * (t[None] > 0.5) * t[None]
        at[..., :2] *= 1 + 0.04 * noise(at.reshape(-1, 3), 0.5 * width, 4).reshape(*at.shape[:2], 1)
    return skin(at)


def on_front(mesh: Mesh, x: float, z: float) -> float:
    """How far to the front (y) a mesh reaches at a place."""
    gap = np.hypot(mesh.vertices[:, 0] - x, mesh.vertices[:, 2] - z)
    near = mesh.vertices[gap < gap.min() + 0.02]
    return float(near[:, 1].min())


def stuff(colour: Colour, kind: str, *, key: int = 0, second: Colour | None = None,
    pattern: str = "plain", fine: float = 1.0, shift: float = 0.0) -> Material:  # fmt: skip
    """A material by its name; a pattern in the second colour lies once over the whole sheet."""
    h, w = 256, 512
    row, col = np.mgrid[0:h, 0:w]
    u, v = (col + 0.5) / w, 1 - (row + 0.5) / h
    base = np.tile(np.array(colour, float), (h, w, 1))
    if second is not None:
        share = _pattern(pattern, u, v, shift)
        base = base + (np.array(second) - base) * share[..., None]
    out = base * (1 + _grain(kind, u, v, key, fine)[..., None])
    rough = {"leather": 0.42, "patent": 0.15, "suede": 0.9, "nylon": 0.55, "straw": 0.7}.get(
        kind, 0.85
    )
    return Material(
        sheet=np.clip(out, 0, 255).astype(np.uint8),
        rough=rough,
        coat=0.25 if kind == "patent" else 0.0,
        grain="leather" if kind in ("leather", "suede", "patent") else "cloth",
    )


def _pattern(name: str, u: Array, v: Array, shift: float) -> NDArray[np.float64]:
    """Where the second colour is."""
    if name == "stripes":
        return (np.sin((u + shift) * 2 * math.pi * 12) > 0.35).astype(float)
    if name == "hoops":
        return (np.sin((v + shift) * 2 * math.pi * 5) > 0.4).astype(float)
    if name == "check":
        one = np.sin((u + shift) * 2 * math.pi * 14) > 0.2
        two = np.sin((v + shift) * 2 * math.pi * 7) > 0.2
        return 0.45 * one + 0.45 * two
    if name == "base":
        return np.clip((0.26 + 0.1 * shift - v) * 60, 0, 1)
    if name == "yoke":
        return np.clip((v - 0.66 - 0.1 * shift) * 60, 0, 1)
    if name == "band":
        return (np.abs(v - 0.5 - 0.1 * shift) < 0.085).astype(float)
    if name == "dots":
        i = np.floor(v * 12)
        return (np.hypot((u * 24 + 0.5 * (i % 2)) % 1 - 0.5, (v * 12) % 1 - 0.5) < 0.24).astype(
            float
        )
    return np.zeros_like(u)


def _grain(kind: str, u: Array, v: Array, key: int, fine: float) -> NDArray[np.float64]:
    at = np.stack([u.ravel() * 2, v.ravel(), np.zeros(u.size)], -1)
    cloud = noise(at, 0.22, key).reshape(u.shape) * 0.05
    small = noise(at, 0.008 / fine, key + 1).reshape(u.shape)
    if kind == "leather":
        return cloud * 1.6 + 0.05 * small - 0.05 * np.abs(noise(at, 0.03, key + 2).reshape(u.shape))
    if kind == "straw":
        weave = np.sin(u * 2 * math.pi * 60 * fine + 1.6 * np.sign(np.sin(v * math.pi * 44 * fine)))
        return cloud + 0.14 * weave + 0.10 * np.sin(v * math.pi * 44 * fine) + 0.08 * small
    if kind == "knit":
        rib = np.abs(np.sin(u * math.pi * 56 * fine))
        loops = np.abs(np.sin(v * math.pi * 46 + 1.2 * rib))
        return cloud + 0.30 * (rib - 0.6) + 0.10 * (loops - 0.6) + 0.06 * small
    if kind == "canvas":
        weave = np.sin(u * math.pi * 230) * np.sin(v * math.pi * 115)
        return cloud + 0.07 * weave + 0.06 * small
    return cloud + 0.045 * small


def accent(f: Draws, name: str) -> str:
    """A pattern's name, most often none."""
    return f.pick(
        name, ("plain", "plain", "base", "band", "stripes", "check", "hoops", "yoke", "dots")
    )
