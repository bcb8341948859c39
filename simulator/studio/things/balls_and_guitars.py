"""Balls, rackets and guitars."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from simulator.studio.solid.meshes import ball, box, joined, scaled, shifted, smooth_path, tube
from simulator.studio.solid.prints import Sheet
from simulator.studio.solid.scene_types import Array, Material, Mesh, Thing, turned
from simulator.studio.solid.surfaces import wood
from simulator.studio.things.shared_shapes import (
    BLACK,
    CHROME,
    STEEL,
    Tray,
    circle,
    facing,
    grounded,
    plate,
    rod,
    rounded,
    turning,
    wire,
)
from simulator.world.facts.look import Look
from simulator.world.pictures.noise_tiles import patch
from simulator.world.pictures.traits import Colour, Draws, Palette, Traits, mix, oklch

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


SCALE = 0.65
"""Nut to bridge, metres."""
PEARL = Material((222, 218, 206), rough=0.25)


def guitar(_look: Look, traits: Traits) -> Thing:
    """The family decides acoustic or electric, the outline and the woods; variants the trim."""
    f, v = traits.family, traits.variant
    tray = Tray()
    acoustic = f.chance("acoustic", 0.55)
    outline = _outline(f, acoustic)
    length = float(np.ptp(outline[:, 1]))
    bridge = length * (0.30 if acoustic else 0.26)
    thick = f("thick", 0.09, 0.11) if acoustic else f("thick", 0.04, 0.046)
    (_acoustic if acoustic else _electric)(tray, outline, thick, bridge, traits)
    _neck(tray, bridge, length, thick, f, v, acoustic)
    parts = tray.parts(_leaning(thick))
    stand = Tray()
    _stand(stand, thick)
    return Thing.of(*parts, *stand.parts())


def _outline(f: Draws, acoustic: bool) -> Array:
    """The body's outline, its foot on z = 0."""
    low, waist, top = f("low", 0.175, 0.205), f("waist", 0.1, 0.14), f("top", 0.13, 0.158)
    if acoustic:
        high = f("high", 0.45, 0.51)
        right = [(0.0, 0.0), (0.11, 0.012), (low, high * 0.27), (waist, high * 0.62),
            (top, high * 0.83), (0.085, high * 0.985), (0.0, high)]  # fmt: skip
        left = [(-x, z) for x, z in right[-2:0:-1]]
        if f.chance("cutaway", 0.4):
            right[4:6] = [(top * 0.8, high * 0.8), (0.045, high * 0.84), (0.035, high)]
    else:
        low, waist, top = low * 0.88, waist * 0.95, top * 0.95
        horn, other = f("horn", 0.4, 0.47), f("horn2", 0.35, 0.42)
        lean = f("lean", -0.012, 0.012)
        right = [(0.0, 0.0), (low * 0.7, 0.005), (low, 0.11), (waist + lean, 0.23),
            (top, other - 0.05), (top * 0.72, other), (0.055, other - 0.07),
            (0.03, 0.33)]  # fmt: skip
        left = [(-0.03, 0.34), (-0.055, horn - 0.07), (-top * 0.78, horn), (-top, horn - 0.07),
            (-waist + lean, 0.24), (-low, 0.12), (-low * 0.75, 0.008)]  # fmt: skip
    points = np.array([*right, *left])
    closed = smooth_path(np.concatenate([points[-2:], points, points[:3]]), 6)
    return closed[12 : 12 + 6 * len(points)]


def _leaning(thick: float) -> Array:
    """Tilted back into its stand."""
    pose = turned((1, 0, 0), -11)
    pose[:3, 3] = (0, -0.06 - thick / 4, 0.1)
    return pose


