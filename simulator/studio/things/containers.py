"""What food is sold in: bottles, jars and what closes them, cartons, pouches, boxes and rolls."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.meshes import (
    box,
    joined,
    lathe,
    posed,
    sheet,
    shifted,
    skin,
    smooth_path,
    tube,
)
from simulator.studio.solid.motifs import illustrate, pattern
from simulator.studio.solid.prints import Sheet, prints_on
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Print, Thing, turned
from simulator.studio.things.pack_design import Design, back, design, front, side
from simulator.studio.things.shared_shapes import crisp
from simulator.world.facts.look import Look
from simulator.world.pictures.noise_tiles import patch
from simulator.world.pictures.traits import Colour, Draws, Traits, brighten, mix, oklch

FINE = 0.0006
"""Metres by which edges of small turned pieces are cut."""
GLASS = Material(glass=True)
STEEL = Material((186, 188, 192), rough=0.28, metal=1.0)

_SHAPES: dict[str, list[tuple[float, float]]] = {"crown": [(1.32, -5), (1.2, 0), (1.12, 4),
    (0.9, 6.2), (0, 6.4)], "cork": [(0.9, -20), (0.95, 0), (1, 14), (0.92, 18), (0, 18.2)],
    "swing": [(0.9, 0), (1.15, 3), (1.1, 13), (0.7, 19), (0, 20)], "foil": [(1.12, -55), (1.1, -20),
    (1.18, -16), (1.18, -2), (1, 1), (0, 1.2)], "flip": [(1.28, -7), (1.3, 11), (1.24, 12),
    (1.24, 13), (1.28, 14), (1.1, 21), (0, 21.5)], "screw": [(1.18, -4), (1.22, -3), (1.22, 10),
    (1.14, 12), (0, 12.3)], "tall": [(1.18, -4), (1.22, -3), (1.22, 24), (1.14, 26), (0, 26.3)],
    "lip": [(1, -13), (1.15, -11), (1.15, -4), (1, -2)], "ring": [(1.1, -8.5), (1.22, -8),
    (1.22, -5.2), (1.1, -5)], "seal": [(1.02, -4), (1.12, -2), (1.02, 1)], "pour": [(1, -4),
    (1.03, 2), (1.01, 11), (0.9, 12.8), (0, 13)]}  # fmt: skip
"""Profiles: radius in necks, height above the mouth in millimetres."""


def bottle_cap(f: Draws, made: Design, neck: float, mouth: float, *, plastic: bool) -> list[Part]:
    """A cap on a bottle whose neck ends at a height."""
    kinds = ("screw", "flip") if plastic else ("screw", "crown", "cork", "swing", "foil", "tall")
    kind = f.pick("cap", kinds)

    def put(name: str, material: Material, ribs: int = 0, depth: float = 0.05) -> Part:
        return Part(shifted(closure_mesh(name, neck * 0.94, ribs, depth), z=mouth), material)

    paint = Material(made.accent, rough=0.32, coat=0.1)
    if kind == "crown":
        steel = Material(mix(made.accent, (190, 190, 190), 0.3), rough=0.3, metal=1.0)
        return [put("crown", steel, 21, 0.06), put("lip", GLASS)]
    if kind == "cork":
        return [put("cork", Material(sheet=_cork(), rough=0.85)), put("lip", GLASS)]
    if kind == "swing":
        wire = joined([_wire(neck * 0.94, side) for side in (-1.0, 1.0)])
        china = Material((236, 232, 224), rough=0.15, coat=0.6)
        rubber = Material((190, 70, 48), rough=0.7)
        return [put("swing", china), put("seal", rubber), Part(shifted(wire, z=mouth), STEEL)]
    if kind == "foil":
        return [put("foil", Material(made.accent, rough=0.35, metal=1.0))]
    if kind == "flip":
        thumb = shifted(box(neck * 0.7, 0.004, 0.005, bevel=0.001), y=-neck * 1.18, z=mouth + 0.01)
        return [put("flip", paint), Part(thumb, paint)]
    if kind == "tall":
        return [put("tall", Material(made.accent, rough=0.3, metal=1.0)), put("ring", paint)]
    return [put("screw", paint, 30), put("ring", paint)]


def lid(f: Draws, made: Design, mouth: float, low: float, high: float) -> list[Part]:
    """A jar's lid of metal or plastic, smooth or grooved."""
    r, tall = mouth * 1.06, high - low
    skirt = [
        (r, low), (r * 1.015, low + 0.001), (r * 1.005, low + tall * 0.8),
        (r * 0.97, high - 0.0008),
        (r * 0.88, high), (r * 0.84, high - 0.0012), (1e-4, high - 0.0012),
    ]  # fmt: skip
    finish = f.pick(
        "lid",
        (
            Material((206, 164, 92), rough=0.3, metal=1.0),
            Material((34, 34, 36), rough=0.4, coat=0.3),
            Material((232, 230, 224), rough=0.35, coat=0.3),
            Material(made.accent, rough=0.35, coat=0.3),
            Material(made.accent, rough=0.35, coat=0.3),
            STEEL,
        ),
    )
    ribs = f.pick("ribs", (0, 24, 60))
    return [Part(ribbed(skirt, ribs, 0.03) if ribs else lathe(crisp(skirt, FINE)), finish)]


