"""Bottles and jars, and what closes them."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.forms import Array, Material, Mesh, Part, Print, Thing, turned
from simulator.studio.solid.meshes import lathe, posed
from simulator.studio.solid.prints import Sheet, prints_on
from simulator.studio.things.caps import GLASS, closed, lid
from simulator.studio.things.packaging import Design, back, design, front
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Draws, Traits, mix, oklch, scale

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
    parts += label + closed(f, made, neck, height, plastic=stuff in ("plastic", "milky"))
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
            shade = scale(colour, v(f"s{i}", 0.72, 1.25))
            at = np.stack(
                [np.cos(np.linspace(0, 6.28, 24)), 0.42 * np.sin(np.linspace(0, 6.28, 24))], 1
            )
            page.figure(
                at, x, y, v(f"r{i}", 0.1, 0.2), scale(shade, 0.78), turn=v(f"t{i}", 0.9, 2.2)
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
