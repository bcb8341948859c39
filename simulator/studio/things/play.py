"""Balls and rackets, and the other things that one plays on or works with."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from simulator.studio.solid.forms import Array, Colour, Material, Mesh, Thing, turned
from simulator.studio.solid.meshes import ball, joined, scaled, shifted, smooth_path, tube
from simulator.studio.things.making import BLACK, Tray, circle, grounded, plate, rod
from simulator.world.facts.look import Look
from simulator.world.pictures.noise import patch
from simulator.world.pictures.traits import Draws, Palette, Traits, mix, oklch

SKIN = (512, 256)
"""Width and height of a ball's sheet."""

Cover = Callable[[Array, Draws, Palette, Palette], tuple[Array, Array, float]]
"""Directions → colours (n, 3), distance to the nearest seam (n, radians) and a seam's width."""


def sports_ball(_look: Look, traits: Traits) -> Thing:
    """A football, basketball, tennis ball, volleyball or beach ball, each by its seams."""
    f, v = traits.family, traits.variant
    cover, size, rough, grain = f.pick("sort", _SORTS)
    radius = size * f("size", 0.97, 1.03)
    pose = turned((1, 0, 0), f("tip", -50, 50)) @ turned((0, 0, 1), f("spin", 0, 360))
    away = _directions().reshape(-1, 3) @ pose[:3, :3]
    colours, seam, wide = cover(away, f, traits.palette(), _own(traits))
    dark = np.clip(seam / wide - 0.5, 0, 1) * 0.75 + 0.25
    soft = 1 - 0.22 * np.exp(-((seam / (4 * wide)) ** 2))
    worn = 1 + grain * patch("fine", SKIN[1], SKIN[0], 0.3, 0.2).reshape(-1)
    worn *= 1 + 0.04 * patch("cloud", SKIN[1], SKIN[0], v("worn"), 0.2).reshape(-1)
    rgb = np.clip(colours * (dark * soft * worn)[:, None], 8, 250).astype(np.uint8)
    sheet = np.ascontiguousarray(rgb.reshape(SKIN[1], SKIN[0], 3)[::-1])
    material = Material(sheet=sheet, rough=rough, coat=0.25 if rough < 0.5 else 0.0)
    tray = Tray()
    tray.add(material, shifted(ball(radius, around=56), z=radius))
    return Thing(tray.parts())


def _own(traits: Traits) -> Palette:
    """The colours in which look-alikes differ."""
    palette = traits.palette()
    return palette._replace(base=mix(palette.base, palette.accent, 0.5))


@lru_cache(maxsize=1)
def _directions() -> Array:
    """Where each texel of a ball's sheet looks, its first row below."""
    lon = (np.arange(SKIN[0]) + 0.5) / SKIN[0] * 2 * math.pi + math.pi / 2
    lat = ((np.arange(SKIN[1]) + 0.5) / SKIN[1] - 0.5) * math.pi
    c = np.cos(lat)[:, None]
    return np.stack([c * np.cos(lon), c * np.sin(lon), np.broadcast_to(np.sin(lat)[:, None],
        c.shape * np.array((1, SKIN[0])))], -1)  # fmt: skip


def _football(away: Array, f: Draws, p: Palette, own: Palette) -> tuple[Array, Array, float]:
    """Twelve pentagons and twenty hexagons."""
    g = (1 + 5**0.5) / 2
    five = np.array([(0, a, b * g) for a in (-1, 1) for b in (-1, 1)], float)
    five = np.concatenate([np.roll(five, k, 1) for k in range(3)]) / math.hypot(1, g)
    near = [(i, j, k) for i in range(12) for j in range(i) for k in range(j)
        if min(five[i] @ five[j], five[i] @ five[k], five[j] @ five[k]) > 0.4]  # fmt: skip
    six = np.array([five[list(t)].mean(0) for t in near])
    six /= np.linalg.norm(six, axis=1, keepdims=True)
    score = np.concatenate([away @ five.T + 0.0175, away @ six.T], 1)
    order = np.partition(score, -2, 1)
    owner = score.argmax(1)
    white = np.array((232, 231, 226.0))
    dark = np.array(f.pick("panels", ((28, 28, 30), p.base, p.dark)), float)
    colours = np.where((owner < 12)[:, None], dark, white)
    if f.chance("marked"):
        marked = (owner >= 12) & ((owner * 7 + f.count("mark", 0, 6)) % 4 == 0)
        colours = np.where(marked[:, None], np.array(own.accent, float), colours)
    else:
        ring = (np.abs(order[:, -1] - 0.955) < 0.012) & (owner >= 12)
        colours = np.where(ring[:, None], np.array(own.accent, float), colours)
    return colours, (order[:, -1] - order[:, -2]) * 1.4, 0.012


