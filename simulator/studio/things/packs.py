"""Cartons, pouches, boxes and rolls: what is folded or sealed around food."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.forms import Array, Material, Mesh, Part, Print, Thing, turned
from simulator.studio.solid.meshes import box, joined, lathe, posed, sheet, shifted, skin
from simulator.studio.solid.motifs import illustrate, pattern
from simulator.studio.solid.prints import Sheet, prints_on
from simulator.studio.things.caps import STEEL, turning
from simulator.studio.things.packaging import Design, back, design, front, side
from simulator.world.facts.look import Look
from simulator.world.pictures.noise import patch
from simulator.world.pictures.traits import Draws, Traits, mix, scale


def carton(look: Look, traits: Traits) -> Thing:
    """A drink's carton: a gable top with its fin, or a brick with folded ears."""
    f, made = traits.family, design(look, traits)
    gable = f.chance("gable", 0.6)
    wide = traits.near("wide", 0.064, 0.092, 0.06)
    deep = wide * (f("deep", 0.85, 1.0) if gable else f("deep", 0.6, 0.95))
    tall = traits.near("tall", 0.15, 0.205, 0.08)
    parts, prints = _printed_box(made, wide, deep, tall, rough=0.35, bulge=0.0012)
    if gable:
        return Thing((*parts, *_gable(f, made, wide, deep, tall)), prints)
    paper = Material(mix(made.paper, made.field, 0.12), rough=0.4)
    fin = shifted(box(wide * 0.98, 0.012, 0.0012), z=tall)
    ear = np.array([(-1, 0.0), (1, 0.0), (0, -1.1)]) * (deep / 2)
    ears = [_flap(ear, s * (wide / 2 + 0.0006), tall - 0.001) for s in (-1, 1)]
    parts.append(Part(joined([fin, *ears], smooth=False), paper))
    if f.chance("brick-cap", 0.7):
        cap = turning("pour", 0.0125, 26, 0.04)
        parts.append(Part(shifted(cap, -wide * 0.18, -deep * 0.2, tall), _plastic(made)))
    else:
        hole = lathe([(0.0042, 0.0004), (0.004, 0.0008), (1e-4, 0.0008)], around=24)
        parts.append(Part(shifted(hole, wide * 0.3, -deep * 0.22, tall), STEEL))
    return Thing(tuple(parts), prints)


def packet(look: Look, traits: Traits) -> Thing:
    """A bag, a stand-up pouch, a folding box or a roll."""
    f, made = traits.family, design(look, traits)
    return f.pick("shape", (_pillow, _pillow, _pouch, _pouch, _folding_box, _roll))(traits, made)


def _printed_box(
    made: Design, wide: float, deep: float, tall: float, *, rough: float, bulge: float
) -> tuple[list[Part], tuple[Print, ...]]:
    """A box with a front, a back, two sides, and edges of bare print."""
    pages = [Sheet(w, tall, made.paper, side=s) for w, s in ((wide, 768), (wide, 384), (deep, 384))]
    for draw, page in zip((front, back, side), pages, strict=True):
        draw(page, made)
    skins = [Material(sheet=p.rgb, rough=rough, coat=0.1) for p in pages]
    edge = 0.0012
    body = box(wide, deep, tall, bevel=0.0022)
    panels: list[Mesh] = []
    for width, away, turn in (
        (wide, deep, 0),
        (wide, deep, 180),
        (deep, wide, 90),
        (deep, wide, -90),
    ):
        u, v = np.meshgrid(np.linspace(0, 1, 9), np.linspace(0, 1, 9), indexing="ij")
        out = bulge * 4 * (u * (1 - u) + v * (1 - v)) / 2 + 0.0002
        x, z = (u - 0.5) * (width - 2 * edge), edge + v * (tall - 2 * edge)
        flat = skin(np.stack([x, -away / 2 - out, z], -1))
        panels.append(posed(flat, turned((0, 0, 1), turn)))
    parts = [
        Part(body, Material(mix(made.paper, made.field, 0.12), rough=rough)),
        Part(panels[0], skins[0]),
        Part(panels[1], skins[1]),
        Part(joined(panels[2:]), skins[2]),
    ]
    return parts, prints_on(panels[0], pages[0])