def _face(outline: Array, ground: Colour, edge: Colour, burst: float, grain: Array | None) -> Sheet:
    """The wood of the front, darker towards its edge by `burst`."""
    wide, high = np.ptp(outline, axis=0)
    page = Sheet(float(wide), float(high), ground, side=640)
    h, w = page.rgb.shape[:2]
    if grain is not None:
        page.rgb[...] = np.clip(grain[:h, :w] * 1.0, 0, 255)
    x = outline - outline.min(0)
    at = np.stack([x[:, 0] / wide, 1 - x[:, 1] / high], 1)
    mask = Sheet(float(wide), float(high), (0, 0, 0), side=640)
    mask.fill(at, (255, 255, 255))
    from scipy.ndimage import distance_transform_edt

    inside = np.asarray(distance_transform_edt(mask.rgb[..., 0] > 127)) / page.unit
    if burst:
        page.blend(burst * np.exp(-((inside / 0.13) ** 2)), edge)
    page.blend((inside < 0.014) * (inside > 0), (232, 226, 206) if burst < 0.5 else edge)
    return page


def _grain(colour: Colour, seed: int) -> Array:
    """Upright veneer."""
    sheet = wood(colour, seed).material.sheet
    assert sheet is not None
    return np.concatenate([np.rot90(sheet), np.rot90(sheet)], 0)


def _acoustic(tray: Tray, outline: Array, thick: float, bridge: float, traits: Traits) -> None:
    f, v = traits.family, traits.variant
    tone = oklch(f("top-level", 0.68, 0.84), f("top-chroma", 0.06, 0.1), f("top-hue", 60, 85))
    if f.chance("stained", 0.45):
        tone = mix(traits.palette(light=(0.3, 0.6)).base, tone, 0.25)
    dark = oklch(f("side-level", 0.28, 0.45), 0.07, f("side-hue", 30, 60))
    side = Material(dark, rough=0.25, coat=0.8)
    page = _face(outline, tone, dark, f("burst", 0, 0.9) * f.chance("bursts", 0.4),
        _grain(tone, f.count("seed", 0, 2)))  # fmt: skip
    wide, high = np.ptp(outline, axis=0)
    hole = bridge + 0.165
    at = 1 - hole / high
    unit = 1 / float(wide)
    rosette = f.pick("rosette", ((226, 214, 180), (150, 60, 40), (40, 70, 80), (206, 180, 120)))
    colours = ((60, 40, 26), rosette, traits.palette().accent, (60, 40, 26))
    for r, colour in zip((0.062, 0.059, 0.0565, 0.053), colours, strict=True):
        page.disc(0.5, at, r * unit, colour)
    page.disc(0.5, at, 0.05 * unit, (14, 11, 9))
    guard = [(0.52, 0.0), (0.9, 0.12), (0.95, 0.62), (0.7, 0.95), (0.46, 0.55)]
    if f.chance("guard", 0.7):
        around = smooth_path(np.array([*guard, guard[0]]), 6)
        place = np.stack(
            [0.5 + (around[:, 0] - 0.2) * 0.14 * unit, at + (around[:, 1] - 0.2) * 0.17 / high], 1
        )
        page.fill(place, v.pick("guard", ((34, 26, 24), (96, 44, 26), (24, 24, 26))))
        page.disc(0.5, at, 0.0505 * unit, (14, 11, 9))
    tray.add(side, plate(outline, thick, bevel=0.006))
    front = plate(outline * 0.999, 0.004, (0, -thick / 2 - 0.0005, 0.0002), bevel=0.001)
    tray.add(Material(sheet=page.rgb, rough=0.25, coat=0.8), front)
    y = -thick / 2 - 0.008
    tray.add(Material((52, 34, 24), rough=0.4), plate(rounded(0.16, 0.03, 0.012), 0.012,
        (0, y, bridge), bevel=0.004))  # fmt: skip
    tray.add(PEARL, shifted(box(0.075, 0.008, 0.004), 0, y - 0.008, bridge + 0.006))