def _basketball(away: Array, f: Draws, p: Palette, own: Palette) -> tuple[Array, Array, float]:
    """Two great circles and two bows."""
    x, y, z = away.T
    seam = np.minimum(np.abs(z), np.abs(x))
    bow = np.abs(np.abs(y) - np.sqrt(0.36 + 0.55 * z**2).clip(0, 1) * 0.92)
    seam = np.minimum(seam, bow)
    classic = np.array(oklch(f("leather", 0.52, 0.64), 0.13, f("leather-hue", 45, 62)))
    base = classic if f.chance("classic", 0.6) else np.array(p.base, float)
    side = np.array(own.accent if f.chance("two", 0.4) else base, float)
    return np.where((x * z > 0)[:, None], base, side), seam, 0.022


def _tennis(away: Array, f: Draws, _p: Palette, own: Palette) -> tuple[Array, Array, float]:
    """One seam that winds around felt."""
    x, y, z = away.T
    winding = np.abs(x**2 - y**2 - 1.25 * z * np.sqrt(np.maximum(1 - z**2 * 0.2, 0)) * 0.62)
    seam = np.abs(winding) * 0.8
    felt = oklch(f("felt", 0.78, 0.88), f("felt-chroma", 0.13, 0.18), f("felt-hue", 108, 128))
    line = np.array((226, 226, 214.0))
    colours = np.where((seam < 0.035)[:, None], line, np.array(felt))
    return np.where((z > 0.985)[:, None], np.array(own.accent) * 0.6, colours), seam + 0.09, 0.06


def _volleyball(away: Array, f: Draws, p: Palette, own: Palette) -> tuple[Array, Array, float]:
    """Six sides of three strips."""
    axis = np.abs(away).argmax(1)
    rows = np.arange(len(away))
    main = away[rows, axis]
    across = np.arctan2(away[rows, (axis + 1) % 3], np.abs(main)) / (math.pi / 4)
    along = np.arctan2(away[rows, (axis + 2) % 3], np.abs(main)) / (math.pi / 4)
    strip = np.clip(((across + 1) * 1.5).astype(int), 0, 2)
    seam = np.minimum(np.abs(np.abs(across) - 1 / 3), 1 - np.maximum(np.abs(across), np.abs(along)))
    paints = np.array([p.base, (234, 232, 224), own.accent], float)
    index = ((strip + (main > 0) + axis) % 3 if f.chance("mixed")
        else np.where(strip == 1, 1, 2 * (main > 0)))  # fmt: skip
    return paints[index], seam * 0.8, 0.02


def _beach(away: Array, f: Draws, p: Palette, own: Palette) -> tuple[Array, Array, float]:
    """Segments like an orange's, and a cap."""
    count = 2 * f.count("segments", 3, 4)
    turn = (np.arctan2(away[:, 1], away[:, 0]) / (2 * math.pi) % 1) * count
    paints = np.array([p.base, (236, 236, 232), own.accent, (236, 236, 232)], float)
    colours = paints[turn.astype(int) % 4]
    edge = np.abs(turn - np.rint(turn)) / count * 2 * math.pi * np.sqrt(1 - away[:, 2] ** 2)
    cap = np.abs(away[:, 2]) > 0.955
    return (np.where(cap[:, None], np.array(own.second, float), colours), np.where(cap, 1, edge),
        0.008)  # fmt: skip


_SORTS: tuple[tuple[Cover, float, float, float], ...] = ((_football, 0.11, 0.35, 0.015),
    (_basketball, 0.12, 0.6, 0.07), (_tennis, 0.034, 0.95, 0.09), (_volleyball, 0.105, 0.45, 0.02),
    (_beach, 0.16, 0.15, 0.0))  # fmt: skip


