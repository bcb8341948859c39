"""Succulents and cacti in pots."""

from __future__ import annotations

import math

import numpy as np

from simulator.studio.solid.meshes import ball, joined, scaled, shifted, skin, smooth_path, tube
from simulator.studio.solid.scene_types import Array, Material, Mesh, Part, Thing
from simulator.studio.solid.soft_bodies import noise
from simulator.studio.things.leaves import (
    GOLDEN,
    blade,
    green,
    grown,
    on_path,
    pot,
    seeded,
    strewn,
)
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Traits, mix, oklch


def succulent(_: Look, traits: Traits) -> Thing:
    """A succulent or cactus in a small pot, 10 to 25 cm high."""
    f = traits.family
    habit = f.pick(
        "habit", ("rosette", "aloe", "column", "barrel", "pads", "jade", "rosette", "aloe")
    )
    wide = f("pot-size", 0.045, 0.07)
    vessel = pot(traits, wide, wide * f("pot-tall", 1.1, 1.8))
    root = float(vessel[0].mesh.vertices[:, 2].max()) * 0.87
    make = {
        "rosette": _rosette, "aloe": _rosette, "column": _cactus, "barrel": _cactus,
        "pads": _pads, "jade": _jade,
    }[habit]  # fmt: skip
    return Thing.of(*vessel, *make(traits, habit, root, wide))


def _flesh_of(traits: Traits, root: Colour, tip: Colour, *, specks: float = 0.0) -> Material:
    """A succulent's leaf: one green passing into another at the tips, with a bloom on it."""
    h, w = 128, 64
    v, u = np.mgrid[0:h, 0:w]
    t, s = 1 - v / h, np.abs(u / w * 2 - 1)
    at = np.stack([u.ravel() / w, t.ravel() * 2, np.zeros(u.size)], -1)
    share = np.clip(
        (np.maximum(t, 0.75 + 0.25 * s) - traits.family("tip-from", 0.72, 0.88)) * 6, 0, 1
    )[..., None]
    out = np.array(root) + (np.array(tip) - np.array(root)) * share
    out = out * (1 + 0.07 * noise(at, 0.2, 3).reshape(h, w, 1))
    if specks:
        white = (
            noise(at, (0.14, 0.07, 1), traits.variant.count("specks", 0, 99)).reshape(h, w)
            > 1 - specks
        )
        out[white] = out[white] * 0.35 + np.array((226, 230, 214)) * 0.65
    return Material(sheet=np.clip(out, 0, 255).astype(np.uint8), rough=0.5, grain="leaf")


def _pulp(length: float, width: float, thick: float, curl: float, point: float) -> Mesh:
    """A fleshy leaf along +y: thick, closed, with a point."""
    t = np.linspace(0, 1, 11)
    swell = np.sin(np.pi * t**0.75) ** (0.7 - 0.35 * point) * (1 - t**6)
    half = width / 2 * (swell + 0.35 * (1 - t))
    half = np.maximum(half * (1 - t ** (2 + 4 * point)), 0.0008)
    deep = np.maximum(thick * half / half.max(), 0.0006)
    angle = math.radians(curl) * t
    y, z = np.cumsum(np.cos(angle)) * length / 11, np.cumsum(np.sin(angle)) * length / 11
    a = np.linspace(0, 2 * math.pi, 13)
    x = np.cos(a)[:, None] * half[None]
    up = (np.sin(a)[:, None] * deep[None]) - 0.25 * deep[None] * (1 - np.cos(a)[:, None] ** 2)
    points = np.stack([x, y[None] - up * np.sin(angle), z[None] + up * np.cos(angle)], -1)
    return skin(points)


def _rosette(traits: Traits, habit: str, root: float, _: float) -> list[Part]:
    """Leaves in a spiral: short and round (echeveria), or long and pointed (aloe)."""
    f, some = traits.family, seeded(traits.variant, "leaves")
    aloe = habit == "aloe"
    n = f.count("leaves", 15, 24) if aloe else f.count("leaves", 30, 48)
    long = traits.near("long", 0.10, 0.16, 0.1) if aloe else traits.near("long", 0.05, 0.075, 0.1)
    leaf = _pulp(
        long,
        long * (f("broad", 0.14, 0.24) if aloe else f("broad", 0.45, 0.68)),
        long * f("thick", 0.05, 0.09),
        f("curl", -10, 35) if aloe else f("curl", 10, 45),
        f("point", 0.0, 0.35) if aloe else f("point", 0.5, 1.0),
    )
    k = np.arange(n)
    turn = k * GOLDEN + traits.variant("turn", 0, 360)
    t = k / n
    rise = (12 + 72 * t if aloe else -2 + 78 * t**1.2) + some.uniform(-4, 4, n)
    at = np.stack([0 * t, 0 * t, root + long * (0.04 + 0.22 * t)], -1)
    size = (1.0 - 0.35 * t if aloe else 1.0 - 0.72 * t) * some.uniform(0.93, 1.06, n)
    root_, tip = _tones(traits)
    specks = f("specks", 0.1, 0.42) if f.chance("specked", 0.6 if aloe else 0.15) else 0.0
    return [
        Part(
            strewn(leaf, grown(at, turn, rise, size)), _flesh_of(traits, root_, tip, specks=specks)
        )
    ]


