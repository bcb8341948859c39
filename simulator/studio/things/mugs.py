"""Mugs: turned, glazed, with a handle."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.forms import Array, Material, Mesh, Part, Thing
from simulator.studio.solid.meshes import lathe, smooth_path, tube
from simulator.studio.solid.motifs import illustrate, pattern
from simulator.studio.solid.prints import Sheet
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Draws, Palette, Traits, luma, mix, scale

_HANDLES = {
    "ear": [(0, 0, 1), (1, -0.004, 1.05), (1, 0, 0.55), (1, -0.012, 0.1), (2, 0, 0)],
    "loop": [(0, 0, 1), (1, -0.008, 0.96), (1, 0, 0.5), (1, -0.008, 0.04), (2, 0, 0)],
    "square": [
        (0, 0, 1), (1, -0.003, 1), (1, 0, 0.92), (1, 0, 0.08), (1, -0.003, 0), (2, 0, 0),
    ],
}  # fmt: skip
"""From the upper end (0) out (1) to the lower end (2): where, metres inwards, height as a part."""


def mug(look: Look, traits: Traits) -> Thing:
    """A mug of stoneware, china or enamel, empty or with something in it."""
    del look
    f, v, pal = traits.family, traits.variant, traits.palette(vivid=0.75)
    r, tall = traits.near("radius", 0.036, 0.046, 0.06), traits.near("tall", 0.078, 0.112, 0.06)
    belly = f.pick("belly", (0.0, 0.0, 0.08, 0.16, -0.05))
    t = np.linspace(0, 1, 18)
    z = 0.004 + t * (tall - 0.004)
    radius = r * (1 + (f("flare", 0.86, 1.1) - 1) * t) * (1 + belly * np.sin(math.pi * t))
    foot, rim = r * (0.92 if belly < 0.1 else 0.75), float(radius[-1])
    out = np.concatenate([[(foot * 0.9, 0.0015), (foot * 0.95, 0)], np.stack([radius, z], 1)])
    lip = [(rim, tall - 0.0008), (rim + 0.0004, tall + 0.0006), (rim - 0.0008, tall + 0.0017)]
    inner = np.stack([radius[::-1] - 0.0035, z[::-1]], 1)[:-1]
    inside = [(rim - 0.0008, tall + 0.0016), (rim - 0.0026, tall + 0.0016), *inner]
    inside += [(radius[0] * 0.8, 0.006), (1e-4, 0.006)]
    rough, coat = f.pick("glaze", ((0.14, 0.6), (0.35, 0.2), (0.6, 0.0)))
    glaze = Material(pal.base, rough=rough, coat=coat)
    edge = pal.accent if f.chance("enamel", 0.25) else mix(pal.base, (255, 255, 255), 0.2)
    lining = f.pick("lining", (pal.light, (244, 240, 232), pal.second))
    page = Sheet(2 * math.pi * r, tall, pal.base, side=1024)
    _decorate(page, traits, pal)
    grip = pal.accent if f.chance("handle-accent", 0.25) else pal.base
    parts = [
        Part(lathe(out, around=72), glaze._replace(sheet=page.rgb)),
        Part(lathe(np.array(inside), around=72), glaze._replace(colour=lining)),
        Part(lathe(lip, around=72), glaze._replace(colour=edge)),
        Part(_handle(f, radius, z, tall), glaze._replace(colour=grip)),
    ]
    if v.chance("drink"):
        drinks = ((58, 34, 22), (150, 104, 66), (128, 66, 26), (196, 158, 118))
        level = tall * f("full", 0.7, 0.86)
        full = float(np.interp(level, z, radius)) - 0.003
        pool = [(full + 0.001, level), (full * 0.96, level - 0.0006), (1e-4, level - 0.0006)]
        parts.append(Part(lathe(pool), Material(v.pick("which", drinks), rough=0.1)))
    return Thing.of(*parts)


def _handle(f: Draws, radius: Array, z: Array, tall: float) -> Mesh:
    """A loop, an ear or a square bow to the right."""
    top, low = tall * f("handle-top", 0.78, 0.9), tall * f("handle-low", 0.16, 0.34)
    a, b = float(np.interp(top, z, radius)), float(np.interp(low, z, radius))
    ends = (a - 0.003, max(a, b) + f("handle-out", 0.022, 0.032), b - 0.003)
    points = _HANDLES[f.pick("handle", tuple(_HANDLES))]
    path = [(ends[i] + inward, 0.0, low + (top - low) * up) for i, inward, up in points]
    thick = [0.0058, 0.0048, 0.0048, 0.0058]
    return tube(smooth_path(path, 8), thick, flat=f("handle-flat", 1.0, 1.7))


def _decorate(page: Sheet, traits: Traits, pal: Palette) -> None:
    """Glaze: dipped, patterned, striped, with a picture on both sides."""
    f, v = traits.family, traits.variant
    style = f.pick("style", ("picture", "picture", "pattern", "dipped", "plain"))
    if style == "pattern":
        pattern(page, f, pal.second)
    if style == "dipped":
        x = np.linspace(0, 1, 60)
        line = f("dip", 0.35, 0.65) + 0.02 * np.sin(x * 2 * math.pi * f.count("runs", 2, 6))
        page.fill([(0, 1), *zip(x, line + 0.01 * np.sin(x * 44), strict=True), (1, 1)],
                  scale(pal.second, 0.9))  # fmt: skip
    if style in ("picture", "dipped"):
        on = (pal.dark, pal.light) if luma(pal.base) > 110 else (pal.light, pal.dark)
        size = 0.33 if style == "picture" else 0.2
        for x in (0.5, 0.0, 1.0):
            at = x + v("shift", -0.01, 0.01)
            illustrate(page, f, (on[0], pal.second, pal.accent, on[1]), at, 0.5, size)
    for k in range(v.count("rings", 0, 3)):
        page.box((0, 0.06 + 0.05 * k, 1, 0.085 + 0.05 * k), pal.accent)
    page.grain(0.012 if f.chance("smooth", 0.6) else 0.05, "fine")