def racket(_look: Look, traits: Traits) -> Thing:
    """A tennis, squash or badminton racket, or a bat for table tennis, lying face up."""
    f, v = traits.family, traits.variant
    tray = Tray()
    palette = traits.palette(light=(0.25, 0.6))
    frame = Material(palette.base, rough=0.3, coat=0.8)
    mark = Material(palette.accent, rough=0.3, coat=0.8)
    tape = Material(v.pick("tape", ((32, 32, 34), (206, 204, 198), palette.second)), rough=0.85)
    if f.chance("bat", 0.22):
        red = oklch(v("red-level", 0.42, 0.52), 0.17, v("red", 15, 32))
        _bat(tray, f, Material(red if f.chance("red", 0.7) else palette.base, rough=0.8))
    else:
        slim = f.chance("slim", 0.3)
        length = (0.66 if slim else 0.685) * f("length", 0.98, 1.0)
        high, wide = (0.12, 0.097) if slim else (f("head", 0.155, 0.178), f("broad", 0.12, 0.135))
        thick = 0.006 if slim else 0.0115
        middle = length - high - thick
        oval = circle(1.0, n=64) * (wide, high) + (0, middle)
        path = np.insert(oval, 1, 0, axis=1)
        tray.add(frame, tube(path, thick, around=12, closed=True, flat=0.75))
        for start in (8, 40):  # the marks that tell look-alikes apart, on the head's shoulders
            turn = int(v("mark", 0, 8)) - 4
            arc = np.take(path, np.arange(start + turn - 4, start + turn + 5), 0, mode="wrap")
            tray.add(mark, tube(arc, thick * 1.06, around=12, flat=0.75))
        tray.add(Material(v.pick("gut", ((226, 224, 206), (40, 40, 42), palette.accent)),
            rough=0.5), _strings(wide, high, middle, 0.0006 if slim else 0.0008, slim))  # fmt: skip
        grip = 0.165 if slim else 0.2
        throat = middle - high
        if slim:
            tray.add(frame, rod((0, 0, grip), (0, 0, throat), 0.0042))
        else:
            fork = np.array([(0, 0, grip + 0.02), (0.012, 0, grip + 0.06),
                (wide * 0.42, 0, throat + 0.012), (wide * 0.66, 0,
                middle - high * 0.72)])  # fmt: skip
            for s in (-1, 1):
                tray.add(
                    frame, tube(smooth_path(fork * (s, 1, 1), 6), thick * 0.95, around=12, flat=0.8)
                )
        _grip(tray, grip, 0.0125 if slim else 0.0165, tape, mark)
    lying = turned((1, 0, 0), -90)
    return grounded(Thing(tray.parts(lying)))


def _strings(wide: float, high: float, middle: float, r: float, slim: bool) -> Mesh:
    """Mains and crosses, woven over and under."""
    out: list[Mesh] = []
    for count, along in ((18 if slim else 16, 0), (20 if slim else 19, 1)):
        reach = (wide, high)[along]
        for i in range(count):
            at = (-0.88 + 1.76 * i / (count - 1)) * reach
            half = (high, wide)[along] * math.sqrt(1 - (at / reach) ** 2)
            y = r * (1 if along else -1)
            a, b = ((at, y, middle - half), (at, y, middle + half))
            if along:
                a, b = (-half, y, middle + at), (half, y, middle + at)
            out.append(rod(a, b, r, around=4))
    return joined(out)


def _grip(tray: Tray, length: float, r: float, tape: Material, cap: Material) -> None:
    """A handle with tape wound around it."""
    z = np.linspace(0.012, length, 60)
    ridge = r * (1 + 0.035 * (np.sin(z / 0.024 * 2 * math.pi) > 0.6))
    tray.add(
        tape, scaled(tube(np.stack([0 * z, 0 * z, z], 1), ridge.tolist(), around=12), 1, 0.86, 1)
    )
    tray.add(cap, rod((0, 0, length), (0, 0, length + 0.022), r * 1.04, around=14))
    butt = tube([(0, 0, 0), (0, 0, 0.004), (0, 0, 0.018)], [r * 1.05, r * 1.22, r], around=12)
    tray.add(BLACK, scaled(butt, 1, 0.86, 1))


def _bat(tray: Tray, f: Draws, colour: Material) -> None:
    """A wooden blade with rubber on both sides."""
    wood: Colour = oklch(f("wood", 0.68, 0.8), 0.07, 75)
    blade = circle(0.075, n=48, squash=1.04) + np.array((0, 0.18))
    low = blade[:, 1] < 0.12
    blade[low] = blade[low] * (0.75, 1) + (0, -0.004)
    tray.add(Material(wood, rough=0.5), plate(blade, 0.006, bevel=0.001))
    face = circle(0.0735, n=48) + np.array((0, 0.182))
    face[:, 1] = np.maximum(face[:, 1], 0.122)
    tray.add(colour, plate(face, 0.002, (0, -0.0042, 0)))
    tray.add(Material((30, 30, 32), rough=0.9), plate(face, 0.002, (0, 0.0042, 0)))
    handle = [(0, 0, 0.0), (0, 0, 0.006), (0, 0, 0.05), (0, 0, 0.1), (0, 0, 0.125)]
    tray.add(Material(oklch(0.5, 0.08, 60), rough=0.45), scaled(tube(handle,
        [0.014, 0.018, 0.0145, 0.0145, 0.006], around=16), 1, 0.72, 1))  # fmt: skip
