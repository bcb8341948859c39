"""Coins: struck in one metal or two, worn a little."""

from __future__ import annotations

import math

import cv2
import numpy as np

from simulator.studio.solid.meshes import lathe, skin
from simulator.studio.solid.motifs import Colours, illustrate
from simulator.studio.solid.prints import Font, Sheet, prints_on
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Thing
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Traits, brighten

_ALLOYS: tuple[tuple[Colour, Colour], ...] = (
    ((198, 156, 92), (186, 186, 190)), ((178, 120, 84), (178, 120, 84)),
    ((188, 188, 192), (204, 166, 98)), ((206, 170, 100), (206, 170, 100)),
    ((184, 186, 190), (184, 186, 190)),
)  # fmt: skip
_FACES = (
    Font("STIXGeneralBol.ttf", 1.0, True),
    Font("DejaVuSans-Bold.ttf", 0.8, True),
    Font("DejaVuSerif-Bold.ttf", 0.82, True),
)


def coin(look: Look, traits: Traits) -> Thing:
    """A coin, its face up: name, year and a picture in relief within a rim."""
    f, v = traits.family, traits.variant
    radius, thick = traits.near("radius", 0.0125, 0.017, 0.05), f("thick", 0.0019, 0.0028)
    outer, inner = f.pick("alloy", _ALLOYS)
    face, rear = (Sheet(1, 1, outer, side=side) for side in (760, 384))
    bimetal = f("bimetal", 0.74, 0.8) if outer != inner else 0.0
    _struck(face, traits, look, (outer, inner), bimetal)
    _struck(rear, traits, None, (outer, inner), bimetal)
    sides = f.pick("sides", (0, 0, 0, 7, 9, 12))
    body = _coin_body(radius, thick, sides)
    up, down = (
        _coin_face(radius * 0.985, thick if top else 0.0, sides, top) for top in (True, False)
    )
    metal = Material(rough=v("rough", 0.24, 0.4), metal=0.6)
    parts = (
        Part(up, metal._replace(sheet=face.rgb)),
        Part(down, metal._replace(sheet=rear.rgb)),
        Part(body, metal._replace(colour=brighten(outer, 0.92))),
    )
    return Thing(parts, prints_on(up, face))


def _coin_body(radius: float, thick: float, sides: int) -> Mesh:
    """The edge, milled unless it has corners, and the raised rim."""
    e = 0.0003
    profile = [
        (radius * 0.9, 0.0002), (radius * 0.985, 0), (radius - e / 3, e), (radius, 2 * e),
        (radius, thick - 2 * e), (radius - e / 3, thick - e), (radius * 0.985, thick + e / 3),
        (radius * 0.94, thick + e / 3), (radius * 0.925, thick - e / 2),
    ]  # fmt: skip
    mesh = lathe(profile, around=240)
    at = mesh.vertices.copy()
    angle = np.arctan2(at[:, 1], at[:, 0])
    if sides:
        at[:, :2] *= _corners(angle, sides)[:, None]
    else:
        side = np.abs(at[:, 2] - thick / 2) < thick / 2 - e
        groove = np.arange(len(at)) // len(profile) % 2
        at[:, :2] *= (1 - 0.006 * side * groove)[:, None]
    return mesh._replace(vertices=at.astype(np.float32))


def _corners(angle: Array, sides: int) -> Array:
    """A soft polygon instead of a circle: its radius as a part of the corners'."""
    step = 2 * math.pi / sides
    off = (angle + math.pi / 2) % step - step / 2
    return (math.cos(step / 2) / np.cos(off)) ** 0.55


def _coin_face(radius: float, z: float, sides: int, up: bool) -> Mesh:
    r, a = np.meshgrid(
        np.array([0.0, 0.5, 1.0]) * radius, np.linspace(0, 2 * math.pi, 97), indexing="ij"
    )
    if not up:
        a = -a
    grow = _corners(a, sides) if sides else 1.0
    x, y = r * np.cos(a) * grow, r * np.sin(a) * grow
    side = 1 if up else -1
    uv = np.stack([0.5 + side * x / (2 * radius), 0.5 + y / (2 * radius)], -1)
    return skin(np.stack([x, y, np.full_like(x, z)], -1), uv, smooth=False)


def _struck(
    page: Sheet, traits: Traits, look: Look | None, alloy: tuple[Colour, Colour], ring: float
) -> None:
    """Draw the relief in white on black, then light it from the upper left and darken its feet."""
    f, v = traits.family, traits.variant
    size = page.rgb.shape[0]
    relief = Sheet(1, 1, (0, 0, 0), side=size)
    tones: Colours = ((170, 170, 170), (120, 120, 120), (220, 220, 220), (60, 60, 60))
    white, grey = (255.0, 255.0, 255.0), (180.0, 180.0, 180.0)
    beads = f.count("beads", 0, 2)
    for a in np.linspace(0, 2 * math.pi, 72, endpoint=False) if beads else ():
        x, y = 0.5 + 0.445 * math.cos(a), 0.5 + 0.445 * math.sin(a)
        relief.disc(x, y, 0.01 + 0.003 * beads, grey)
    if look is None or look.label is None:
        illustrate(relief, f, tones, 0.5, 0.5, 0.34)
    else:
        face = f.pick("face", _FACES)
        illustrate(relief, f, tones, 0.5, 0.215, 0.12, v("turn", -0.2, 0.2))
        relief.text(look.label, (0.16, 0.345, 0.84, 0.7), white, face, lines=3)
        relief.text(look.sublabel, (0.34, 0.735, 0.66, 0.84), white, face)
        for k in range(v.count("berries", 2, 4)):
            a = math.radians(20 + 16 * k)
            for side in (-1, 1):
                x, y = 0.5 + side * 0.385 * math.sin(a), 0.5 + 0.385 * math.cos(a)
                relief.disc(x, y, 0.016, grey)
        page.texts += relief.texts
    height = cv2.GaussianBlur(relief.rgb[..., 0].astype(np.float32) / 255, (0, 0), size / 420)
    quarter = cv2.resize(height, (size // 4, size // 4), interpolation=cv2.INTER_AREA)
    soft = cv2.resize(cv2.GaussianBlur(quarter, (0, 0), size / 280), (size, size))
    slope = np.gradient(height, axis=1) + np.gradient(height, axis=0)
    line = np.linspace(-0.5, 0.5, size, dtype=np.float32)
    far = np.hypot(line[:, None], line[None])
    page.rgb[...] = np.array(alloy[0]).round()
    if ring:
        page.rgb[far < ring / 2] = np.array(alloy[1]).round()
        height = height - 0.5 * np.exp(-(((far - ring / 2) * size / 3) ** 2))
    worn = 0.05 * page.noise("cloud", v("wx"), v("wy")) + 0.03 * page.noise("fine")
    dirt = v("patina", 0.5, 0.75) * np.clip(soft * 1.5 - height * 0.9, 0, 0.8)
    light = 0.9 - dirt + 0.34 * height - 3.2 * slope + worn
    page.shade(np.clip(light, 0.22, 1.25))
