"""Molecule models and instruments."""

from __future__ import annotations

import math

import numpy as np

from simulator.world.pictures.light import Material
from simulator.world.pictures.noise import generator
from simulator.world.pictures.shapes import arc, ellipse, emblem, move, rounded, smooth
from simulator.world.pictures.stage import Painter, Stage
from simulator.world.pictures.traits import mix, oklch


def _molecule(s: Stage) -> None:
    f, v = s.f, s.v
    rng = generator("molecule", s.look.family)
    pal = s.palette(vivid=1.2)
    colours = [(58, 60, 66), (214, 62, 54), pal.base, pal.second, (238, 238, 232)]
    n = f.count("ring", 4, 7)
    rings = f.count("rings", 1, 2)
    atoms: list[tuple[float, float, float, int, float]] = []
    bonds: list[tuple[int, int, int]] = []
    for ring in range(rings):
        start = len(atoms)
        for k in range(n):
            a = 2 * math.pi * k / n
            atoms.append(
                (
                    math.cos(a) * 0.2 + ring * 0.42,
                    math.sin(a) * 0.2,
                    rng.uniform(-0.05, 0.05),
                    0 if rng.random() < 0.6 else 2,
                    0.06,
                )
            )
            bonds.append(
                (start + k, start + (k + 1) % n, 1 + (k % 2) * int(f.chance("double", 0.6)))
            )
        if ring:
            bonds.append((0, start + n // 2, 1))
    core = len(atoms)
    for k in range(f.count("arms", 3, 6)):
        root = int(rng.integers(0, core))
        x, y, z = atoms[root][:3]
        a = math.atan2(y, x - 0.21 * (rings - 1)) + rng.uniform(-0.5, 0.5)
        for step in range(1 + int(rng.integers(0, 2))):
            x, y, z = x + math.cos(a) * 0.18, y + math.sin(a) * 0.18, z + rng.uniform(-0.12, 0.12)
            kind = v.count(f"atom{k}-{step}", 1, 4)
            atoms.append((x, y, z, kind, 0.045 if kind == 4 else 0.065))
            bonds.append((root if step == 0 else len(atoms) - 2, len(atoms) - 1, 1))
    yaw, roll = s.pose("yaw", -0.6, 0.6) * max(abs(s.view.yaw), 0.3) * 2, f("roll", 0, 3.1)
    c, si, cr, sr = math.cos(yaw), math.sin(yaw), math.cos(roll), math.sin(roll)
    middle = np.mean([[q[0], q[1]] for q in atoms], 0)
    placed: list[tuple[float, float, float]] = []
    for x, y, z, _, _ in atoms:
        x, y = x - middle[0], y - middle[1]
        x, y = x * cr - y * sr, x * sr + y * cr
        placed.append((x * c + z * si, y + 0.62, -x * si + z * c))
    xs = [p[0] for p in placed]
    ys = [p[1] for p in placed]
    size = min(0.92 / (max(xs) - min(xs) + 0.14), 0.78 / (max(ys) - min(ys) + 0.14), 1.25)
    low = min(ys)
    placed = [(p[0] * size, (p[1] - low) * size + 0.2, p[2] * size) for p in placed]
    foot = Material(mix(pal.dark, (70, 60, 54), 0.5), 0.4)
    nearest = min(range(len(placed)), key=lambda k: placed[k][1] + abs(placed[k][0]))
    s.canvas.revolve(
        placed[nearest][0],
        [(0, 0.16), (0.03, 0.16), (0.045, 0.14)],
        foot,
        pitch=s.view.pitch,
        cap=foot,
    )
    s.canvas.tube(
        [(placed[nearest][0], 0.04), placed[nearest][:2]],
        0.018,
        Material((180, 182, 186), 0.8, 0.8),
    )
    order = sorted(
        [(placed[a][2] + placed[b][2] - 0.1, "bond", k) for k, (a, b, _) in enumerate(bonds)]
        + [(2 * p[2], "atom", k) for k, p in enumerate(placed)],
        key=lambda q: (q[0], q[1], q[2]),
    )
    for _, what, k in order:
        if what == "bond":
            a, b, count = bonds[k]
            p, q = np.array(placed[a][:2]), np.array(placed[b][:2])
            across = np.array([-(q - p)[1], (q - p)[0]])
            across = across / max(float(np.linalg.norm(across)), 1e-6) * 0.018
            stick = Material(oklch(0.78, 0.01, 250), 0.6)
            for off in (0,) if count == 1 else (-1, 1):
                s.canvas.tube(np.stack([p + across * off, q + across * off]), 0.024, stick)
        else:
            x, y, z = placed[k]
            r = atoms[k][4] * size * (1 + 0.5 * z) * f("atom", 0.9, 1.15)
            s.canvas.ball(x, y, r, Material(colours[atoms[k][3]], 0.75))
    s.tag(placed[nearest][0] + 0.25, 0.1, 0.36)
    s.base, s.foot = (placed[nearest][0] - 0.16, placed[nearest][0] + 0.16), 0.03


def _instrument(s: Stage) -> None:
    f = s.f
    (_microscope, _telescope, _meter)[f.count("type", 0, 2)](s)
    s.tag(f("tag", -0.05, 0.05), 0.06, 0.34)


def _microscope(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette(light=(0.35, 0.85))
    body = Material(pal.base, 0.6)
    dark = Material((48, 48, 52), 0.5)
    chrome = Material((205, 208, 212), 0.85, 0.9)
    w = f("foot", 0.2, 0.28)
    s.canvas.blob(rounded(-w, 0, w * 1.1, 0.09, 0.04), body, bevel=0.04)
    s.canvas.ball(0.05, 0.1, 0.06, chrome, 0.03)
    arm = smooth(
        [
            (-w * 0.75, 0.06),
            (-w * 0.95, 0.35),
            (-w * 0.9, 0.6),
            (-0.05, 0.74),
            (0.0, 0.62),
            (-w * 0.5, 0.52),
            (-w * 0.45, 0.3),
            (-w * 0.3, 0.06),
        ]
    )
    s.canvas.blob(arm, body)
    s.canvas.blob(rounded(-w * 0.7, 0.27, w * 0.95, 0.305, 0.01), dark, bevel=0.012)
    s.canvas.blob(
        rounded(-0.02, 0.305, 0.14, 0.315, 0.004), Material((190, 220, 230), 0.9), bevel=0.004
    )
    tilt = f("tilt", 0.05, 0.5)
    c, si = math.cos(tilt), math.sin(tilt)
    x, y = 0.05, 0.56
    for k in range(f.count("lenses", 2, 4)):
        a = -0.4 + 0.32 * k + v("turret", -0.1, 0.1)
        s.canvas.tube([(x, y), (x + math.sin(a) * 0.15, y - math.cos(a) * 0.16)], 0.045, chrome)
        s.canvas.tube(
            [
                (x + math.sin(a) * 0.12, y - math.cos(a) * 0.125),
                (x + math.sin(a) * 0.13, y - math.cos(a) * 0.138),
            ],
            0.05,
            Material((pal.accent, pal.second, (226, 196, 70), (60, 140, 90))[k], 0.5),
        )
    s.canvas.ball(x, y + 0.01, 0.085, Material(pal.second, 0.6), 0.05)
    s.canvas.blob(ribbon_quad(x, y + 0.02, x - si * 0.2, y + 0.02 + c * 0.2, 0.13), body)
    length = f("tube", 0.28, 0.38)
    s.canvas.tube([(x - si * 0.12, y + c * 0.12), (x - si * length, y + c * length)], 0.085, chrome)
    s.canvas.tube(
        [(x - si * length, y + c * length), (x - si * (length + 0.07), y + c * (length + 0.07))],
        0.105,
        dark,
    )
    for k, r in enumerate((f("knob", 0.055, 0.08), f("knob2", 0.03, 0.045))):
        kx, ky = -w * 0.72, 0.2 + k * 0.16
        s.canvas.ball(kx, ky, r, dark)
        s.canvas.ball(kx, ky, r * 0.6, Material(pal.accent, 0.6))
    for k in range(v.count("stripes", 0, 3)):
        s.canvas.line(
            [(-w * 0.92, 0.42 + 0.03 * k), (-w * 0.5, 0.42 + 0.03 * k)],
            0.012,
            pal.accent,
            inside=True,
        )
    for points, index in emblem(f, v("turn", 0, 6)):
        s.canvas.flat(
            move(points, w * 0.6, 0.045, size=0.035),
            (pal.light, pal.accent, pal.dark, pal.second)[index % 4],
        )
    s.base, s.foot = (-w, w * 1.1), 0.03


def ribbon_quad(
    x0: float, y0: float, x1: float, y1: float, width: float
) -> list[tuple[float, float]]:
    """A straight bar as a quadrilateral."""
    dx, dy = x1 - x0, y1 - y0
    length = math.hypot(dx, dy)
    ox, oy = -dy / length * width / 2, dx / length * width / 2
    return [(x0 + ox, y0 + oy), (x1 + ox, y1 + oy), (x1 - ox, y1 - oy), (x0 - ox, y0 - oy)]


def _telescope(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette(light=(0.35, 0.85))
    wood = f.chance("wood", 0.5)
    leg = (
        Material((132, 92, 54), 0.25, grain=0.1, texture="bark")
        if wood
        else Material((70, 72, 76), 0.5)
    )
    brass = Material((212, 168, 84), 0.85, 0.85)
    top = f("tripod", 0.46, 0.56)
    spread = f("spread", 0.24, 0.34)
    for x in (-spread, spread, 0.06):
        s.canvas.tube([(0, top), (x, 0.0 if x != 0.06 else 0.07)], 0.035, leg)
    s.canvas.tube([(-spread * 0.45, top * 0.48), (spread * 0.45, top * 0.48)], 0.016, brass)
    s.canvas.ball(0, top + 0.02, 0.05, brass)
    tilt = f("tilt", 0.2, 0.7) + s.pose("tilt", -0.08, 0.08)
    c, si = math.cos(tilt), math.sin(tilt)
    cx, cy = 0.0, top + 0.1
    length, r = f("length", 0.36, 0.46), f("r", 0.065, 0.1)
    shell = Material(pal.base, 0.75)

    def along(a: float, b: float, wa: float, wb: float, skin: Material) -> None:
        pa, pb = (cx + c * a, cy + si * a), (cx + c * b, cy + si * b)
        s.canvas.blob(
            [
                (pa[0] - si * wa, pa[1] + c * wa),
                (pb[0] - si * wb, pb[1] + c * wb),
                (pb[0] + si * wb, pb[1] - c * wb),
                (pa[0] + si * wa, pa[1] - c * wa),
            ],
            skin,
        )

    along(-length - 0.1, -length, r * 0.4, r * 0.4, Material((48, 46, 46), 0.4))
    along(-length, -length * 0.5, r * 0.55, r * 0.6, brass)
    along(-length * 0.55, length, r * 0.85, r, shell)
    along(
        length * 0.86,
        length * 1.12,
        r * 1.15,
        r * 1.2,
        brass if f.chance("hood", 0.5) else Material(pal.second, 0.6),
    )
    for k in range(v.count("rings", 1, 4)):
        a = -length * 0.35 + 0.12 * k
        along(a, a + 0.03, r * 0.92, r * 0.93, Material(pal.accent, 0.7))
    off = r * 1.55
    p, q = (
        (cx - si * off - c * 0.14, cy + c * off - si * 0.14),
        (cx - si * off + c * 0.08, cy + c * off + si * 0.08),
    )
    s.canvas.tube([p, q], 0.04, Material((44, 44, 48), 0.5))
    for points, index in emblem(f, v("turn", 0, 6)):
        s.canvas.flat(
            move(points, cx + c * length * 0.4, cy + si * length * 0.4, size=r * 0.6),
            (pal.light, pal.accent, pal.dark, pal.second)[index % 4],
        )
    s.base, s.foot = (-spread, spread), 0.05


def _meter(s: Stage) -> None:
    f, v, pal = s.f, s.v, s.palette(light=(0.3, 0.75))
    w, h = f("w", 0.8, 1.0), f("h", 0.55, 0.72)
    case = Material(pal.base, 0.45, grain=0.02)
    for x in (-w * 0.36, w * 0.36):
        s.canvas.ball(x, 0.01, 0.045, Material((36, 36, 38), 0.3), 0.03)
    s.canvas.tube(arc(0, h - 0.03, w * 0.26, 0.15, 0, 180), 0.035, Material((52, 52, 56), 0.4))
    s.canvas.blob(rounded(-w / 2, 0, w / 2, h, 0.06), case, bevel=0.05)
    s.canvas.face(
        rounded(-w / 2 + 0.045, 0.04, w / 2 - 0.045, h - 0.045, 0.035),
        Material(mix(pal.base, pal.light, f("panel", 0.3, 0.8)), 0.3),
        (0, 0.05),
    )
    cx, cy, r = f("dial-x", -0.16, 0.0) - 0.06, h * 0.56, h * 0.3
    screen = f.chance("screen", 0.4)
    if screen:
        s.canvas.blob(
            rounded(cx - r * 1.2, cy - r * 0.85, cx + r * 1.2, cy + r * 0.9, 0.03),
            Material((30, 34, 32), 0.8),
            bevel=0.03,
            puff=0.3,
        )
        glow = oklch(0.82, 0.2, f("glow", 90, 220))
        xs = np.linspace(-1, 1, 60)
        ys = (
            np.sin(xs * f("wave", 4, 14) + s.pose("phase", 0, 6))
            * np.cos(xs * v("beat", 1, 6))
            * 0.5
        )
        for k in range(5):
            s.canvas.line(
                [(cx - r * 1.1, cy + (k - 2) * r * 0.34), (cx + r * 1.1, cy + (k - 2) * r * 0.34)],
                0.003,
                (70, 84, 76),
            )
        s.canvas.line(np.stack([cx + xs * r * 1.1, cy + ys * r], 1), 0.016, glow)
    else:
        s.canvas.blob(
            ellipse(cx, cy, r * 1.1, r * 1.1), Material((196, 198, 202), 0.8, 0.9), bevel=0.03
        )
        s.canvas.face(ellipse(cx, cy, r, r), Material((246, 242, 230), 0.3), (0, 0.05))
        sweep = f("sweep", 180, 280)
        s.canvas.line(
            arc(
                cx,
                cy,
                r * 0.84,
                r * 0.84,
                90 - sweep / 2,
                90 - sweep / 2 + sweep * v("zone", 0.2, 0.5),
            ),
            0.028,
            pal.accent,
        )
        n = f.count("ticks", 9, 21)
        for k in range(n):
            a = math.radians(90 + sweep / 2 - sweep * k / (n - 1))
            long = 0.68 if k % 4 == 0 else 0.76
            s.canvas.line(
                [
                    (cx + math.cos(a) * r * long, cy + math.sin(a) * r * long),
                    (cx + math.cos(a) * r * 0.88, cy + math.sin(a) * r * 0.88),
                ],
                0.008,
                (40, 40, 42),
            )
        a = math.radians(90 + sweep / 2 - sweep * s.pose("needle"))
        s.canvas.line(
            [(cx, cy), (cx + math.cos(a) * r * 0.8, cy + math.sin(a) * r * 0.8)],
            0.014,
            (190, 40, 36),
        )
        s.canvas.ball(cx, cy, 0.03, Material((40, 40, 42), 0.6))
    kx = cx + r * 1.2 + (w / 2 - cx - r * 1.2) * 0.5
    for k in range(f.count("knobs", 1, 3)):
        ky = h * 0.78 - k * 0.17
        kr = f("knob", 0.045, 0.07)
        s.canvas.shadow(ellipse(kx + 0.01, ky - 0.015, kr, kr), 0.4, 0.015)
        s.canvas.ball(
            kx, ky, kr, Material(pal.accent if k == v.count("red", 0, 2) else (54, 54, 58), 0.5)
        )
        a = s.pose(f"knob{k}", 0, 6)
        s.canvas.line(
            [(kx, ky), (kx + math.cos(a) * kr * 0.9, ky + math.sin(a) * kr * 0.9)],
            0.01,
            (240, 240, 238),
        )
    for k in range(v.count("jacks", 2, 5)):
        x = -w * 0.34 + 0.12 * k
        s.canvas.ball(x, 0.12, 0.026, Material((pal.second, pal.accent, (40, 40, 42))[k % 3], 0.6))
        s.canvas.flat(ellipse(x, 0.12, 0.011, 0.011, n=12), (16, 16, 16))
    for points, index in emblem(f, v("turn", 0, 6)):
        s.canvas.flat(
            move(points, w * 0.36, 0.12, size=0.05),
            (pal.light, pal.accent, pal.dark, pal.second)[index % 4],
        )
    s.base, s.foot = (-w / 2, w / 2), 0.04


PAINTERS = {
    "molecule": Painter(_molecule, (-0.75, -0.08, 0.75, 1.1), 0.28),
    "instrument": Painter(_instrument, (-0.62, -0.04, 0.62, 1.15), 0.4),
}
"""Painters of this module by kind."""