def closure_mesh(name: str, radius: float, ribs: int = 0, depth: float = 0.05) -> Mesh:
    """A closure of the table on a neck of a radius, grooved by `ribs`."""
    profile = [(max(r * radius, 1e-4), z / 1000) for r, z in _SHAPES[name]]
    return ribbed(profile, ribs, depth) if ribs else lathe(crisp(profile, FINE), around=48)


def ribbed(profile: list[tuple[float, float]], ribs: int, depth: float) -> Mesh:
    """A turned shape with grooves from top to bottom, like a screw cap."""
    mesh = lathe(crisp(profile, FINE), around=ribs * 4)
    at = mesh.vertices.copy()
    groove = 1 - depth * (0.5 + 0.5 * np.cos(np.arctan2(at[:, 1], at[:, 0]) * ribs))
    at[:, :2] *= groove[:, None]
    return mesh._replace(vertices=at.astype(np.float32))


def _wire(r: float, side: float) -> Mesh:
    """One arm of a swing top."""
    path = [
        (0.2, 0, 12), (1.25, 0, 8), (1.3, 0, -6), (1.2, -0.6, -22), (0.7, -1.15, -34),
    ]  # fmt: skip
    at = [(side * r * x, r * y, z / 1000) for x, y, z in path]
    return tube(smooth_path(at, 5), 0.0011, around=8)


def _cork() -> Array:
    page = Sheet(0.04, 0.04, (198, 158, 110), side=128)
    page.grain(0.08, "cloud")
    page.blend(np.clip(page.noise("speckle") * 0.3, 0, 0.6), (120, 84, 52))
    return page.rgb


_CONTENTS: dict[str, tuple[Colour, str]] = {"Lemonade": ((226, 208, 128), "clear"),
    "Cider": ((206, 142, 58), "clear"), "Iced Tea": ((142, 68, 28), "clear"),
    "Oil": ((186, 158, 48), "clear"), "Honey": ((204, 128, 28), "clear"),
    "Pickles": ((128, 138, 58), "pieces"), "Jam": ((124, 22, 36), "seeds"),
    "Mustard": ((204, 156, 44), "seeds")}  # fmt: skip
"""What a name promises: its colour, and how it looks through glass."""