def _flap(outline: Array, x: float, z: float) -> Mesh:
    """A flat piece against a side of a box, of (y, z) below its upper edge."""
    at = np.array([(x, y, z + h) for y, h in outline], np.float32)
    return _facets(at, [(0, 1, 2)])


def _facets(at: Array, faces: list[tuple[int, int, int]]) -> Mesh:
    """Flat triangles; each shows its own height and width of the sheet."""
    low, size = at.min(0), np.maximum(np.ptp(at, axis=0), 1e-9)
    uv = ((at - low) / size)[:, (0, 2)]
    return Mesh(at.astype(np.float32), np.array(faces, np.int32), uv.astype(np.float32))


def _gable(f: Draws, made: Design, wide: float, deep: float, tall: float) -> list[Part]:
    """The roof of a carton: two slopes, sides folded in, a fin, and often a cap."""
    w, d, rise = wide / 2, deep / 2, deep * f("rise", 0.42, 0.56)
    top, inward = tall + rise, wide * 0.26
    page = Sheet(wide, math.hypot(d, rise), made.field, side=256)
    if f.chance("roof-pattern"):
        pattern(page, f, mix(made.field, made.paper, 0.4), name="roof")
    illustrate(page, f, made.motif(made.field), 0.5, 0.6, 0.0 if f.chance("cap", 0.7) else 0.3)
    slope = skin(
        np.array([[(-w, -d, tall), (-w, 0, top)], [(w, -d, tall), (w, 0, top)]]), smooth=False
    )
    slopes = joined([slope, posed(slope, turned((0, 0, 1), 180))])
    folds: list[Mesh] = []
    for s in (-1, 1):
        at = np.array(
            [(s * w, -d, tall), (s * w, d, tall), (s * (w - inward), 0, top), (s * w, 0, top)]
        )
        folds.append(_facets(at, [(0, 1, 2), (0, 2, 3), (1, 3, 2)]))
    fin = shifted(box(wide, 0.003, 0.021, bevel=0.0006), z=top - 0.001)
    parts = [
        Part(slopes, Material(sheet=page.rgb, rough=0.35, coat=0.1)),
        Part(joined(folds), Material(scale(made.field, 0.96), rough=0.4)),
        Part(fin, Material(made.accent if f.chance("fin") else made.field, rough=0.4)),
    ]
    if f.chance("cap", 0.7):
        slant = turned((1, 0, 0), math.degrees(math.atan2(rise, d)))
        lean = posed(turning("pour", 0.015, 28, 0.04), slant)
        parts.append(Part(shifted(lean, 0, -d * 0.52, tall + rise * 0.48), _plastic(made)))
    return parts


def _plastic(made: Design) -> Material:
    return Material(made.accent, rough=0.3, coat=0.2)


def _foil(f: Draws, page: Sheet) -> Material:
    """A pouch's skin: shining, satin or of paper."""
    rough, coat = f.pick("foil", ((0.26, 0.5), (0.36, 0.3), (0.6, 0.0)))
    return Material(sheet=page.rgb, rough=rough, coat=coat)


def _pillow(traits: Traits, made: Design) -> Thing:
    """A bag sealed at both ends, blown up a little, its seals crimped and cut in teeth."""
    f, v = traits.family, traits.variant
    wide, tall = traits.near("bag-w", 0.14, 0.2, 0.06), traits.near("bag-h", 0.19, 0.28, 0.06)
    thick = traits.near("thick", 0.045, 0.075, 0.2) * wide / 0.18
    return _bag(f, made, wide, tall, _swelling(v, wide, tall, thick))