def _electric(tray: Tray, outline: Array, thick: float, bridge: float, traits: Traits) -> None:
    f, v = traits.family, traits.variant
    palette = traits.palette(light=(0.3, 0.75))
    burst = f("burst", 0.6, 1.0) if f.chance("bursts", 0.45) else 0.0
    tone = oklch(0.72, 0.11, 72) if burst else palette.base
    edge = oklch(0.25, 0.06, 40) if burst else palette.base
    page = _face(
        outline, tone, edge, burst or 0.0, _grain(tone, f.count("seed", 0, 2)) if burst else None
    )
    lacquer = Material(edge, rough=0.2, coat=1.0)
    tray.add(lacquer, plate(outline, thick, bevel=0.007))
    inner = outline * 0.965 + (0, float(np.ptp(outline[:, 1])) * 0.0155)
    tray.add(Material(sheet=page.rgb, rough=0.2, coat=1.0),
        plate(inner, 0.003, (0, -thick / 2, 0), bevel=0.0012))  # fmt: skip
    y = -thick / 2 - 0.003
    if f.chance("guard", 0.6):
        guard = smooth_path([(0.02, bridge - 0.06), (0.1, bridge - 0.09), (0.13, bridge - 0.04),
            (0.085, bridge + 0.06), (0.1, bridge + 0.12), (0.03, bridge + 0.16),
            (-0.06, bridge + 0.15), (-0.05, bridge + 0.03), (0.02, bridge - 0.06)],
            5)[:-1]  # fmt: skip
        colour = v.pick("guard", ((232, 228, 214), (30, 30, 32), (150, 60, 40)))
        tray.add(Material(colour, rough=0.3), plate(guard, 0.003, (0, y, 0), bevel=0.001))
    cover = (CHROME if f.chance("humbucker") else Material(v.pick("cover",
        ((34, 34, 36), (226, 220, 200))), rough=0.35))  # fmt: skip
    tall = 0.036 if cover is CHROME else 0.018
    for z in (0.05, 0.1, 0.15)[: 2 + (tall < 0.02)] if tall < 0.02 else (0.05, 0.13):
        tray.add(
            cover, plate(rounded(0.085, tall, 0.008), 0.01, (0, y - 0.004, bridge + z), bevel=0.002)
        )
    tray.add(
        STEEL, plate(rounded(0.08, 0.045, 0.004), 0.012, (0, y - 0.004, bridge - 0.01), bevel=0.003)
    )
    knob = facing(turning([(0.012, 0), (0.0115, 0.014), (0.009, 0.017), (0, 0.017)], around=20))
    metal = CHROME if v.chance("metal-knobs") else Material(palette.accent, rough=0.35)
    for x, z in ((0.075, -0.03), (0.105, 0.005), (0.1, 0.05))[: f.count("knobs", 2, 3)]:
        tray.add(metal, shifted(knob, x, y, bridge + z))