def bottle(look: Look, traits: Traits) -> Thing:
    """A bottle of glass or plastic, full, with a label and one of many caps."""
    f = traits.family
    made = design(look, traits)
    radius, height = (traits.near("radius", 0.034, 0.045, 0.1),
        traits.near("height", 0.2, 0.29, 0.08))  # fmt: skip
    stout = f.chance("stout", 0.3)
    if stout:
        radius, height = radius * 1.12, height * 0.74
    neck = radius * f("neck", 0.36, 0.5) if not stout else radius * f("neck", 0.45, 0.62)
    low = height * f("shoulder", 0.5, 0.66)
    outline = _outline(f, radius, height, neck, low)
    square = f("square", 2.6, 6.0) if f.chance("squared", 0.28) else 2.0
    stuff = f.pick("stuff", ("clear", "clear", "clear", "dark", "plastic", "milky"))
    parts = _filled(
        traits, made, outline, square, stuff, level=low + (height - low) * f("level", 0.2, 0.5)
    )
    y0, y1 = height * f("label-low", 0.08, 0.14), low - height * f("label-gap", 0.015, 0.05)
    label, prints = _label(traits, made, outline, (y0, y1), square)
    collar = outline[outline[:, 1] > low + (height - low) * 0.62]
    if f.chance("collar", 0.3) and len(collar) > 2:
        band = collar[: len(collar) // 2 + 1]
        parts.append(Part(lathe(np.add(band, (0.0006, 0))), Material(made.field, rough=0.5)))
    parts += label + bottle_cap(f, made, neck, height, plastic=stuff in ("plastic", "milky"))
    return Thing(tuple(parts), prints)


def jar(look: Look, traits: Traits) -> Thing:
    """A glass jar with a lid, its contents showing above and below the label."""
    f = traits.family
    made = design(look, traits)
    radius, height = (traits.near("radius", 0.031, 0.046, 0.1),
        traits.near("height", 0.085, 0.145, 0.1))  # fmt: skip
    mouth = radius * f("mouth", 0.8, 0.93)
    low = height * f("shoulder", 0.7, 0.78)
    lid_at = height * 0.87
    belly = f.pick("belly", (0.0, 0.0, 0.03, 0.08, -0.03))
    z = np.linspace(0.008, low, 14)
    side = np.stack([radius * (1 + belly * np.sin(math.pi * z / low)), z], 1)
    foot = [(1e-4, 0.003), (radius * 0.8, 0.0), (radius * 0.94, 0.002)]
    t = np.linspace(0, 1, 9)[1:]
    ease = (1 - np.cos(math.pi * t)) / 2
    neck = np.stack([radius + (mouth - radius) * ease, low + (lid_at - low) * t**0.8], 1)
    outline = np.concatenate([foot, side, neck, [(mouth, height * 0.97)]])
    square = f.pick("section", (2.0, 2.0, 2.0, 4.5, 6.0))
    facets = f.pick("facets", (0, 0, 0, 8, 10)) if square == 2 else 0
    parts = _filled(
        traits, made, outline, square, "clear", level=low + (lid_at - low) * 0.5, facets=facets
    )
    gap = f("label-gap", 0.05, 0.12) * height
    label, prints = _label(
        traits, made, outline, (0.012 + gap * 0.6, low - gap * 0.5), square, facets
    )
    return Thing((*parts, *label, *lid(f, made, mouth, lid_at, height)), prints)


def _outline(f: Draws, radius: float, height: float, neck: float, low: float) -> Array:
    """A bottle's profile from the middle of its foot to its lip."""
    top = low + (height - low) * f("rise", 0.42, 0.72)
    waist = f.pick("waist", (0.0, 0.0, 0.0, -0.05, 0.04, -0.09))
    z = np.linspace(0.01, low, 16)
    body = np.stack([radius * (1 + waist * np.sin(math.pi * z / low) ** 2), z], 1)
    t = np.linspace(0, 1, 14)[1:]
    ease = ((1 - np.cos(math.pi * t)) / 2) ** f("slope", 0.7, 1.5)
    shoulder = np.stack([radius + (neck - radius) * ease, low + (top - low) * t], 1)
    foot = [(1e-4, 0.006), (radius * 0.7, 0.002), (radius * 0.88, 0.0), (radius * 0.97, 0.003)]
    z = np.linspace(top, height, 8)[1:]
    throat = np.stack([np.full(7, neck) * (1 - 0.06 * (z - top) / (height - top)), z], 1)
    return np.concatenate([foot, body, shoulder, throat])


def _filled(traits: Traits, made: Design, outline: Array, square: float, stuff: str, *,
    level: float, facets: int = 0) -> list[Part]:  # fmt: skip
    """The wall, and behind clear walls what is inside."""
    f = traits.family

    def wrapped(profile: Array) -> Mesh:
        start = 0.5 / facets if facets else 0.0  # a facet, not an edge, looks to the front
        part = (start, 1 + start)
        return _shaped(lathe(profile, around=facets or 72, part=part, smooth=not facets), square)

    wall = wrapped(outline)
    if stuff == "dark":
        tint = oklch(f("tint", 0.2, 0.3), f("tint-c", 0.03, 0.07), f.pick("tint-h", (140, 60, 250)))
        return [Part(wall, Material(tint, rough=0.08, coat=1.0))]
    if stuff in ("plastic", "milky"):
        tint = made.light if stuff == "milky" else made.field
        return [Part(wall, Material(tint, rough=0.32, coat=0.2))]
    inside = outline[(outline[:, 1] < level) & (outline[:, 0] > 1e-3)]
    rim = float(np.interp(level, outline[4:, 1], outline[4:, 0]))
    inner = np.concatenate([[(1e-4, 0.005)], (inside - (0, 0.0)) * (0.955, 1) + (0, 0.004),
        [(rim * 0.955, level + 0.003), (1e-4, level + 0.003)]])  # fmt: skip
    core = wrapped(inner)
    return [
        Part(core, Material(sheet=_contents(traits, made), rough=0.22, coat=0.4)),
        Part(wall, GLASS),
    ]


def _contents(traits: Traits, made: Design) -> Array:
    """What is seen through the glass, unwrapped: clear, with seeds, or in pieces."""
    f, v = traits.family, traits.variant
    label = made.look.label or ""
    colour, way = next(
        (what for word, what in _CONTENTS.items() if label.endswith(word)),
        (
            oklch(f("food", 0.35, 0.75), f("food-c", 0.06, 0.14), f("food-h", 10, 130)),
            f.pick("food-way", ("clear", "seeds", "pieces")),
        ),
    )
    tone = oklch(0.6 + v("tone", -0.04, 0.04), 0.1, f("tone-h", 20, 110))
    colour = mix(colour, tone, 0.14)
    page = Sheet(0.2, 0.1, colour, side=384)
    dx, dy = f("food-x"), v("food-y")
    if way == "pieces":
        for i in range(90):
            x, y = v(f"x{i}"), v(f"y{i}")
            shade = brighten(colour, v(f"s{i}", 0.72, 1.25))
            at = np.stack(
                [np.cos(np.linspace(0, 6.28, 24)), 0.42 * np.sin(np.linspace(0, 6.28, 24))], 1
            )
            page.figure(
                at, x, y, v(f"r{i}", 0.1, 0.2), brighten(shade, 0.78), turn=v(f"t{i}", 0.9, 2.2)
            )
            page.figure(at, x, y, v(f"r{i}", 0.1, 0.2) * 0.82, shade, turn=v(f"t{i}", 0.9, 2.2))
    cloud = page.noise("cloud", dx, dy)
    depth = np.linspace(1.1, 0.88, page.rgb.shape[0])[:, None]  # light falls in from above
    page.shade((1 + 0.03 * cloud) * depth)
    if way == "seeds":
        seeds = page.noise("speckle", dx, dy)
        page.blend(np.clip(seeds - 1.0, 0, 0.55), mix(colour, (240, 220, 160), 0.5))
    return page.rgb


def _label(traits: Traits, made: Design, outline: Array, span: tuple[float, float],
    square: float = 2.0, facets: int = 0) -> tuple[list[Part], tuple[Print, ...]]:  # fmt: skip
    """A label around the body, or one in front and one behind."""
    f = traits.family
    z = np.linspace(*span, 12)
    profile = np.stack([np.interp(z, outline[3:, 1], outline[3:, 0]) + 0.0005, z], 1)
    around, tall = 2 * math.pi * float(profile[:, 0].mean()), span[1] - span[0]
    paper = Material(rough=0.5 if f.chance("matt", 0.6) else 0.25, coat=0.15)
    if f.chance("around", 0.55) and not facets:
        page = Sheet(around, tall, made.paper, side=1024)
        face = page.part((0.345, 0, 0.655, 1))
        front(face, made)
        edge = np.median(face.rgb[:, : face.rgb.shape[1] // 8], axis=1)  # its bands run around
        left, right = round(0.345 * page.rgb.shape[1]), round(0.655 * page.rgb.shape[1])
        page.rgb[:, :left] = edge[:, None]
        page.rgb[:, right:] = edge[:, None]
        back(page.part((0.02, 0.06, 0.24, 0.94)), made)
        mesh = _shaped(lathe(profile, around=96), square)
        return [Part(mesh, paper._replace(sheet=page.rgb))], prints_on(mesh, page)
    share = 3 / facets if facets else f("label-share", 0.28, 0.35)
    page, rear = (Sheet(around * share, tall, made.paper, side=side) for side in (576, 256))
    front(page, made)
    back(rear, made)
    part = (0.5 - share / 2, 0.5 + share / 2)
    mesh = lathe(profile, around=3 if facets else 40, part=part, smooth=not facets)
    mesh = _shaped(mesh, square)
    behind = posed(mesh, turned((0, 0, 1), 180))
    parts = [Part(m, paper._replace(sheet=p.rgb)) for m, p in ((mesh, page), (behind, rear))]
    return parts, prints_on(mesh, page)


def _shaped(mesh: Mesh, square: float) -> Mesh:
    """A round mesh given a squarish section: 2 is round, 6 nearly square."""
    if square <= 2:
        return mesh
    at = mesh.vertices.copy()
    angle = np.arctan2(at[:, 1], at[:, 0])
    wide = (np.abs(np.cos(angle)) ** square + np.abs(np.sin(angle)) ** square) ** (-1 / square)
    calm = np.clip(
        (np.hypot(at[:, 0], at[:, 1]) / np.hypot(at[:, 0], at[:, 1]).max() - 0.55) / 0.3, 0, 1
    )
    at[:, :2] *= (1 + (wide - 1) * calm * 0.8)[:, None]
    return mesh._replace(vertices=at.astype(np.float32))


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
        cap = closure_mesh("pour", 0.0125, 26, 0.04)
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
        Part(joined(folds), Material(brighten(made.field, 0.96), rough=0.4)),
        Part(fin, Material(made.accent if f.chance("fin") else made.field, rough=0.4)),
    ]
    if f.chance("cap", 0.7):
        slant = turned((1, 0, 0), math.degrees(math.atan2(rise, d)))
        lean = posed(closure_mesh("pour", 0.015, 28, 0.04), slant)
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
    plain = Material(brighten(made.paper, 0.8), rough=0.4)
    return bag._replace(parts=(*bag.parts, Part(foot, plain)))


def _folding_box(traits: Traits, made: Design) -> Thing:
    """A box of thin card with tucked flaps."""
    f = traits.family
    wide, tall = traits.near("box-w", 0.13, 0.2, 0.05), traits.near("box-h", 0.17, 0.29, 0.06)
    deep = f("box-d", 0.045, 0.075)
    parts, prints = _printed_box(made, wide, deep, tall, rough=0.45, bulge=0.0008)
    flap = shifted(box(wide - 0.004, deep * 0.97, 0.0007), y=-0.0006, z=tall)
    tongue = shifted(sheet(wide * 0.3, 0.0012), y=-deep / 2 - 0.0008, z=tall - 0.0006)
    card = Material(brighten(made.paper, 0.97), rough=0.5)
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