def _swelling(v: Draws, wide: float, tall: float, thick: float) -> tuple[Array, Array]:
    """Front and back of a blown-up bag as grids of points."""
    seal = 0.014 / tall
    z = _ends_dense(0, 1, seal, 44)
    u, w = np.meshgrid(np.linspace(0, 1, 65), z, indexing="ij")
    t = np.clip((w - seal) / (1 - 2 * seal), 0, 1)
    swell = np.sin(math.pi * t).clip(0) ** 0.55 * (1 - np.abs(2 * u - 1) ** 2.6) ** 0.7
    near_seal = np.exp(-np.minimum(t, 1 - t) / 0.09) * (t > 0) * (t < 1)
    grids: list[Array] = []
    for face in (-1, 1):
        pleats = np.sin(u * v(f"pleats{face}", 26, 44) + v(f"phase{face}", 0, 6)) * np.sin(
            u * 9 + face
        )
        dents = patch("cloud", 65, z.size, v(f"dx{face}"), v(f"dy{face}")) * 0.0011
        ridges = np.where((w < seal) | (w > 1 - seal), 0.0005 * (np.arange(z.size) % 2)[None], 0)
        y = (
            face * (thick / 2 * swell + 0.0004)
            + dents * np.sqrt(swell)
            + face * 0.0016 * pleats * near_seal
            + ridges
        )
        x = (u - 0.5) * wide * (1 - 0.1 * np.sin(math.pi * t))
        teeth = 0.0022 * (np.arange(65) % 2)[:, None] * ((w == 1) * 1.0 - (w == 0) * 1.0)
        grids.append(np.stack([x, y, w * tall + teeth], -1))
    low = min(float(g[..., 2].min()) for g in grids)
    return grids[0] - (0, 0, low), grids[1] - (0, 0, low)


def _ends_dense(low: float, high: float, end: float, steps: int) -> Array:
    """Numbers from low to high, close together where the seals are."""
    first, last = np.linspace(low, low + end, 9), np.linspace(high - end, high, 9)
    return np.concatenate([first[:-1], np.linspace(low + end, high - end, steps), last[1:]])


def _bag(f: Draws, made: Design, wide: float, tall: float, grids: tuple[Array, Array]) -> Thing:
    page, rear = (Sheet(wide, tall, made.paper, side=s) for s in (768, 384))
    inner = (0.06, 0.1, 0.94, 0.9)
    front(page.part((0, 0.09, 1, 0.91)) if f.chance("bleed") else page.part(inner), made)
    for half in (page, rear):
        for y0, y1 in ((0, 0.055), (0.945, 1)):
            half.box((0, y0, 1, y1), made.accent)
    back(rear.part(inner), made)
    face, behind = skin(grids[0]), skin(grids[1][::-1])
    return Thing((Part(face, _foil(f, page)), Part(behind, _foil(f, rear))), prints_on(face, page))


def _pouch(traits: Traits, made: Design) -> Thing:
    """A pouch that stands on a folded foot, with a flat seal and a zip at the top."""
    f, v = traits.family, traits.variant
    wide, tall = traits.near("pouch-w", 0.12, 0.17, 0.06), traits.near("pouch-h", 0.18, 0.25, 0.06)
    deep = wide * f("pouch-d", 0.32, 0.46)
    u, w = np.meshgrid(np.linspace(0, 1, 49), np.linspace(0, 1, 49), indexing="ij")
    edge = np.clip((np.minimum(u, 1 - u) - 0.035) / 0.965 * 2, 0, 1)
    across = np.sin(math.pi / 2 * np.clip(edge * 1.25, 0, 1)) ** 0.8
    up = np.cos(math.pi / 2 * np.minimum(w / 0.86, 1)).clip(0) ** 0.55
    bulge = np.sqrt(across * up)
    zip_line = 0.0012 * (np.abs(w - 0.885) < 0.014)
    grids: list[Array] = []
    for face in (-1, 1):
        dents = patch("cloud", 49, 49, v(f"dx{face}"), v(f"dy{face}")) * 0.0012 * bulge
        y = face * (deep / 2 * across * up + 0.0004 + zip_line) + dents
        lift = 0.012 * (2 * np.abs(u - 0.5)) ** 6 * (1 - w) ** 4  # corners of the foot curl up
        grids.append(np.stack([(u - 0.5) * wide * (1 - 0.03 * up), y, w * tall + lift * 0.4], -1))
    bag = _bag(f, made, wide, tall, (grids[0], grids[1]))
    foot = shifted(skin(np.stack([grids[1][:, 0], grids[0][:, 0]], 1)), z=0.003)
    plain = Material(scale(made.paper, 0.8), rough=0.4)
    return bag._replace(parts=(*bag.parts, Part(foot, plain)))