def _neck(
    tray: Tray, bridge: float, length: float, thick: float, f: Draws, v: Draws, acoustic: bool
) -> None:
    """Neck, fretboard, strings and head."""
    nut = bridge + SCALE
    y = -thick / 2 - (0.004 if acoustic else 0.006)
    start = length - (0.1 if acoustic else 0.14)
    page = Sheet(0.056, nut - start, oklch(f("board", 0.25, 0.42), 0.05, 45), side=768)
    for i in range(1, 22):
        at = (SCALE - SCALE / 2 ** (i / 12)) / (nut - start)
        if at < 1:
            page.box((0, at - 0.002, 1, at + 0.002), (196, 192, 180))
        if i in (3, 5, 7, 9, 12, 15, 17) and at < 1:
            middle = at - SCALE * 0.5 * (2 ** (-(i - 1) / 12) - 2 ** (-i / 12)) / (nut - start)
            for x in (0.3, 0.7) if i == 12 else (0.5,):
                page.disc(x, middle, 0.09, (226, 222, 208))
    page.grain(0.04, "wood")
    board = [(-0.028, start), (0.028, start), (0.0215, nut), (-0.0215, nut)]
    tray.add(
        Material(sheet=page.rgb, rough=0.45), plate(board, 0.006, (0, y - 0.003, 0), bevel=0.001)
    )
    maple = Material(oklch(f("neck", 0.45, 0.75), 0.08, 65), rough=0.3, coat=0.5)
    back = scaled(tube([(0, 0, start), (0, 0, nut)], [0.0275, 0.021], around=20), 1, 0.62, 1)
    tray.add(maple, shifted(back, y=y + 0.017))
    tray.add(PEARL, shifted(box(0.043, 0.008, 0.005), 0, y - 0.004, nut))
    one_side = not acoustic and f.chance("one-side", 0.7)
    if one_side:
        head = [(-0.024, 0.0), (0.02, 0.0), (0.034, 0.06), (0.018, 0.17), (-0.012, 0.185),
            (-0.05, 0.16), (-0.035, 0.05)]  # fmt: skip
    else:
        tip = f("tip", -0.012, 0.014)
        head = [(-0.022, 0.0), (0.022, 0.0), (0.036, 0.03), (0.034, 0.17), (0, 0.175 + tip),
            (-0.034, 0.17), (-0.036, 0.03)]  # fmt: skip
    tray.add(
        maple if not acoustic else Material((46, 32, 24), rough=0.3, coat=0.6),
        plate(np.array(head) + np.array((0, nut)), 0.014, (0, y + 0.008, 0), bevel=0.002),
    )
    gear = CHROME if v.chance("chrome", 0.7) else Material((196, 158, 84), rough=0.25, metal=1.0)
    pegs = [(-0.027 if one_side or i < 3 else 0.024, 0.03
        + (0.023 * i if one_side else 0.052 * (i % 3))) for i in range(6)]  # fmt: skip
    for x, z in pegs:
        out = -1 if x < 0 else 1
        tray.add(gear, rod((x, y - 0.012, nut + z), (x, y + 0.006, nut + z), 0.004))
        tray.add(gear, rod((x, y + 0.014, nut + z), (x + out * 0.036, y + 0.014, nut + z), 0.003,
            around=6))  # fmt: skip
        tray.add(gear, tube([(x + out * 0.03, y + 0.014, nut + z - 0.008),
            (x + out * 0.03, y + 0.014, nut + z + 0.008)], 0.007, around=8))  # fmt: skip
    strings = []
    for i in range(6):
        a, b = (i - 2.5) * 0.0104, (i - 2.5) * 0.0072
        r = 0.0007 - 0.00007 * i
        strings += [rod((a, y - 0.012, bridge), (b, y - 0.0085, nut), r, around=4)]
        px, pz = pegs[i] if one_side else pegs[i if i < 3 else 8 - i]
        strings += [rod((b, y - 0.0085, nut), (px, y - 0.006, nut + pz), r, around=4)]
    tray.add(STEEL, joined(strings))


def _stand(tray: Tray, thick: float) -> None:
    """Two legs in front, one behind, padded arms that hold body and neck."""
    post = [(0, 0.16, 0.02), (0, 0.085, 0.32), (0, 0.1 + thick / 3, 0.46), (0, 0.2, 0.72)]
    tray.add(BLACK, wire(post[:3], 0.009))
    for s in (-1, 1):
        tray.add(
            BLACK, wire([(0, 0.09, 0.3), (s * 0.1, 0.0, 0.12), (s * 0.19, -0.11, 0.008)], 0.009)
        )
        arm = [(s * 0.012, 0.075, 0.22), (s * 0.09, 0.05, 0.115),
            (s * 0.1, -0.07 - thick * 0.6, 0.085), (s * 0.1, -0.085 - thick * 0.6,
            0.12)]  # fmt: skip
        tray.add(Material((36, 36, 38), rough=0.9) if s < 0 else BLACK, wire(arm, 0.0105))
    tray.add(BLACK, rod((0, 0.16, 0.02), (0, 0.26, 0.008), 0.009))