def _tones(traits: Traits) -> tuple[Colour, Colour]:
    """A body of grey-green, blue-green or violet, and the blush at its tips."""
    f, v = traits.family, traits.variant
    body = oklch(f("body", 0.50, 0.72), f("body-chroma", 0.03, 0.09),
        f.pick("body-hue", (122.0, 130.0, 140.0, 155.0, 165.0)) + v("hue", -5, 5))  # fmt: skip
    blush = oklch(0.60, f("blush-chroma", 0.06, 0.15),
        v("blush", -25, 30) + f.pick("blush-hue", (20.0, 350.0, 100.0)))  # fmt: skip
    return body, mix(body, blush, v("blush-share", 0.35, 0.9))


def _cactus(traits: Traits, habit: str, root: float, wide: float) -> list[Part]:
    """Ribbed columns or a barrel, with spines along the ribs and now and then a flower."""
    f, some = traits.family, seeded(traits.variant, "cactus")
    ribs = f.count("ribs", 9, 20)
    radius = wide * (f("stout", 0.62, 0.85) if habit == "barrel" else f("stout", 0.28, 0.4))
    high = (
        radius * f("tall", 1.5, 2.1) if habit == "barrel" else traits.near("tall", 0.10, 0.17, 0.12)
    )
    bodies = [(np.array([0, 0, root - 0.01]), high, radius)]
    for i in range(f.count("arms", 0, 3) if habit == "column" else f.count("pups", 0, 2)):
        a = 2.4 * i + some.uniform(0, 6)
        part = some.uniform(0.4, 0.75)
        off = radius * (1 + part * 0.7)
        bodies.append(
            (
                np.array([off * math.cos(a), off * math.sin(a), root - 0.01]),
                high * part,
                radius * (0.55 + 0.3 * part),
            )
        )
    flesh, _ = _tones(traits)
    body_green = mix(flesh, green(traits), 0.7)
    meshes, spines = [], []
    for foot, tall, r in bodies:
        mesh, points, out = _ribbed(tall, r, ribs, f("rib-deep", 0.12, 0.26))
        meshes.append(shifted(mesh, *foot))
        spines.append((points + foot, out))
    needle = tube([(0, 0, 0), (0, f("spine", 0.006, 0.014), 0.0004)], (0.0006, 0.00015), around=4)
    at, out = np.concatenate([q for q, _ in spines]), np.concatenate([q for _, q in spines])
    each = 3
    at, out = (
        np.repeat(at, each, 0),
        np.repeat(out, each, 0) + some.normal(0, 0.45, (len(at) * each, 3)),
    )
    turn = np.degrees(np.arctan2(-out[:, 0], out[:, 1]))
    rise = np.degrees(np.arctan2(out[:, 2], np.hypot(out[:, 0], out[:, 1])))
    pale = Material(oklch(f("spine-level", 0.6, 0.92), 0.05, f("spine-hue", 40, 95)), rough=0.6)
    parts = [
        Part(joined(meshes), Material(body_green, rough=0.55)),
        Part(strewn(needle, grown(at, turn, rise)), pale),
    ]
    if f.chance("flowering", 0.5):
        petal = blade(0.016, 0.007, bend=50, steps=(2, 4))
        n = 12
        ring = np.concatenate(
            [
                grown(
                    np.array([[0, 0, root + bodies[0][1] - 0.012]] * n),
                    np.arange(n) * 30.0 + 13 * j,
                    35.0 + 25 * j,
                )
                for j in (0, 1)
            ]
        )
        parts.append(
            Part(
                strewn(petal, ring),
                Material(oklch(0.66, 0.2, traits.variant("flower", 330, 400)), rough=0.6),
            )
        )
    return parts