def _folding_box(traits: Traits, made: Design) -> Thing:
    """A box of thin card with tucked flaps."""
    f = traits.family
    wide, tall = traits.near("box-w", 0.13, 0.2, 0.05), traits.near("box-h", 0.17, 0.29, 0.06)
    deep = f("box-d", 0.045, 0.075)
    parts, prints = _printed_box(made, wide, deep, tall, rough=0.45, bulge=0.0008)
    flap = shifted(box(wide - 0.004, deep * 0.97, 0.0007), y=-0.0006, z=tall)
    tongue = shifted(sheet(wide * 0.3, 0.0012), y=-deep / 2 - 0.0008, z=tall - 0.0006)
    card = Material(scale(made.paper, 0.97), rough=0.5)
    return Thing((*parts, Part(joined([flap, tongue], smooth=False), card)), prints)


def _roll(traits: Traits, made: Design) -> Thing:
    """A roll of biscuits that lies on its side, its ends twisted flat."""
    f, v = traits.family, traits.variant
    long, r = traits.near("roll-l", 0.17, 0.25, 0.06), traits.near("roll-r", 0.026, 0.034, 0.1)
    a = np.linspace(-math.pi, math.pi, 61) + 0.5  # the front looks up a little
    s, t = np.meshgrid(_ends_dense(-1, 1, 0.1, 50), a, indexing="ij")
    close = np.clip((0.9 - np.abs(s)) / 0.09, 0, 1)
    full = np.sin(close * math.pi / 2) ** 0.7
    pieces = 1 - 0.018 * (np.abs(np.sin(s * f.count("biscuits", 12, 22) * math.pi / 2)) ** 6)
    dents = 1 + 0.012 * patch("cloud", *s.shape, v("dx"), v("dy"))
    radius = r * np.where(full > 0.95, pieces, 1) * dents
    pleat = 1 + 0.1 * np.sin(t * 14) * (close > 0) * (1 - full)
    depth = -np.cos(t) * radius * (0.03 + 0.97 * full)
    rise = np.sin(t) * radius * (0.8 + 0.2 * full)
    teeth = 0.001 * (np.arange(61) % 2)[None] * (np.abs(s) > 0.999) * np.sign(s)
    at = np.stack([s * long / 2 + teeth, depth * pleat, rise * pleat + r], -1)
    at[..., 2] -= at[..., 2].min()
    around = 2 * math.pi * r
    page = Sheet(long, around, made.paper, side=1024)
    band = page.part((0.13, 0.3, 0.87, 0.74))
    front(band, made)
    for y0, y1 in ((0.0, 0.3), (0.74, 1.0)):
        page.part((0, y0, 1, y1), made.field)
    back(page.part((0.12, 0.02, 0.88, 0.24)), made)
    for x0, x1 in ((0, 0.055), (0.945, 1)):
        page.box((x0, 0, x1, 1), made.accent)
    mesh = skin(at)
    return Thing((Part(mesh, _foil(f, page)),), prints_on(mesh, page))