def _ribbed(high: float, radius: float, ribs: int, deep: float) -> tuple[Mesh, Array, Array]:
    """A ribbed, domed body; where its spines sit, and their directions."""
    t = np.linspace(0, 1, 18)
    z = (
        high * np.sin(t * math.pi / 2)
        if high < 3 * radius
        else np.concatenate(
            [
                np.linspace(0, high - radius, 9),
                high - radius + radius * np.sin(np.linspace(0.15, math.pi / 2, 9)),
            ]
        )
    )
    over = np.clip((z - (high - radius * 1.1)) / (radius * 1.1), 0, 1)
    r = (
        radius
        * np.sqrt(np.maximum(1 - over**2, 1e-4))
        * (0.82 + 0.18 * np.clip(z / (0.35 * high), 0, 1))
    )
    a = np.linspace(0, 2 * math.pi, ribs * 4 + 1)
    wave = 1 - deep * (0.5 - 0.5 * np.cos(a * ribs)) ** 0.8
    at = np.stack(
        [
            r[None] * (wave * np.cos(a))[:, None],
            r[None] * (wave * np.sin(a))[:, None],
            np.broadcast_to(z, (len(a), len(z))),
        ],
        -1,
    )
    crests = at[:-1:4, 1:-1:3]
    out = crests - np.array([0, 0, high * 0.4])
    return (
        skin(at),
        crests.reshape(-1, 3),
        (out / np.linalg.norm(out, axis=-1, keepdims=True)).reshape(-1, 3),
    )


def _pads(traits: Traits, _: str, root: float, __: float) -> list[Part]:
    """A prickly pear: flat pads on the edges of pads."""
    f, some = traits.family, seeded(traits.variant, "pads")
    long = traits.near("pad", 0.055, 0.08, 0.1)
    pad = shifted(
        scaled(ball(1, around=24), long * f("pad-broad", 0.32, 0.44), long * 0.09, long * 0.5),
        z=long * 0.46,
    )
    poses = [_upright(np.array([0, 0, root - 0.008]), some.uniform(-25, 25), 0.0, 1.15)]
    for i in range(f.count("pads", 3, 6)):
        under = poses[i // 2]
        lean = (-1 if i % 2 else 1) * some.uniform(18, 50)
        poses.append(
            under
            @ _upright(
                np.array([math.sin(math.radians(lean)) * long * 0.30, 0, long * 0.80]),
                some.uniform(-30, 30),
                lean,
                some.uniform(0.7, 0.9),
            )
        )
    body, tip = _tones(traits)
    a, q = np.arange(26) * math.radians(GOLDEN), np.sqrt((np.arange(26) + 0.5) / 26)
    dots = np.stack(
        [
            np.cos(a) * q * long * 0.33,
            np.where(np.arange(26) % 2, 1, -1) * long * 0.088 * np.sqrt(1 - 0.9 * q**2),
            long * (0.46 + 0.44 * q * np.sin(a)),
        ],
        -1,
    )
    knob = ball(0.0012, around=6)
    freckles = strewn(strewn(knob, grown(dots, 0.0, 0.0)), np.array(poses))
    return [
        Part(strewn(pad, np.array(poses)), Material(mix(body, green(traits), 0.75), rough=0.5)),
        Part(
            freckles,
            Material(mix(tip, (240, 230, 200), traits.family("dots", 0.2, 0.9)), rough=0.8),
        ),
    ]


def _upright(at: Array, turn: float, lean: float, size: float) -> Array:
    """A pose that turns about z, then leans to the side."""
    a, b = math.radians(turn), math.radians(lean)
    tilt = np.array([[math.cos(b), 0, math.sin(b)], [0, 1, 0], [-math.sin(b), 0, math.cos(b)]])
    spin = np.array([[math.cos(a), -math.sin(a), 0], [math.sin(a), math.cos(a), 0], [0, 0, 1]])
    pose = np.eye(4)
    pose[:3, :3] = tilt @ spin * size
    pose[:3, 3] = at
    return pose


def _jade(traits: Traits, _: str, root: float, wide: float) -> list[Part]:
    """A small tree of thick stems with round leaves in pairs."""
    f, some = traits.family, seeded(traits.variant, "jade")
    stems, poses = [], []
    high = traits.near("high", 0.10, 0.16, 0.1)
    for i in range(f.count("branches", 5, 8)):
        a = i * math.radians(GOLDEN)
        top = np.array(
            [
                math.cos(a) * wide * 0.8,
                math.sin(a) * wide * 0.8,
                root + high * some.uniform(0.65, 1.0),
            ]
        )
        path = smooth_path(
            np.array([(0, 0, root - 0.01), (top[0] * 0.2, top[1] * 0.2, root + 0.3 * high), top]), 6
        )
        stems.append(tube(path, (0.007, 0.003), around=8))
        n = 14
        t = np.linspace(0.45, 1, n)
        at = on_path(path, t)
        turn = np.arange(n) * 97.0 + some.uniform(0, 40, n)
        poses.append(
            grown(at, turn, 25 + 45 * t + some.uniform(-12, 12, n), some.uniform(0.75, 1.1, n))
        )
    long = f("leaf", 0.026, 0.036)
    leaf = _pulp(long, long * f("round", 0.6, 0.9), long * 0.10, 20, 1.0)
    body, tip = _tones(traits)
    return [
        Part(
            strewn(leaf, np.concatenate(poses)),
            _flesh_of(traits, mix(body, green(traits), 0.6), tip),
        ),
        Part(joined(stems), Material((128, 104, 78), rough=0.8)),
    ]
